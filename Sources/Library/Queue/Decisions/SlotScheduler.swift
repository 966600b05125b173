package import PawlBase

/// Decisions of a downloader without a stored queue: at most so many downloads run at once, the rest wait in
/// order.
///
/// ``QueueBook`` assigns the slots; this adds that a download takes a moment to stop, during which it may be
/// resumed or removed. It keeps its slot until the engine has released it, or needs only the disk. Every event
/// returns actions, to be carried out in their order.
package struct SlotScheduler: Sendable {
    /// The engine's identifier of a download.
    package typealias ID = UInt64

    package enum Action: Hashable, Sendable {
        case start(ID)
        /// Stop it for the user.
        case pause(ID)
        /// Stop it; it has lost its slot and restarts automatically.
        case preempt(ID)
        /// Stop it and remove its bytes.
        case remove(ID)
        /// No caller uses it any more, and it does not run.
        case forget(ID)
    }

    private enum Run: Hashable, Sendable {
        case atRest
        /// In the line.
        case waiting(QueueBook.Number)
        /// The engine runs it.
        case active(QueueBook.Number)
        /// Stopping, since its slot was taken: it is in the line, or has a slot again.
        case yielding(QueueBook.Number)
        /// Stopping, or stopped and not released yet; `again` when it was resumed since. It has no slot when
        /// it was being published.
        case stopping(QueueBook.Number?, again: Bool)
        /// It needs only the disk: it has no slot and cannot be stopped.
        case publishing
        case removing(QueueBook.Number?)
        case finished

        var number: QueueBook.Number? {
            switch self {
            case .waiting(let number), .active(let number), .yielding(let number): number
            case .stopping(let number, again: _), .removing(let number): number
            case .atRest, .publishing, .finished: nil
            }
        }
    }

    private var book: QueueBook
    /// Unknown ids change nothing: those were removed or forgotten.
    private var runs: [ID: Run] = [:]
    /// Downloads to be forgotten when they have ended.
    private var forgotten: Set<ID> = []
    /// By number in the book.
    private var ids: [ID] = []

    package init(slots: Int) { book = QueueBook(slots: slots) }

    // MARK: commands of the user

    /// Adds a download that is not to run yet.
    package mutating func add(_ id: ID) { runs[id] = .atRest }

    /// Makes it run when its turn comes; one that has finished stays as it is.
    package mutating func resume(_ id: ID) -> [Action] {
        switch runs[id] {
        case .atRest: return enqueue(id)
        case .stopping(let number, again: _):
            runs[id] = .stopping(number, again: true)
            return []
        case .waiting, .active, .yielding, .publishing, .removing, .finished, nil: return []
        }
    }

    /// Pauses it: it runs again only after `resume`.
    package mutating func pause(_ id: ID) -> [Action] {
        switch runs[id] {
        case .atRest, .publishing: return [.pause(id)]
        case .waiting(let number):
            runs[id] = .atRest
            return [.pause(id)] + release(number)
        case .active(let number), .yielding(let number):
            runs[id] = .stopping(number, again: false)
            return [.pause(id)]
        case .stopping(let number, again: _):
            runs[id] = .stopping(number, again: false)
            return [.pause(id)]
        case .removing, .finished, nil: return []
        }
    }

    /// Removes it; nothing resumes it afterwards.
    package mutating func remove(_ id: ID) -> [Action] {
        guard let run = runs[id] else { return [] }
        switch run {
        case .atRest, .finished:
            runs[id] = nil
            return [.remove(id)]
        case .waiting(let number):
            runs[id] = nil
            return [.remove(id)] + release(number)
        case .active, .yielding, .stopping, .publishing:
            runs[id] = .removing(run.number)
            return [.remove(id)]
        case .removing: return []
        }
    }

    /// Forgets it: at once when it is at rest, else when it has ended.
    package mutating func forget(_ id: ID) -> [Action] {
        switch runs[id] {
        case .atRest, .finished:
            runs[id] = nil
            return [.forget(id)]
        case .waiting, .active, .yielding, .stopping, .publishing:
            forgotten.insert(id)
            return []
        case .removing, nil: return []
        }
    }

    /// Changes the number of slots: for fewer the newest ones are preempted (D7).
    package mutating func change(slots: Int) -> [Action] { actions(book.apply(.slots(slots))) }

    /// Changes the number of slots without stopping a download: for fewer, those that end are not replaced.
    package mutating func drain(to slots: Int) -> [Action] { actions(book.drain(to: slots)) }

    /// How many have a slot.
    package var running: Int { book.holders.count }
    package var slots: Int { book.slots }

    // MARK: events of the engine

    /// It has reported that it paused or failed; `released` follows.
    package mutating func rests(_ id: ID) {
        switch runs[id] {
        case .active(let number), .yielding(let number): runs[id] = .stopping(number, again: false)
        case .publishing: runs[id] = .stopping(nil, again: false)
        case .atRest, .waiting, .stopping, .removing, .finished, nil: break
        }
    }

    /// It needs only the disk from now on: its slot is free.
    package mutating func publishing(_ id: ID) -> [Action] {
        guard let run = runs[id], let number = run.number else { return [] }
        switch run {
        case .active, .yielding: runs[id] = .publishing
        case .stopping(_, let again): runs[id] = .stopping(nil, again: again)
        case .removing: runs[id] = .removing(nil)
        case .atRest, .waiting, .publishing, .finished: return []
        }
        return release(number)
    }

    /// The engine has released it in this phase.
    package mutating func released(_ id: ID, in phase: DownloadState) -> [Action] {
        guard let run = runs[id] else { return [] }
        if case .yielding(let number) = run, phase == .preempted {
            let waits = book.line.isWaiting(number)
            runs[id] = waits ? .waiting(number) : .active(number)
            return waits ? [] : [.start(id)]
        }
        let orders = run.number.map { release($0) } ?? []
        switch (run, phase) {
        case (.removing, _):
            runs[id] = nil
            forgotten.remove(id)
            return orders
        case (_, .finished), (_, .removed): runs[id] = .finished
        case (.stopping(_, again: true), _): return orders + enqueue(id)
        case (_, _): runs[id] = .atRest
        }
        return orders + (forgotten.remove(id) == nil ? [] : forget(id))
    }

    // MARK: slots

    private mutating func enqueue(_ id: ID) -> [Action] {
        let number = book.add()
        if Int(number) == ids.count { ids.append(id) } else { ids[Int(number)] = id }
        runs[id] = .waiting(number)
        return actions(book.enqueue(number))
    }

    private mutating func release(_ number: QueueBook.Number) -> [Action] { actions(book.release(number)) }

    private mutating func actions(_ orders: [QueueBook.Order]) -> [Action] {
        var actions: [Action] = []
        for order in orders {
            switch order {
            case .start(let number):
                let id = ids[Int(number)]
                // One that has not been released yet starts when it has.
                guard runs[id] == .waiting(number) else { continue }
                runs[id] = .active(number)
                actions.append(.start(id))
            // Nothing in this book is paused: a paused download is not in it.
            case .preempt(let number), .pause(let number):
                let id = ids[Int(number)]
                guard runs[id] == .active(number) else { continue }
                runs[id] = .yielding(number)
                actions.append(.preempt(id))
            // Nobody moves one.
            case .place: break
            }
        }
        return actions
    }
}
