/// Decides how many lookups a second a resolver gets.
///
/// All that are wanted, until answers come only at the second attempt or late, which is what an overloaded resolver does; a name whose
/// own servers are broken has no answer at all, and says nothing. Then fewer, and slowly more again.
package struct LookupPace: Hashable, Sendable {
    /// An answer that took longer was lost on the way, and asked for again by the system.
    private static let slow = Interval.seconds(3)
    /// The number of results between two decisions.
    private static let window = 32
    private static let longest = Interval.milliseconds(100)
    private static let shortest = Interval(nanoseconds: 500_000)

    /// The time between the starts of two lookups.
    package private(set) var spacing = Interval.zero
    /// When the next lookup may start.
    package private(set) var nextStart = Instant(nanoseconds: .min)
    /// When the spacing was last increased; lookups that began earlier do not count.
    private var slowedDown = Instant(nanoseconds: .min)
    private var windowStart = Instant(nanoseconds: .min)
    private var answered = 0
    private var strained = 0
    private var failed = 0

    package init() {}

    package mutating func started(at now: Instant) { nextStart = now + spacing }

    /// A lookup has ended with an answer or without one.
    ///
    /// `start` is that of its first attempt, and `attempts` their number.
    package mutating func ended(hasAnswer: Bool, attempts: Int, since start: Instant, at now: Instant) {
        guard start >= slowedDown else { return }
        if answered + failed == 0 { windowStart = start }
        if hasAnswer {
            answered += 1
            if attempts > 1 || now - start >= LookupPace.slow { strained += 1 }
        } else {
            failed += 1
        }
        guard answered + failed >= LookupPace.window else { return }
        if strained * 8 > answered || failed > answered * 2 {
            let measured = (now - windowStart) * (1 / Double(max(answered, 1)))
            spacing = min(spacing == .zero ? measured : spacing * 1.5, LookupPace.longest)
            slowedDown = now
        } else {
            spacing = spacing * 0.97
            if spacing < LookupPace.shortest { spacing = .zero }
        }
        (answered, strained, failed) = (0, 0, 0)
    }
}
