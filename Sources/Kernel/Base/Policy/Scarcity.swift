// What a process can have only so much of, and what becomes free again without anyone's help.
extension LocalizableMessage {
    /// Whether a descriptor was refused: this process, or the system, has as many open as it may.
    package var lacksDescriptors: Bool {
        ["system-files-open", "system-files-open-everywhere", Self.noDescriptor.id].contains(id)
    }

    /// Whether a thread or a process was refused.
    package var lacksProcesses: Bool { id == "system-unavailable" || id == "system-no-memory" }

    /// As libraries report it, which add texts of their own.
    package static let noDescriptor = LocalizableMessage("fault-no-descriptor", "too many open files")
}

extension TransferFault {
    package static let noDescriptor = TransferFault(.other, .noDescriptor)

    package var lacksDescriptors: Bool { cause.lacksDescriptors }
}

extension AttemptFault {
    package var lacksDescriptors: Bool { if case .transfer(let fault) = self { fault.lacksDescriptors } else { false } }
}

extension Failure {
    package var lacksDescriptors: Bool { cause?.lacksDescriptors ?? false }

    /// Whether the same may succeed in a moment, when another thread, process or file has ended.
    package var isOfScarcity: Bool { lacksDescriptors || cause?.lacksProcesses ?? false }

    /// Nothing is opened while only the reserve is left.
    package static let noDescriptor = Failure(
        .cannotOpen, "cannot begin", at: "the download", because: .noDescriptor,
        remedy: "raise the limit of open files, or run fewer downloads at once")
}

/// How often a download has waited for a descriptor.
package struct DescriptorWait: Hashable, Sendable {
    /// The waits since it last had one.
    package var count = 0
    /// Those of them during which no other download of the process could release one.
    package var lonely = 0

    package init() {}

    /// The next wait: doubled each time, with jitter, so that not all of a hundred downloads try at once.
    package func duration(dice: inout Dice) -> Interval {
        let doubled = 0.05 * Double(1 << min(count, 6))
        return .seconds(min(doubled, 2) * (0.75 + dice.fraction() / 2))
    }

    /// The wait after this one.
    package func next(hasCompany: Bool) -> DescriptorWait {
        var next = self
        next.count += 1
        next.lonely = hasCompany ? 0 : lonely + 1
        return next
    }
}

/// Which downloads of a process hold descriptors, and which wait for one, in their order.
package struct DescriptorLine: Hashable, Sendable {
    /// Those that have begun, the waiting ones among them.
    private var running: Set<UInt64> = []
    private var waiting: [UInt64] = []
    private var isWaiting: Set<UInt64> = []
    package var waitingCount: Int { waiting.count }
    /// How many have ended that held something.
    package private(set) var releases: UInt64 = 0

    /// Those that one that has ended makes room for: it had its file, its journal and a connection at least.
    private static let woken = 2

    package init() {}

    package mutating func began(_ run: UInt64) { running.insert(run) }

    /// It holds nothing any more; returns those whose turn it is.
    package mutating func ended(_ run: UInt64) -> [UInt64] {
        let hasHeld = !isWaiting.contains(run)
        left(run)
        guard hasHeld else { return [] }
        releases += 1
        return next(Self.woken)
    }

    /// It has waited, and its next run begins.
    package mutating func left(_ run: UInt64) {
        running.remove(run)
        if isWaiting.remove(run) != nil { waiting.removeAll { $0 == run } }
    }

    /// It holds nothing, and waits; returns whether it is the first that does.
    package mutating func waits(_ run: UInt64) -> Bool {
        guard isWaiting.insert(run).inserted else { return false }
        waiting.append(run)
        return waiting.count == 1
    }

    /// Takes those that have waited longest out of the line.
    package mutating func next(_ count: Int) -> [UInt64] {
        let first = Array(waiting.prefix(count))
        waiting.removeFirst(first.count)
        isWaiting.subtract(first)
        return first
    }

    /// Whether one that does not wait is running beside it.
    package func hasCompany(_ run: UInt64) -> Bool {
        let isOne = running.contains(run) && !isWaiting.contains(run)
        return running.count - isWaiting.count > (isOne ? 1 : 0)
    }

    /// One that has not waited does not overtake those that do; the only one never waits for a reserve.
    package func mayBegin(_ run: UInt64, haveRoom: Bool, hasWaited: Bool) -> Bool {
        guard hasCompany(run) else { return true }
        return haveRoom && (hasWaited || waiting.isEmpty)
    }
}
