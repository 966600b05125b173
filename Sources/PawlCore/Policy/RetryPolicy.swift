/// Which failures are tried again, how often, and after what wait.
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts after the first that bring no new byte; progress starts the count again.
    package var retries: Int
    /// The first wait, doubled each time.
    package var delay: Interval

    /// The longest wait that a server's Retry-After can ask for.
    package var longestRetryAfter: Interval

    package static let longestWait = Interval.seconds(60)
    /// The first wait where none was chosen, or where a server that asks for a wait leaves none: doubled like any other,
    /// so that a server which fails at once does not use up all attempts in a moment.
    package static let shortestDelay = Interval.milliseconds(100)

    package init(retries: Int = 5, delay: Interval = .seconds(1), longestRetryAfter: Interval = .seconds(3600)) {
        self.retries = retries
        self.delay = delay
        self.longestRetryAfter = longestRetryAfter
    }

    package struct Disposition: Hashable, Sendable {
        package var code: Failure.Code
        package var isRetried: Bool
        /// The origin says that it has too much to do: its budget shrinks.
        package var isComplaint = false
    }

    /// The wait before attempt number `attempt` (1 is the first retry): doubled, with jitter of ±25 %, at most a minute;
    /// longer when the server asks for more, never shorter because it asks for less (`Retry-After: 0`, a past date).
    package func wait(attempt: Int, retryAfter: Interval?, dice: inout Dice) -> Interval {
        let hasFloor = retryAfter != nil || delay <= .zero
        let first = hasFloor ? max(delay, RetryPolicy.shortestDelay) : delay
        let doubled = first.seconds * Double(1 << min(max(attempt, 1) - 1, 16))
        let own = Interval.seconds(
            min(doubled, RetryPolicy.longestWait.seconds) * (0.75 + dice.fraction() / 2)
        )
        return max(own, allowed(retryAfter) ?? .zero)
    }

    /// What is granted of a wait that a server asks for.
    package func allowed(_ retryAfter: Interval?) -> Interval? { retryAfter.map { min($0, longestRetryAfter) } }

    package static func disposition(of fault: AttemptFault) -> Disposition {
        switch fault {
        case .transfer(let fault): disposition(of: fault.kind)
        // Silence is a busy server or a broken path; both may heal.
        case .silent: Disposition(code: .timeout, isRetried: true)
        // Another connection may get more of the way, and another time more of the server.
        case .tooSlow: Disposition(code: .tooSlow, isRetried: true)
        case .status(let status, _): disposition(ofStatus: status)
        // A proof that fails once fails again: the judge has already chosen what else can be tried.
        case .unproven: Disposition(code: .badResponse, isRetried: false)
        // Someone has to log in first; asking again would bring the same page.
        case .page: Disposition(code: .badResponse, isRetried: false)
        // An error of the moment, or a new version: the next response tells.
        case .suspectPage: Disposition(code: .badResponse, isRetried: true)
        // Where the server points does not change between two attempts.
        case .badRedirect: Disposition(code: .badResponse, isRetried: false)
        // Nor does what it leads over.
        case .downgrade: Disposition(code: .insecure, isRetried: false)
        // A loop stays a loop.
        case .tooManyRedirects: Disposition(code: .tooManyRedirects, isRetried: false)
        }
    }

    private static func disposition(of kind: TransferFault.Kind) -> Disposition {
        switch kind {
        // Resolvers fail for moments, above all while a network comes up.
        case .nameResolution: Disposition(code: .nameResolution, isRetried: true)
        // Routes come back.
        case .unreachable: Disposition(code: .network, isRetried: true)
        // A restarting server refuses for seconds, an overloaded one as long as we press.
        case .connectionRefused: Disposition(code: .network, isRetried: true, isComplaint: true)
        // A lost SYN or a full queue; both pass.
        case .connectTimeout: Disposition(code: .timeout, isRetried: true)
        // The commonest fault of all, and the reason for this program.
        case .connectionLost: Disposition(code: .network, isRetried: true)
        // The rest can be asked for.
        case .truncated: Disposition(code: .network, isRetried: true)
        // A certificate does not become valid by asking again.
        case .tls: Disposition(code: .insecure, isRetried: false)
        // Proxies restart as servers do.
        case .proxy: Disposition(code: .network, isRetried: true)
        // It is not there.
        case .notFound: Disposition(code: .notFound, isRetried: false)
        // The password stays wrong.
        case .denied: Disposition(code: .authorization, isRetried: false)
        // FTP's 4xx replies are of the moment, and libcurl does not tell them from 5xx.
        case .serverRefused: Disposition(code: .badResponse, isRetried: true)
        // Not HTTP at all; a wrong port answers the same each time.
        case .malformed: Disposition(code: .badResponse, isRetried: false)
        // Whoever gave the address may not have meant it; asking again would try the same one.
        case .privateAddress: Disposition(code: .insecure, isRetried: false)
        // Unknown causes get the benefit of the doubt, a bounded number of times.
        case .other: Disposition(code: .unknown, isRetried: true)
        }
    }

    private static func disposition(ofStatus status: Int) -> Disposition {
        switch status {
        // The client has to change first: log in, or pay, or ask for something else.
        case 401, 403, 407: Disposition(code: .authorization, isRetried: false)
        // Not there, and gone.
        case 404, 410: Disposition(code: .notFound, isRetried: false)
        // The server closed an idle connection, or fears a replay: the same request may be sent again (RFC 8470).
        case 408, 425: Disposition(code: .timeout, isRetried: true)
        // Too much at once: later, and with fewer connections (RFC 6585 §4, RFC 9110 §15.6.4).
        case 429, 503: Disposition(code: .overloaded, isRetried: true, isComplaint: true)
        // A gateway's upstream restarts.
        case 502, 504: Disposition(code: .overloaded, isRetried: true)
        // A crash in the server may be of the moment.
        case 500: Disposition(code: .badResponse, isRetried: true)
        // Cloudflare's family of origin troubles.
        case 520...527: Disposition(code: .overloaded, isRetried: true)
        // Every other status is an answer that will not change.
        case _: Disposition(code: .badResponse, isRetried: false)
        }
    }
}
