/// The scheduler's entries by number, and the order of those that wait.
///
/// The order is a list of chunks, so that a hundred thousand waiting entries cost some four bytes each beside
/// the entry itself, and each step touches one chunk and the counts of the others.
package struct QueueLine: Sendable {
    package typealias Number = Int32

    private struct Entry: Sendable {
        var place: QueuePosition
        var group: GroupID?
        /// The user paused it.
        var isPaused: Bool
        /// Its group is paused.
        var isHeld: Bool
        var isWaiting = false
        /// Its disk has no room.
        var isStuck = false

        var isReady: Bool { !isPaused && !isHeld && !isStuck }
    }

    private struct Chunk: Sendable {
        var members: [Number] = []
        /// How many of them may be started.
        var ready = 0
    }

    private static let chunkSize = 512

    private var entries: [Entry] = []
    private var free: [Number] = []
    private var chunks: [Chunk] = []
    private var heldGroups: Set<GroupID> = []
    package private(set) var count = 0
    private var ready = 0
    /// The lowest and highest positions given so far; those of running entries count, since they may return.
    private var lowest = 0.0
    private var highest = 0.0

    package init() {}

    // MARK: entries

    /// Adds a new entry, not in the line yet; without a position it gets the last one.
    package mutating func add(priority: Int, position: Double?, group: GroupID?, isPaused: Bool) -> Number {
        let position = position ?? highest + 1
        note(position)
        let entry = Entry(
            place: QueuePosition(priority: priority, position: position), group: group, isPaused: isPaused,
            isHeld: group.map(heldGroups.contains) ?? false)
        guard let number = free.popLast() else {
            entries.append(entry)
            return Number(entries.count - 1)
        }
        entries[Int(number)] = entry
        return number
    }

    /// Removes an entry; its number may be reused.
    package mutating func forget(_ number: Number) {
        remove(number)
        entries[Int(number)].group = nil
        free.append(number)
    }

    package func place(of number: Number) -> QueuePosition { entries[Int(number)].place }
    package func isPaused(_ number: Number) -> Bool { entries[Int(number)].isPaused }
    package func isReady(_ number: Number) -> Bool { entries[Int(number)].isReady }
    package func isWaiting(_ number: Number) -> Bool { entries[Int(number)].isWaiting }
    package func isMember(_ number: Number, of id: GroupID) -> Bool { entries[Int(number)].group == id }
    package func isHeld(_ group: GroupID) -> Bool { heldGroups.contains(group) }

    package mutating func set(paused: Bool, of number: Number) { change(number) { $0.isPaused = paused } }

    package func isStuck(_ number: Number) -> Bool { entries[Int(number)].isStuck }

    package mutating func set(stuck: Bool, of number: Number) { change(number) { $0.isStuck = stuck } }

    /// Whether its group is paused.
    package func isHeld(_ number: Number) -> Bool { entries[Int(number)].isHeld }

    package mutating func set(group: GroupID?, of number: Number) {
        let isHeld = group.map(heldGroups.contains) ?? false
        change(number) { entry in
            entry.group = group
            entry.isHeld = isHeld
        }
    }

    package mutating func set(held: Bool, of group: GroupID) {
        if held { heldGroups.insert(group) } else { heldGroups.remove(group) }
        for index in entries.indices where entries[index].group == group { change(Number(index)) { $0.isHeld = held } }
    }

    private mutating func change(_ number: Number, _ edit: (inout Entry) -> Void) {
        let was = entries[Int(number)].isReady
        edit(&entries[Int(number)])
        let entry = entries[Int(number)]
        guard entry.isWaiting, was != entry.isReady else { return }
        count(ready: entry.isReady ? 1 : -1, in: chunk(of: number))
    }

    private mutating func count(ready difference: Int, in chunk: Int) {
        chunks[chunk].ready += difference
        ready += difference
        assert((0...count).contains(ready), "more entries may start than wait")
        assert(chunks[chunk].ready >= 0, "a chunk counts its members that may start")
    }

    private mutating func note(_ position: Double) {
        lowest = min(lowest, position)
        highest = max(highest, position)
    }

    // MARK: the order

    package var hasReady: Bool { ready > 0 }

    /// Removes and returns the first entry that may be started.
    package mutating func takeReady() -> Number? {
        guard ready > 0, let chunk = chunks.firstIndex(where: { $0.ready > 0 }),
            let index = chunks[chunk].members.firstIndex(where: { entries[Int($0)].isReady })
        else { return nil }
        let number = chunks[chunk].members[index]
        take(index, from: chunk)
        return number
    }

    /// Inserts an entry at its position.
    package mutating func insert(_ number: Number) {
        assert(!entries[Int(number)].isWaiting, "an entry is in the line once")
        entries[Int(number)].isWaiting = true
        count += 1
        var index = chunk(of: number)
        if index == chunks.count {
            // A full last chunk stays full, since most inserts come at the end.
            if let last = chunks.last, last.members.count < QueueLine.chunkSize {
                index -= 1
            } else {
                chunks.append(Chunk())
            }
        }
        let offset = offset(of: number, in: index)
        assert(offset == 0 || precedes(chunks[index].members[offset - 1], number), "the line is in order")
        chunks[index].members.insert(number, at: offset)
        if entries[Int(number)].isReady { count(ready: 1, in: index) }
        if chunks[index].members.count > QueueLine.chunkSize { split(index) }
    }

    package mutating func insertFirst(_ number: Number) {
        lowest -= 1
        entries[Int(number)].place.position = lowest
        insert(number)
    }

    package mutating func insertLast(_ number: Number, priority: Int) {
        highest += 1
        entries[Int(number)].place = QueuePosition(priority: priority, position: highest)
        insert(number)
    }

    package mutating func set(priority: Int, of number: Number) {
        guard entries[Int(number)].place.priority != priority else { return }
        guard entries[Int(number)].isWaiting else {
            entries[Int(number)].place.priority = priority
            return
        }
        remove(number)
        insertLast(number, priority: priority)
    }

    package mutating func remove(_ number: Number) {
        guard entries[Int(number)].isWaiting else { return }
        let chunk = chunk(of: number)
        take(offset(of: number, in: chunk), from: chunk)
    }

    private mutating func take(_ offset: Int, from chunk: Int) {
        let number = chunks[chunk].members.remove(at: offset)
        assert(entries[Int(number)].isWaiting, "what is in the line waits")
        count -= 1
        if entries[Int(number)].isReady { count(ready: -1, in: chunk) }
        entries[Int(number)].isWaiting = false
        if chunks[chunk].members.isEmpty { chunks.remove(at: chunk) }
    }

    private mutating func split(_ index: Int) {
        let half = QueueLine.chunkSize / 2
        let later = Array(chunks[index].members[half...])
        chunks[index].members.removeLast(later.count)
        let moved = later.count { entries[Int($0)].isReady }
        chunks[index].ready -= moved
        chunks.insert(Chunk(members: later, ready: moved), at: index + 1)
    }

    // MARK: ranks

    /// The members from `start` on, at most `limit`; from the first, and none, for negative numbers.
    package func members(from start: Int, limit: Int) -> [Number] {
        guard limit > 0 else { return [] }
        var skip = max(0, start)
        var found: [Number] = []
        for chunk in chunks {
            guard skip < chunk.members.count else {
                skip -= chunk.members.count
                continue
            }
            found += chunk.members[skip...].prefix(limit - found.count)
            skip = 0
            if found.count >= limit { break }
        }
        return found
    }

    /// How many entries precede it.
    package func rank(of number: Number) -> Int {
        let chunk = chunk(of: number)
        return before(chunk) + offset(of: number, in: chunk)
    }

    /// Moves a waiting entry to an index within its priority, as near to `rank` as possible.
    ///
    /// Returns the entries whose positions changed.
    package mutating func move(_ number: Number, to rank: Int) -> [Number] {
        remove(number)
        let priority = entries[Int(number)].place.priority
        let first = self.rank(of: QueuePosition(priority: priority, position: -.infinity))
        let end = self.rank(of: QueuePosition(priority: priority, position: .infinity))
        let rank = min(max(rank, first), end)
        var replaced = [number]
        if rank == end {
            insertLast(number, priority: priority)
        } else if rank == first {
            insertFirst(number)
        } else {
            replaced += makeRoom(at: rank, end: end)
            let sides = members(from: rank - 1, limit: 2).map { entries[Int($0)].place.position }
            entries[Int(number)].place.position = middle(sides[0], sides[1])
            insert(number)
        }
        return replaced
    }

    private func middle(_ left: Double, _ right: Double) -> Double { left + (right - left) / 2 }

    /// Halving the same gap repeatedly exhausts it: then the entries behind it are spread, as few as
    /// necessary.
    private mutating func makeRoom(at rank: Int, end: Int) -> [Number] {
        assert((1..<end).contains(rank), "there is an entry on each side")
        let enough = 1e-6
        let left = entries[Int(members(from: rank - 1, limit: 1)[0])].place.position
        var width = 1
        while true {
            let found = members(from: rank, limit: min(width, end - rank))
            let isAll = rank + width >= end
            let right = entries[Int(found[found.count - 1])].place.position
            if right - left >= enough * Double(width) {
                guard width > 1 else { return [] }
                spread(found, from: left, step: (right - left) / Double(found.count + 1))
                return found
            }
            if isAll {
                spread(found, from: left, step: 1)
                return found
            }
            width *= 2
        }
    }

    private mutating func spread(_ numbers: [Number], from left: Double, step: Double) {
        for (index, number) in numbers.enumerated() {
            entries[Int(number)].place.position = left + step * Double(index + 1)
            note(entries[Int(number)].place.position)
        }
    }

    private func rank(of place: QueuePosition) -> Int {
        let chunk = chunks.partitioningIndex { !(entries[Int($0.members[$0.members.count - 1])].place < place) }
        guard chunk < chunks.count else { return count }
        return before(chunk) + chunks[chunk].members.partitioningIndex { !(entries[Int($0)].place < place) }
    }

    private func before(_ chunk: Int) -> Int { chunks[..<chunk].reduce(0) { $0 + $1.members.count } }

    /// The chunk of its position; the number of chunks when that is behind all of them.
    private func chunk(of number: Number) -> Int {
        guard let last = chunks.last?.members.last, !precedes(last, number) else { return chunks.count }
        return chunks.partitioningIndex { !precedes($0.members[$0.members.count - 1], number) }
    }

    private func offset(of number: Number, in chunk: Int) -> Int {
        let members = chunks[chunk].members
        if let last = members.last, precedes(last, number) { return members.count }
        return members.partitioningIndex { !precedes($0, number) }
    }

    /// Equal places are possible after a restore only.
    private func precedes(_ left: Number, _ right: Number) -> Bool {
        let (mine, other) = (entries[Int(left)].place, entries[Int(right)].place)
        return mine == other ? left < right : mine < other
    }
}

extension Array {
    /// The first index whose element satisfies what all later ones satisfy as well.
    fileprivate func partitioningIndex(_ belongs: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
