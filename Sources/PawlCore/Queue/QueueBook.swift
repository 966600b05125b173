/// Which downloads run: at most `slots` at once, the rest wait in order.
///
/// Downloads have numbers here; ``QueueScheduler`` knows them by their ids. Every event returns orders, to be carried
/// out in their order.
///
/// - A slot belongs to a download from its `start` until its `preempt` or `pause` order, or its release. Nobody waits for
///   one that is on its way out: it closes its file in a moment, and a forced start is meant to be at once (D8). It waits
///   in the line already; when its turn comes before it has left, it goes on after it has.
/// - Priority decides who starts next, never who stops.
/// - A pre-empted download goes to the front of its priority, one that is new or was given another priority to the end.
/// - Paused by the person and paused with its group are two things; whoever is neither is ready.
package struct QueueBook: Sendable {
    package typealias Number = QueueLine.Number
    package typealias Order = QueueOrder<Number>

    /// Downloads that run at once.
    package private(set) var slots: Int
    package private(set) var line = QueueLine()
    /// Who has a slot, the oldest first.
    package private(set) var holders: [Number] = []

    package init(slots: Int) { self.slots = max(1, slots) }

    // MARK: one download

    /// A new download, of which nothing is wanted yet.
    package mutating func add(priority: Int = 0, group: GroupID? = nil) -> Number {
        line.add(priority: priority, position: nil, group: group, isPaused: false)
    }

    /// The person wants the new one to run: it waits for its turn.
    package mutating func enqueue(_ number: Number) -> [Order] {
        // While a slot is free nobody who is ready waits.
        guard holders.count < slots, line.isReady(number) else {
            line.insert(number)
            return []
        }
        holders.append(number)
        return [.start(number)]
    }

    /// Puts a download of an earlier run back to its place; `startNext` is called when all are there.
    package mutating func restore(_ place: QueuePosition, group: GroupID?, isPaused: Bool) -> Number {
        let number = line.add(
            priority: place.priority,
            position: place.position,
            group: group,
            isPaused: isPaused
        )
        line.insert(number)
        return number
    }

    /// These had slots when the program ended, the oldest first: they go on before anybody else, in this order.
    ///
    /// One that was paused meanwhile is left out. Those that find no slot any more are the next in the line.
    package mutating func goOn(_ numbers: [Number]) -> (orders: [Order], waiting: [Number]) {
        var orders: [Order] = []
        var waiting: [Number] = []
        for number in numbers where line.isWaiting(number) && !line.isPaused(number) {
            guard holders.count < slots else {
                waiting.append(number)
                continue
            }
            line.remove(number)
            holders.append(number)
            orders.append(.start(number))
        }
        for number in waiting.reversed() {
            line.remove(number)
            line.insertFirst(number)
        }
        return (orders, waiting)
    }

    /// It finished, failed or was removed: it is forgotten, and its slot is free.
    ///
    /// Its number may be another's from now on.
    package mutating func release(_ number: Number) -> [Order] {
        if let index = holders.firstIndex(of: number) { holders.remove(at: index) }
        line.forget(number)
        return startNext()
    }

    /// The person pauses it: nothing but the person starts it again (D9).
    ///
    /// With `keepsSlot` it only stands still; if it loses its slot then, it waits as one that is paused (D1).
    package mutating func pause(_ number: Number, keepsSlot: Bool) -> [Order] {
        let orders: [Order] = line.isPaused(number) ? [] : [.pause(number)]
        line.set(paused: true, of: number)
        guard let index = holders.firstIndex(of: number) else { return [] }
        if keepsSlot { return orders }
        holders.remove(at: index)
        line.insertFirst(number)
        return orders + startNext()
    }

    /// The person lets it go on; it keeps its place in the line.
    package mutating func resume(_ number: Number) -> [Order] {
        guard line.isPaused(number) else { return [] }
        line.set(paused: false, of: number)
        return line.isWaiting(number) ? startNext() : [.start(number)]
    }

    /// It runs at once; when all slots are taken, the oldest running one is pre-empted for it (D8).
    ///
    /// The person means this one: it is not paused any more, and runs although its group is.
    package mutating func forceStart(_ number: Number) -> [Order] {
        guard line.isWaiting(number) else { return resume(number) }
        line.remove(number)
        line.set(paused: false, of: number)
        let orders = holders.count < slots ? [] : takeSlot(of: 0)
        holders.append(number)
        return orders + [.start(number)]
    }

    // MARK: groups

    /// Nobody of the group is started until it is resumed, but by force.
    package mutating func pause(group: GroupID) -> [Order] {
        line.set(held: true, of: group)
        var orders: [Order] = []
        // The newest first, so that the oldest gets to the very front.
        for index in holders.indices.reversed() where line.isMember(holders[index], of: group) {
            let number = holders.remove(at: index)
            line.insertFirst(number)
            if !line.isPaused(number) { orders.append(.pause(number)) }
        }
        return orders + startNext()
    }

    /// Who was paused by the person stays paused.
    package mutating func resume(group: GroupID) -> [Order] {
        line.set(held: false, of: group)
        return startNext()
    }

    /// It belongs to another group from now on, or to none; one that is paused stops it.
    package mutating func change(group: GroupID?, of number: Number) -> [Order] {
        line.set(group: group, of: number)
        guard line.isHeld(number), let index = holders.firstIndex(of: number) else { return startNext() }
        holders.remove(at: index)
        line.insertFirst(number)
        return (line.isPaused(number) ? [] : [.pause(number)]) + startNext()
    }

    // MARK: the line

    package mutating func change(priority: Int, of number: Number) {
        line.set(priority: priority, of: number)
    }

    package mutating func move(_ number: Number, to target: QueueTarget) -> QueueMove<Number> {
        let last = line.count - 1
        let wished =
            switch target {
            case .index(let index): index
            case .offset(let offset): line.rank(of: number) + min(max(offset, -last), last)
            case .fromEnd(let offset): last + min(max(offset, -last), 0)
            }
        let replaced = line.move(number, to: wished)
        return QueueMove(index: line.rank(of: number), replaced: replaced)
    }

    // MARK: slots

    /// More slots start waiting downloads; for fewer the newest ones are pre-empted (D7).
    ///
    /// Whoever lowers the number wants fewer to run now: letting them end first could take days.
    package mutating func change(slots: Int) -> [Order] {
        self.slots = max(1, slots)
        var orders: [Order] = []
        while holders.count > self.slots { orders += takeSlot(of: holders.count - 1) }
        return orders + startNext()
    }

    private mutating func takeSlot(of index: Int) -> [Order] {
        let number = holders.remove(at: index)
        line.insertFirst(number)
        return line.isPaused(number) ? [] : [.preempt(number)]
    }

    /// Gives free slots to those who are ready, in order.
    package mutating func startNext() -> [Order] {
        guard line.hasReady else { return [] }
        var orders: [Order] = []
        while holders.count < slots, let number = line.takeReady() {
            holders.append(number)
            orders.append(.start(number))
        }
        return orders
    }
}
