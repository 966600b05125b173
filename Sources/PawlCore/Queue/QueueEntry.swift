/// Names a download in the queue, for good: 64 random bits, never 0.
package struct QueueID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }
}

/// Where a download of the queue stands between two runs of the program.
///
/// What it does while it runs (probing, transferring, …) is the machine's; all of that is ``waiting`` here, so that a
/// kill in the middle leaves a download that goes on.
package enum QueueState: Int, Hashable, Sendable, CaseIterable {
    /// Wants to run: it runs, was pre-empted, waits for the network or for its turn.
    case waiting = 0
    /// Paused by the person; nothing else starts it.
    case paused = 1
    case finished = 2
    case failed = 3
    /// Taken out of the queue; kept as history.
    case removed = 4
}

/// A record's part that scheduling needs: small, since all waiting ones are held in memory.
package struct QueueEntry: Hashable, Sendable {
    package var id: QueueID
    package var state: QueueState
    package var priority: Int
    package var position: Double
    package var group: String

    package init(id: QueueID, state: QueueState, priority: Int, position: Double, group: String) {
        self.id = id
        self.state = state
        self.priority = priority
        self.position = position
        self.group = group
    }
}
