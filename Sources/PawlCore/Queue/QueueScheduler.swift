/// Which downloads run: at most `slots` at once, the rest wait in order.
///
/// Keys are the caller's ids. Every event returns the ids that have to be started now.
package struct QueueScheduler<ID: Hashable & Sendable>: Sendable {
    /// Downloads that run at once.
    package private(set) var slots: Int
    package private(set) var running: Set<ID> = []
    /// Front first.
    ///
    /// Entries of downloads that were taken back are skipped when their turn comes.
    private var line: [(id: ID, ticket: UInt64)] = []
    private var front = 0
    /// Each with the ticket of its present turn; older entries of it in the line are void.
    private var waiting: [ID: UInt64] = [:]
    private var nextTicket: UInt64 = 0

    package init(slots: Int) { self.slots = max(1, slots) }

    package var isIdle: Bool { running.isEmpty && waiting.isEmpty }
    package func isWaiting(_ id: ID) -> Bool { waiting[id] != nil }

    /// The person wants it to run: it waits for its turn.
    package mutating func enqueue(_ id: ID) -> [ID] {
        guard !running.contains(id), waiting[id] == nil else { return [] }
        waiting[id] = nextTicket
        line.append((id, nextTicket))
        nextTicket += 1
        return startNext()
    }

    /// It finished, failed or was paused: its slot is free.
    package mutating func release(_ id: ID) -> [ID] {
        waiting[id] = nil
        running.remove(id)
        return startNext()
    }

    /// More slots start waiting downloads; fewer let running ones end first.
    package mutating func change(slots: Int) -> [ID] {
        self.slots = max(1, slots)
        return startNext()
    }

    private mutating func startNext() -> [ID] {
        var started: [ID] = []
        while running.count < slots, front < line.count {
            let (id, ticket) = line[front]
            front += 1
            guard waiting[id] == ticket else { continue }
            waiting[id] = nil
            running.insert(id)
            started.append(id)
        }
        if front > 64, front * 2 > line.count {
            line.removeFirst(front)
            front = 0
        }
        return started
    }
}
