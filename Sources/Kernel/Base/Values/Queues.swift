/// A priority queue by instant, earliest first (binary heap).
package struct InstantHeap<Element: Sendable>: Sendable {
    private var items: [(at: Instant, element: Element)] = []

    package init() {}

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
