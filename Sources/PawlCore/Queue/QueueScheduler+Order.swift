// The line: who stands where, and moving them about.
extension QueueScheduler {
    @inlinable package func isWaiting(_ id: ID) -> Bool { numbers[id].map(line.isWaiting) ?? false }
    /// Whether it has a slot.
    @inlinable package func isRunning(_ id: ID) -> Bool { numbers[id].map { !line.isWaiting($0) } ?? false }
    /// Whether the person paused it, with or without a slot.
    @inlinable package func isPaused(_ id: ID) -> Bool { numbers[id].map(line.isPaused) ?? false }
    @inlinable package func isPaused(group: GroupID) -> Bool { line.isHeld(group) }
    /// Who has a slot, the oldest first.
    @inlinable package var running: [ID] { holders.map { ids[Int($0)] } }
    /// How many are in the line, paused ones too.
    @inlinable package var waitingCount: Int { line.count }

    /// The line from an index on, paused ones too: the next one first.
    @inlinable package func waiting(from start: Int = 0, limit: Int) -> [ID] {
        line.members(from: start, limit: limit).map { ids[Int($0)] }
    }

    /// How many stand before it in the line.
    @inlinable package func index(of id: ID) -> Int? {
        numbers[id].flatMap { line.isWaiting($0) ? line.rank(of: $0) : nil }
    }

    /// What has to be kept for a restore; one that runs keeps the place that it had.
    @inlinable package func place(of id: ID) -> QueuePlace? { numbers[id].map(line.place) }

    /// It goes to the end of its new priority; one that runs goes on.
    @inlinable package mutating func change(priority: Int, of id: ID) {
        guard let number = numbers[id], line.place(of: number).priority != priority else { return }
        line.set(priority: priority, of: number)
    }

    /// Moves a download in the line, within its priority; `nil` when it does not wait.
    @inlinable package mutating func move(_ id: ID, to target: QueueTarget) -> QueueMove<ID>? {
        guard let number = numbers[id], line.isWaiting(number) else { return nil }
        let last = line.count - 1
        let wished =
            switch target {
            case .index(let index): index
            case .offset(let offset): line.rank(of: number) + min(max(offset, -last), last)
            case .fromEnd(let offset): last + min(max(offset, -last), 0)
            }
        let replaced = line.move(number, to: wished).map { ids[Int($0)] }
        return QueueMove(index: line.rank(of: number), replaced: replaced)
    }
}
