import PawlSystem
import PawlTestKit
import Testing

@Suite struct WorkQueueTests {
    private static let kinds: [WorkQueue.Threads] = [.kept, .onDemand, .brief]

    /// Jobs that note what they do, once the gate is open.
    private final class Bench: Sendable {
        let gate = Latch()
        private let begun = Monitor(0)
        private let ended = Monitor<[Int]>([])

        func submit(_ numbers: some Sequence<Int>, to queue: WorkQueue) {
            for number in numbers {
                queue.submit(load: number) { [self] in
                    begun.with { $0 += 1 }
                    gate.pass()
                    ended.with { $0.append(number) }
                }
            }
        }

        var done: [Int] { ended.read(\.self) }

        func waitUntilBegun(_ count: Int) { _ = begun.wait(until: nil) { $0 >= count ? true : nil } }
    }

    @Test(arguments: kinds) func `one thread keeps the order`(kind: WorkQueue.Threads) {
        let bench = Bench()
        bench.gate.open()
        let queue = WorkQueue("pawl-test", kind)
        for start in stride(from: 0, to: 1000, by: 100) {
            bench.submit(start..<start + 100, to: queue)
            if start % 200 == 0 { queue.rest().pass() }
        }
        queue.rest().pass()
        #expect(bench.done == Array(0..<1000))
    }

    @Test(arguments: kinds) func `as many jobs as threads are wanted run, and no more`(kind: WorkQueue.Threads) {
        let bench = Bench()
        let queue = WorkQueue("pawl-test", kind, threads: 3)
        bench.submit(1...5, to: queue)
        bench.waitUntilBegun(3)
        #expect(queue.running == 3)
        bench.gate.open()
        queue.rest().pass()
        #expect(bench.done.sorted() == [1, 2, 3, 4, 5] && queue.running == 0)
    }

    @Test func `the submitting thread runs the jobs when the system refuses every other`() {
        let bench = Bench()
        bench.gate.open()
        // No address space has room for the stack.
        let queue = WorkQueue("pawl-test", .onDemand, threads: 2, stackSize: 1 << 50)
        bench.submit(1...3, to: queue)
        #expect(bench.done == [1, 2, 3] && queue.rest().pass(until: SystemClock().now))
    }

    @Test(arguments: kinds, [nil, 1 << 50]) func `what several threads submit is run once each`(
        kind: WorkQueue.Threads, stackSize: Int?
    ) {
        let bench = Bench()
        bench.gate.open()
        let queue = WorkQueue("pawl-test", kind, threads: 2, stackSize: stackSize)
        let submitters = (0..<4).map { number in
            SystemThread.start { for job in 0..<100 { bench.submit([number * 100 + job], to: queue) } }
        }
        for thread in submitters { thread.join() }
        queue.rest().pass()
        #expect(bench.done.sorted() == Array(0..<400))
    }

    @Test func `a queue without room says so, and takes more nevertheless`() {
        let bench = Bench()
        let queue = WorkQueue("pawl-test", .kept, room: 10)
        bench.submit([9], to: queue)
        bench.waitUntilBegun(1)
        #expect(queue.hasRoom)
        bench.submit([1], to: queue)
        #expect(!queue.hasRoom)
        bench.submit([50], to: queue)
        bench.gate.open()
        queue.rest().pass()
        #expect(queue.hasRoom && bench.done == [9, 1, 50])
    }

    @Test func `a closed queue begins nothing, and rests when what it has begun is done`() async {
        let bench = Bench()
        let queue = WorkQueue("pawl-test", .brief, room: 1)
        bench.submit([1], to: queue)
        bench.waitUntilBegun(1)
        bench.submit([2], to: queue)
        #expect(!queue.hasRoom)
        queue.close()
        bench.submit([3], to: queue)
        let rest = queue.rest()
        #expect(!rest.pass(until: SystemClock().now) && queue.isClosed && queue.hasRoom && queue.running == 1)
        bench.gate.open()
        await rest.opened()
        #expect(bench.done == [1])
    }

    @Test func `a close drops no job for which there is a thread`() {
        for _ in 0..<100 {
            let bench = Bench()
            bench.gate.open()
            let queue = WorkQueue("pawl-test", .brief, threads: 2)
            bench.submit(1...2, to: queue)
            queue.close()
            queue.rest().pass()
            #expect(bench.done.sorted() == [1, 2])
        }
    }

    @Test func `a job that closes its queue is the last`() {
        let bench = Bench()
        bench.gate.open()
        let queue = WorkQueue("pawl-test", .kept)
        queue.submit {
            bench.submit([1], to: queue)
            queue.close()
        }
        queue.rest().pass()
        bench.submit([2], to: queue)
        #expect(bench.done.isEmpty && queue.rest().pass(until: SystemClock().now))
    }

    @Test(arguments: kinds) func `a released queue does what it has`(kind: WorkQueue.Threads) {
        let bench = Bench()
        let rest = {
            let queue = WorkQueue("pawl-test", kind, threads: 2)
            bench.submit(1...3, to: queue)
            return queue.rest()
        }()
        bench.gate.open()
        rest.pass()
        #expect(bench.done.sorted() == [1, 2, 3])
    }

    @Test func `what a job retains is released before the queue rests`() {
        final class Retained: Sendable {}
        weak var retained: Retained?
        let queue = WorkQueue("pawl-test", .onDemand, threads: 2)
        for _ in 0..<10 {
            do {
                let object = Retained()
                retained = object
                queue.submit { _ = object }
            }
            queue.rest().pass()
            #expect(retained == nil)
        }
    }
}
