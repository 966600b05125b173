import PawlBase
import PawlCore
import Testing

@Suite struct SpeedMeterTests {
    private static func fed(rate: Int64, seconds: Int64) -> (meter: SpeedMeter, now: Instant) {
        var meter = SpeedMeter()
        var now = Instant(nanoseconds: 0)
        for tick in 0...seconds * 5 {
            now = Instant(nanoseconds: tick * 200_000_000)
            meter.note(total: rate * tick / 5, now: now)
        }
        return (meter, now)
    }

    @Test func `D6 speed is the bytes of the last second`() {
        let (meter, now) = Self.fed(rate: 5_000_000, seconds: 10)
        #expect(meter.lastSecond(now: now) == 5_000_000)
        #expect(meter.smoothed(now: now) == 5_000_000)
    }

    @Test func `D6 speed falls to 0 on a stall`() {
        var (meter, now) = Self.fed(rate: 5_000_000, seconds: 10)
        #expect(meter.lastSecond(now: now + .seconds(1)) == 0)
        let before = meter.smoothed(now: now + .seconds(3))
        #expect(before < 5_000_000 && before > meter.smoothed(now: now + .seconds(20)))
        for _ in 0..<10 {
            now = now + .milliseconds(200)
            meter.note(total: 50_000_000, now: now)
        }
        #expect(meter.lastSecond(now: now) == 0)
        #expect(meter.smoothed(now: now) < 5_000_000)
        #expect(meter.smoothed(now: now + .seconds(600)) == 0)
    }

    @Test func `D6 what arrives at once at the start is no speed`() {
        var meter = SpeedMeter()
        meter.note(total: 0, now: Instant(nanoseconds: 0))
        // 256 KiB of a socket's buffer after a millisecond, then 1 MB/s.
        var highest: Int64 = 0
        for tick in 0..<50 {
            let now = Instant(nanoseconds: 1_000_000 + Int64(tick) * 200_000_000)
            meter.note(total: 262_144 + Int64(tick) * 200_000, now: now)
            if tick < 3 { #expect(meter.smoothed(now: now) == 0, "too early to tell") }
            highest = max(highest, meter.smoothed(now: now))
        }
        #expect(highest < 1_500_000)
        let end = Instant(nanoseconds: 1_000_000 + 49 * 200_000_000)
        #expect(abs(meter.smoothed(now: end) - 1_000_000) < 30_000)
    }

    @Test func `D6 the speed at the start is not held back by the time before`() {
        let (meter, now) = Self.fed(rate: 5_000_000, seconds: 1)
        #expect(meter.smoothed(now: now) == 5_000_000)
    }

    @Test func `a meter without samples reports 0`() {
        var meter = SpeedMeter()
        let now = Instant(nanoseconds: 5)
        #expect(meter.lastSecond(now: now) == 0 && meter.smoothed(now: now) == 0)
        meter.note(total: 100, now: now)
        meter.note(total: 900, now: now)
        #expect(meter.lastSecond(now: now) == 0 && meter.smoothed(now: now) == 0)
    }
}
