import PawlBase
import PawlQueue
import PawlTestKit
import Testing

@Suite struct `Slots without a stored queue` {
    private func scheduler(slots: Int, _ ids: Range<UInt64>) -> SlotScheduler {
        var scheduler = SlotScheduler(slots: slots)
        for id in ids { scheduler.add(id) }
        return scheduler
    }

    @Test func `D7 the rest wait in the order of their resumption`() {
        var slots = scheduler(slots: 2, 0..<4)
        #expect([3, 1, 0, 2].map { slots.resume($0) } == [[.start(3)], [.start(1)], [], []])
        #expect(slots.released(1, in: .finished) == [.start(0)])
        #expect(slots.released(3, in: .failed) == [.start(2)])
    }

    @Test func `D10 a paused one keeps its slot until it has stopped`() {
        var slots = scheduler(slots: 1, 0..<2)
        #expect(slots.resume(0) == [.start(0)] && slots.resume(1) == [])
        #expect(slots.pause(0) == [.pause(0)])
        #expect(slots.released(0, in: .paused) == [.start(1)])
        #expect(slots.released(1, in: .finished) == [])
    }

    @Test func `D9 a waiting one that is paused leaves the line`() {
        var slots = scheduler(slots: 1, 0..<3)
        for id in 0..<3 as Range<UInt64> { _ = slots.resume(id) }
        #expect(slots.pause(1) == [.pause(1)])
        #expect(slots.released(0, in: .finished) == [.start(2)])
        #expect(slots.resume(1) == [])
        #expect(slots.released(2, in: .finished) == [.start(1)])
    }

    @Test func `one that is resumed while it stops starts again when it has stopped, behind the others`() {
        var slots = scheduler(slots: 1, 0..<2)
        _ = slots.resume(0)
        _ = slots.resume(1)
        _ = slots.pause(0)
        #expect(slots.resume(0) == [])
        #expect(slots.released(0, in: .paused) == [.start(1)])
        #expect(slots.released(1, in: .finished) == [.start(0)])
    }

    @Test func `one that is resumed when its failure is reported starts again`() {
        var slots = scheduler(slots: 1, 0..<1)
        _ = slots.resume(0)
        slots.rests(0)
        #expect(slots.resume(0) == [])
        #expect(slots.released(0, in: .failed) == [.start(0)])
    }

    @Test func `one that is published needs no slot and is not started again`() {
        var slots = scheduler(slots: 1, 0..<2)
        _ = slots.resume(0)
        _ = slots.resume(1)
        #expect(slots.publishing(0) == [.start(1)])
        #expect(slots.resume(0) == [] && slots.pause(0) == [.pause(0)])
        #expect(slots.released(0, in: .finished) == [])
        #expect(slots.resume(0) == [] && slots.pause(0) == [])
    }

    @Test func `D7 D8 fewer slots preempt the newest, which is the next to start`() {
        var slots = scheduler(slots: 2, 0..<3)
        for id in 0..<3 as Range<UInt64> { _ = slots.resume(id) }
        #expect(slots.change(slots: 1) == [.preempt(1)])
        #expect(slots.released(1, in: .preempted) == [])
        #expect(slots.released(0, in: .finished) == [.start(1)])
    }

    @Test func `drained slots stop nobody and are not given again`() {
        var slots = scheduler(slots: 3, 0..<6)
        for id in 0..<5 as Range<UInt64> { _ = slots.resume(id) }
        #expect(slots.drain(to: 1) == [] && slots.slots == 1 && slots.running == 3)
        #expect(slots.resume(5) == [])
        #expect(slots.released(1, in: .finished) == [] && slots.publishing(0) == [])
        #expect(slots.released(2, in: .finished) == [.start(3)] && slots.running == 1)
        #expect(slots.drain(to: 3) == [.start(4), .start(5)])
    }

    @Test func `one that gets its slot back while it stops starts when it has stopped`() {
        var slots = scheduler(slots: 2, 0..<2)
        for id in 0..<2 as Range<UInt64> { _ = slots.resume(id) }
        #expect(slots.change(slots: 1) == [.preempt(1)])
        #expect(slots.change(slots: 2) == [])
        #expect(slots.released(1, in: .preempted) == [.start(1)])
    }

    @Test func `D14 nothing starts one that was removed`() {
        var slots = scheduler(slots: 1, 0..<3)
        for id in 0..<3 as Range<UInt64> { _ = slots.resume(id) }
        #expect(slots.remove(1) == [.remove(1)] && slots.resume(1) == [])
        #expect(slots.remove(0) == [.remove(0)] && slots.resume(0) == [] && slots.pause(0) == [])
        #expect(slots.released(0, in: .removed) == [.start(2)])
        #expect(slots.resume(0) == [])
    }

    @Test func `one that is forgotten while it waits or runs is dropped when it has ended`() {
        var slots = scheduler(slots: 1, 0..<3)
        _ = slots.resume(0)
        _ = slots.resume(1)
        #expect(slots.forget(0) == [] && slots.forget(1) == [] && slots.forget(2) == [.forget(2)])
        #expect(slots.released(0, in: .finished) == [.start(1), .forget(0)])
        #expect(slots.released(1, in: .paused) == [.forget(1)])
        #expect((0..<3 as Range<UInt64>).allSatisfy { slots.resume($0) == [] })
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `D7 D8 D9 D10 D14 in a storm of events no slot is given twice or left idle`(seed: UInt64) {
        var dice = Dice(seed: seed)
        var storm = SlotStorm(downloads: 60, slots: 2)
        for _ in 0..<4000 { storm.step(&dice) }
        for id in storm.models.indices where !storm.models[id].isForgotten { storm.resume(id) }
        // Nobody resumes a failed one any more, so all come to their end.
        for _ in 0..<40000 where !storm.isQuiet { storm.step(&dice, meddles: false) }
        #expect(storm.broken == nil)
        #expect(storm.isQuiet, "all that were wanted have run")
        #expect(storm.preemptions > 0)
    }
}
