/// The versions of the Internet Protocol that connections may use.
package enum IPVersion: Hashable, Sendable {
    case any, v4, v6

    /// Whether a host can be reached with it: the address of a numeric host has a version, a name may have both.
    package func allows(numericHost host: some StringProtocol) -> Bool {
        switch self {
        case .any: true
        case .v4: !host.contains(":")
        case .v6: host.contains(":")
        }
    }
}
