import PawlBase
import Testing

@Suite struct DeadlinesTests {
    private var deadlines = Deadlines<Int>()

    private func at(_ seconds: Double) -> Instant { Instant.past + .seconds(seconds) }

    private mutating func pass(_ seconds: Double) -> [Int] { deadlines.pass(at(seconds)) }

    @Test mutating func `members are due in the order of their deadlines, once`() {
        for (member, seconds) in [(1, 3.0), (2, 1.0), (3, 2.0)] { deadlines.set(member, to: at(seconds)) }
        #expect(deadlines.first == at(1))
        #expect(pass(0.5).isEmpty)
        #expect(pass(2) == [2, 3])
        #expect(pass(9) == [1])
        #expect(pass(99).isEmpty && deadlines.first == nil)
    }

    @Test mutating func `the deadline that was set last counts`() {
        deadlines.set(1, to: at(1))
        deadlines.set(1, to: at(5))
        // It looks at the instant before, and finds nothing.
        #expect(deadlines.first == at(1) && pass(1).isEmpty && deadlines.first == at(5))
        deadlines.set(1, to: at(3))
        #expect(deadlines.first == at(3) && pass(2).isEmpty)
        #expect(pass(3) == [1])
        #expect(pass(9).isEmpty)
    }

    @Test mutating func `a member without a deadline, or removed, is never due`() {
        deadlines.set(1, to: at(1))
        deadlines.set(1, to: nil)
        deadlines.set(2, to: at(1))
        deadlines.remove(2)
        deadlines.set(3, to: nil)
        #expect(pass(9).isEmpty)
        for member in 1...3 { deadlines.set(member, to: at(10 + Double(member))) }
        #expect(pass(12) == [1, 2] && pass(13) == [3])
    }

    @Test mutating func `an earlier deadline stays in force after later ones were withdrawn`() {
        deadlines.set(1, to: at(9))
        deadlines.set(1, to: at(2))
        deadlines.set(1, to: nil)
        deadlines.set(1, to: at(4))
        #expect(pass(3).isEmpty && pass(4) == [1] && pass(10).isEmpty)
    }

    @Test mutating func `those that come and go quickly leave nothing behind`() {
        deadlines.set(-1, to: at(1000))
        for member in 0..<100_000 {
            deadlines.set(member, to: at(60 + Double(member) / 1000))
            deadlines.remove(member)
        }
        // Entries of members that are gone are thrown away before they are due.
        #expect(deadlines.first.map { $0 > at(159) } == true)
        #expect(pass(999).isEmpty && pass(1000) == [-1])
    }

    @Test(arguments: 1...20) mutating func `it does what a search through all members does`(seed: UInt64) {
        var dice = Dice(seed: seed)
        var all: [Int: Double] = [:]
        var now = 0.0
        for _ in 0..<2000 {
            let member = Int(dice.next() % 30)
            switch dice.next() % 6 {
            case 0: now += Double(dice.next() % 5)
            case 1:
                all[member] = nil
                deadlines.remove(member)
            case let kind:
                all[member] = kind == 2 ? nil : now + Double(dice.next() % 40)
                deadlines.set(member, to: all[member].map(at))
            }
            let due = all.filter { $0.value <= now }.map(\.key)
            for member in due { all[member] = nil }
            #expect(Set(pass(now)) == Set(due))
            if let next = all.values.min() { #expect(deadlines.first.map { $0 <= at(next) } == true) }
        }
    }
}
