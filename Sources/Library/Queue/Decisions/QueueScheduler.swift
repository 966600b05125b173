/// Slots by the owner's ids: ``QueueBook`` decides, this maps ids to numbers.
///
/// Unknown ids change nothing. Where calls have to be cheap, as for each of ten thousand small files, the
/// owner keeps the numbers and uses the book directly: generic code of another module runs unspecialised.
package struct QueueScheduler<ID: Hashable & Sendable>: Sendable {
    package typealias Order = QueueOrder<ID>

    private var book: QueueBook
    private var numbers: [ID: QueueBook.Number] = [:]
    /// By number.
    private var ids: [ID] = []

    package init(slots: Int) { book = QueueBook(slots: slots) }

    private mutating func name(_ number: QueueBook.Number, _ id: ID) {
        numbers[id] = number
        if Int(number) == ids.count { ids.append(id) } else { ids[Int(number)] = id }
    }

    private func named(_ numbers: [QueueBook.Number]) -> [ID] { numbers.map { ids[Int($0)] } }

    /// The book's orders, by id.
    ///
    /// The book is changed first and on its own: a copy of it anywhere would be a copy of the whole line.
    private mutating func orders(_ decide: (inout QueueBook) -> [QueueBook.Order]) -> [Order] {
        let orders = decide(&book)
        return orders.map { order in
            switch order {
            case .start(let number): .start(ids[Int(number)])
            case .preempt(let number): .preempt(ids[Int(number)])
            case .pause(let number): .pause(ids[Int(number)])
            case .place(let number): .place(ids[Int(number)])
            }
        }
    }

    // MARK: events

    /// Makes it run when its turn comes; a known one is resumed and keeps its place.
    package mutating func enqueue(_ id: ID, priority: Int = 0, group: GroupID? = nil) -> [Order] {
        if numbers[id] != nil { return apply(.resume(id)) }
        let number = book.add(priority: priority, group: group)
        name(number, id)
        return orders { $0.enqueue(number) }
    }

    /// Restores a download of an earlier run at its place; `startNext` is called when all are restored.
    package mutating func restore(_ id: ID, place: QueuePosition, group: GroupID? = nil, isPaused: Bool = false) {
        guard numbers[id] == nil else { return }
        name(book.restore(place, group: group, isPaused: isPaused), id)
    }

    /// Starts the downloads that had slots when the program ended before all others, the oldest first; those
    /// without a slot are the next in the line.
    package mutating func resume(_ ids: [ID]) -> (orders: [Order], waiting: [ID]) {
        var waiting: [QueueBook.Number] = []
        let numbers = ids.compactMap { self.numbers[$0] }
        let orders = orders { book in
            let result = book.resume(numbers)
            waiting = result.waiting
            return result.orders
        }
        return (orders, named(waiting))
    }

    /// Forgets a download that finished, failed or was removed, and frees its slot.
    package mutating func release(_ id: ID) -> [Order] {
        guard let number = numbers.removeValue(forKey: id) else { return [] }
        return orders { $0.release(number) }
    }

    /// It cannot be written: it waits at its place, without a slot, until `wake`.
    package mutating func stall(_ id: ID) -> [Order] {
        guard let number = numbers[id] else { return [] }
        return orders { $0.stall(number) }
    }

    /// They may run when their turn comes.
    package mutating func wake(_ ids: [ID]) -> [Order] {
        let numbers = ids.compactMap { self.numbers[$0] }
        return orders { $0.wake(numbers) }
    }

    /// Assigns free slots to ready downloads, in order.
    package mutating func startNext() -> [Order] { orders { $0.startNext() } }

    /// Carries out a command of the user.
    package mutating func apply(_ command: SlotCommand<ID>) -> [Order] {
        guard let command = command.mapped({ numbers[$0] }) else { return [] }
        return orders { $0.apply(command) }
    }

    // MARK: state

    package var slots: Int { book.slots }
    package var isHeld: Bool { book.isHeld }
    /// The downloads with a slot, the oldest first.
    package var running: [ID] { named(book.holders) }
    /// The length of the line, paused ones included.
    package var waitingCount: Int { book.line.count }
    package func isWaiting(_ id: ID) -> Bool { numbers[id].map(book.line.isWaiting) ?? false }
    /// Whether it has a slot.
    package func isRunning(_ id: ID) -> Bool { numbers[id].map { !book.line.isWaiting($0) } ?? false }
    /// Whether the user paused it, with or without a slot.
    package func isPaused(_ id: ID) -> Bool { numbers[id].map(book.line.isPaused) ?? false }
    /// Whether it waits for its disk.
    package func isStuck(_ id: ID) -> Bool { numbers[id].map(book.line.isStuck) ?? false }
    package func isPaused(group: GroupID) -> Bool { book.line.isHeld(group) }
    /// The position to store for a restore; a running one keeps its former one.
    package func place(of id: ID) -> QueuePosition? { numbers[id].map(book.line.place) }

    /// The line from an index on, paused ones included: the next one first.
    package func waiting(from start: Int = 0, limit: Int) -> [ID] {
        named(book.line.members(from: start, limit: limit))
    }

    /// How many precede it in the line.
    package func index(of id: ID) -> Int? {
        numbers[id].flatMap { book.line.isWaiting($0) ? book.line.rank(of: $0) : nil }
    }
}
