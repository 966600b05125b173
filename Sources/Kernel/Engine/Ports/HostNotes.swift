package import PawlBase

/// Stores across restarts how many connections hosts allow, and which require TLS.
///
/// Calls may come from any thread and return at once.
package protocol HostNotes: AnyObject, Sendable {
    /// How many connections the host was seen to allow in an earlier run; `nil` when unknown.
    func note(of origin: Origin) -> HostNote?
    /// Stores that the origin allows so many and no more; what may be chance is not stored as long.
    func note(_ note: HostNote, of origin: Origin)
    /// The origin allows more than was noted.
    func forget(_ origin: Origin)
    /// Forgets what was noted of this host; of all hosts with `nil`.
    func forget(host: String?)
    /// The address with the scheme to use: over TLS where the host requires it (RFC 6797).
    func secured(_ address: WebAddress) -> WebAddress
    /// Notes a Strict-Transport-Security field that was received over an authenticated connection to the
    /// host.
    func note(transportSecurity field: String, of host: String)
}
