package import PawlBase

/// A token bucket over bytes: on average at most `rate` per second, in bursts at most a quarter of a second's
/// worth beyond it.
package struct RateLimiter: Hashable, Sendable {
    /// Bytes per second; `nil` for no limit.
    package private(set) var rate: Int64?
    private var tokens: Double = 0
    private var filledAt: Instant?

    package init(rate: Int64?) { self.rate = rate }

    private var burst: Double { Double(rate ?? 0) / 4 }

    package mutating func change(rate: Int64?, now: Instant) {
        fill(now)
        self.rate = rate
        tokens = min(tokens, burst)
    }

    /// `bytes` were read from the network.
    package mutating func charge(_ bytes: Int, now: Instant) {
        assert(bytes >= 0, "bytes that were read are never returned")
        guard rate != nil else { return }
        fill(now)
        tokens -= Double(bytes)
    }

    /// How long the next byte has to wait; zero when it may pass now.
    package mutating func delay(now: Instant) -> Interval {
        guard let rate, rate > 0 else { return .zero }
        fill(now)
        return tokens >= 0 ? .zero : .seconds(-tokens / Double(rate))
    }

    private mutating func fill(_ now: Instant) {
        defer { filledAt = now }
        guard let rate, let filledAt, now > filledAt else { return }
        tokens = min(burst, tokens + (now - filledAt).seconds * Double(rate))
    }
}
