import PawlBase

/// A token bucket for authentication attempts: a burst, since programs with an old secret are no attack, then a few per
/// second.
package struct AuthRateLimit: Hashable, Sendable {
    package static let burst = 100.0
    package static let perSecond = 10.0

    private var left = burst
    private var at: ContinuousClock.Instant

    package init(now: ContinuousClock.Instant) { at = now }

    /// Whether one more attempt is checked.
    package mutating func take(now: ContinuousClock.Instant) -> Bool {
        left = min(AuthRateLimit.burst, left + max(0, (now - at) / .seconds(1)) * AuthRateLimit.perSecond)
        at = now
        guard left >= 1 else { return false }
        left -= 1
        return true
    }

    /// Whether one more attempt would be checked.
    package func canTake(now: ContinuousClock.Instant) -> Bool {
        var copy = self
        return copy.take(now: now)
    }

    /// The attempt was correct: returns its token.
    package mutating func refund() { left = min(AuthRateLimit.burst, left + 1) }
}
