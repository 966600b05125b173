import Testing

@testable import PawlServer
@testable import PawlWeb

/// The delivery of events to many listeners.
@Suite struct BatchedBroadcastTests {
    private func message(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

    private func broadcasts(with count: UInt64) -> BatchedBroadcast {
        var broadcasts = BatchedBroadcast()
        for number in 0..<count { _ = broadcasts.add(ConnectionID(rawValue: number)) }
        return broadcasts
    }

    @Test func `every listener receives every message once and in order, a few listeners at a time`() {
        var broadcasts = broadcasts(with: 1000)
        var heard: [ConnectionID: [[UInt8]]] = [:]
        var portions = 0
        broadcasts.add(message(0))
        let begins = broadcasts.begins()
        #expect(begins)
        while let portion = broadcasts.next() {
            portions += 1
            #expect(portion.listeners.count <= BatchedBroadcast.portion)
            for listener in portion.listeners { heard[listener, default: []] += portion.messages }
            // Events meanwhile wait for the next round.
            if portions < 150 { broadcasts.add(message(portions)) }
            let beginsAgain = broadcasts.begins()
            #expect(!beginsAgain)
        }
        let all = (0..<150).map(message)
        #expect(heard.count == 1000 && heard.values.allSatisfy { $0 == all })
        // Sixty-three portions per round, and as few rounds as hold them all.
        #expect(portions == 63 * 4)
    }

    @Test func `a round has its interval, a longer one with very many listeners`() {
        for count in [1, 16, 17, 1000, 4000] as [UInt64] {
            var broadcasts = broadcasts(with: count)
            broadcasts.add(message(1))
            var time = Duration.zero
            while let portion = broadcasts.next() { time += portion.pause }
            #expect(
                time > BatchedBroadcast.length - .milliseconds(1)
                    && time <= max(BatchedBroadcast.length, BatchedBroadcast.shortestPause * ((count + 15) / 16)))
        }
    }

    @Test func `a listener that leaves receives nothing more, a new one receives from the next round`() {
        var broadcasts = broadcasts(with: 100)
        broadcasts.add(message(1))
        var first = broadcasts.next()?.listeners ?? []
        #expect(first.count == BatchedBroadcast.portion)
        for number in 0..<50 as Range<UInt64> { broadcasts.remove(ConnectionID(rawValue: number)) }
        let isNew = broadcasts.add(ConnectionID(rawValue: 200))
        #expect(isNew)
        while let portion = broadcasts.next() { first.formUnion(portion.listeners) }
        #expect(first.isSuperset(of: (50..<100).map { ConnectionID(rawValue: $0) }))
        #expect(first.count <= 50 + BatchedBroadcast.portion && !first.contains(ConnectionID(rawValue: 200)))
        broadcasts.add(message(2))
        let begins = broadcasts.begins()
        #expect(begins)
        var second: Set<ConnectionID> = []
        while let portion = broadcasts.next() { second.formUnion(portion.listeners) }
        #expect(second == Set((50..<100).map { ConnectionID(rawValue: $0) } + [ConnectionID(rawValue: 200)]))
    }

    @Test func `at the end everything left is sent at once`() {
        var broadcasts = broadcasts(with: 100)
        broadcasts.add(message(1))
        let receivers = broadcasts.next()?.listeners ?? []
        broadcasts.add(message(2))
        var heard: [ConnectionID: [[UInt8]]] = [:]
        for portion in broadcasts.rest() {
            for listener in portion.listeners { heard[listener, default: []] += portion.messages }
        }
        #expect(heard.count == 100)
        for (listener, messages) in heard {
            #expect(messages == (receivers.contains(listener) ? [message(2)] : [message(1), message(2)]))
        }
        let isOver = broadcasts.next() == nil
        #expect(isOver)
    }
}
