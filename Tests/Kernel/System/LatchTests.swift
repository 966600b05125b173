import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@Suite struct LatchTests {
    @Test func `an open latch lets threads and tasks pass, and stays open`() async {
        let latch = Latch()
        #expect(!latch.pass(until: SystemClock().now))
        let threads = (0..<3).map { _ in SystemThread.start { latch.pass() } }
        async let task: Void = latch.opened()
        latch.open()
        for thread in threads { thread.join() }
        await task
        await latch.opened()
        #expect(latch.pass(until: SystemClock().now))
    }

    @Test func `of several values the first counts`() async {
        for _ in 0..<100 {
            let value = await Once.value(instead: 0) { once in
                once.give(1)
                for other in 2...3 { SystemThread.start { once.give(other) }.detach() }
            }
            #expect(value == 1)
        }
    }

    @Test func `threads that give at the same time resume the task once`() async {
        for _ in 0..<100 {
            let value = await Once.value(instead: 0) { once in
                for each in 1...3 { SystemThread.start { once.give(each) }.detach() }
            }
            #expect((1...3).contains(value))
        }
    }

    @Test func `a question that is dropped has its other answer`() async {
        let kept = Mutex<Once<Int>?>(nil)
        #expect(await Once.value(instead: 7) { _ in } == 7)
        async let value = Once.value(instead: 8) { once in kept.withLock { $0 = once } }
        while kept.withLock({ $0 == nil }) { await Task.yield() }
        kept.withLock { $0 = nil }
        #expect(await value == 8)
    }
}
