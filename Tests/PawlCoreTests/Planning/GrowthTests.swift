import PawlCore
import Testing

@Suite struct GrowthTests {
    /// Feeds a line on which `rate(width)` bytes a second come, for `seconds`; a connection needs `ramp` seconds to get to
    /// its rate.
    private static func run(
        _ growth: inout Growth,
        seconds: Int,
        remaining: Int64 = 1 << 40,
        ramp: Double = 0,
        rate: (Int) -> Double
    ) {
        var received: Int64 = 0
        var now = Moment(nanoseconds: 0)
        var ages: [Int] = []
        for _ in 0..<seconds * 10 {
            growth.measure(received: received, flowing: growth.width, remaining: remaining, now: now)
            ages = ages.prefix(growth.width).map { $0 + 1 }
            while ages.count < growth.width { ages.append(1) }
            let shares = ages.map { ramp == 0 ? 1 : min(1, Double($0) / (10 * ramp)) }
            let present = rate(growth.width) * shares.reduce(0, +) / Double(growth.width)
            received += Int64(present / 10)
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

    @Test(arguments: [0.3, 0.6, 0.9])
    func `G3 connections that begin slowly are given the time to pay`(ramp: Double) {
        var growth = Growth(.automatic(maximum: 8))
        Self.run(&growth, seconds: 10, ramp: ramp) { Double($0) * 1e6 }
        #expect(growth.width == 8)
    }

    @Test func `G3 a connection that fills the line gets company for a second and no more`() {
        for (seconds, width) in [(1, 2), (2, 1)] {
            var growth = Growth(.automatic(maximum: 8))
            Self.run(&growth, seconds: seconds) { _ in 1e6 }
            #expect(growth.width == width)
        }
    }

    @Test
    func `G3 a long way is begun with two and taken in larger steps, back to two where they do not pay`() {
        for (speeds, width) in [(8, 8), (1, 2)] {
            var growth = Growth(.automatic(maximum: 8))
            growth.answered(after: Growth.longWay)
            #expect(growth.width == 2)
            Self.run(&growth, seconds: 1) { Double(min($0, speeds)) * 1e6 }
            #expect(growth.width == 8)
            Self.run(&growth, seconds: 3) { Double(min($0, speeds)) * 1e6 }
            #expect(growth.width == width)
            growth.answered(after: Growth.longWay)
            #expect(growth.width == width)
        }
        var near = Growth(.automatic(maximum: 8))
        near.answered(after: .milliseconds(99))
        #expect(near.width == 1)
        var fixed = Growth(.fixed(1))
        fixed.answered(after: .seconds(1))
        #expect(fixed.width == 1)
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
        let start = Moment(nanoseconds: 0)
        growth.shrink(to: 3, now: start)
        #expect(growth.width == 3 && growth.ceiling == 3)
        growth.shrink(to: 0, now: start)
        #expect(growth.width == 1 && growth.ceiling == 1)
        growth.restart()
        #expect(growth == Growth(.automatic(maximum: 8)))
    }

    @Test(arguments: [Growth.Mode.fixed(4), .automatic(maximum: 4)])
    func `G3 what was refused is tried again one by one, as the host's budget recovers`(mode: Growth.Mode) {
        var growth = Growth(mode)
        Self.run(&growth, seconds: 5) { Double($0) * 1e6 }
        var now = Moment(nanoseconds: 0)
        func wait(_ span: Span) {
            now = now + span
            growth.measure(received: 0, flowing: growth.width, remaining: 1 << 40, now: now)
        }
        growth.shrink(to: 2, now: now)
        wait(.seconds(9))
        #expect(growth.width == 2)
        wait(.seconds(1))
        #expect(growth.width == 3)
        growth.shrink(to: 2, now: now)
        wait(.seconds(9))
        #expect(growth.width == 2, "a refusal begins the wait again")
        // One more was one too many: from now on it is tried half as often.
        for width in [2, 3, 3, 4, 4] {
            wait(growth.width == 2 && width == 2 ? .seconds(1) : HostBudget.recovery)
            #expect(growth.width == width)
        }
    }
}
