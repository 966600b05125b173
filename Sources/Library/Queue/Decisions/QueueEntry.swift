package import PawlBase

/// The permanent identity of a download in the queue: 64 random bits, never 0.
package struct QueueID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }
}

/// The state of a queued download between two runs of the program.
///
/// States of a running one (probing, transferring, …) are the machine's; all of them are ``waiting`` here, so
/// that a killed process leaves a download that resumes.
package enum QueueState: Int, Hashable, Sendable, CaseIterable {
    /// To be run: it runs, was preempted, waits for the network or for its turn.
    case waiting = 0
    /// Paused by the user; nothing else starts it.
    case paused = 1
    case finished = 2
    case failed = 3
    /// Removed from the queue; kept as history.
    case removed = 4
}

/// The part of a record that scheduling needs: small, since all waiting ones are held in memory.
package struct QueueEntry: Hashable, Sendable {
    package var id: QueueID
    package var state: QueueState
    package var priority: Int
    package var position: Double
    @Bytewise package var group: String

    package init(id: QueueID, state: QueueState, priority: Int, position: Double, group: String) {
        self.id = id
        self.state = state
        self.priority = priority
        self.position = position
        self.group = group
    }
}
