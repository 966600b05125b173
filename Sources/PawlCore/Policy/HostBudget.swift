/// The budget of one origin, by its own limits and Pawl's: connections, a rate, and a time before which no
/// request is sent.
///
/// Shared by all downloads of a process.
package struct HostBudget: Hashable, Sendable {
    package enum Grant: Hashable, Sendable {
        case granted
        /// Every connection allowed by the origin or the user is in use.
        case full
        /// The origin requested no connections until then.
        case hold(until: Instant)
    }

    /// The time without overload after which one more connection is allowed; doubled each time that one more
    /// was rejected, so that a host that allows two is not tried with a third every ten seconds.
    package static let recovery = Interval.seconds(10)
    /// The time without overload after which there is no limit.
    package static let forgiveness = Interval.seconds(600)

    package private(set) var inUse = 0
    /// Connections in use whose response was accepted, and the most that there were at once.
    private var serving = 0
    private var served = 0
    /// `nil` until the origin reports overload.
    package private(set) var limit: Int?
    private var limiter = RateLimiter(rate: nil)
    private var holdUntil: Instant?
    private var throttledAt: Instant?
    private var recoveredAt: Instant?
    /// Doublings of ``recovery``.
    private var doublings = 0
    /// How often, in quick succession, a connection of another file was rejected while others were served.
    private var refusals = 0
    private var refusedAt: Instant?
    /// The limit before a rejection of which one file is the only evidence.
    private var suspicion: Int??
    /// The number of connections that the origin was seen to allow at most; `nil` while that is not shown.
    ///
    /// Stored across restarts.
    package private(set) var learntLimit: Int?
    /// Whether more than one rejection is evidence of ``learntLimit``: a single one may have another cause.
    package private(set) var isLearntLimitCertain = false
    /// The number of connections that is stored for the origin.
    private var stored: Int?

    package init() {}

    /// Starts with the number of connections seen in an earlier run.
    package init(learntLimit: Int, now: Instant) {
        limit = max(1, learntLimit)
        stored = limit
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
        precondition(inUse > 0, "a connection was released that was not acquired")
        assert(!served || serving > 0, "a response was accepted that was not counted")
        inUse -= 1
        if served { serving -= 1 }
    }

    /// The response to a connection's request was accepted.
    ///
    /// Returns whether the origin serves more connections than are stored for it.
    package mutating func accept() -> Bool {
        serving += 1
        assert(serving <= inUse, "more connections serve than are in use")
        served = max(served, serving)
        guard let stored, serving > stored else { return false }
        forgetLearntLimit()
        return true
    }

    private mutating func forgetLearntLimit() {
        learntLimit = nil
        isLearntLimitCertain = false
        stored = nil
        refusals = 0
    }

    private mutating func note(isCertain: Bool) {
        suspicion = nil
        learntLimit = limit
        stored = limit
        isLearntLimitCertain = isCertain
    }

    /// Whether more connections are in use than the origin was ever seen to serve: that alone may be why it
    /// denies one.
    ///
    /// An origin with a stored limit may still count the connections of a process that has just ended.
    package var isCrowded: Bool { inUse > max(1, served) || stored != nil && served == 0 }

    /// The origin responded with 429 or 503, or refused a connection, which has been released already: it
    /// allows those in use now.
    ///
    /// `isFirst`: the first report about this file; later ones are not new evidence.
    package mutating func throttled(retryAfter: Interval?, isFirst: Bool = true, now: Instant) {
        shrink(now: now)
        // Evidence of its own, whatever a rejection before it meant.
        suspicion = nil
        if isFirst { countRefusal(now: now) }
        // With no others in use it does not show how many are allowed.
        if inUse > 0 { note(isCertain: refusals >= HostBudget.shown) }
        guard let retryAfter, retryAfter > .zero else { return }
        let until = now + min(retryAfter, RetryAfter.longest)
        holdUntil = max(holdUntil ?? until, until)
    }

    /// The user does not want to wait as long as the origin requested.
    package mutating func endHold() { holdUntil = nil }

    /// A further connection was rejected without a status for it (403, a reset before any response), and
    /// released already, while others are served.
    ///
    /// `isSameFile`: the others receive the file that was denied, so that the file is not why it was. Where
    /// they receive other files, once may be chance.
    package mutating func connectionRefused(isSameFile: Bool, now: Instant) {
        guard inUse > 0 else { return }
        countRefusal(now: now)
        let isRepeated = refusals >= HostBudget.shown
        let before = suspicion ?? limit
        shrink(now: now)
        if isSameFile || isRepeated { note(isCertain: isRepeated) } else { suspicion = .some(before) }
    }

    /// The only file that was rejected while others were served is also rejected without them: there is no
    /// limit.
    package mutating func withdrawRefusal() {
        guard let before = suspicion else { return }
        limit = before
        suspicion = nil
        refusals = 0
    }

    private mutating func countRefusal(now: Instant) {
        // Rejections far apart may have other reasons: an address that has expired.
        if let refusedAt, now - refusedAt >= HostBudget.recovery { refusals = 0 }
        refusedAt = now
        refusals += 1
    }

    private static let shown = 2

    private mutating func shrink(now: Instant) {
        limit = max(1, min(limit ?? .max, inUse))
        // One more was allowed since, and was too many again.
        if let throttledAt, let recoveredAt, recoveredAt > throttledAt {
            doublings = min(doublings + 1, HostBudget.mostDoublings)
        }
        throttledAt = now
        recoveredAt = now
    }

    /// `bytes` were received from the origin, which is limited to `rate` per second.
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
            suspicion = nil
            forgetLearntLimit()
            doublings = 0
            return
        }
        guard now - recoveredAt >= HostBudget.recovery * Double(1 << doublings) else { return }
        limit = current + 1
        self.recoveredAt = now
    }

    /// Whether it has no state worth keeping.
    package mutating func isForgettable(now: Instant) -> Bool {
        recover(now: now)
        return inUse == 0 && limit == nil && holdUntil == nil && limiter.delay(now: now) == .zero
    }
}
