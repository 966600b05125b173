/// What takes bytes in order and keeps none that could be read again.
package enum StreamTarget: Hashable, Sendable {
    case standardOutput
    /// A character device or a named pipe.
    case path(String)

    /// As messages name it.
    package var name: String {
        switch self {
        case .standardOutput: "standard output"
        case .path(let path): path
        }
    }
}
