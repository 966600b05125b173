import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct LaneSpeedTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    /// One that has received 1000 bytes in a second.
    private var running: LaneSpeed {
        var speed = LaneSpeed(now: at(0))
        _ = speed.received(1000, waits: false, now: at(1))
        speed.measure(now: at(1))
        return speed
    }

    @Test func `the speed is smoothed by halves and measured each half second`() {
        var speed = running
        #expect(speed.present == 1000 && speed.best == 1000)
        #expect(speed.received(1200, waits: false, now: at(1.4)) == 200)
        speed.measure(now: at(1.4))
        #expect(speed.present == 1000)
        speed.measure(now: at(2))
        #expect(speed.present == 600 && speed.best == 1000 && speed.lastByteAt == at(1.4))
    }

    @Test func `a response is awaited from the request on, and the body is measured from its beginning`() {
        var speed = LaneSpeed(now: at(0))
        speed.began(now: at(2))
        speed.responded(now: at(3))
        #expect(speed.opening == .seconds(1) && speed.lastByteAt == at(3))
        speed.waited(now: at(4))
        speed.began(now: at(5))
        _ = speed.received(500, waits: false, now: at(6))
        speed.measure(now: at(6))
        #expect(speed.present == 500 && speed.opening == .seconds(1))
    }

    @Test func `a lane that is held back is neither slow nor silent`() {
        var speed = running
        #expect(!speed.isSlow(under: 2000, mean: 2000, now: at(1)) && speed.slowSince == at(1))
        #expect(!speed.exceeds(1000, now: at(1)) && speed.tooSlowSince == at(1))
        #expect(speed.received(1000, waits: true, now: at(1.5)) == 0)
        #expect(speed.isHeld && speed.lastByteAt == at(1.5) && speed.tooSlowSince == nil)
        #expect(!speed.isSlow(under: 2000, mean: 2000, now: at(9)) && speed.slowSince == nil)
        #expect(speed.exceeds(1000, now: at(9)) && !speed.isTooSlow(now: at(90)))
        _ = speed.received(1000, waits: false, now: at(9))
        speed.measure(now: at(9))
        #expect(!speed.isHeld, "half a second of eight")
    }

    @Test func `a slow lane gets five seconds, a crawling one gets one`() {
        var speed = running
        #expect(
            !speed.isSlow(under: 1500, mean: 5000, now: at(1)) && !speed.isSlow(under: 1500, mean: 5000, now: at(5)))
        #expect(
            speed.isSlow(under: 1500, mean: 5000, now: at(6)) && speed.isSlow(under: 1500, mean: 21_000, now: at(2)))
        #expect(!speed.isSlow(under: 1000, mean: 5000, now: at(6)) && speed.slowSince == nil)
    }

    @Test func `the lowest speed has to be exceeded within its patience`() {
        var speed = running
        #expect(speed.exceeds(999, now: at(1)) && !speed.isTooSlow(now: at(99)))
        #expect(!speed.exceeds(1000, now: at(1)) && !speed.exceeds(1000, now: at(5)))
        #expect(!speed.isTooSlow(now: at(10.9)) && speed.isTooSlow(now: at(11)))
    }

    @Test func `a lane crawls at a twentieth of its best speed`() {
        var speed = running
        for second in 2...8 { speed.measure(now: at(Double(second))) }
        #expect(!speed.crawls(for: .zero, now: at(8)), "it is not noted as slow")
        _ = speed.isSlow(under: 50, mean: 0, now: at(8))
        #expect(!speed.crawls(for: .seconds(10), now: at(17.9)) && speed.crawls(for: .seconds(10), now: at(18)))
    }

    @Test func `a suspended time does not count`() {
        var speed = running
        _ = speed.isSlow(under: 2000, mean: 2000, now: at(1))
        _ = speed.exceeds(1000, now: at(1))
        speed.stoodStill(for: .seconds(60), now: at(61.5))
        #expect(speed.lastByteAt == at(61) && speed.slowSince == at(61) && speed.tooSlowSince == at(61))
        speed.stoodStill(for: .seconds(60), now: at(62))
        #expect(speed.lastByteAt == at(62) && speed.slowSince == at(62))
    }
}
