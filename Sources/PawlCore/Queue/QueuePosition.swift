/// Where a download stands in the line; the smaller place is the earlier turn.
package struct QueuePosition: Hashable, Comparable, Sendable {
    /// Greater runs earlier.
    package var priority: Int
    /// Orders those of equal priority; smaller runs earlier.
    package var position: Double

    package init(priority: Int = 0, position: Double) {
        self.priority = priority
        self.position = position
    }

    package static func < (left: QueuePosition, right: QueuePosition) -> Bool {
        left.priority == right.priority ? left.position < right.position : left.priority > right.priority
    }
}

/// Names a group of downloads that are paused and resumed together.
package struct GroupID: Hashable, Sendable {
    package let name: String

    package init(_ name: String) { self.name = name }
}

/// What the scheduler wants done to a download.
package enum QueueOrder<ID: Hashable & Sendable>: Hashable, Sendable {
    /// Let it run; one that is still on its way out of an earlier run goes on as soon as it has left.
    case start(ID)
    /// It has lost its slot and starts again by itself.
    case preempt(ID)
    /// A person paused it, or its group.
    case pause(ID)
}

/// Where in the line a download is wished to stand.
package enum QueueTarget: Hashable, Sendable {
    /// At this index.
    case index(Int)
    /// This many places further back; negative is forward.
    case offset(Int)
    /// This many places from the last; negative is forward.
    case fromEnd(Int)
}

/// What a move came to.
package struct QueueMove<ID: Hashable & Sendable>: Hashable, Sendable {
    /// The index in the line where the download stands now.
    package var index: Int
    /// Whose positions are other ones now: the moved one, and rarely neighbours that had to make room.
    package var replaced: [ID]

    package init(index: Int, replaced: [ID]) {
        self.index = index
        self.replaced = replaced
    }
}
