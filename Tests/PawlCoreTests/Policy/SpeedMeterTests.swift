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

    @Test func `a meter without samples reports 0`() {
        var meter = SpeedMeter()
        let now = Instant(nanoseconds: 5)
        #expect(meter.lastSecond(now: now) == 0 && meter.smoothed(now: now) == 0)
        meter.note(total: 100, now: now)
        meter.note(total: 900, now: now)
        #expect(meter.lastSecond(now: now) == 0 && meter.smoothed(now: now) == 0)
    }
}
