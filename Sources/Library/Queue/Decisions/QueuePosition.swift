package import PawlBase

/// The position of a download in the line; the smaller starts earlier.
package struct QueuePosition: Hashable, Comparable, Sendable {
    /// Higher starts first.
    package var priority: Int
    /// Orders entries of equal priority; lower starts first.
    package var position: Double

    package init(priority: Int = 0, position: Double) {
        self.priority = priority
        self.position = position
    }

    package static func < (left: QueuePosition, right: QueuePosition) -> Bool {
        left.priority == right.priority ? left.position < right.position : left.priority > right.priority
    }
}

/// The identity of a group of downloads that are paused and resumed together.
package struct GroupID: Hashable, Sendable {
    @Bytewise package private(set) var name: String

    package init(_ name: String) { self.name = name }
}

/// The scheduler's order for a download.
package enum QueueOrder<ID: Hashable & Sendable>: Hashable, Sendable {
    /// Start it; one that is still stopping from an earlier run starts when it has stopped.
    case start(ID)
    /// Stop it; it has lost its slot and restarts automatically.
    case preempt(ID)
    /// Stop it; the user paused it or its group.
    case pause(ID)
    /// Store its position in the line, which has changed.
    case place(ID)
}

/// The target of a move in the line.
package enum QueueTarget: Hashable, Sendable {
    /// At this index.
    case index(Int)
    /// This many places further back; negative is forward.
    case offset(Int)
    /// This many places from the last; negative is forward.
    case fromEnd(Int)
}
