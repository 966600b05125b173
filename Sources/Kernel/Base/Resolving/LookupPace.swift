/// Decides how many lookups a second a resolver gets.
///
/// All that are wanted, until results come only at the second attempt or late, which is what an overloaded resolver does; a name whose
/// own servers are broken has no result at all, and says nothing. Then fewer, and slowly more again. Lookups without a response limit
/// themselves, because each takes seconds: only those that fail at once slow the others down.
package struct LookupPace: Hashable, Sendable {
    /// A result that took longer was lost on the way, and requested for again by the system.
    private static let slow = Interval.milliseconds(1_800)
    /// The least number of results between two decisions.
    private static let window = 32
    private static let longest = Interval.milliseconds(50)
    /// The least time between two decisions to look up faster.
    private static let step = Interval.seconds(1)
    /// The same near what was too much: results to lost queries are so late.
    private static let patience = Interval.seconds(5)
    private static let shortest = Interval(nanoseconds: 500_000)

    /// The time between the starts of two lookups.
    package private(set) var spacing = Interval.zero
    /// When the next lookup may start.
    package private(set) var nextStart = Instant(nanoseconds: .min)
    /// When the spacing was last increased; lookups that began earlier do not count.
    private var slowedDown = Instant(nanoseconds: .min)
    /// The time between two results when there were too many lookups, as far as that is known.
    private var tooShort = Interval.zero
    private var windowStart = Instant(nanoseconds: .min)
    private var resolved = 0
    private var strained = 0
    private var failed = 0

    package init() {}

    package mutating func started(at now: Instant) { nextStart = now + spacing }

    /// A lookup has a result.
    ///
    /// `start` is that of its first attempt, and `attempts` their number.
    package mutating func resolved(attempts: Int, since start: Instant, at now: Instant) {
        guard start >= slowedDown else { return }
        if resolved + failed == 0 { windowStart = start }
        resolved += 1
        if attempts > 1 || now - start >= LookupPace.slow { strained += 1 }
        decide(at: now)
    }

    /// A lookup has none, although there was a response.
    package mutating func failed(since start: Instant, at now: Instant) {
        guard start >= slowedDown else { return }
        if resolved + failed == 0 { windowStart = start }
        failed += 1
        decide(at: now)
    }

    private mutating func decide(at now: Instant) {
        guard resolved + failed >= LookupPace.window else { return }
        let elapsed = now - windowStart
        if strained * 8 > resolved || failed > resolved * 2 {
            // What it has sustained.
            let sustained = elapsed * (1 / Double(max(resolved, 1)))
            spacing = min(max(sustained, spacing * 1.5), LookupPace.longest)
            tooShort = min(sustained, spacing * 0.7)
            slowedDown = now
        } else if spacing > tooShort * 1.25 {
            guard elapsed >= LookupPace.step else { return }
            spacing = spacing * 0.8
        } else {
            guard elapsed >= LookupPace.patience else { return }
            spacing = spacing * (now - slowedDown < LookupPace.patience * 3 ? 0.95 : 0.85)
        }
        if spacing < LookupPace.shortest { spacing = .zero }
        (resolved, strained, failed) = (0, 0, 0)
    }
}
