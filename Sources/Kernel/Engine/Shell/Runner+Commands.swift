import PawlBase
import PawlCore

// Commands of the user, the manager and the engine's book.
extension Runner {
    func pause() { feed { machine, _ in machine.pause() } }

    func preempt() { feed { machine, _ in machine.preempt() } }

    func remove() { feed { machine, _ in machine.remove() } }

    /// Ends the wait for the next attempt on behalf of the user, also one that the server requested.
    func retryNow() {
        leaveStraightPath()
        guard machine.nextAttempt != nil || machine.phase == .waitingForNetwork else { return }
        feed { $0.retryNow(now: $1) }
    }

    /// Replaces an address on behalf of the user: credentials may be sent to its origin.
    func replaceSource(with address: WebAddress) {
        use(address)
        feed { $0.replaceSource(0, with: address, now: $1) }
    }

    func limit(to rate: Int64?) { limiter.change(rate: rate, now: clock.now) }

    /// The bytes at the beginning of `range` that are on disk; where there are none, they are fetched before others.
    ///
    /// `known`: bytes that the reader has had before.
    func read(_ range: ByteRange, known: ByteRange) -> PartBytes {
        leaveStraightPath()
        sync()
        var part = PartBytes(run: run, restarts: restarts)
        part.keepsKnown = known.isEmpty || machine.lanes.map.done.contains(known)
        if let total = machine.total, range.start >= total { part.isEnd = true }
        let done = machine.lanes.map.done.runs.first { $0.contains(range.start) }
        if let done {
            let end = min(done.end, range.end, range.start + PartBytes.most)
            part.bytes = bytes(in: ByteRange(range.start, end)) ?? []
        }
        if part.bytes.isEmpty, !part.isEnd { feed { $0.want(range.start, now: $1) } }
        return part
    }

    func look() -> Inspection {
        leaveStraightPath()
        sync()
        return Inspection(machine)
    }
}
