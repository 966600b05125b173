/// What one origin lets us have, and what we let ourselves have of it: connections, a rate, and a time before which it
/// wants to hear nothing.
///
/// Shared by all downloads of a process.
package struct HostBudget: Hashable, Sendable {
    package enum Grant: Hashable, Sendable {
        case granted
        /// Every connection that the origin allows, or the person, is in use.
        case full
        /// The origin asked for silence until then.
        case hold(until: Instant)
    }

    /// After this long without a complaint one more connection is allowed; twice as long after each time that one more
    /// was turned away, so that a host that bears two is not asked for a third every ten seconds.
    package static let recovery = Interval.seconds(10)
    /// After this long without a complaint there is no limit any more.
    package static let forgiveness = Interval.seconds(600)

    package private(set) var inUse = 0
    /// Connections in use whose response was accepted, and the most that there were at once.
    private var serving = 0
    private var served = 0
    /// `nil` until the origin complains.
    package private(set) var limit: Int?
    private var limiter = RateLimiter(rate: nil)
    private var holdUntil: Instant?
    private var throttledAt: Instant?
    private var recoveredAt: Instant?
    /// Doublings of ``recovery``.
    private var doublings = 0
    /// How often, in short order, a connection was turned away without a word while others were served.
    private var refusals = 0
    private var refusedAt: Instant?
    /// Connections that the origin was seen to bear and no more; `nil` while that is not shown.
    ///
    /// For those who keep it over restarts.
    package private(set) var borne: Int?

    package init() {}

    /// An earlier run has seen how many connections it bears.
    package init(borne: Int, now: Instant) {
        limit = max(1, borne)
        throttledAt = now
        recoveredAt = now
        doublings = HostBudget.remembered
    }

    private static let remembered = 3
    private static let mostDoublings = 6

    package mutating func acquire(most: Int? = nil, now: Instant) -> Grant {
        recover(now: now)
        if let until = holdUntil { return .hold(until: until) }
        if inUse >= min(limit ?? .max, most.map { max(1, $0) } ?? .max) { return .full }
        inUse += 1
        return .granted
    }

    /// `served`: its response had been accepted.
    package mutating func release(served: Bool = false) {
        precondition(inUse > 0, "a connection was given back that nobody took")
        inUse -= 1
        if served { serving -= 1 }
    }

    /// The response to a connection's request was accepted.
    package mutating func accept() {
        serving += 1
        served = max(served, serving)
    }

    /// Whether more connections are in use than the origin was ever seen to serve: what it denies to one of them may have
    /// no other reason.
    package var isCrowded: Bool { inUse > max(1, served) }

    /// The origin answered 429 or 503, or refused a connection, that has been given back already: it bears what is in use
    /// now.
    package mutating func throttled(retryAfter: Interval?, now: Instant) {
        shrink(now: now)
        // With nothing else in use it says nothing of how many it would bear.
        if inUse > 0 { borne = limit }
        guard let retryAfter, retryAfter > .zero else { return }
        let until = now + min(retryAfter, RetryAfter.longest)
        holdUntil = max(holdUntil ?? until, until)
    }

    /// A further connection was turned away without saying that it is one too many (403, a reset before any answer),
    /// and given back already, while others are served: once may be chance.
    package mutating func turnedAway(now: Instant) {
        guard inUse > 0 else { return }
        // Far apart they may have other reasons: an address that has expired meanwhile.
        if let refusedAt, now - refusedAt >= HostBudget.recovery { refusals = 0 }
        refusedAt = now
        refusals += 1
        shrink(now: now)
        if refusals >= HostBudget.shown { borne = limit }
    }

    private static let shown = 2

    private mutating func shrink(now: Instant) {
        limit = max(1, min(limit ?? .max, inUse))
        // One more was allowed since, and that was one too many again.
        if let throttledAt, let recoveredAt, recoveredAt > throttledAt {
            doublings = min(doublings + 1, HostBudget.mostDoublings)
        }
        throttledAt = now
        recoveredAt = now
    }

    /// `bytes` have just come from the origin, which may send `rate` a second.
    package mutating func charge(_ bytes: Int, rate: Int64?, now: Instant) {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        limiter.charge(bytes, now: now)
    }

    /// How long its next byte has to wait.
    package mutating func delay(rate: Int64?, now: Instant) -> Interval {
        if limiter.rate != rate { limiter.change(rate: rate, now: now) }
        return limiter.delay(now: now)
    }

    private mutating func recover(now: Instant) {
        if let until = holdUntil, now >= until { holdUntil = nil }
        guard let current = limit, let throttledAt, let recoveredAt else { return }
        if now - throttledAt >= HostBudget.forgiveness * Double(1 << doublings) {
            limit = nil
            borne = nil
            refusals = 0
            doublings = 0
            return
        }
        guard now - recoveredAt >= HostBudget.recovery * Double(1 << doublings) else { return }
        limit = current + 1
        self.recoveredAt = now
    }

    /// Whether nothing would be lost with it.
    package mutating func isForgettable(now: Instant) -> Bool {
        recover(now: now)
        return inUse == 0 && limit == nil && holdUntil == nil && limiter.delay(now: now) == .zero
    }
}
