import PawlCore
import Testing

@Suite struct QueueSchedulerTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func `D7 slots are never exceeded nor idle while someone waits, whatever happens`(seed: UInt64) {
        var dice = Dice(seed: seed)
        var scheduler = QueueScheduler<Int>(slots: dice.number(1...4))
        var line: [Int] = []
        var running: Set<Int> = []
        for _ in 0..<600 {
            let id = dice.number(0...30)
            let started: [Int]
            switch dice.number(0...5) {
            case 0, 1, 2:
                if !running.contains(id), !line.contains(id) { line.append(id) }
                started = scheduler.enqueue(id)
            case 3, 4:
                line.removeAll { $0 == id }
                running.remove(id)
                started = scheduler.release(id)
            default: started = scheduler.change(slots: dice.number(0...5))
            }
            // They start in order, as many as there is room for.
            let room = max(0, scheduler.slots - running.count)
            #expect(started == Array(line.prefix(room)))
            line.removeFirst(min(started.count, line.count))
            running.formUnion(started)
            #expect(scheduler.running == running)
            #expect(running.count <= scheduler.slots || started.isEmpty)
            #expect((0...30).allSatisfy { scheduler.isWaiting($0) == line.contains($0) })
            #expect(scheduler.isIdle == (running.isEmpty && line.isEmpty))
        }
    }

    @Test func `there is always one slot`() {
        var scheduler = QueueScheduler<Int>(slots: 0)
        #expect(scheduler.enqueue(1) == [1])
        #expect(scheduler.change(slots: -3).isEmpty && scheduler.slots == 1)
    }
}
