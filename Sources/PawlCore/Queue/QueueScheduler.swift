/// Which downloads run, by the ids of their owner: ``QueueBook`` decides, this knows the names.
///
/// Ids that are not known change nothing. Where a call costs much less is needed, as for each of ten thousand small files,
/// the owner keeps the numbers and asks the book itself: generic code of another room runs unspecialised.
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

    /// What the book decides, by name.
    ///
    /// The book is changed first and on its own: a copy of it anywhere would be a copy of the whole line.
    private mutating func orders(_ decide: (inout QueueBook) -> [QueueBook.Order]) -> [Order] {
        let orders = decide(&book)
        return orders.map { order in
            switch order {
            case .start(let number): .start(ids[Int(number)])
            case .preempt(let number): .preempt(ids[Int(number)])
            case .pause(let number): .pause(ids[Int(number)])
            }
        }
    }

    // MARK: what happens

    /// The person wants it to run; one that is known already is resumed and keeps its place.
    package mutating func enqueue(_ id: ID, priority: Int = 0, group: GroupID? = nil) -> [Order] {
        if numbers[id] != nil { return resume(id) }
        let number = book.add(priority: priority, group: group)
        name(number, id)
        return orders { $0.enqueue(number) }
    }

    /// Puts a download of an earlier run back to its place; `startNext` is called when all are there.
    package mutating func restore(
        _ id: ID,
        place: QueuePosition,
        group: GroupID? = nil,
        isPaused: Bool = false
    ) {
        guard numbers[id] == nil else { return }
        name(book.restore(place, group: group, isPaused: isPaused), id)
    }

    /// These had slots when the program ended, the oldest first: they go on before anybody else; those that find no slot
    /// are the next in the line.
    package mutating func goOn(_ ids: [ID]) -> (orders: [Order], waiting: [ID]) {
        var waiting: [QueueBook.Number] = []
        let numbers = ids.compactMap { self.numbers[$0] }
        let orders = orders { book in
            let result = book.goOn(numbers)
            waiting = result.waiting
            return result.orders
        }
        return (orders, named(waiting))
    }

    /// It finished, failed or was removed: it is forgotten, and its slot is free.
    package mutating func release(_ id: ID) -> [Order] {
        guard let number = numbers.removeValue(forKey: id) else { return [] }
        return orders { $0.release(number) }
    }

    /// The person pauses it: nothing but the person starts it again (D9).
    ///
    /// With `keepsSlot` it only stands still; if it loses its slot then, it waits as one that is paused (D1).
    package mutating func pause(_ id: ID, keepsSlot: Bool = false) -> [Order] {
        guard let number = numbers[id] else { return [] }
        return orders { $0.pause(number, keepsSlot: keepsSlot) }
    }

    /// The person lets it go on; it keeps its place in the line.
    package mutating func resume(_ id: ID) -> [Order] {
        guard let number = numbers[id] else { return [] }
        return orders { $0.resume(number) }
    }

    /// It runs at once; when all slots are taken, the oldest running one is pre-empted for it (D8).
    package mutating func forceStart(_ id: ID) -> [Order] {
        guard let number = numbers[id] else { return [] }
        return orders { $0.forceStart(number) }
    }

    /// Nobody of the group is started until it is resumed, but by force.
    package mutating func pause(group: GroupID) -> [Order] { orders { $0.pause(group: group) } }

    /// Who was paused by the person stays paused.
    package mutating func resume(group: GroupID) -> [Order] { orders { $0.resume(group: group) } }

    /// It belongs to another group, or to none; one that is paused stops it.
    package mutating func change(group: GroupID?, of id: ID) -> [Order] {
        guard let number = numbers[id] else { return [] }
        return orders { $0.change(group: group, of: number) }
    }

    /// More slots start waiting downloads; for fewer the newest ones are pre-empted (D7).
    package mutating func change(slots: Int) -> [Order] { orders { $0.change(slots: slots) } }

    /// Gives free slots to those who are ready, in order.
    package mutating func startNext() -> [Order] { orders { $0.startNext() } }

    /// It goes to the end of its new priority; one that runs goes on.
    package mutating func change(priority: Int, of id: ID) {
        guard let number = numbers[id] else { return }
        book.change(priority: priority, of: number)
    }

    /// Moves a download in the line, within its priority; `nil` when it does not wait.
    package mutating func move(_ id: ID, to target: QueueTarget) -> QueueMove<ID>? {
        guard let number = numbers[id], book.line.isWaiting(number) else { return nil }
        let move = book.move(number, to: target)
        return QueueMove(index: move.index, replaced: named(move.replaced))
    }

    // MARK: how things are

    package var slots: Int { book.slots }
    /// Who has a slot, the oldest first.
    package var running: [ID] { named(book.holders) }
    /// How many are in the line, paused ones too.
    package var waitingCount: Int { book.line.count }
    package func isWaiting(_ id: ID) -> Bool { numbers[id].map(book.line.isWaiting) ?? false }
    /// Whether it has a slot.
    package func isRunning(_ id: ID) -> Bool { numbers[id].map { !book.line.isWaiting($0) } ?? false }
    /// Whether the person paused it, with or without a slot.
    package func isPaused(_ id: ID) -> Bool { numbers[id].map(book.line.isPaused) ?? false }
    package func isPaused(group: GroupID) -> Bool { book.line.isHeld(group) }
    /// What has to be kept for a restore; one that runs keeps the place that it had.
    package func place(of id: ID) -> QueuePosition? { numbers[id].map(book.line.place) }

    /// The line from an index on, paused ones too: the next one first.
    package func waiting(from start: Int = 0, limit: Int) -> [ID] {
        named(book.line.members(from: start, limit: limit))
    }

    /// How many stand before it in the line.
    package func index(of id: ID) -> Int? {
        numbers[id].flatMap { book.line.isWaiting($0) ? book.line.rank(of: $0) : nil }
    }
}
