/// What one origin lets us have: connections and a time before which it wants to hear nothing.
///
/// Shared by all downloads of a process.
package struct HostBudget: Hashable, Sendable {
    package enum Answer: Hashable, Sendable {
        case granted
        /// Every connection that the origin allows is in use.
        case full
        /// The origin asked for silence until then.
        case hold(until: Moment)
    }

    /// After this long without a complaint one more connection is allowed.
    package static let recovery = Span.seconds(10)

    package private(set) var inUse = 0
    /// `nil` until the origin complains.
    package private(set) var limit: Int?
    private var holdUntil: Moment?
    private var complainedAt: Moment?

    package init() {}

    package mutating func acquire(now: Moment) -> Answer {
        if let until = holdUntil {
            if now < until { return .hold(until: until) }
            holdUntil = nil
        }
        recover(now: now)
        if let limit, inUse >= limit { return .full }
        inUse += 1
        return .granted
    }

    package mutating func release() {
        precondition(inUse > 0, "a connection was given back that nobody took")
        inUse -= 1
    }

    /// The origin answered 429 or 503, or refused a connection, that has been given back already: it bears what is in use
    /// now.
    package mutating func complain(retryAfter: Span?, now: Moment) {
        limit = max(1, min(limit ?? .max, inUse))
        complainedAt = now
        guard let retryAfter else { return }
        let until = now + retryAfter
        holdUntil = max(holdUntil ?? until, until)
    }

    private mutating func recover(now: Moment) {
        guard let current = limit, let since = complainedAt, now - since >= HostBudget.recovery else {
            return
        }
        limit = current + 1
        complainedAt = now
    }

    package var isIdle: Bool { inUse == 0 && limit == nil && holdUntil == nil }
}
