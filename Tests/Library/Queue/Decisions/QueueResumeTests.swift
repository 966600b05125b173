import PawlCore
import PawlQueue
import Testing

/// Downloads that held a slot when the program ended resume first.
@Suite struct QueueResumeTests {
    private let ids = (1...5).map { QueueID(rawValue: $0) }

    private func machine(slots: Int, paused: Set<Int> = []) -> QueueMachine {
        var machine = QueueMachine(slots: slots)
        for (index, id) in ids.enumerated() {
            let place = QueuePosition(priority: index == 1 ? 5 : 0, position: Double(index + 1))
            machine.admit(id, at: place, group: nil, isPaused: paused.contains(index))
        }
        return machine
    }

    private func started(_ actions: [QueueMachine.Action]) -> [QueueID] {
        actions.compactMap { if case .run(let id) = $0 { id } else { nil } }
    }

    @Test func `D8 running downloads resume in their order, before a higher priority`() {
        var machine = machine(slots: 2)
        #expect(started(machine.resume([ids[4], ids[2]])) == [ids[4], ids[2]])
        #expect(machine.startNext().isEmpty)
        #expect(machine.holders == [ids[4], ids[2]])
    }

    @Test func `D8 with fewer slots the others come next within their priority`() {
        var machine = machine(slots: 1)
        let actions = machine.resume([ids[4], ids[3], ids[2]])
        #expect(started(actions) == [ids[4]])
        #expect(machine.waiting(from: 0, limit: 9) == [ids[1], ids[3], ids[2], ids[0]])
        let placed = actions.compactMap { if case .place(let id, _) = $0 { id } else { nil } }
        #expect(placed == [ids[3], ids[2]], "their places are written")
    }

    @Test func `D9 a download that was paused meanwhile or is unknown stays where it is`() {
        var machine = machine(slots: 2, paused: [4])
        #expect(started(machine.resume([ids[4], QueueID(rawValue: 99), ids[2], ids[2]])) == [ids[2]])
        #expect(started(machine.startNext()) == [ids[1]])
    }

    @Test func `D8 a forced start gets a slot at once, and a preempted download does not`() {
        var machine = machine(slots: 1)
        _ = machine.startNext()
        #expect(machine.holders == [ids[1]])
        _ = machine.apply(.start(ids[4]))
        #expect(machine.holders == [ids[4]])
    }
}
