import PawlBase
import Testing

@Suite struct FIFOTests {
    @Test func `an element that is added again waits for all that were added before`() {
        var queue = FIFO<Int>()
        for element in 0..<100 { queue.append(element) }
        for turn in 0..<500 {
            #expect(queue.first == turn % 100 && queue.popFirst() == turn % 100 && queue.count == 99)
            queue.append(turn % 100)
        }
    }

    @Test func `a queue that was served to its end is empty`() {
        var queue = FIFO<Int>()
        for element in 0..<20 { queue.append(element) }
        #expect((0..<20).map { _ in queue.popFirst() } == Array(0..<20))
        #expect(queue.count == 0 && queue.first == nil && queue.popFirst() == nil)
        queue.append(1)
        #expect(queue.popFirst() == 1)
    }
}
