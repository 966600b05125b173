/// How many guesses are looked at: many at once, since programs with an old secret are no attack, then a few each second.
package struct AuthRateLimit: Hashable, Sendable {
    package static let burst = 100.0
    package static let perSecond = 10.0

    private var left = burst
    private var at: ContinuousClock.Instant

    package init(now: ContinuousClock.Instant) { at = now }

    /// Whether one more is looked at.
    package mutating func take(now: ContinuousClock.Instant) -> Bool {
        left = min(AuthRateLimit.burst, left + max(0, (now - at) / .seconds(1)) * AuthRateLimit.perSecond)
        at = now
        guard left >= 1 else { return false }
        left -= 1
        return true
    }

    /// Whether one more would be looked at.
    package func canTake(now: ContinuousClock.Instant) -> Bool {
        var copy = self
        return copy.take(now: now)
    }

    /// It was no guess.
    package mutating func restoreOriginal() { left = min(AuthRateLimit.burst, left + 1) }
}
