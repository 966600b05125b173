// Bytes, ticks and ends of lanes.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// A lane has written up to `cursor` and received `received` bytes in all.
    ///
    /// Reported before every other event.
    package mutating func progressed(_ id: LaneID, cursor: Int64, received bytes: Int64, waits: Bool, now: Instant) {
        guard let index = lanes.index(of: id) else { return }
        if hasPieces { notePieces(lane: index, to: cursor) }
        lanes.progressed(index, cursor: cursor, received: bytes, waits: waits, now: now)
    }

    /// Sets the rate limit in force for this download: the least of its own, its host's and the common one.
    package mutating func limited(to rate: Int64?, now: Instant) { lanes.allowance.change(rate: rate, now: now) }

    /// Nothing ran for `span`: the process was stopped, or the disk delayed it.
    ///
    /// That is no timeout of a server, and a lane that was not read is not a slow one.
    package mutating func stoodStill(for span: Interval, now: Instant) {
        lanes.stoodStill(for: span, now: now)
    }

    /// Called a few times a second.
    package mutating func tick(now: Instant) -> [Action] {
        // Verifying a large file takes long, and so may the network.
        if phase == .verifying || phase == .waitingForNetwork {
            return checkpoint(now: now) + tryWithoutNetwork(now: now)
        }
        guard isActive else { return [] }
        var actions = leaveSilentLanes(now: now) + timeouts(now: now)
        guard isActive else { return actions }
        lanes.measure(now: now)
        actions += closeTooSlow(now: now)
        guard isActive else { return actions }
        if phase == .transferring {
            actions += replaceSlow(now: now)
            lanes.judge(now: now)
            actions += refill(now: now) + checkPieces()
        }
        return actions + checkpoint(now: now)
    }

    private mutating func timeouts(now: Instant) -> [Action] {
        var actions: [Action] = []
        while isActive,
            let index = lanes.list.firstIndex(where: { $0.pending == nil && now - $0.speed.lastByteAt > plan.timeout })
        {
            let hasResponse = !lanes[index].isAsking
            actions += laneFault(index, .silent(hasResponse: hasResponse), now: now)
        }
        return actions
    }

    /// Closes lanes that received no more than the lowest speed for some time.
    private mutating func closeTooSlow(now: Instant) -> [Action] {
        guard let floor = plan.lowestSpeed else { return [] }
        for index in lanes.list.indices where lanes[index].isFlowing {
            if lanes[index].speed.exceeds(floor, now: now) { budget.slowed(false) }
        }
        var actions: [Action] = []
        while isActive, let index = lanes.list.firstIndex(where: { $0.speed.isTooSlow(now: now) }) {
            noteProgress()
            budget.slowed(true)
            actions += laneFault(index, .tooSlow(floor), now: now)
        }
        return actions
    }

    /// Replaces the connection of a lane under 0.3 × the mean for 5 s, or under a twentieth of it for 1 s.
    ///
    /// A single lane is compared with its own best speed, and gets a helper (``Lanes/width(now:)``).
    private mutating func replaceSlow(now: Instant) -> [Action] {
        let speeds = lanes.list.filter { $0.isFlowing && $0.isData }.map(\.speed.present)
        let mean = speeds.reduce(0, +) / Double(max(speeds.count, 1))
        var actions: [Action] = []
        for index in lanes.list.indices.reversed() where lanes[index].isFlowing && lanes[index].isData {
            let limit = speeds.count > 1 ? 0.3 * mean : lanes[index].speed.best / 20
            let isSlow = lanes[index].speed.isSlow(under: limit, mean: mean, now: now)
            if isSlow, speeds.count > 1, server.rangesUsable { actions.append(remove(index)) }
        }
        return actions
    }

    private mutating func checkpoint(now: Instant) -> [Action] {
        guard file.isClaimed, checkpoints.isDue(of: written, now: now) else { return [] }
        return [.checkpoint]
    }

    /// A lane's transfer ended.
    package mutating func ended(_ id: LaneID, _ end: TransferEnd, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        // A copy of the lane would copy all of it.
        let (isData, isFlowing) = (lanes[index].isData, lanes[index].isFlowing)
        let (cursor, laneEnd, responseEnd) = (lanes[index].cursor, lanes[index].end, lanes[index].response.end)
        let isComparing = lanes[index].overlap > 0
        if case .failed(let fault) = end, let actions = disowned(fault, lane: index, now: now) { return actions }
        guard isFlowing else {
            if case .failed(let fault) = end {
                return presentLogin(.transfer(fault), head: nil, lane: index)
                    ?? laneFault(index, .transfer(fault), now: now)
            }
            let fault = TransferFault.noResponse
            return laneFault(index, .transfer(fault), now: now)
        }
        if case .failed(let fault) = end, cursor < laneEnd || isComparing {
            return laneFault(index, .transfer(fault), now: now)
        }
        if isComparing {
            // Only a body of unknown length that is complete says where the content ends.
            guard end == .complete, responseEnd == ByteRange.open else {
                let fault = TransferFault(
                    .truncated,
                    LocalizableMessage("fault-ended-while-comparing", "the response ended within the bytes to compare"))
                return laneFault(index, .transfer(fault), now: now)
            }
            return changed(
                .init("ends-before-bytes-on-disk", "it ends before the end of the bytes on disk"), lane: index, now: now
            )
        }
        if lanes.map.total == nil, isData, isLast(cursor, of: responseEnd, end) {
            if let base = continuity.base, base > 0, cursor == 0 {
                // Without a length, the file may as well end before the part.
                return laneFault(index, .unproven(Judge.noByte(from: base)), now: now)
            }
            lanes.learn(total: cursor)
        }
        if isData, cursor < min(laneEnd, lanes.map.horizon), responseEnd > cursor {
            let fault = TransferFault(
                .truncated, LocalizableMessage("fault-ended-after", "the response ended after \(cursor) bytes"))
            return laneFault(index, .transfer(fault), now: now)
        }
        return finished(lane: index, now: now)
    }

    /// Whether the last byte of a response of unknown total is the file's last: its framing says so, or the
    /// requested range ends there.
    private func isLast(_ cursor: Int64, of responseEnd: Int64, _ end: TransferEnd) -> Bool {
        if case .closed(let selected) = plan.selection, cursor == selected.count { return true }
        return end == .complete && responseEnd == ByteRange.open
    }

    private mutating func finished(lane index: Int, now: Instant) -> [Action] {
        let (lane, losers) = lanes.finish(index)
        var actions = losers.map { Action.drop($0) }
        actions += noteOpenJoint(of: lane)
        noteReportedEnd(of: lane)
        noteProgress()
        if lanes.map.isComplete {
            // Other lanes still compare where they meet.
            if lanes.list.contains(where: { $0.joint > 0 }) { return actions }
            return actions + stop() + (continuity.openJoints.isEmpty ? complete() : openFirst(now: now))
        }
        return actions + refillOrOpen(now: now) + checkPieces()
    }

    mutating func noteProgress() {
        guard budget.progressed(to: written) else { return }
        for index in sources.indices { sources[index].worked() }
    }
}
