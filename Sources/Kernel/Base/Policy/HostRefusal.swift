/// A connection that an origin has refused.
package struct HostRefusal: Hashable, Sendable {
    package var reason: HostNote.Reason
    /// Identifies the URL of its request.
    package var target: UInt64
    /// Whether the origin sends the same file over another connection: then the file is not why it was refused.
    package var isSameFile: Bool
    /// The wait that the origin requests for this URL.
    package var retryAfter: Interval?

    package init(_ reason: HostNote.Reason, target: UInt64, isSameFile: Bool = false, retryAfter: Interval? = nil) {
        self.reason = reason
        self.target = target
        self.isSameFile = isSameFile
        self.retryAfter = retryAfter
    }
}

/// How many connections an origin was seen to allow, when, and how that was seen.
package struct HostNote: Hashable, Sendable {
    /// How a further connection was refused.
    package enum Reason: Hashable, Sendable {
        /// By a response with this status.
        case status(Int)
        /// By TCP.
        case connection
        /// It was closed before any response.
        case reset
        /// By a reply of an FTP server.
        case reply

        /// Whether it says that the server has too much to do.
        package var isOverload: Bool { self == .status(429) || self == .status(503) }

        /// Whether servers refuse surplus connections so, whatever they request.
        package var mayBeOfMany: Bool { isOverload || self == .reset }

        /// One word.
        package var text: String {
            switch self {
            case .status(let status): "\(status)"
            case .connection: "refused"
            case .reset: "reset"
            case .reply: "reply"
            }
        }

        package init?(_ text: String) {
            switch text {
            case "refused": self = .connection
            case "reset": self = .reset
            case "reply": self = .reply
            case let text:
                guard text.utf8.count == 3, text.utf8.allSatisfy(\.isDigit), let status = Int(text), status >= 100
                else { return nil }
                self = .status(status)
            }
        }
    }

    package var connections: Int
    package var reason: Reason
    package var since: UnixTime
    /// Whether more than one refusal shows it: a single one may have another cause.
    package var isCertain: Bool

    package init(connections: Int, reason: Reason, since: UnixTime, isCertain: Bool = true) {
        self.connections = connections
        self.reason = reason
        self.since = since
        self.isCertain = isCertain
    }
}
