// What the person, the scheduler and the network tell a download.
extension DownloadMachine {
    /// Starts or continues.
    ///
    /// `found` is an earlier run's journal when the file's place is known before the first answer.
    package mutating func begin(claimed: ClaimOutcome?, online: Bool, now: Instant) -> [Action] {
        isOnline = online
        switch phase {
        case .waiting, .paused, .preempted, .failed:
            prepare()
            if let claimed { return beginClaimed(claimed, now: now) }
            return openFirst(now: now)
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing, .finished, .removed:
            return []
        }
    }

    private mutating func prepare() {
        // What an earlier run knew is void: the disk says what is there when the file has its place.
        reset(total: nil)
        highWater = 0
        rangesUsable = true
        rangeWasSilent = false
        failure = nil
        attempts = 0
        isTooSlow = false
        restarts = 0
        refreshes = 0
        laneFaults = 0
        refillAfter = nil
        isClaimed = false
        existingLength = nil
        knowsExisting = false
        asksClosed = false
        suspect = nil
        keepsExisting = false
        ramp.restart()
        for index in sources.indices {
            sources[index].isUsable = true
            sources[index].sendsParts = false
            sources[index].wentBack = false
        }
        sources[0].isOnTrial = plan.replacesAddress
    }

    /// The length of the wanted part of a resource of `total` bytes.
    func wishedLength(of total: Int64) -> Int64 {
        switch plan.wish {
        case .whole: total
        case .from(let start): max(0, total - start)
        case .closed(let range): max(0, min(range.end, total) - range.start)
        case .suffix(let count): min(total, count)
        }
    }

    func wishedLength(of total: Int64?) -> Int64? { total.map { wishedLength(of: $0) } }

    /// Everything stops and is kept.
    package mutating func pause() -> [Action] {
        switch phase {
        case .waiting:
            return [enter(.paused)]
        case .probing, .transferring, .waitingForNetwork:
            return stop() + [.close(keeping: !map.done.isEmpty), enter(.paused)]
        case .preempted:
            return [enter(.paused)]
        // The bytes are all there; what is left is short and ends by itself.
        case .verifying, .publishing: return []
        case .paused, .finished, .failed, .removed: return []
        }
    }

    /// The scheduler needs the slot; the download starts again by itself.
    package mutating func preempt() -> [Action] {
        switch phase {
        case .probing, .transferring, .waitingForNetwork:
            return stop() + [.close(keeping: !map.done.isEmpty), enter(.preempted)]
        case .waiting, .paused, .preempted, .verifying, .publishing, .finished, .failed, .removed: return []
        }
    }

    /// Nobody wants it any more: what it has on disk goes, but for a finished file that it was to continue.
    ///
    /// On its way to its place nothing stops it; it ends as finished, and is removed as such.
    package mutating func remove() -> [Action] {
        switch phase {
        case .waiting, .paused, .preempted, .failed:
            return [enter(.removed)]
        case .probing, .transferring, .waitingForNetwork, .verifying:
            let undo = existingLength == nil ? Action.close(keeping: false) : .restoreOriginal
            return stop() + [undo, enter(.removed)]
        case .publishing, .finished, .removed: return []
        }
    }

    package mutating func network(online: Bool, now: Instant) -> [Action] {
        guard online != isOnline else { return [] }
        isOnline = online
        switch phase {
        case .probing, .transferring:
            guard !online, !sources.contains(where: { $0.isUsable && $0.current.isLoopback }) else {
                return []
            }
            return stop() + [.checkpoint, enter(.waitingForNetwork)]
        case .waitingForNetwork:
            // Another network may be led to another place, and the old one may have expired.
            for source in sources.indices { forgetTarget(of: source) }
            return openFirst(now: now)
        case .waiting, .verifying, .publishing, .paused, .preempted, .finished, .failed, .removed: return []
        }
    }

    /// Drops every lane; their unfinished bytes become the rest.
    mutating func stop() -> [Action] {
        let drops = lanes.map { Action.drop($0.id) }
        for lane in lanes { map.release(lane.id) }
        lanes.removeAll()
        isRetryPending = false
        refusal = nil
        generation += 1
        return drops
    }

    package mutating func rang(_ ring: UInt32, now: Instant) -> [Action] {
        guard ring == generation, isRetryPending, refusal == nil, isActive, lanes.isEmpty else { return [] }
        isRetryPending = false
        return openFirst(now: now)
    }

    /// Reading or writing on this machine failed; nothing that is on disk is touched.
    package mutating func diskFailed(_ failure: Failure) -> [Action] {
        switch phase {
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: return fail(failure)
        case .waiting, .paused, .preempted, .finished, .failed, .removed: return []
        }
    }

    /// `givesBack`: what was added to an existing file is void.
    mutating func fail(_ failure: Failure, givesBack: Bool = false) -> [Action] {
        self.failure = failure
        var actions = stop()
        if let length = existingLength, givesBack || map.done.count == length {
            actions.append(.restoreOriginal)
        } else {
            actions.append(.close(keeping: !map.done.isEmpty))
        }
        return actions + [enter(.failed), .tell(.failed(failure))]
    }
}

extension DownloadMachine {
    /// The place on disk was found under this name.
    package mutating func named(_ name: String) { self.name = name }
}
