/// The persistent queue's decisions: who runs, who makes room, and what an end means.
///
/// The scheduler says whose turn it is; this adds that a download takes a moment to leave, during which it may be wanted
/// again or be taken out. Every event returns actions, to be carried out in their order. What is unknown here has ended
/// or never was: such events change nothing.
package struct QueueMachine: Sendable {
    package enum Action: Hashable, Sendable {
        /// Make its job and let the engine have it.
        case run(QueueID)
        /// Tell the engine to let go of it; `stopped` or `ended` follows.
        case stop(QueueID)
        /// Its state is another one for good.
        case write(QueueID, QueueState)
        /// It has another place in the line.
        case place(QueueID, QueuePosition)
        /// It stands still, and why.
        case tell(QueueID, Rest)
        /// Nothing of it runs any more: its files may go.
        case clean(QueueID)
    }

    /// Why a download that has not ended does not run.
    package enum Rest: Hashable, Sendable {
        case waiting
        case paused
        /// It made room and starts again by itself.
        case preempted
    }

    /// How a new download comes in.
    package enum Start: Hashable, Sendable {
        case enqueued
        case paused
        case now
    }

    /// What becomes of a run of the engine.
    private enum Run: Hashable, Sendable {
        case active
        /// Told to stop; `again` when it is wanted again already.
        case leaving(again: Bool)
        case removing
    }

    private var scheduler: QueueScheduler<QueueID>
    private var runs: [QueueID: Run] = [:]
    private var preempted: Set<QueueID> = []
    private var lastPosition = 0.0
    private var isClosing = false

    package init(slots: Int) { scheduler = QueueScheduler(slots: slots) }

    // MARK: questions

    package var slots: Int { scheduler.slots }
    package func isRunning(_ id: QueueID) -> Bool { runs[id] != nil }
    package func isPaused(group: GroupID) -> Bool { scheduler.isPaused(group: group) }
    package func place(of id: QueueID) -> QueuePosition? { scheduler.place(of: id) }
    package func index(of id: QueueID) -> Int? { scheduler.index(of: id) }

    /// How many wait or are paused.
    package var waitingCount: Int { scheduler.waitingCount }
    /// A part of the line, paused ones too, the next one first.
    package func waiting(from start: Int, limit: Int) -> [QueueID] {
        scheduler.waiting(from: start, limit: limit)
    }

    /// Whether it waits, is paused or runs, and may be steered.
    package func knows(_ id: QueueID) -> Bool { scheduler.place(of: id) != nil }

    /// Why it stands still; `nil` when it is to run, or is unknown.
    package func rest(of id: QueueID) -> Rest? {
        if scheduler.isPaused(id) { return .paused }
        guard scheduler.isWaiting(id) else { return nil }
        return preempted.contains(id) ? .preempted : .waiting
    }

    // MARK: coming in

    /// A place behind all others.
    package mutating func lastPlace(priority: Int) -> QueuePosition {
        lastPosition += 1
        return QueuePosition(priority: priority, position: lastPosition)
    }

    /// Takes a download in without starting anything: `startNext` follows when all are in.
    package mutating func admit(_ id: QueueID, at place: QueuePosition, group: GroupID?, isPaused: Bool) {
        note(place)
        scheduler.restore(id, place: place, group: group, isPaused: isPaused)
    }

    package mutating func startNext() -> [Action] { carryOut(scheduler.startNext()) }

    /// Who has a slot, the oldest first: what goes on first when the program starts again.
    package var holders: [QueueID] { scheduler.running.filter { !scheduler.isPaused($0) } }

    /// What ran when the program ended goes on first, in its order (D8): `startNext` follows.
    package mutating func goOn(_ ids: [QueueID]) -> [Action] {
        let (orders, waiting) = scheduler.goOn(ids)
        return carryOut(orders) + waiting.flatMap { placed($0) }
    }

    // MARK: what the person wants

    /// With `keepsSlot` one that runs stands still and nobody gets its slot (D1).
    package mutating func pause(_ id: QueueID, keepsSlot: Bool = false) -> [Action] {
        guard knows(id), !scheduler.isPaused(id) else { return [] }
        preempted.remove(id)
        let orders = scheduler.pause(id, keepsSlot: keepsSlot)
        let told: [Action] = runs[id] == nil ? [.tell(id, .paused)] : []
        return [.write(id, .paused)] + told + carryOut(orders)
    }

    package mutating func resume(_ id: QueueID) -> [Action] {
        guard scheduler.isPaused(id) else { return [] }
        let orders = scheduler.resume(id)
        return [.write(id, .waiting)] + told(waiting: id) + carryOut(orders)
    }

    /// It runs at once; the oldest makes room when it must (D8).
    package mutating func start(_ id: QueueID) -> [Action] {
        guard knows(id), !scheduler.isRunning(id) || scheduler.isPaused(id) else { return [] }
        let written: [Action] = scheduler.isPaused(id) ? [.write(id, .waiting)] : []
        return written + carryOut(scheduler.forceStart(id))
    }

    /// Takes it out; `clean` follows, at once or when it has left.
    package mutating func remove(_ id: QueueID) -> [Action] {
        preempted.remove(id)
        let orders = scheduler.release(id)
        guard let run = runs[id] else { return [.clean(id)] + carryOut(orders) }
        runs[id] = .removing
        return (run == .active ? [.stop(id)] : []) + carryOut(orders)
    }

    /// It is to run under other conditions: one that runs stops and starts again in its slot.
    package mutating func restart(_ id: QueueID) -> [Action] {
        guard runs[id] == .active, scheduler.isRunning(id) else { return [] }
        runs[id] = .leaving(again: true)
        return [.stop(id)]
    }

    package mutating func change(priority: Int, of id: QueueID) -> [Action] {
        scheduler.change(priority: priority, of: id)
        return placed(id)
    }

    /// Moves it within its priority; `nil` when it does not wait.
    package mutating func move(_ id: QueueID, to target: QueueTarget) -> (index: Int, actions: [Action])? {
        guard let move = scheduler.move(id, to: target) else { return nil }
        return (move.index, move.replaced.flatMap { placed($0) })
    }

    package mutating func pause(group: GroupID) -> [Action] { carryOut(scheduler.pause(group: group)) }
    package mutating func resume(group: GroupID) -> [Action] { carryOut(scheduler.resume(group: group)) }
    package mutating func change(group: GroupID?, of id: QueueID) -> [Action] {
        carryOut(scheduler.change(group: group, of: id))
    }

    package mutating func change(slots: Int) -> [Action] { carryOut(scheduler.change(slots: slots)) }

    /// Nothing starts any more; what runs goes on to where the engine stops it, and none of that is a person's wish.
    package mutating func close() { isClosing = true }

    // MARK: what the engine says

    /// Only the disk is still at work for it: its slot is free, and nothing stops it now.
    package mutating func publishing(_ id: QueueID) -> [Action] {
        guard runs[id] != nil else { return [] }
        return carryOut(scheduler.release(id))
    }

    /// The engine has let go of it before its end.
    package mutating func stopped(_ id: QueueID) -> [Action] {
        guard let run = runs.removeValue(forKey: id), !isClosing else { return [] }
        switch run {
        case .removing: return [.clean(id)]
        case .leaving(again: true): return begin(id)
        case .active, .leaving(again: false): return [.tell(id, rest(of: id) ?? .waiting)]
        }
    }

    /// It came to its end, good or bad.
    package mutating func ended(_ id: QueueID, as state: QueueState) -> [Action] {
        let run = runs.removeValue(forKey: id)
        preempted.remove(id)
        let orders = scheduler.release(id)
        return [run == .removing ? .clean(id) : .write(id, state)] + carryOut(orders)
    }

    // MARK: orders

    private mutating func carryOut(_ orders: [QueueScheduler<QueueID>.Order]) -> [Action] {
        guard !isClosing else { return [] }
        var actions: [Action] = []
        for order in orders {
            switch order {
            case .start(let id): actions += begin(id)
            case .pause(let id): actions += placed(id) + leave(id)
            case .preempt(let id):
                preempted.insert(id)
                actions += placed(id) + leave(id)
            }
        }
        return actions
    }

    private mutating func begin(_ id: QueueID) -> [Action] {
        preempted.remove(id)
        switch runs[id] {
        case nil:
            runs[id] = .active
            return [.run(id)]
        case .leaving:
            runs[id] = .leaving(again: true)
            return []
        case .active, .removing: return []
        }
    }

    private mutating func leave(_ id: QueueID) -> [Action] {
        switch runs[id] {
        case .active:
            runs[id] = .leaving(again: false)
            return [.stop(id)]
        case .leaving:
            runs[id] = .leaving(again: false)
            return []
        case .removing, nil: return []
        }
    }

    private func told(waiting id: QueueID) -> [Action] {
        runs[id] == nil && scheduler.isWaiting(id) ? [.tell(id, .waiting)] : []
    }

    private mutating func placed(_ id: QueueID) -> [Action] {
        guard let place = scheduler.place(of: id) else { return [] }
        note(place)
        return [.place(id, place)]
    }

    private mutating func note(_ place: QueuePosition) { lastPosition = max(lastPosition, place.position) }
}
