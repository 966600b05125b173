import PawlBase
import PawlCore
import Testing

/// How many connections a rate limit can use.
@Suite struct LaneAllowanceTests {
    private var now = Instant(nanoseconds: 0)

    private mutating func judge(_ allowance: inout LaneAllowance, _ lanes: [LaneAllowance.Sample]) {
        now = now + LaneAllowance.period
        allowance.judge(lanes, now: now)
    }

    private func lanes(_ count: Int, _ speed: Double, held: Bool = false) -> [LaneAllowance.Sample] {
        (0..<count).map { _ in LaneAllowance.Sample(speed: speed, isHeld: held) }
    }

    @Test func `without a limit there is none, and with a new one there is one connection`() {
        var allowance = LaneAllowance()
        #expect(allowance.width == .max)
        allowance.change(rate: 100_000, now: now)
        #expect(allowance.width == 1)
        allowance.change(rate: nil, now: now)
        #expect(allowance.width == .max)
    }

    @Test mutating func `a throttled connection uses all of the limit`() {
        var allowance = LaneAllowance()
        allowance.change(rate: 100_000, now: now)
        judge(&allowance, lanes(1, 100_000, held: true))
        #expect(allowance.width == 1)
        judge(&allowance, lanes(8, 12_000, held: true))
        #expect(allowance.width == 1)
    }

    @Test mutating func `slow servers get as many connections as the limit can use, and no more`() {
        var allowance = LaneAllowance()
        allowance.change(rate: 1_000_000, now: now)
        var widths: [Int] = []
        for _ in 0..<6 {
            judge(&allowance, lanes(min(allowance.width, 100), 100_000))
            widths.append(allowance.width)
        }
        #expect(widths.prefix(4) == [2, 4, 8, 9])
    }

    @Test mutating func `nothing is concluded before each connection was measured for a while`() {
        var allowance = LaneAllowance()
        allowance.change(rate: 1_000_000, now: now)
        allowance.judge(lanes(1, 10), now: now + .milliseconds(100))
        #expect(allowance.width == 1)
        judge(&allowance, lanes(1, 0))
        #expect(allowance.width == 1)
        judge(&allowance, [LaneAllowance.Sample(speed: 10, isHeld: false, isFlowing: false)])
        #expect(allowance.width == 1)
    }

    @Test(arguments: [0, 1, -5, Int64.max, Int64.min]) func `no limit traps`(rate: Int64) {
        var allowance = LaneAllowance()
        allowance.change(rate: rate, now: Instant(nanoseconds: 0))
        for step in 1...20 {
            allowance.judge(
                lanes(min(allowance.width, 50), step.isMultiple(of: 2) ? .infinity : 1e-300),
                now: Instant(nanoseconds: Int64(step) * 1_000_000_000))
            #expect(allowance.width >= 1)
        }
    }
}
