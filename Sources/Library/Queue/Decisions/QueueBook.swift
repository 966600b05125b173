/// The assignment of slots: at most `slots` downloads run at once, the rest wait in order.
///
/// Downloads have numbers here; ``QueueScheduler`` maps them to ids. Every event returns orders, to be
/// carried out in their order.
///
/// - A slot belongs to a download from its `start` until its `preempt` or `pause` order, or its release. No
///   download waits for one that is stopping: it closes its file in a moment, and a forced start is immediate
///   (D8). The stopping one waits in the line already; if its turn comes before it has stopped, it resumes
///   afterwards.
/// - Priority decides which starts next, never which stops.
/// - A preempted download goes to the front of its priority, one that is new or was given another priority to
///   the end.
/// - A pause by the user and a pause of its group are independent; a download with neither is ready.
package struct QueueBook: Sendable {
    package typealias Number = QueueLine.Number
    package typealias Order = QueueOrder<Number>

    /// The number of downloads that run at once.
    package private(set) var slots: Int
    package private(set) var line = QueueLine()
    /// The downloads with a slot, the oldest first.
    package private(set) var holders: [Number] = []
    /// Whether no download starts unless it is forced to.
    package private(set) var isHeld = false

    package init(slots: Int) { self.slots = max(1, slots) }

    // MARK: one download

    /// Adds a new download that is not to run yet.
    package mutating func add(priority: Int = 0, group: GroupID? = nil) -> Number {
        line.add(priority: priority, position: nil, group: group, isPaused: false)
    }

    /// Makes the new one wait for its turn.
    package mutating func enqueue(_ number: Number) -> [Order] {
        assert(!line.isWaiting(number) && !holders.contains(number), "\(number) has a place already")
        // No ready download waits while a slot is free.
        guard holders.count < slots, !isHeld, line.isReady(number) else {
            line.insert(number)
            return []
        }
        holders.append(number)
        return [.start(number)]
    }

    /// Restores a download of an earlier run at its place; `startNext` is called when all are restored.
    package mutating func restore(_ place: QueuePosition, group: GroupID?, isPaused: Bool) -> Number {
        let number = line.add(priority: place.priority, position: place.position, group: group, isPaused: isPaused)
        line.insert(number)
        return number
    }

    /// Starts the downloads that had slots when the program ended before all others, the oldest first.
    ///
    /// One that was paused since is left out. Those without a slot are the next in the line.
    package mutating func resume(_ numbers: [Number]) -> (orders: [Order], waiting: [Number]) {
        var orders: [Order] = []
        var waiting: [Number] = []
        for number in numbers where line.isWaiting(number) && !line.isPaused(number) {
            guard holders.count < slots, !isHeld else {
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

    /// Forgets a download that finished, failed or was removed, and frees its slot.
    ///
    /// Its number may be reused.
    package mutating func release(_ number: Number) -> [Order] {
        if let index = holders.firstIndex(of: number) { holders.remove(at: index) }
        line.forget(number)
        return startNext()
    }

    /// It cannot be written: it waits at its place, without a slot, until `wake`.
    package mutating func stall(_ number: Number) -> [Order] {
        line.set(stuck: true, of: number)
        if let index = holders.firstIndex(of: number) {
            holders.remove(at: index)
            line.insert(number)
        }
        return startNext()
    }

    /// They may run when their turn comes.
    package mutating func wake(_ numbers: [Number]) -> [Order] {
        for number in numbers { line.set(stuck: false, of: number) }
        return startNext()
    }

    /// Changes the number of slots without taking one: if there are fewer, those in excess are not given again.
    package mutating func drain(to slots: Int) -> [Order] {
        self.slots = max(1, slots)
        return startNext()
    }

    // MARK: commands of the user

    /// Carries out a command for a download that it knows, or for several.
    package mutating func apply(_ command: SlotCommand<Number>) -> [Order] {
        switch command {
        case .pause(let number, let keepsSlot): return pause(number, keepsSlot: keepsSlot)
        case .resume(let number): return resume(number)
        case .start(let number): return start(number)
        case .priority(let number, let priority):
            line.set(priority: priority, of: number)
            return [.place(number)]
        case .move(let number, let target):
            return line.isWaiting(number) ? line.move(number, to: rank(of: number, at: target)).map { .place($0) } : []
        case .group(let number, let group):
            line.set(group: group, of: number)
            return line.isHeld(number) ? withdraw([number]) : startNext()
        case .pauseGroup(let group):
            line.set(held: true, of: group)
            return withdraw(holders.filter { line.isMember($0, of: group) })
        case .resumeGroup(let group):
            line.set(held: false, of: group)
            return startNext()
        case .slots(let slots):
            self.slots = max(1, slots)
            var orders: [Order] = []
            while holders.count > self.slots { orders += takeSlot(of: holders.count - 1) }
            return orders + startNext()
        case .hold(let isHeld):
            guard isHeld != self.isHeld else { return [] }
            self.isHeld = isHeld
            return isHeld ? withdraw(holders) : startNext()
        }
    }

    private mutating func pause(_ number: Number, keepsSlot: Bool) -> [Order] {
        guard !line.isPaused(number) else { return [] }
        line.set(paused: true, of: number)
        line.set(stuck: false, of: number)
        guard let index = holders.firstIndex(of: number) else { return [] }
        if keepsSlot { return [.pause(number)] }
        holders.remove(at: index)
        line.insertFirst(number)
        return [.pause(number)] + startNext()
    }

    private mutating func resume(_ number: Number) -> [Order] {
        guard line.isPaused(number) else { return [] }
        line.set(paused: false, of: number)
        return line.isWaiting(number) ? startNext() : [.start(number)]
    }

    private mutating func start(_ number: Number) -> [Order] {
        guard line.isWaiting(number) else { return resume(number) }
        line.remove(number)
        line.set(paused: false, of: number)
        line.set(stuck: false, of: number)
        let orders = holders.count < slots ? [] : takeSlot(of: 0)
        holders.append(number)
        return orders + [.start(number)]
    }

    /// The index in the line that it is to have.
    private func rank(of number: Number, at target: QueueTarget) -> Int {
        let last = line.count - 1
        return switch target {
        case .index(let index): index
        case .offset(let offset): line.rank(of: number) + min(max(offset, -last), last)
        case .fromEnd(let offset): last + min(max(offset, -last), 0)
        }
    }

    // MARK: slots

    /// Takes the slots that these downloads have, since their group is paused, or all are held.
    private mutating func withdraw(_ numbers: [Number]) -> [Order] {
        var orders: [Order] = []
        // The newest first, so that the oldest gets to the very front.
        for number in numbers.reversed() {
            guard let index = holders.firstIndex(of: number) else { continue }
            holders.remove(at: index)
            line.insertFirst(number)
            if !line.isPaused(number) { orders.append(.pause(number)) }
        }
        return orders + startNext()
    }

    private mutating func takeSlot(of index: Int) -> [Order] {
        let number = holders.remove(at: index)
        line.insertFirst(number)
        return line.isPaused(number) ? [] : [.preempt(number)]
    }

    /// Assigns free slots to ready downloads, in order.
    package mutating func startNext() -> [Order] {
        guard line.hasReady, !isHeld else { return [] }
        var orders: [Order] = []
        while holders.count < slots, let number = line.takeReady() {
            holders.append(number)
            orders.append(.start(number))
        }
        // More, while those hold on that were given before there were fewer.
        assert(holders.count >= slots || !line.hasReady, "a slot is idle while a download waits")
        return orders
    }
}
