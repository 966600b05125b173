/// Which failures are retried, how often, and after what wait.
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts after the first without a new byte; progress resets the count.
    package var retries: Int
    /// The first wait, doubled each time.
    package var delay: Interval

    /// The longest Retry-After that is honoured.
    package var longestRetryAfter: Interval

    /// The most retries that can be given: in effect without an end.
    package static let mostRetries = 1_000_000
    /// The first wait for a network that the monitor does not report, doubled each time up to `longestWait`.
    package var offlineDelay = Interval.seconds(2)

    package static let longestWait = Interval.seconds(60)
    /// The first wait where none was chosen, or where a server's Retry-After is zero: doubled like any other,
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
        /// The origin reports overload: its budget shrinks.
        package var isComplaint = false

        package init(code: Failure.Code, isRetried: Bool, isComplaint: Bool = false) {
            self.code = code
            self.isRetried = isRetried
            self.isComplaint = isComplaint
        }
    }

    /// The wait before attempt number `attempt` (1 is the first retry): doubled, with jitter of ±25 %, at
    /// most a minute; longer for a longer Retry-After, never shorter for a shorter one (`Retry-After: 0`, a
    /// past date).
    package func wait(attempt: Int, retryAfter: Interval?, dice: inout Dice) -> Interval {
        let hasFloor = retryAfter != nil || delay <= .zero
        let first = hasFloor ? max(delay, RetryPolicy.shortestDelay) : delay
        let doubled = first.seconds * Double(1 << min(max(attempt, 1) - 1, 16))
        let own = Interval.seconds(min(doubled, RetryPolicy.longestWait.seconds) * (0.75 + dice.fraction() / 2))
        return max(own, allowed(retryAfter) ?? .zero)
    }

    /// The wait after which an attempt is made though the monitor reports no network; `waits` counts those before.
    package func wait(offline waits: Int) -> Interval {
        min(offlineDelay * Double(1 << min(waits, 16)), max(RetryPolicy.longestWait, offlineDelay))
    }

    /// The part of a server's Retry-After that is honoured.
    package func allowed(_ retryAfter: Interval?) -> Interval? { retryAfter.map { min($0, longestRetryAfter) } }

    package static func disposition(of fault: AttemptFault) -> Disposition {
        switch fault {
        // The URL of a proxy does not change by a retry.
        case .transfer(let fault) where fault.hasUnusableProxy: Disposition(code: .badOption, isRetried: false)
        // Nor does a file of the user.
        case .transfer(let fault) where fault.lacksNetrc || fault.lacksCookies:
            Disposition(code: .cannotOpen, isRetried: false)
        case .transfer(let fault): disposition(of: fault.kind)
        // A timeout is a busy server or a broken path; both may recover.
        case .silent: Disposition(code: .timeout, isRetried: true)
        // Another connection may get more of the path, and another time more of the server.
        case .tooSlow: Disposition(code: .tooSlow, isRetried: true)
        case .status(let status, _): disposition(ofStatus: status)
        case .refused(let refusal, _): refusal.disposition
        // A proof that fails once fails again: the judge has already chosen the alternatives.
        case .unproven: Disposition(code: .badResponse, isRetried: false)
        // The user has to log in first; a retry would return the same page.
        case .page: Disposition(code: .badResponse, isRetried: false)
        // A temporary error, or a new version: the next response decides.
        case .suspectPage: Disposition(code: .badResponse, isRetried: true)
        // Another node of the server, or another source, may support ranges.
        case .rangeRefused: Disposition(code: .badResponse, isRetried: true)
        // A redirect's target does not change between two attempts.
        case .badRedirect: Disposition(code: .badResponse, isRetried: false)
        // Nor does its scheme.
        case .downgrade: Disposition(code: .insecure, isRetried: false)
        // A loop stays a loop.
        case .tooManyRedirects: Disposition(code: .tooManyRedirects, isRetried: false)
        }
    }

    private static func disposition(of kind: TransferFault.Kind) -> Disposition {
        switch kind {
        // Resolvers fail temporarily, above all while a network comes up.
        case .nameResolution: Disposition(code: .nameResolution, isRetried: true)
        // The resolver confirmed twice that there is no such name.
        case .nameMissing: Disposition(code: .nameResolution, isRetried: false)
        // Routes come back.
        case .unreachable: Disposition(code: .network, isRetried: true)
        // A restarting server refuses for seconds, an overloaded one as long as requests continue.
        case .connectionRefused: Disposition(code: .network, isRetried: true, isComplaint: true)
        // A lost SYN or a full queue; both pass.
        case .connectTimeout: Disposition(code: .timeout, isRetried: true)
        // The most common fault.
        case .connectionLost: Disposition(code: .network, isRetried: true)
        // The rest can be requested.
        case .truncated: Disposition(code: .network, isRetried: true)
        // A certificate does not become valid by a retry.
        case .tls: Disposition(code: .insecure, isRetried: false)
        // A key does not change by a retry, and someone may be in between.
        case .publicKey: Disposition(code: .insecure, isRetried: false)
        // Proxies restart as servers do.
        case .proxy: Disposition(code: .network, isRetried: true)
        // The file does not exist.
        case .notFound: Disposition(code: .notFound, isRetried: false)
        // The password stays wrong.
        case .denied: Disposition(code: .authorization, isRetried: false)
        // The reply says that it stays so.
        case .commandRefused: Disposition(code: .badResponse, isRetried: false)
        // FTP's 4xx replies are temporary.
        case .serverRefused, .offsetRefused, .contentChanged: Disposition(code: .badResponse, isRetried: true)
        // Not HTTP at all; a wrong port responds the same each time.
        case .malformed: Disposition(code: .badResponse, isRetried: false)
        // The address may not be intended; a retry would use the same one.
        case .privateAddress: Disposition(code: .insecure, isRetried: false)
        // Unknown causes are retried a bounded number of times.
        case .other: Disposition(code: .unknown, isRetried: true)
        }
    }

    private static func disposition(ofStatus status: Int) -> Disposition {
        switch status {
        // The client has to change first: log in, pay, or request another resource.
        case 401, 403, 407: Disposition(code: .authorization, isRetried: false)
        // Not found, and gone.
        case 404, 410: Disposition(code: .notFound, isRetried: false)
        // The server closed an idle connection, or suspects a replay: the same request may be sent again (RFC
        // 8470).
        case 408, 425: Disposition(code: .timeout, isRetried: true)
        // Too much at once: later, and with fewer connections (RFC 6585 §4, RFC 9110 §15.6.4).
        case 429, 503: Disposition(code: .overloaded, isRetried: true, isComplaint: true)
        // A gateway's upstream restarts.
        case 502, 504: Disposition(code: .overloaded, isRetried: true)
        // A crash in the server may be temporary.
        case 500: Disposition(code: .badResponse, isRetried: true)
        // Cloudflare's codes for failures of the origin.
        case 520...527: Disposition(code: .overloaded, isRetried: true)
        // Every other status is permanent.
        case _: Disposition(code: .badResponse, isRetried: false)
        }
    }
}
