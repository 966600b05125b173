import Testing

@testable import PawlEngine

@Suite struct `A queue of chunks` {
    @Test func `gives bytes in their order, and keeps none that were taken though it is never empty`() {
        var queue = ChunkQueue()
        var taken: [UInt8] = []
        queue.append([0])
        for number in 1..<1_000 {
            queue.append([UInt8](repeating: UInt8(number % 251), count: 100))
            taken += queue.take() ?? []
            #expect(queue.bytes == 100 && queue.kept == 100)
            #expect(queue.places <= 65)
        }
        taken += queue.take() ?? []
        #expect(queue.bytes == 0 && queue.places == 0)
        let isEmpty = queue.take() == nil
        #expect(isEmpty)
        var expected: [UInt8] = [0]
        for number in 1..<1_000 { expected += [UInt8](repeating: UInt8(number % 251), count: 100) }
        #expect(taken == expected)
    }
}
