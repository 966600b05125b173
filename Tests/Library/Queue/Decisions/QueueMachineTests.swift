import PawlBase
import PawlCore
import PawlQueue
import PawlTestKit
import Testing

/// The queue's decisions, walked at random against a small model of the engine.
@Suite struct QueueMachineTests {
    /// The state of the engine and the records.
    private struct World {
        var machine = QueueMachine(slots: 2)
        var running: Set<QueueID> = []
        var stopping: Set<QueueID> = []
        var states: [QueueID: DownloadState] = [:]
        var cleaned: Set<QueueID> = []
        var violations: [String] = []

        mutating func carryOut(_ actions: [QueueMachine.Action]) {
            for action in actions {
                switch action {
                case .run(let id):
                    if !running.insert(id).inserted { violations.append("\(id) runs twice") }
                    if states[id] == .paused { violations.append("\(id) was paused and runs") }
                    if cleaned.contains(id) { violations.append("\(id) was removed and runs") }
                case .stop(let id):
                    if !running.contains(id) { violations.append("\(id) does not run and is stopped") }
                    if !stopping.insert(id).inserted { violations.append("\(id) is stopped twice") }
                case .write(let id, let state): states[id] = state
                case .place: break
                case .notify(let id, let rest):
                    if running.contains(id) { violations.append("\(id) runs and is reported as \(rest)") }
                case .clean(let id):
                    if running.contains(id) { violations.append("\(id) runs and its files are removed") }
                    if !cleaned.insert(id).inserted { violations.append("\(id) is removed twice") }
                    states[id] = nil
                }
            }
        }

        mutating func step(_ dice: inout Dice, count: Int) {
            let id = QueueID(rawValue: UInt64(1 + dice.roll(count)))
            switch dice.roll(14) {
            case 0, 1: admit(id, isPaused: dice.roll(3) == 0, inGroup: dice.roll(3) == 0)
            case 2: carryOut(machine.apply(.pause(id, keepsSlot: dice.roll(3) == 0)))
            case 3: carryOut(machine.apply(.resume(id)))
            case 4: carryOut(machine.apply(.start(id)))
            case 5 where states[id] != nil && !cleaned.contains(id): remove(id)
            case 6: carryOut(machine.apply(.priority(id, dice.roll(3))))
            case 7: carryOut(machine.apply(.move(id, .index(dice.roll(count)))))
            case 8:
                let group = GroupID("g")
                carryOut(machine.apply(dice.roll(2) == 0 ? .pauseGroup(group) : .resumeGroup(group)))
            case 9: carryOut(machine.apply(.slots(1 + dice.roll(4))))
            case 11: carryOut(machine.apply(.hold(dice.roll(3) == 0)))
            case 10: carryOut(machine.apply(.group(id, dice.roll(2) == 0 ? GroupID("g") : nil)))
            default: engine(&dice)
            }
        }

        private mutating func admit(_ id: QueueID, isPaused: Bool, inGroup: Bool) {
            guard states[id] == nil, !running.contains(id) else { return }
            cleaned.remove(id)
            states[id] = isPaused ? .paused : .waiting
            let place = machine.lastPlace(priority: 0)
            machine.admit(id, at: place, group: inGroup ? GroupID("g") : nil, isPaused: isPaused)
            carryOut(machine.startNext())
        }

        private var leaving: Set<QueueID> = []

        private mutating func remove(_ id: QueueID) {
            guard leaving.insert(id).inserted else { return }
            carryOut(machine.remove(id))
            if cleaned.contains(id) { leaving.remove(id) }
        }

        /// A running download yields its slot, ends, or reaches its publishing.
        private mutating func engine(_ dice: inout Dice) {
            let ids = running.sorted()
            guard !ids.isEmpty else { return }
            let id = ids[dice.roll(ids.count)]
            switch dice.roll(6) {
            case 0 where !stopping.contains(id): carryOut(machine.publishing(id))
            case 1 where !stopping.contains(id): end(id, dice.roll(2) == 0 ? .finished : .failed)
            // A stop that came too late.
            case 2 where stopping.contains(id): end(id, .finished)
            case 3 where stopping.contains(id): stopped(id)
            case 4: stall(id)
            case 5: carryOut(machine.wake(states.keys.sorted()))
            default: break
            }
        }

        /// Its disk is full.
        private mutating func stall(_ id: QueueID) {
            running.remove(id)
            stopping.remove(id)
            leaving.remove(id)
            carryOut(machine.stalled(id, at: machine.lastPlace(priority: 0), group: nil))
            if machine.rest(of: id) == .waitingForDisk { stalls += 1 }
        }

        var stalls = 0

        private mutating func stopped(_ id: QueueID) {
            running.remove(id)
            stopping.remove(id)
            leaving.remove(id)
            carryOut(machine.stopped(id))
        }

        private mutating func end(_ id: QueueID, _ state: DownloadState) {
            running.remove(id)
            stopping.remove(id)
            leaving.remove(id)
            carryOut(machine.ended(id, as: state))
            // Ended ones are history: the number may be used again.
            states[id] = nil
        }

        /// Downloads that hold a slot and are not stopping.
        var active: Int { running.subtracting(stopping).count }
    }

    @Test func `D7 D9 D14 no download runs twice, despite a pause, or after its removal`() {
        var (starts, stalls) = (0, 0)
        for seed in 1...300 as ClosedRange<UInt64> {
            var dice = Dice(seed: seed)
            var world = World()
            for _ in 0..<200 {
                world.step(&dice, count: 8)
                starts += world.active
            }
            stalls += world.stalls
            #expect(world.violations.isEmpty, "seed \(seed): \(world.violations.prefix(3))")
        }
        #expect(starts > 10_000 && stalls > 100, "downloads ran, and waited for their disk")
    }

    @Test func `D8 preempted is distinct from paused, and resumes first`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...3).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        #expect(machine.startNext() == [.run(ids[0])])
        let forced = machine.apply(.start(ids[2]))
        #expect(forced.contains(.stop(ids[0])))
        #expect(forced.last == .run(ids[2]))
        #expect(machine.stopped(ids[0]) == [.notify(ids[0], .preempted)])
        #expect(machine.rest(of: ids[0]) == .preempted)
        #expect(machine.ended(ids[2], as: .finished) == [.write(ids[2], .finished), .run(ids[0])])
        #expect(machine.rest(of: ids[1]) == .waiting)
    }

    @Test func `one that waits for its disk keeps its place, and gives its slot to the next`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...3).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        _ = machine.startNext()
        let place = QueuePosition(priority: 0, position: 1)
        #expect(machine.stalled(ids[0], at: place, group: nil) == [.notify(ids[0], .waitingForDisk), .run(ids[1])])
        #expect(machine.rest(of: ids[0]) == .waitingForDisk && machine.index(of: ids[0]) == 0)
        #expect(machine.wake([ids[0], ids[1]]) == [.notify(ids[0], .waiting)])
        #expect(machine.ended(ids[1], as: .finished) == [.write(ids[1], .finished), .run(ids[0])])
    }

    @Test func `one that was being published waits for its disk as well, and a pause ends the wait`() {
        var machine = QueueMachine(slots: 1)
        let id = QueueID(rawValue: 1)
        let place = machine.lastPlace(priority: 0)
        machine.admit(id, at: place, group: nil, isPaused: false)
        _ = machine.startNext()
        _ = machine.publishing(id)
        #expect(machine.stalled(id, at: place, group: nil) == [.notify(id, .waitingForDisk)])
        #expect(machine.apply(.pause(id, keepsSlot: false)) == [.write(id, .paused), .notify(id, .paused)])
        #expect(machine.wake([id]).isEmpty)
        #expect(machine.apply(.resume(id)).last == .run(id))
    }

    @Test func `a download that is resumed while it stops continues after the stop`() {
        var machine = QueueMachine(slots: 1)
        let id = QueueID(rawValue: 1)
        machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false)
        _ = machine.startNext()
        #expect(machine.apply(.pause(id, keepsSlot: false)).contains(.stop(id)))
        #expect(machine.apply(.resume(id)) == [.write(id, .waiting)])
        #expect(machine.stopped(id) == [.run(id)])
    }

    @Test func `D1 a suspended download keeps its slot until it is removed`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...2).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        _ = machine.startNext()
        let paused = machine.apply(.pause(ids[0], keepsSlot: true))
        #expect(paused.contains(.stop(ids[0])))
        #expect(!paused.contains(.run(ids[1])))
        #expect(machine.stopped(ids[0]) == [.notify(ids[0], .paused)])
        #expect(machine.apply(.resume(ids[0])) == [.write(ids[0], .waiting), .run(ids[0])])
        _ = machine.apply(.pause(ids[0], keepsSlot: true))
        _ = machine.stopped(ids[0])
        #expect(machine.remove(ids[0]) == [.clean(ids[0]), .run(ids[1])])
    }

    @Test func `a stopping download, or one only on disk, is not started again`() {
        var machine = QueueMachine(slots: 2)
        let ids = (1...2).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        #expect(machine.startNext() == [.run(ids[0]), .run(ids[1])])
        #expect(machine.publishing(ids[0]).isEmpty && machine.remove(ids[1]) == [.stop(ids[1])])
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        #expect(machine.startNext().isEmpty)
        #expect(machine.publishing(QueueID(rawValue: 77)).isEmpty)
        #expect(machine.rest(of: QueueID(rawValue: 77)) == nil && machine.rest(of: ids[0]) == nil)
    }

    @Test func `new options stop a running download, which starts again in its slot`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...2).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        _ = machine.startNext()
        #expect(machine.restart(ids[0]) == [.stop(ids[0])])
        #expect(machine.restart(ids[0]).isEmpty && machine.restart(ids[1]).isEmpty)
        #expect(machine.stopped(ids[0]) == [.run(ids[0])])
    }

    @Test func `the slot of a suspended download is taken without stopping another`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...2).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        _ = machine.startNext()
        _ = machine.apply(.pause(ids[0], keepsSlot: true))
        _ = machine.stopped(ids[0])
        let forced = machine.apply(.start(ids[1]))
        #expect(forced.contains(.run(ids[1])) && !forced.contains(.stop(ids[0])))
    }

    @Test func `a download that the engine released itself is set to waiting, and is not stopped again`() {
        var machine = QueueMachine(slots: 1)
        let (id, night) = (QueueID(rawValue: 1), GroupID("night"))
        machine.admit(id, at: machine.lastPlace(priority: 0), group: night, isPaused: false)
        _ = machine.startNext()
        #expect(machine.stopped(id) == [.notify(id, .waiting)])
        #expect(!machine.apply(.pauseGroup(night)).contains(.stop(id)))
        #expect(machine.isPaused(group: night))
    }

    @Test func `the machine can be queried about the queue`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...3).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        #expect(machine.slots == 1 && !machine.isRunning(ids[0]))
        _ = machine.startNext()
        #expect(machine.isRunning(ids[0]) && !machine.isRunning(ids[1]))
        #expect(machine.waitingCount == 2 && machine.waiting(from: 1, limit: 5) == [ids[2]])
        #expect(machine.index(of: ids[1]) == 0 && machine.place(of: ids[0])?.position == 1)
        #expect(!machine.isPaused(group: GroupID("night")))
    }

    @Test func `closing starts nothing and changes no requested state`() {
        var machine = QueueMachine(slots: 1)
        let ids = (1...2).map { QueueID(rawValue: $0) }
        for id in ids { machine.admit(id, at: machine.lastPlace(priority: 0), group: nil, isPaused: false) }
        _ = machine.startNext()
        machine.close()
        #expect(machine.stopped(ids[0]).isEmpty)
        #expect(machine.startNext().isEmpty)
    }
}

extension Dice { fileprivate mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) } }
