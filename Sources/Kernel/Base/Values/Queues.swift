/// A priority queue by instant, earliest first (binary heap).
package struct InstantHeap<Element: Sendable>: Sendable {
    private var items: [(at: Instant, element: Element)] = []

    package init() {}

    package var count: Int { items.count }
    package var first: Instant? { items.first?.at }

    package mutating func push(_ element: Element, at instant: Instant) {
        items.append((instant, element))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].at < items[parent].at else { break }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first element, if it is due.
    package mutating func pop(atMost now: Instant) -> Element? {
        guard let top = items.first, top.at <= now else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return top.element }
        items[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            let right = left + 1
            var least = parent
            if left < items.count, items[left].at < items[parent].at { least = left }
            if right < items.count, items[right].at < items[least].at { least = right }
            guard least != parent else { return top.element }
            items.swapAt(parent, least)
            parent = least
        }
    }
}

/// When each of many members is due, for deadlines that move much more often than they pass.
///
/// A deadline that moves later leaves its entry in the heap, which finds the new one when it is due.
package struct Deadlines<Member: Hashable & Sendable>: Sendable {
    private struct Entry {
        /// `nil`: none at present.
        var deadline: Instant?
        /// The instant of the member's entry in the heap; others are out of date.
        var queued: Instant
    }

    private var entries: [Member: Entry] = [:]
    private var heap = InstantHeap<Member>()

    package init() {}

    /// Nothing is due before it; at this instant perhaps nothing is either.
    package var first: Instant? { heap.first }

    package mutating func set(_ member: Member, to deadline: Instant?) {
        if let queued = entries[member]?.queued, deadline.map({ $0 >= queued }) ?? true {
            entries[member]?.deadline = deadline
            return
        }
        guard let deadline else { return }
        entries[member] = Entry(deadline: deadline, queued: deadline)
        heap.push(member, at: deadline)
        // What is out of date takes no more room than the rest.
        guard heap.count > 2 * entries.count + 64 else { return }
        heap = InstantHeap()
        for (member, entry) in entries { heap.push(member, at: entry.queued) }
    }

    package mutating func remove(_ member: Member) { entries[member] = nil }

    /// Removes and returns those that are due.
    package mutating func pass(_ now: Instant) -> [Member] {
        var due: [Member] = []
        while let queued = heap.first, let member = heap.pop(atMost: now) {
            guard let entry = entries[member], entry.queued == queued else { continue }
            entries[member] = nil
            guard let deadline = entry.deadline else { continue }
            if deadline <= now { due.append(member) } else { set(member, to: deadline) }
        }
        return due
    }
}

/// A queue whose first element is removed without moving the others.
package struct FIFO<Element> {
    private var elements: [Element] = []
    private var start = 0

    package init() {}

    package var count: Int { elements.count - start }
    package var first: Element? { start < elements.count ? elements[start] : nil }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start * 2 >= elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}

extension FIFO: Sendable where Element: Sendable {}
extension FIFO: Equatable where Element: Equatable {}
extension FIFO: Hashable where Element: Hashable {}
