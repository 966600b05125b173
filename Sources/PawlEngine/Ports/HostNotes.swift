package import PawlCore

/// Remembers over restarts how many connections hosts bear.
///
/// Calls may come from any thread and return at once.
package protocol HostNotes: AnyObject, Sendable {
    /// How many connections an earlier run has seen the host bear; `nil` when nothing is known.
    func borne(by origin: Origin) -> Int?
    /// It bears so many and no more.
    func note(_ connections: Int, of origin: Origin)
}
