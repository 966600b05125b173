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
    private var line: [ID] = []
    private var front = 0
    private var waiting: Set<ID> = []

    package init(slots: Int) { self.slots = max(1, slots) }

    package var isIdle: Bool { running.isEmpty && waiting.isEmpty }
    package func isWaiting(_ id: ID) -> Bool { waiting.contains(id) }

    /// The person wants it to run: it waits for its turn.
    package mutating func enqueue(_ id: ID) -> [ID] {
        guard !running.contains(id), waiting.insert(id).inserted else { return [] }
        line.append(id)
        return startNext()
    }

    /// It finished, failed or was paused: its slot is free.
    package mutating func release(_ id: ID) -> [ID] {
        waiting.remove(id)
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
            let id = line[front]
            front += 1
            guard waiting.remove(id) != nil else { continue }
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
