import PawlQueue

/// The externally visible state of a scheduler.
struct QueueView: Hashable {
    var slots: Int
    var line: [Int]
    var running: [Int]
    var paused: Set<Int>
    var isGroupPaused: Bool
    var isHeld: Bool
    /// The waiting ones, in order, then the running ones.
    var priorities: [Int]

    init(_ scheduler: QueueScheduler<Int>) {
        slots = scheduler.slots
        line = scheduler.waiting(limit: .max)
        running = scheduler.running
        let all = line + running
        paused = Set(all.filter { scheduler.isPaused($0) })
        isHeld = scheduler.isHeld
        isGroupPaused = scheduler.isPaused(group: SchedulerEvent.group)
        priorities = all.map { scheduler.place(of: $0)?.priority ?? .min }
    }

    func isReady(_ id: Int) -> Bool { !paused.contains(id) && !(isGroupPaused && SchedulerEvent.isMember(id)) }

    var ready: [Int] { line.filter(isReady) }
    /// The downloads that really run, by the actions.
    var atWork: Set<Int> { Set(running).subtracting(paused) }

    func priority(of id: Int) -> Int? { (line + running).firstIndex(of: id).map { priorities[$0] } }
}

/// One step of a scheduler, checked against its laws.
struct SchedulerStep {
    var before: QueueView
    var event: SchedulerEvent
    var orders: [QueueOrder<Int>]
    var after: QueueView

    private var started: [Int] { orders.compactMap { if case .start(let id) = $0 { id } else { nil } } }
    private var preempted: [Int] { orders.compactMap { if case .preempt(let id) = $0 { id } else { nil } } }

    /// The first law that the step breaks.
    var brokenLaw: String? { brokenPlaces ?? brokenOrders ?? brokenTurn ?? brokenForce ?? brokenLine }

    private var brokenPlaces: String? {
        if after.running.count > after.slots { return "more run than there are slots" }
        if after.running.count < after.slots, !after.ready.isEmpty, !after.isHeld { return "a slot is idle" }
        let all = after.line + after.running
        if Set(all).count != all.count { return "one is in two places" }
        let priorities = after.priorities.prefix(after.line.count)
        if !zip(priorities, priorities.dropFirst()).allSatisfy(>=) { return "a lower priority is in front" }
        return nil
    }

    /// The model that executes the actions runs what the scheduler claims.
    private var brokenOrders: String? {
        var atWork = before.atWork
        if case .release(let id) = event { atWork.remove(id) }
        for order in orders {
            switch order {
            case .start(let id): if !atWork.insert(id).inserted { return "\(id) is started twice" }
            case .preempt(let id), .pause(let id):
                if atWork.remove(id) == nil { return "\(id) is stopped and does not run" }
            case .place(let id): if after.priority(of: id) == nil { return "\(id) has no place" }
            }
        }
        return atWork == after.atWork ? nil : "running \(atWork), but \(after.atWork) by the scheduler"
    }

    /// No download starts before a ready one, and no paused one starts.
    private var brokenTurn: String? {
        for id in started where id != forced && !before.running.contains(id) {
            if after.isHeld { return "\(id) was started although all are held" }
            if !after.isReady(id) { return "\(id) was started although it is paused" }
            for other in after.ready where !preempted.contains(other) {
                let mine = before.line.firstIndex(of: id) ?? .max
                let place = before.line.firstIndex(of: other) ?? .max
                if place < mine { return "\(id) was started before \(other)" }
            }
        }
        switch event {
        case .command(.pause(let id, _)):
            if started.contains(id) { return "\(id) is started by its own pause" }
            return (after.line + after.running).contains(id) == after.paused.contains(id) ? nil : "\(id) is not paused"
        case .enqueue, .release, .command:
            return after.paused.subtracting(before.paused).isEmpty ? nil : "paused without a command"
        }
    }

    private var forced: Int? { if case .command(.start(let id)) = event { id } else { nil } }

    private var brokenForce: String? {
        guard let id = forced, before.line.contains(id) else { return nil }
        if after.running.last != id || started != [id] { return "\(id) does not run at once" }
        guard before.running.count == before.slots else {
            return after.line == before.line.filter { $0 != id } ? nil : "one was preempted needlessly"
        }
        let oldest = before.running[0]
        if !after.line.contains(oldest) { return "the oldest keeps its slot" }
        let peers = after.line.filter { after.priority(of: $0) == after.priority(of: oldest) }
        return peers.first == oldest ? nil : "the preempted one is not at the front of its priority"
    }

    /// Downloads that stay in the queue keep their order, except for the moved one.
    private var brokenLine: String? {
        var stay = Set(before.line).intersection(after.line)
        switch event {
        case .command(.priority(let id, _)): stay.remove(id)
        case .command(.move(let id, let target)):
            stay.remove(id)
            if let broken = brokenMove(id, target) { return broken }
        case .enqueue, .release, .command: break
        }
        return before.line.filter(stay.contains) == after.line.filter(stay.contains) ? nil : "the line was mixed up"
    }

    private func brokenMove(_ id: Int, _ target: QueueTarget) -> String? {
        guard let old = before.line.firstIndex(of: id), let new = after.line.firstIndex(of: id) else {
            return before == after ? nil : "moved one that does not wait"
        }
        let desired =
            switch target {
            case .index(let index): index
            case .offset(let offset): old + offset
            case .fromEnd(let offset): before.line.count - 1 + offset
            }
        let peers = before.line.indices.filter { before.priorities[$0] == before.priorities[old] }
        let nearest = min(max(desired, peers[0]), peers[peers.count - 1])
        return new == nearest ? nil : "\(id) went to \(new) instead of \(nearest)"
    }
}
