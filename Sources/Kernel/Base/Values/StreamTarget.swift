/// A sequential output whose bytes cannot be read again.
package enum StreamTarget: Hashable, Sendable {
    case standardOutput
    /// A character device or a named pipe.
    case path(String)

    /// The name in messages.
    package var name: String {
        switch self {
        case .standardOutput: "standard output"
        case .path(let path): path
        }
    }
}
