import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct CheckpointsTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `none is due before a body flows, or without new bytes`() {
        var checkpoints = Checkpoints()
        let late = start + .seconds(60)
        #expect(checkpoints.isDue(of: 1000, now: late) == false)
        checkpoints.began(now: start)
        #expect(checkpoints.isDue(of: 0, now: late) == false)
        #expect(checkpoints.isDue(of: 1, now: late) == true)
        #expect(checkpoints.isDue(of: 1, now: late + .seconds(60)) == false)
    }

    @Test func `one is due after some time, or many bytes`() {
        var checkpoints = Checkpoints()
        checkpoints.began(now: start)
        #expect(checkpoints.isDue(of: Checkpoints.size - 1, now: start) == false)
        #expect(checkpoints.isDue(of: Checkpoints.size, now: start) == true)
        // A further lane does not put it off.
        checkpoints.began(now: start + .seconds(1))
        #expect(checkpoints.isDue(of: Checkpoints.size + 1, now: start + .seconds(1)) == false)
        #expect(checkpoints.isDue(of: Checkpoints.size + 1, now: start + Checkpoints.period) == true)
    }

    @Test func `before a wait every new byte counts, once`() {
        var checkpoints = Checkpoints()
        #expect(checkpoints.isDueBeforeWait(of: 5) == true)
        #expect(checkpoints.isDueBeforeWait(of: 5) == false)
        checkpoints.made(of: 9, now: start)
        #expect(checkpoints.isDueBeforeWait(of: 9) == false)
    }

    @Test(arguments: [Int64(0), 1, 10]) func `discarded bytes make another one necessary`(left: Int64) {
        var checkpoints = Checkpoints()
        checkpoints.made(of: 10, now: start)
        checkpoints.voided(of: left)
        #expect(checkpoints.isDue(of: left, now: start + Checkpoints.period) == (left > 0))
        checkpoints.startedOver()
        #expect(checkpoints.isDue(of: 1, now: start + .seconds(9)) == true)
    }
}
