import PawlCore
import Synchronization

// Scheduling: the book assigns slots, loops run the downloads that have one.
extension Engine.State {
    typealias Order = QueueBook.Order

    /// Assigns a slot or appends to the waiting line.
    mutating func enqueue(_ id: DownloadID) -> [Order] {
        guard let entry = entries[id], entry.number == nil else { return [] }
        let number = book.add()
        entry.number = number
        if Int(number) == ids.count { ids.append(id) } else { ids[Int(number)] = id }
        return book.enqueue(number)
    }

    /// Releases its slot and its place in the line.
    mutating func release(_ id: DownloadID) -> [Order] {
        entries[id].map { release($0) } ?? []
    }

    private mutating func release(_ entry: Engine.Entry) -> [Order] {
        guard let number = entry.number else { return [] }
        entry.number = nil
        return book.release(number)
    }

    /// The loop has released the download.
    mutating func settle(_ id: DownloadID) -> [Order] {
        guard let entry = entries[id] else { return [] }
        let phase = entry.box.phase
        let wantsAgain = entry.startsAgain && !isClosing
        let staysInLine = entry.isYielding && phase == .preempted
        entry.letGo()
        if staysInLine, let number = entry.number {
            // It may have been given a slot again before the loop released it.
            return book.line.isWaiting(number) ? [] : [.start(number)]
        }
        let orders = release(entry)
        if wantsAgain, phase != .finished, phase != .removed { return orders + enqueue(id) }
        if entry.isForgotten { entries[id] = nil }
        return orders
    }
}

extension Engine {
    /// Sets how many run at once; beyond that the newest are preempted and resume when a slot is free (D7).
    package func change(slots: Int) {
        carryOut(state.withLock { $0.isClosing ? [] : $0.book.change(slots: slots) })
    }

    /// The first to start gets the slot on the loop `freed`: that one is awake, and the load stays balanced.
    func carryOut(_ orders: [QueueBook.Order], freed: Int? = nil) {
        var freed = freed
        for order in orders {
            switch order {
            case .start(let number):
                start(number, on: freed)
                freed = nil
            // The engine's book has no paused entries: a pause by the user removes a download from it.
            case .preempt(let number), .pause(let number): yield(number)
            }
        }
    }

    private func start(_ number: QueueBook.Number, on freed: Int?) {
        let (job, wake) = state.withLock { state -> (Job?, Wake?) in
            let id = state.ids[Int(number)]
            // A download that has not left its loop is started when it has. Another thread may have taken the
            // slot back since the order was given.
            guard !state.isClosing, let entry = state.entries[id], entry.loop == nil, entry.number == number,
                state.book.holders.contains(number)
            else { return (nil, nil) }
            let loop = freed ?? state.nextLoop % loops.count
            if freed == nil { state.nextLoop += 1 }
            entry.loop = loop
            return (entry.job, loops[loop].put(.start(id, entry.job, entry.box)))
        }
        guard let job else { return }
        watchNetwork(for: job)
        wake?()
    }

    private func yield(_ number: QueueBook.Number) {
        let wake = state.withLock { state -> Wake? in
            let id = state.ids[Int(number)]
            // It may have a slot again, or be about to be removed.
            guard let entry = state.entries[id], entry.number == number, let loop = entry.loop,
                entry.stopsAs == nil, !state.book.holders.contains(number)
            else { return nil }
            entry.isYielding = true
            return loops[loop].put(.preempt(id))
        }
        wake?()
    }

    /// The monitor costs a thread; downloads from this machine itself do not need it.
    private func watchNetwork(for job: Job) {
        guard job.plan.sources.contains(where: { !$0.isLoopback }) else { return }
        let isFirst = state.withLock { state -> Bool in
            defer { state.isWatchingNetwork = true }
            return !state.isWatchingNetwork
        }
        guard isFirst else { return }
        ports.reachability.start { [loops] online in
            for loop in loops { loop.post(.network(online)) }
        }
    }

    /// The download needs only the disk from now on.
    func slotFreed(_ id: DownloadID) {
        let (orders, loop) = state.withLock { ($0.release(id), $0.entries[id]?.loop) }
        carryOut(orders, freed: loop)
    }

    /// The loop has released the download: its slot is free.
    func settled(_ id: DownloadID) {
        let (orders, loop, missed) = state.withLock {
            state -> ([QueueBook.Order], Int?, (Phase, ProgressCell)?) in
            guard let entry = state.entries[id] else { return ([], nil, nil) }
            let loop = entry.loop
            var missed: (Phase, ProgressCell)?
            if let phase = entry.stopsAs, !entry.startsAgain { missed = (phase, entry.box) }
            return (state.settle(id), loop, missed)
        }
        // A command for a download already at rest had no runner to carry it out.
        if let (phase, box) = missed { tell(id, phase, box) }
        carryOut(orders, freed: loop)
    }
}
