import PawlBase
import Synchronization

/// The downloads that wait for a descriptor, and how each is woken.
struct DescriptorQueue: Sendable {
    var line = DescriptorLine()
    var receivers: [UInt64: @Sendable (RunnerEvent) -> Void] = [:]

    mutating func take(_ runs: [UInt64]) -> [@Sendable (RunnerEvent) -> Void] {
        runs.compactMap { receivers.removeValue(forKey: $0) }
    }
}

// Descriptors, which all downloads of the process share.
extension Shared {
    func began(_ run: UInt64) { line.withLock { $0.line.began(run) } }

    /// The run holds nothing any more.
    func ended(_ run: UInt64) {
        let woken = line.withLock { queue in
            queue.receivers[run] = nil
            return queue.take(queue.line.ended(run))
        }
        for receiver in woken { receiver(.descriptorReleased) }
    }

    /// The run has waited, and another continues it.
    func left(_ run: UInt64) {
        line.withLock { queue in
            queue.receivers[run] = nil
            queue.line.left(run)
        }
    }

    /// The run holds nothing, and is to begin anew when others have released something.
    func waits(_ run: UInt64, _ receiver: @escaping @Sendable (RunnerEvent) -> Void) {
        let isFirst = line.withLock { queue in
            queue.receivers[run] = receiver
            return queue.line.waits(run)
        }
        if isFirst { onScarcity() }
    }

    /// Whether another download holds something that it may release.
    func hasCompany(of run: UInt64) -> Bool { line.withLock { $0.line.hasCompany(run) } }

    /// How many downloads have released what they held.
    var releases: UInt64 { line.withLock { $0.line.releases } }

    /// Whether the run may open files and connections now; `hasWaited`: it has had its turn to wait.
    func mayBegin(_ run: UInt64, hasWaited: Bool) -> Bool {
        guard let descriptors = ports.descriptors else { return true }
        let haveRoom = descriptors.haveRoom
        let (may, woken) = line.withLock { queue in
            guard queue.line.mayBegin(run, haveRoom: haveRoom, hasWaited: hasWaited) else {
                return (false, [] as [@Sendable (RunnerEvent) -> Void])
            }
            // There may be room for one more.
            return (true, queue.take(hasWaited ? queue.line.next(1) : []))
        }
        for receiver in woken { receiver(.descriptorReleased) }
        return may
    }

    /// Whether a run that has begun may open another connection.
    func mayOpen(_ run: UInt64) -> Bool {
        guard let descriptors = ports.descriptors, !descriptors.haveRoom else { return true }
        return !hasCompany(of: run)
    }
}
