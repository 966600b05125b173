import Testing

@testable import PawlWeb

@Suite struct TurnQueueTests {
    @Test func `a member that is added again waits for all that were added before`() {
        var queue = TurnQueue<Int>()
        for member in 0..<100 { queue.append(member) }
        var served: [Int] = []
        while served.count < 500 {
            let turn = queue.next()
            #expect(turn.count == TurnQueue<Int>.most)
            served += turn
            for member in turn { queue.append(member) }
        }
        #expect(Array(served.prefix(500)) == (0..<500).map { $0 % 100 })
    }

    @Test func `a queue that was served to its end is empty`() {
        var queue = TurnQueue<Int>()
        for member in 0..<20 { queue.append(member) }
        #expect([queue.next().count, queue.next().count, queue.next().count] == [8, 8, 4])
        #expect(queue.isEmpty)
        #expect(queue.next().isEmpty)
    }
}
