// Bytes, ticks and ends of lanes.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// A lane has written up to `cursor` and received `received` bytes in all.
    ///
    /// Reported before every other event.
    package mutating func progressed(_ id: LaneID, cursor: Int64, received bytes: Int64, waits: Bool, now: Instant) {
        guard let index = index(of: id) else { return }
        let new = bytes - lanes[index].received
        assert(new >= 0, "a lane counts the bytes that it received, and never fewer")
        if new > 0 || waits { lanes[index].lastByteAt = now }
        lanes[index].note(waits: waits, now: now)
        // Pawl's own limit makes it wait.
        if waits { lanes[index].tooSlowSince = nil }
        received += new
        lanes[index].received = bytes
        guard cursor > lanes[index].cursor else { return }
        lanes[index].cursor = cursor
        switch lanes[index].kind {
        case .data:
            if hasPieces { notePieces(lane: index, to: cursor) }
            map.advance(id, to: cursor)
        case .racing(let owner):
            if hasPieces { notePieces(lane: index, to: cursor) }
            overtake(owner, racer: index)
        case .settling, .restarting, .checkingTag: break
        }
    }

    /// Sets the rate limit in force for this download: the least of its own, its host's and the common one.
    package mutating func limited(to rate: Int64?, now: Instant) { allowance.change(rate: rate, now: now) }

    /// Nothing ran for `span`: the process was stopped, or the disk delayed it.
    ///
    /// That is no timeout of a server, and a lane that was not read is not a slow one.
    package mutating func stoodStill(for span: Interval, now: Instant) {
        for index in lanes.indices {
            lanes[index].lastByteAt = min(now, lanes[index].lastByteAt + span)
            lanes[index].measuredAt = min(now, lanes[index].measuredAt + span)
            lanes[index].syncedAt = min(now, lanes[index].syncedAt + span)
            lanes[index].slowSince = lanes[index].slowSince.map { min(now, $0 + span) }
            lanes[index].tooSlowSince = lanes[index].tooSlowSince.map { min(now, $0 + span) }
        }
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
        for index in lanes.indices { lanes[index].measure(now: now) }
        actions += closeTooSlow(now: now)
        guard isActive else { return actions }
        if phase == .transferring {
            actions += replaceSlow(now: now)
            let remaining = map.total.map { $0 - written } ?? 0
            if lanes.contains(where: \.isHeld) {
                ramp.hold(now: now)
            } else {
                ramp.measure(received: received, flowing: flowing, remaining: remaining, now: now)
            }
            if allowance.rate != nil { allowance.judge(lanes.map(\.sample), now: now) }
            actions += refill(now: now) + checkPieces()
        }
        return actions + checkpoint(now: now)
    }

    private mutating func timeouts(now: Instant) -> [Action] {
        var actions: [Action] = []
        while isActive, let index = lanes.firstIndex(where: { $0.pending == nil && now - $0.lastByteAt > plan.timeout })
        {
            let hasResponse = lanes[index].stage != .asking
            actions += laneFault(index, .silent(hasResponse: hasResponse), now: now)
        }
        return actions
    }

    /// Closes lanes that received no more than the lowest speed for some time.
    private mutating func closeTooSlow(now: Instant) -> [Action] {
        guard let floor = plan.lowestSpeed else { return [] }
        for index in lanes.indices where lanes[index].stage == .flowing {
            if lanes[index].speed > Double(floor) || lanes[index].isHeld {
                lanes[index].tooSlowSince = nil
                budget.slowed(false)
            } else if lanes[index].tooSlowSince == nil {
                lanes[index].tooSlowSince = now
            }
        }
        var actions: [Action] = []
        while isActive, let index = lanes.firstIndex(where: { $0.isTooSlow(now: now) }) {
            noteProgress()
            budget.slowed(true)
            actions += laneFault(index, .tooSlow(floor), now: now)
        }
        return actions
    }

    /// Replaces the connection of a lane under 0.3 × the mean for 5 s, or under a twentieth of it for 1 s.
    ///
    /// A single lane is compared with its own best speed, and gets a helper (`hasLoneCrawler`).
    private mutating func replaceSlow(now: Instant) -> [Action] {
        let flowing = lanes.filter { $0.stage == .flowing && $0.kind == .data }
        let mean = flowing.reduce(0) { $0 + $1.speed } / Double(max(flowing.count, 1))
        var actions: [Action] = []
        for index in lanes.indices.reversed() where lanes[index].stage == .flowing && lanes[index].kind == .data {
            let limit = flowing.count > 1 ? 0.3 * mean : lanes[index].bestSpeed / 20
            // A lane that Pawl's own limit holds back is not slow, and the data in its socket has been sent
            // already.
            guard lanes[index].speed < limit, !lanes[index].isHeld else {
                lanes[index].slowSince = nil
                continue
            }
            guard let since = lanes[index].slowSince else {
                lanes[index].slowSince = now
                continue
            }
            let patience = Interval.seconds(lanes[index].speed < mean / 20 ? 1 : 5)
            if flowing.count > 1, now - since >= patience, server.rangesUsable { actions.append(remove(index)) }
        }
        return actions
    }

    /// Whether the only lane has fallen to a twentieth of its best speed for so long that a second connection
    /// is tried beside it.
    ///
    /// Not instead of it: the server's support of Range is known only after a response to one.
    func hasLoneCrawler(now: Instant) -> Bool {
        guard lanes.count == 1, lanes[0].speed < lanes[0].bestSpeed / 20, let since = lanes[0].slowSince else {
            return false
        }
        return now - since >= DownloadMachine.loneCrawl
    }

    private mutating func checkpoint(now: Instant) -> [Action] {
        guard file.isClaimed, checkpoints.isDue(of: written, now: now) else { return [] }
        return [.checkpoint]
    }

    /// A lane's transfer ended.
    package mutating func ended(_ id: LaneID, _ end: TransferEnd, now: Instant) -> [Action] {
        guard isActive, let index = index(of: id) else { return [] }
        // A copy of the lane would copy all of it.
        let (isData, isFlowing) = (lanes[index].kind == .data, lanes[index].stage == .flowing)
        let (cursor, laneEnd, responseEnd) = (lanes[index].cursor, lanes[index].end, lanes[index].responseEnd)
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
        if map.total == nil, isData, isLast(cursor, of: responseEnd, end) {
            if let base = continuity.base, base > 0, cursor == 0 {
                // Without a length, the file may as well end before the part.
                return laneFault(index, .unproven(Judge.noByte(from: base)), now: now)
            }
            map.learn(total: cursor)
        }
        if isData, cursor < min(laneEnd, map.horizon), responseEnd > cursor {
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
        let lane = lanes.remove(at: index)
        var actions: [Action] = []
        // Racers for these bytes have lost.
        if lane.kind == .data, !lanes.isEmpty {
            for racer in lanes where racer.isRacing == lane.id { actions.append(.drop(racer.id)) }
            lanes.removeAll { $0.isRacing == lane.id }
        }
        map.release(lane.id)
        actions += noteOpenJoint(of: lane)
        noteReportedEnd(of: lane)
        noteProgress()
        if map.isComplete {
            // Other lanes still compare where they meet.
            if lanes.contains(where: { $0.joint > 0 }) { return actions }
            return actions + stop() + (continuity.openJoints.isEmpty ? complete() : openFirst(now: now))
        }
        return actions + refillOrOpen(now: now) + checkPieces()
    }

    mutating func noteProgress() {
        guard budget.progressed(to: written) else { return }
        for index in sources.indices { sources[index].worked() }
    }
}

extension Lane {
    /// The input of the rate limit's share.
    fileprivate var sample: LaneAllowance.Sample {
        LaneAllowance.Sample(speed: speed, isHeld: isHeld, isFlowing: stage == .flowing)
    }
}
