import PawlCore
import Testing

@testable import PawlServer

/// How events reach many listeners.
@Suite struct RoundsTests {
    private func letter(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

    private func rounds(with count: UInt64) -> Rounds {
        var rounds = Rounds()
        for number in 0..<count { _ = rounds.add(ConnectionID(rawValue: number)) }
        return rounds
    }

    @Test func `everybody hears every letter once and in order, a few listeners at a time`() {
        var rounds = rounds(with: 1000)
        var heard: [ConnectionID: [[UInt8]]] = [:]
        var portions = 0
        rounds.add(letter(0))
        let begins = rounds.begins()
        #expect(begins)
        while let portion = rounds.next() {
            portions += 1
            #expect(portion.listeners.count <= Rounds.portion)
            for listener in portion.listeners { heard[listener, default: []] += portion.letters }
            // What comes meanwhile waits for the next round.
            if portions < 150 { rounds.add(letter(portions)) }
            let beginsAgain = rounds.begins()
            #expect(!beginsAgain)
        }
        let all = (0..<150).map(letter)
        #expect(heard.count == 1000 && heard.values.allSatisfy { $0 == all })
        // Sixty-three portions a round, and as few rounds as hold them all.
        #expect(portions == 63 * 4)
    }

    @Test func `a round takes its time, a longer one with very many listeners`() {
        for count in [1, 16, 17, 1000, 4000] as [UInt64] {
            var rounds = rounds(with: count)
            rounds.add(letter(1))
            var time = Duration.zero
            while let portion = rounds.next() { time += portion.pause }
            #expect(
                time > Rounds.length - .milliseconds(1)
                    && time <= max(Rounds.length, Rounds.shortestPause * ((count + 15) / 16))
            )
        }
    }

    @Test func `who leaves is told nothing more, who comes hears from the next round`() {
        var rounds = rounds(with: 100)
        rounds.add(letter(1))
        var first = rounds.next()?.listeners ?? []
        #expect(first.count == Rounds.portion)
        for number in 0..<50 as Range<UInt64> { rounds.remove(ConnectionID(rawValue: number)) }
        let isNew = rounds.add(ConnectionID(rawValue: 200))
        #expect(isNew)
        while let portion = rounds.next() { first.formUnion(portion.listeners) }
        #expect(first.isSuperset(of: (50..<100).map { ConnectionID(rawValue: $0) }))
        #expect(first.count <= 50 + Rounds.portion && !first.contains(ConnectionID(rawValue: 200)))
        rounds.add(letter(2))
        let begins = rounds.begins()
        #expect(begins)
        var second: Set<ConnectionID> = []
        while let portion = rounds.next() { second.formUnion(portion.listeners) }
        #expect(second == Set((50..<100).map { ConnectionID(rawValue: $0) } + [ConnectionID(rawValue: 200)]))
    }

    @Test func `at the end all that is left goes out at once`() {
        var rounds = rounds(with: 100)
        rounds.add(letter(1))
        let told = rounds.next()?.listeners ?? []
        rounds.add(letter(2))
        var heard: [ConnectionID: [[UInt8]]] = [:]
        for portion in rounds.rest() {
            for listener in portion.listeners { heard[listener, default: []] += portion.letters }
        }
        #expect(heard.count == 100)
        for (listener, letters) in heard {
            #expect(letters == (told.contains(listener) ? [letter(2)] : [letter(1), letter(2)]))
        }
        let isOver = rounds.next() == nil
        #expect(isOver)
    }
}
