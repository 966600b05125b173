import PawlBase
import PawlQueue
import PawlTestKit
import Testing

/// Long queues, compared with an array.
@Suite struct QueueLineTests {
    private func line(_ count: Int) -> (QueueScheduler<Int>, [Int]) {
        var scheduler = QueueScheduler<Int>(slots: 1)
        #expect(scheduler.enqueue(-1) == [.start(-1)])
        for id in 0..<count { #expect(scheduler.enqueue(id).isEmpty) }
        return (scheduler, Array(0..<count))
    }

    private func expectSame(_ scheduler: QueueScheduler<Int>, _ model: [Int]) {
        #expect(scheduler.waiting(limit: .max) == model)
        for index in stride(from: 0, to: model.count, by: 97) {
            #expect(scheduler.index(of: model[index]) == index)
            #expect(scheduler.waiting(from: index, limit: 3) == Array(model[index...].prefix(3)))
        }
    }

    @Test func `D11 a queue of thousands stays in order whatever is moved`() {
        var (scheduler, model) = line(2_000)
        var dice = Dice(seed: 4)
        for _ in 0..<600 {
            let from = Int(dice.next() % 2_000)
            let to = Int(dice.next() % 2_000)
            let id = model.remove(at: from)
            model.insert(id, at: to)
            #expect(!scheduler.apply(.move(id, .index(to))).isEmpty && scheduler.index(of: id) == to)
        }
        expectSame(scheduler, model)
    }

    @Test(arguments: [3, 1_000, 1_998]) func `D11 the same gap can be used without end`(index: Int) {
        var (scheduler, model) = line(2_000)
        var replaced = 0
        for turn in 0..<300 {
            let id = model.remove(at: turn.isMultiple(of: 2) ? 0 : model.count - 1)
            model.insert(id, at: index)
            let orders = scheduler.apply(.move(id, .index(index)))
            #expect(scheduler.index(of: id) == index)
            replaced = max(replaced, orders.count)
        }
        expectSame(scheduler, model)
        #expect(replaced > 1, "neighbours made room")
    }

    @Test func `downloads are known, waiting, running or paused`() {
        var (scheduler, _) = line(2)
        scheduler.restore(0, place: QueuePosition(position: 50))
        #expect(scheduler.waiting(limit: 9) == [0, 1], "a known one keeps its place")
        #expect(scheduler.isRunning(-1) && !scheduler.isRunning(0) && !scheduler.isRunning(77))
        #expect(scheduler.isWaiting(0) && !scheduler.isWaiting(-1) && !scheduler.isWaiting(77))
        #expect(scheduler.index(of: -1) == nil && scheduler.index(of: 77) == nil)
        #expect(scheduler.waitingCount == 2)
    }
}
