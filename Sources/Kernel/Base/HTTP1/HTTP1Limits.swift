/// The limits of an HTTP connection, whichever transport has it.
package enum HTTP1Limits {
    /// The maximum length of all header sections of one response together, interim ones included.
    package static let longestHead = 256 * 1024
    /// The size of a read before the body: it contains the header section, and a small body with it.
    package static let firstRead = 128 * 1024
    /// The number of bytes of an unwanted body that may be read to keep its connection.
    package static let longestDrain = 64 * 1024
    /// The time limit for that.
    package static let drainTime = Interval.seconds(1)
    /// Idle connections kept for reuse.
    package static let idleConnections = 128
    /// How long an idle connection is kept: less than the two minutes after which many servers close theirs.
    package static let idleTime = Interval.seconds(115)

    /// Whether an unwanted body is read and discarded so that its connection can carry another request, above all the
    /// next hop of a redirect.
    package static func isWorthDraining(_ body: ResponseFraming.Body, keepsConnection: Bool) -> Bool {
        guard keepsConnection else { return false }
        return switch body {
        case .none, .chunked: true
        case .length(let length): length <= longestDrain
        case .untilClose: false
        }
    }
}
