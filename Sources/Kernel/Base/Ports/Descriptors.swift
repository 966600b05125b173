/// What the process may still open.
package protocol Descriptors: Sendable {
    /// Whether a download may open what it needs; a reserve stays for everything that cannot wait.
    var haveRoom: Bool { get }
}
