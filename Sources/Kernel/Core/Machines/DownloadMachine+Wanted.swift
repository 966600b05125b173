// The byte that a reader waits for.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// How long a lane that was opened for a wanted byte is left alone.
    static let displacement = Interval.seconds(1)

    /// A reader waits for the byte at `offset`: it is requested before others.
    ///
    /// Only where further requests are safe, as for further connections; elsewhere the bytes come in their order.
    package mutating func want(_ offset: Int64, now: Instant) -> [Action] {
        lanes.wanted = plan.isInOrder || file.isInMemory ? nil : offset
        guard lanes.wanted != nil, !lanes.brings(offset), maySegment() else { return [] }
        if lanes.list.count < lanes.width(now: now) { return refill(now: now) }
        return displace(now: now)
    }

    /// Ends a lane, so that its place is free for the wanted byte; its bytes return to the rest.
    ///
    /// Only where a server has sent a part before: otherwise its response may be all that it ever sends.
    private mutating func displace(now: Instant) -> [Action] {
        let isRecent = lanes.displacedAt.map { now - $0 < Self.displacement } ?? false
        guard !isRecent, !waiting.isForAttempt, !waiting.isForPlace, waiting.refillAfter == nil,
            lanes.list.allSatisfy({ $0.isFlowing && $0.isBringing && $0.joint == 0 }), let index = lanes.leastUseful,
            sources[lanes[index].source].sendsParts, !isReplacingPiece(lanes[index])
        else { return [] }
        lanes.displacedAt = now
        return [remove(index)] + refillOrOpen(now: now)
    }
}
