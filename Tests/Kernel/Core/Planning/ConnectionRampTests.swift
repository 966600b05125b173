import PawlBase
import PawlCore
import Testing

@Suite struct ConnectionRampTests {
    /// Simulates a link with `rate(width)` bytes per second for `seconds`; a connection needs `warmUp` seconds to reach
    /// its rate.
    private static func run(
        _ ramp: inout ConnectionRamp, seconds: Int, remaining: Int64 = 1 << 40, warmUp: Double = 0,
        rate: (Int) -> Double
    ) {
        var received: Int64 = 0
        var now = Instant(nanoseconds: 0)
        var ages: [Int] = []
        for _ in 0..<seconds * 10 {
            ramp.measure(received: received, flowing: ramp.width, remaining: remaining, now: now)
            ages = ages.prefix(ramp.width).map { $0 + 1 }
            while ages.count < ramp.width { ages.append(1) }
            let shares = ages.map { warmUp == 0 ? 1 : min(1, Double($0) / (10 * warmUp)) }
            let present = rate(ramp.width) * shares.reduce(0, +) / Double(ramp.width)
            received += Int64(present / 10)
            now = now + .milliseconds(100)
        }
    }

    @Test func `G3 doubling continues while it pays`() {
        var ramp = ConnectionRamp(.automatic(maximum: 8))
        #expect(ramp.width == 1)
        Self.run(&ramp, seconds: 10) { Double($0) * 1e6 }
        #expect(ramp.width == 8)
    }

    @Test func `G3 a doubling that does not pay is undone for good`() {
        for knee in [1, 2, 4] {
            var ramp = ConnectionRamp(.automatic(maximum: 16))
            Self.run(&ramp, seconds: 20) { Double(min($0, knee)) * 1e6 }
            #expect(ramp.width == knee)
            Self.run(&ramp, seconds: 20) { Double($0) * 1e6 }
            #expect(ramp.width == knee)
        }
    }

    /// Where twelve connections fill the link, sixteen are faster than eight, and the last.
    @Test(arguments: [(64, 32), (17, 16), (12, 16), (9, 8)])
    func `beyond eight, doubling continues only while it pays in full`(enough: Int, width: Int) {
        for isLongWay in [false, true] {
            var ramp = ConnectionRamp(.automatic(maximum: 32))
            if isLongWay { ramp.responded(after: ConnectionRamp.longWay) }
            Self.run(&ramp, seconds: 20) { Double(min($0, enough)) * 1e6 }
            #expect(ramp.width == width)
        }
    }

    @Test func `where the step to eight pays, but not in full, eight are the last`() {
        for isLongWay in [false, true] {
            var ramp = ConnectionRamp(.automatic(maximum: 32))
            if isLongWay { ramp.responded(after: ConnectionRamp.longWay) }
            Self.run(&ramp, seconds: 20) { Double($0) * ($0 < 8 ? 1e6 : 0.7e6) }
            #expect(ramp.width == 8)
        }
    }

    @Test func `over a long way, no more than eight begin for a few seconds`() {
        for (remaining, width): (Int64, Int) in [(30_000_000, 8), (300_000_000, 32)] {
            var ramp = ConnectionRamp(.automatic(maximum: 32))
            ramp.responded(after: ConnectionRamp.longWay)
            Self.run(&ramp, seconds: 3, remaining: remaining) { Double($0) * 1e6 }
            #expect(ramp.width == width)
        }
    }

    @Test(arguments: [0.3, 0.6, 0.9]) func `G3 connections that start slowly get enough time`(warmUp: Double) {
        var ramp = ConnectionRamp(.automatic(maximum: 8))
        Self.run(&ramp, seconds: 10, warmUp: warmUp) { Double($0) * 1e6 }
        #expect(ramp.width == 8)
    }

    @Test func `G3 a connection that fills the link gets company for a second and no more`() {
        for (seconds, width) in [(1, 2), (2, 1)] {
            var ramp = ConnectionRamp(.automatic(maximum: 8))
            Self.run(&ramp, seconds: seconds) { _ in 1e6 }
            #expect(ramp.width == width)
        }
    }

    @Test func `G3 a long round trip starts with four and takes larger steps, back to two where they do not pay`() {
        for (speeds, width) in [(8, 8), (1, 2)] {
            var ramp = ConnectionRamp(.automatic(maximum: 8))
            ramp.responded(after: ConnectionRamp.longWay)
            #expect(ramp.width == 4)
            Self.run(&ramp, seconds: 1) { Double(min($0, speeds)) * 1e6 }
            #expect(ramp.width == 8)
            Self.run(&ramp, seconds: 3) { Double(min($0, speeds)) * 1e6 }
            #expect(ramp.width == width)
            ramp.responded(after: ConnectionRamp.longWay)
            #expect(ramp.width == width)
        }
        var near = ConnectionRamp(.automatic(maximum: 8))
        near.responded(after: .milliseconds(99))
        #expect(near.width == 1)
        var fixed = ConnectionRamp(.fixed(1))
        fixed.responded(after: .seconds(1))
        #expect(fixed.width == 1)
    }

    @Test func `over a long way, as many connections share the rest as may still come`() {
        var ramp = ConnectionRamp(.automatic(maximum: 32))
        #expect(ramp.sharers == nil)
        ramp.responded(after: ConnectionRamp.longWay)
        #expect(ramp.sharers == 32)
        Self.run(&ramp, seconds: 20) { Double(min($0, 12)) * 1e6 }
        #expect(ramp.sharers == 16)
    }

    @Test func `a maximum that is no power of two is reached and not exceeded`() {
        var ramp = ConnectionRamp(.automatic(maximum: 6))
        Self.run(&ramp, seconds: 20) { Double($0) * 1e6 }
        #expect(ramp.width == 6)
        var narrow = ConnectionRamp(.automatic(maximum: 3))
        Self.run(&narrow, seconds: 20) { Double(min($0, 2)) * 1e6 }
        #expect(narrow.width == 2)
    }

    @Test func `a short remainder is not worth another connection`() {
        var ramp = ConnectionRamp(.automatic(maximum: 8))
        Self.run(&ramp, seconds: 5, remaining: 1000) { Double($0) * 1e6 }
        #expect(ramp.width == 1)
        Self.run(&ramp, seconds: 5) { _ in 0 }
        #expect(ramp.width <= 8)
    }

    @Test func `a fixed number is used at once and stays`() {
        var ramp = ConnectionRamp(.fixed(5))
        Self.run(&ramp, seconds: 5) { _ in 1 }
        #expect(ramp.width == 5)
    }

    @Test func `a window counts only while every connection receives bytes`() {
        var ramp = ConnectionRamp(.automatic(maximum: 8))
        for tick in 0..<50 as Range<Int64> {
            let now = Instant(nanoseconds: tick * 100_000_000)
            ramp.measure(received: tick * 1_000_000, flowing: 0, remaining: 1 << 40, now: now)
        }
        #expect(ramp.width == 1)
    }

    @Test func `G3 a rejection shrinks to what works, until conditions change`() {
        var ramp = ConnectionRamp(.automatic(maximum: 8))
        Self.run(&ramp, seconds: 10) { Double($0) * 1e6 }
        let start = Instant(nanoseconds: 0)
        ramp.shrink(to: 3, now: start)
        #expect(ramp.width == 3 && ramp.ceiling == 3)
        ramp.shrink(to: 0, now: start)
        #expect(ramp.width == 1 && ramp.ceiling == 1)
        ramp.restart()
        #expect(ramp == ConnectionRamp(.automatic(maximum: 8)))
    }

    @Test(arguments: [ConnectionRamp.Mode.fixed(4), .automatic(maximum: 4)])
    func `G3 rejected connections are tried again one by one, as the host's budget recovers`(mode: ConnectionRamp.Mode)
    {
        var ramp = ConnectionRamp(mode)
        Self.run(&ramp, seconds: 5) { Double($0) * 1e6 }
        var now = Instant(nanoseconds: 0)
        func wait(_ span: Interval) {
            now = now + span
            ramp.measure(received: 0, flowing: ramp.width, remaining: 1 << 40, now: now)
        }
        ramp.shrink(to: 2, now: now)
        wait(.seconds(9))
        #expect(ramp.width == 2)
        wait(.seconds(1))
        #expect(ramp.width == 3)
        ramp.shrink(to: 2, now: now)
        wait(.seconds(9))
        #expect(ramp.width == 2, "a rejection restarts the wait")
        // One more was too many: from now on it is tried half as often.
        for width in [2, 3, 3, 4, 4] {
            wait(ramp.width == 2 && width == 2 ? .seconds(1) : HostBudget.recovery)
            #expect(ramp.width == width)
        }
    }
}
