/// Which downloads run: at most `slots` at once, the rest wait in order.
///
/// Keys are the caller's ids. Every event returns orders, to be carried out in their order.
///
/// - A slot belongs to a download from its `start` until its `preempt` or `pause` order, or its release. Nobody waits for
///   one that is on its way out: it closes its file in a moment, and a forced start is meant to be at once (D8). It waits
///   in the line already; when its turn comes before it has left, it goes on after it has.
/// - Priority decides who starts next, never who stops.
/// - A pre-empted download goes to the front of its priority, one that is new or was given another priority to the end.
/// - Paused by the person and paused with its group are two things; whoever is neither is ready.
///
/// The methods are inlinable because unspecialised calls from another room cost some ten thousand instructions each.
package struct QueueScheduler<ID: Hashable & Sendable>: Sendable {
    package typealias Order = QueueOrder<ID>

    /// Downloads that run at once.
    @usableFromInline package internal(set) var slots: Int
    @usableFromInline var numbers: [ID: QueueLine.Number] = [:]
    /// By number.
    @usableFromInline var ids: [ID] = []
    @usableFromInline var line = QueueLine()
    /// Who has a slot, the oldest first.
    @usableFromInline var holders: [QueueLine.Number] = []

    @inlinable package init(slots: Int) { self.slots = max(1, slots) }

    // MARK: one download

    /// The person wants it to run: it waits for its turn.
    ///
    /// One that is known already is resumed and keeps its place.
    @inlinable package mutating func enqueue(
        _ id: ID,
        priority: Int = 0,
        group: GroupID? = nil
    ) -> [Order] {
        if numbers[id] != nil { return resume(id) }
        let number = add(id, priority: priority, position: nil, group: group, isPaused: false)
        // While a slot is free nobody who is ready waits.
        guard holders.count < slots, line.isReady(number) else {
            line.insert(number)
            return []
        }
        holders.append(number)
        return [.start(id)]
    }

    /// Puts a download of an earlier run back to its place; `startNext` is called when all are there.
    @inlinable package mutating func restore(
        _ id: ID,
        place: QueuePlace,
        group: GroupID? = nil,
        isPaused: Bool = false
    ) {
        guard numbers[id] == nil else { return }
        line.insert(
            add(id, priority: place.priority, position: place.position, group: group, isPaused: isPaused)
        )
    }

    @inlinable mutating func add(
        _ id: ID,
        priority: Int,
        position: Double?,
        group: GroupID?,
        isPaused: Bool
    ) -> QueueLine.Number {
        let number = line.add(priority: priority, position: position, group: group, isPaused: isPaused)
        numbers[id] = number
        if Int(number) == ids.count { ids.append(id) } else { ids[Int(number)] = id }
        return number
    }

    /// It finished, failed or was removed: it is forgotten, and its slot is free.
    @inlinable package mutating func release(_ id: ID) -> [Order] {
        guard let number = numbers.removeValue(forKey: id) else { return [] }
        if let index = holders.firstIndex(of: number) { holders.remove(at: index) }
        line.forget(number)
        return startNext()
    }

    /// The person pauses it: nothing but the person starts it again (D9).
    ///
    /// With `keepsSlot` it only stands still; if it loses its slot then, it waits as one that is paused (D1).
    @inlinable package mutating func pause(_ id: ID, keepsSlot: Bool = false) -> [Order] {
        guard let number = numbers[id] else { return [] }
        let wasPaused = line.isPaused(number)
        line.set(paused: true, of: number)
        guard let index = holders.firstIndex(of: number) else { return [] }
        let orders: [Order] = wasPaused ? [] : [.pause(id)]
        if keepsSlot { return orders }
        holders.remove(at: index)
        line.insertFirst(number)
        return orders + startNext()
    }

    /// The person lets it go on; it keeps its place in the line.
    @inlinable package mutating func resume(_ id: ID) -> [Order] {
        guard let number = numbers[id], line.isPaused(number) else { return [] }
        line.set(paused: false, of: number)
        return line.isWaiting(number) ? startNext() : [.start(id)]
    }

    /// It runs at once; when all slots are taken, the oldest running one is pre-empted for it (D8).
    ///
    /// The person means this one: it is not paused any more, and runs although its group is.
    @inlinable package mutating func forceStart(_ id: ID) -> [Order] {
        guard let number = numbers[id] else { return [] }
        guard line.isWaiting(number) else { return resume(id) }
        line.remove(number)
        line.set(paused: false, of: number)
        let orders = holders.count < slots ? [] : takeSlot(of: 0)
        holders.append(number)
        return orders + [.start(id)]
    }

    // MARK: groups

    /// Nobody of the group is started until it is resumed, but by force.
    @inlinable package mutating func pause(group: GroupID) -> [Order] {
        line.set(held: true, of: group)
        var orders: [Order] = []
        // The newest first, so that the oldest gets to the very front.
        for index in holders.indices.reversed() where line.isMember(holders[index], of: group) {
            let number = holders.remove(at: index)
            line.insertFirst(number)
            if !line.isPaused(number) { orders.append(.pause(ids[Int(number)])) }
        }
        return orders + startNext()
    }

    /// Who was paused by the person stays paused.
    @inlinable package mutating func resume(group: GroupID) -> [Order] {
        line.set(held: false, of: group)
        return startNext()
    }

    // MARK: slots

    /// More slots start waiting downloads; for fewer the newest ones are pre-empted (D7).
    ///
    /// Whoever lowers the number wants fewer to run now: letting them end first could take days.
    @inlinable package mutating func change(slots: Int) -> [Order] {
        self.slots = max(1, slots)
        var orders: [Order] = []
        while holders.count > self.slots { orders += takeSlot(of: holders.count - 1) }
        return orders + startNext()
    }

    @inlinable mutating func takeSlot(of index: Int) -> [Order] {
        let number = holders.remove(at: index)
        line.insertFirst(number)
        return line.isPaused(number) ? [] : [.preempt(ids[Int(number)])]
    }

    /// Gives free slots to those who are ready, in order.
    @inlinable package mutating func startNext() -> [Order] {
        guard line.hasReady else { return [] }
        var orders: [Order] = []
        while holders.count < slots, let number = line.takeReady() {
            holders.append(number)
            orders.append(.start(ids[Int(number)]))
        }
        return orders
    }
}
