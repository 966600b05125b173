package import PawlBase

/// The permanent identity of a download in the queue: 64 random bits, never 0.
package struct QueueID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }
}

/// The part of a record that scheduling needs: small, since all waiting ones are held in memory.
package struct QueueEntry: Hashable, Sendable {
    package var id: QueueID
    package var state: DownloadState
    package var priority: Int
    package var position: Double
    @Bytewise package var group: String

    package init(id: QueueID, state: DownloadState, priority: Int, position: Double, group: String) {
        self.id = id
        self.state = state
        self.priority = priority
        self.position = position
        self.group = group
    }
}
