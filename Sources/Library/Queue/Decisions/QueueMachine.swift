package import PawlBase

/// Decisions of the persistent queue: which downloads run, which are preempted, and what their end means.
///
/// The scheduler decides whose turn it is; this adds that a download takes a moment to stop, during which it
/// may be started again or removed. Every event returns actions, to be carried out in their order. Events of
/// unknown ids change nothing: those have ended or never existed.
package struct QueueMachine: Sendable {
    package enum Action: Hashable, Sendable {
        /// Create its job and pass it to the engine.
        case run(QueueID)
        /// Stop it in the engine; `stopped` or `ended` follows.
        case stop(QueueID)
        /// Store its new state.
        case write(QueueID, DownloadState)
        /// Store its new position in the line.
        case place(QueueID, QueuePosition)
        /// Report that it does not run: it waits, is paused, was preempted, or waits for its disk.
        case notify(QueueID, DownloadState)
        /// Remove its files: nothing of it runs any more.
        case clean(QueueID)
    }

    /// How a new download starts.
    package enum Start: Hashable, Sendable {
        case enqueued
        case paused
        case now
    }

    /// The state of a run in the engine.
    private enum Run: Hashable, Sendable {
        case active
        /// Stopping; `again` when it is to run again.
        case leaving(again: Bool)
        case removing
    }

    private var scheduler: QueueScheduler<QueueID>
    private var runs: [QueueID: Run] = [:]
    private var preempted: Set<QueueID> = []
    private var lastPosition = 0.0
    private var isClosing = false

    package init(slots: Int) { scheduler = QueueScheduler(slots: slots) }

    // MARK: queries

    package var slots: Int { scheduler.slots }
    /// Whether no download starts unless it is forced to.
    package var isHeld: Bool { scheduler.isHeld }
    package func isRunning(_ id: QueueID) -> Bool { runs[id] != nil }
    package func isPaused(group: GroupID) -> Bool { scheduler.isPaused(group: group) }
    package func place(of id: QueueID) -> QueuePosition? { scheduler.place(of: id) }
    package func index(of id: QueueID) -> Int? { scheduler.index(of: id) }

    /// How many wait or are paused.
    package var waitingCount: Int { scheduler.waitingCount }
    /// A part of the line, paused ones included, the next one first.
    package func waiting(from start: Int, limit: Int) -> [QueueID] { scheduler.waiting(from: start, limit: limit) }

    /// Whether it waits, is paused or runs, and accepts commands.
    package func knows(_ id: QueueID) -> Bool { scheduler.place(of: id) != nil }

    /// Its state while it does not run; `nil` when it is to run, or is unknown.
    package func rest(of id: QueueID) -> DownloadState? {
        if scheduler.isPaused(id) { return .paused }
        if scheduler.isStuck(id) { return .waitingForDisk }
        guard scheduler.isWaiting(id) else { return nil }
        return preempted.contains(id) ? .preempted : .waiting
    }

    // MARK: admission

    /// A place behind all others.
    package mutating func lastPlace(priority: Int) -> QueuePosition {
        lastPosition += 1
        return QueuePosition(priority: priority, position: lastPosition)
    }

    /// Admits a download without starting anything: `startNext` follows when all are admitted.
    package mutating func admit(_ id: QueueID, at place: QueuePosition, group: GroupID?, isPaused: Bool) {
        note(place)
        scheduler.restore(id, place: place, group: group, isPaused: isPaused)
    }

    package mutating func startNext() -> [Action] { carryOut(scheduler.startNext()) }

    /// The downloads with a slot, the oldest first: they start first in the next run of the program.
    package var holders: [QueueID] { scheduler.running.filter { !scheduler.isPaused($0) } }

    /// Starts the downloads that ran when the program ended first, in their order (D8): `startNext` follows.
    package mutating func resume(_ ids: [QueueID]) -> [Action] {
        let (orders, waiting) = scheduler.resume(ids)
        return carryOut(orders) + waiting.flatMap { placed($0) }
    }

    // MARK: commands of the user

    /// Carries out a command that concerns the line and its slots; the result is empty if it changes nothing.
    package mutating func apply(_ command: SlotCommand<QueueID>) -> [Action] {
        guard let id = command.id else { return carryOut(scheduler.apply(command)) }
        let wasPaused = scheduler.isPaused(id)
        let orders = scheduler.apply(command)
        let isPaused = scheduler.isPaused(id)
        guard isPaused != wasPaused else { return carryOut(orders) }
        if isPaused { preempted.remove(id) }
        let notices: [Action] = isPaused && runs[id] == nil ? [.notify(id, .paused)] : notices(waiting: id)
        return [.write(id, isPaused ? .paused : .waiting)] + notices + carryOut(orders)
    }

    /// Removes it; `clean` follows, at once or when it has stopped.
    package mutating func remove(_ id: QueueID) -> [Action] {
        preempted.remove(id)
        let orders = scheduler.release(id)
        assert(!knows(id), "a removed download accepts no commands")
        guard let run = runs[id] else { return [.clean(id)] + carryOut(orders) }
        runs[id] = .removing
        return (run == .active ? [.stop(id)] : []) + carryOut(orders)
    }

    /// Runs it under new conditions: a running one stops and starts again in its slot.
    package mutating func restart(_ id: QueueID) -> [Action] {
        guard runs[id] == .active, scheduler.isRunning(id) else { return [] }
        runs[id] = .leaving(again: true)
        return [.stop(id)]
    }

    /// Stops all starts; stops of running downloads are the engine's from now on, not the user's.
    package mutating func close() { isClosing = true }

    // MARK: events of the engine

    /// It needs only the disk from now on: its slot is free, and it cannot be stopped.
    package mutating func publishing(_ id: QueueID) -> [Action] {
        guard runs[id] != nil else { return [] }
        return carryOut(scheduler.release(id))
    }

    /// The engine has released it before its end.
    package mutating func stopped(_ id: QueueID) -> [Action] {
        guard let run = runs.removeValue(forKey: id), !isClosing else { return [] }
        switch run {
        case .removing: return [.clean(id)]
        case .leaving(again: true):
            assert(scheduler.isRunning(id), "a download that starts again has a slot")
            return begin(id)
        case .active, .leaving(again: false): return [.notify(id, rest(of: id) ?? .waiting)]
        }
    }

    /// It ended because its disk has no room, or is not there: it waits for it at its place in the line, and keeps no slot.
    ///
    /// `place` and `group`: those of one that had given up its slot already.
    package mutating func stalled(_ id: QueueID, at place: QueuePosition, group: GroupID?) -> [Action] {
        guard let run = runs.removeValue(forKey: id), !isClosing else { return [] }
        if run == .removing { return [.clean(id)] }
        if !knows(id) { scheduler.restore(id, place: place, group: group) }
        if scheduler.isPaused(id) { return [.notify(id, .paused)] }
        preempted.remove(id)
        let orders = scheduler.stall(id)
        return [.notify(id, .waitingForDisk)] + carryOut(orders)
    }

    /// They may run when their turn comes.
    package mutating func wake(_ ids: [QueueID]) -> [Action] {
        let stuck = ids.filter(scheduler.isStuck)
        guard !stuck.isEmpty else { return [] }
        let orders = scheduler.wake(stuck)
        return stuck.flatMap { notices(waiting: $0) } + carryOut(orders)
    }

    /// It ended, successfully or not.
    package mutating func ended(_ id: QueueID, as state: DownloadState) -> [Action] {
        let run = runs.removeValue(forKey: id)
        preempted.remove(id)
        let orders = scheduler.release(id)
        assert(!knows(id) && runs[id] == nil, "nothing is left of an ended download")
        return [run == .removing ? .clean(id) : .write(id, state)] + carryOut(orders)
    }

    // MARK: orders

    private mutating func carryOut(_ orders: [QueueScheduler<QueueID>.Order]) -> [Action] {
        var actions: [Action] = []
        for order in orders {
            switch order {
            case .place(let id): actions += placed(id)
            case _ where isClosing: break
            case .start(let id): actions += begin(id)
            case .pause(let id): actions += placed(id) + leave(id)
            case .preempt(let id):
                assert(scheduler.isWaiting(id), "a preempted download is in the line")
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

    private func notices(waiting id: QueueID) -> [Action] {
        runs[id] == nil && scheduler.isWaiting(id) ? [.notify(id, .waiting)] : []
    }

    private mutating func placed(_ id: QueueID) -> [Action] {
        guard let place = scheduler.place(of: id) else { return [] }
        note(place)
        return [.place(id, place)]
    }

    private mutating func note(_ place: QueuePosition) { lastPosition = max(lastPosition, place.position) }
}
