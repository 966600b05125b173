import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

@Suite struct RateLimiterTests {
    @Test(arguments: 0..<10 as Range<UInt64>) func `the average never exceeds the rate, also when it changes`(
        seed: UInt64
    ) {
        var dice = Dice(seed: seed)
        var rate = Int64(dice.number(1000...1_000_000))
        var limiter = RateLimiter(rate: rate)
        var now = Instant(nanoseconds: 0)
        var allowed = 0.0
        var taken = 0.0
        limiter.charge(0, now: now)
        for _ in 0..<500 {
            let wait = limiter.delay(now: now)
            now = now + wait
            allowed += Double(rate) * wait.seconds
            // The debt has been waited for, up to the rounding of nanoseconds.
            #expect(taken <= allowed + 1)
            #expect(limiter.delay(now: now).seconds < 1e-6)
            let chunk = dice.number(1...20_000)
            limiter.charge(chunk, now: now)
            taken += Double(chunk)
            guard dice.chance(1, in: 50) else { continue }
            // The debt is the same number of bytes at the new rate.
            rate = Int64(dice.number(1000...1_000_000))
            limiter.change(rate: rate, now: now)
        }
        #expect(taken > 0)
    }

    @Test func `after a pause a burst is at most a quarter of a second's worth`() {
        var limiter = RateLimiter(rate: 1000)
        limiter.charge(0, now: Instant(nanoseconds: 0))
        let later = Instant(nanoseconds: 3_600_000_000_000)
        limiter.charge(250, now: later)
        #expect(limiter.delay(now: later) == .zero)
        limiter.charge(1000, now: later)
        #expect(limiter.delay(now: later) == .seconds(1))
    }

    @Test func `without a rate everything passes`() {
        var limiter = RateLimiter(rate: nil)
        let now = Instant(nanoseconds: 0)
        limiter.charge(1 << 30, now: now)
        #expect(limiter.delay(now: now) == .zero)
        limiter.change(rate: 10, now: now)
        limiter.charge(10, now: now)
        #expect(limiter.delay(now: now) == .seconds(1))
        limiter.change(rate: nil, now: now)
        #expect(limiter.delay(now: now) == .zero)
    }
}
