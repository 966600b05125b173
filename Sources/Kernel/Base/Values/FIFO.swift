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
