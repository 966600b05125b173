package import PawlCore

/// Remembers over restarts how many connections hosts bear, and which want to be asked over TLS only.
///
/// Calls may come from any thread and return at once.
package protocol HostNotes: AnyObject, Sendable {
    /// How many connections an earlier run has seen the host bear; `nil` when nothing is known.
    func borne(by origin: Origin) -> Int?
    /// It bears so many and no more.
    func note(_ connections: Int, of origin: Origin)
    /// The address as it is to be asked: over TLS where the host has said so (RFC 6797).
    func secured(_ address: WebAddress) -> WebAddress
    /// The host has said this in Strict-Transport-Security, over a connection that was proved to be its own.
    func note(transportSecurity field: String, of host: String)
}
