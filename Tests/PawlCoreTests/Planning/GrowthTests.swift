import PawlCore
import Testing

@Suite struct GrowthTests {
    /// Feeds a line on which `rate(width)` bytes a second come, for `seconds`.
    private static func run(
        _ growth: inout Growth,
        seconds: Int,
        remaining: Int64 = 1 << 40,
        rate: (Int) -> Double
    ) {
        var received: Int64 = 0
        var now = Moment(nanoseconds: 0)
        for _ in 0..<seconds * 10 {
            growth.measure(received: received, flowing: growth.width, remaining: remaining, now: now)
            received += Int64(rate(growth.width) / 10)
            now = now + .milliseconds(100)
        }
    }

    @Test func `G3 doubling goes on while it pays`() {
        var growth = Growth(.automatic(maximum: 8))
        #expect(growth.width == 1)
        Self.run(&growth, seconds: 10) { Double($0) * 1e6 }
        #expect(growth.width == 8)
    }

    @Test func `G3 a doubling that does not pay is taken back for good`() {
        for knee in [1, 2, 4] {
            var growth = Growth(.automatic(maximum: 16))
            Self.run(&growth, seconds: 20) { Double(min($0, knee)) * 1e6 }
            #expect(growth.width == knee)
            Self.run(&growth, seconds: 20) { Double($0) * 1e6 }
            #expect(growth.width == knee)
        }
    }

    @Test func `a maximum that is no power of two is reached and not passed`() {
        var growth = Growth(.automatic(maximum: 6))
        Self.run(&growth, seconds: 20) { Double($0) * 1e6 }
        #expect(growth.width == 6)
        var narrow = Growth(.automatic(maximum: 3))
        Self.run(&narrow, seconds: 20) { Double(min($0, 2)) * 1e6 }
        #expect(narrow.width == 2)
    }

    @Test func `a short rest is not worth another connection`() {
        var growth = Growth(.automatic(maximum: 8))
        Self.run(&growth, seconds: 5, remaining: 1000) { Double($0) * 1e6 }
        #expect(growth.width == 1)
        Self.run(&growth, seconds: 5) { _ in 0 }
        #expect(growth.width <= 8)
    }

    @Test func `a fixed number is used at once and stays`() {
        var growth = Growth(.fixed(5))
        Self.run(&growth, seconds: 5) { _ in 1 }
        #expect(growth.width == 5)
    }

    @Test func `a window counts only while every connection brings bytes`() {
        var growth = Growth(.automatic(maximum: 8))
        for tick in 0..<50 as Range<Int64> {
            let now = Moment(nanoseconds: tick * 100_000_000)
            growth.measure(received: tick * 1_000_000, flowing: 0, remaining: 1 << 40, now: now)
        }
        #expect(growth.width == 1)
    }

    @Test func `G3 a refusal shrinks to what works, until conditions change`() {
        var growth = Growth(.automatic(maximum: 8))
        Self.run(&growth, seconds: 10) { Double($0) * 1e6 }
        growth.shrink(to: 3)
        #expect(growth.width == 3 && growth.ceiling == 3)
        growth.shrink(to: 0)
        #expect(growth.width == 1 && growth.ceiling == 1)
        Self.run(&growth, seconds: 10) { Double($0) * 1e6 }
        #expect(growth.width == 1)
        growth.restart()
        #expect(growth == Growth(.automatic(maximum: 8)))
    }
}
