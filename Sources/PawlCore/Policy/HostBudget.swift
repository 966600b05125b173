/// What one origin lets us have, and what we let ourselves have of it: connections, a rate, and a time before which it
/// wants to hear nothing.
///
/// Shared by all downloads of a process.
package struct HostBudget: Hashable, Sendable {
    package enum Answer: Hashable, Sendable {
        case granted
        /// Every connection that the origin allows, or the person, is in use.
        case full
        /// The origin asked for silence until then.
        case hold(until: Moment)
    }

    /// After this long without a complaint one more connection is allowed.
    package static let recovery = Span.seconds(10)
    /// After this long without a complaint there is no limit any more.
    package static let forgiveness = Span.seconds(600)

    package private(set) var inUse = 0
    /// `nil` until the origin complains.
    package private(set) var limit: Int?
    private var limiter = RateLimiter(rate: nil)
    private var holdUntil: Moment?
    private var complainedAt: Moment?
    private var recoveredAt: Moment?

    package init() {}

    package mutating func acquire(most: Int? = nil, now: Moment) -> Answer {
        recover(now: now)
        if let until = holdUntil { return .hold(until: until) }
        if inUse >= min(limit ?? .max, most.map { max(1, $0) } ?? .max) { return .full }
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
        recoveredAt = now
        guard let retryAfter else { return }
        let until = now + retryAfter
        holdUntil = max(holdUntil ?? until, until)
    }

    /// `bytes` have just come from the origin, which may send `rate` a second.
    package mutating func charge(_ bytes: Int, rate: Int64?, now: Moment) {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        limiter.charge(bytes, now: now)
    }

    /// How long its next byte has to wait.
    package mutating func delay(rate: Int64?, now: Moment) -> Span {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        return limiter.delay(now: now)
    }

    private mutating func recover(now: Moment) {
        if let until = holdUntil, now >= until { holdUntil = nil }
        guard let current = limit, let complainedAt, let recoveredAt else { return }
        if now - complainedAt >= HostBudget.forgiveness {
            limit = nil
            return
        }
        guard now - recoveredAt >= HostBudget.recovery else { return }
        limit = current + 1
        self.recoveredAt = now
    }

    /// Whether nothing would be lost with it.
    package mutating func isForgettable(now: Moment) -> Bool {
        recover(now: now)
        return inUse == 0 && limit == nil && holdUntil == nil && limiter.delay(now: now) == .zero
    }
}
