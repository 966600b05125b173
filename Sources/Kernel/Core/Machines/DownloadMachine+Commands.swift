// Commands of the user, the scheduler and the network monitor.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// Starts or resumes.
    ///
    /// `claimed` is an earlier run's journal when the file's place is known before the first response. `online` is what the
    /// network monitor reports: without a network too one attempt is made.
    package mutating func begin(claimed: ClaimOutcome?, online: Bool, now: Instant) -> [Action] {
        switch phase {
        case .waiting, .waitingForDisk, .paused, .preempted, .failed:
            prepare()
            network = Network(isOnline: online, now: now)
            if let claimed { return beginClaimed(claimed, now: now) }
            return openFirst(now: now)
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing, .finished, .removed:
            verification.stop(as: nil)
            return []
        }
    }

    private mutating func prepare() {
        // The state of an earlier run is void: the claim reads it from disk again.
        reset(total: nil)
        continuity.begin(base: plan.base(total: nil))
        budget = RetryBudget()
        verification = Verification()
        sources.removeLast(sources.count - plan.sources.count)
        server.begin()
        failure = nil
        waiting.end()
        waiting.refillAfter = nil
        file.begin()
        lanes.ramp.restart()
        for index in sources.indices {
            sources[index].begin()
        }
        sources[0].trial = plan.replacesAddress ? .byProgram : nil
    }

    /// Stops everything and keeps the bytes.
    package mutating func pause() -> [Action] {
        switch phase {
        case .waiting, .waitingForDisk: return [enter(.paused)]
        case .probing, .transferring, .waitingForNetwork: return stop() + [letGo(), enter(.paused)]
        case .preempted: return [enter(.paused)]
        // All bytes are on disk; the remaining work is short and ends on its own, but for other servers' responses.
        case .verifying where verification.isAsking: return stop() + [letGo(), enter(.paused)]
        case .verifying:
            verification.stop(as: .paused)
            return []
        case .publishing, .paused, .finished, .failed, .removed: return []
        }
    }

    /// Frees the slot for the scheduler; the download restarts automatically.
    package mutating func preempt() -> [Action] {
        switch phase {
        case .probing, .transferring, .waitingForNetwork: return stop() + [letGo(), enter(.preempted)]
        case .verifying where verification.isAsking: return stop() + [letGo(), enter(.preempted)]
        case .verifying:
            verification.stop(as: .preempted)
            return []
        case .waiting, .waitingForDisk: return waitsForDescriptor ? [enter(.preempted)] : []
        case .paused, .preempted, .publishing, .finished, .failed, .removed: return []
        }
    }

    /// Removes what the download has on disk, except a finished file that it was to continue.
    ///
    /// Publishing is not interrupted; it ends as finished, and is removed as such.
    package mutating func remove() -> [Action] {
        switch phase {
        case .waiting, .waitingForDisk, .paused, .preempted, .failed: return [enter(.removed)]
        case .probing, .transferring, .waitingForNetwork, .verifying:
            let undo = file.existingLength == nil ? Action.close(keeping: false) : .restoreOriginal
            return stop() + [undo, enter(.removed)]
        case .publishing, .finished, .removed: return []
        }
    }

    /// Drops every lane and returns their unfinished bytes to the rest.
    mutating func stop() -> [Action] {
        let drops = lanes.list.map { Action.drop($0.id) }
        for lane in lanes.list { _ = noteOpenJoint(of: lane) }
        lanes.removeAll()
        pieces.awaitNone()
        waiting.abandon()
        return drops
    }

    package mutating func rang(_ ring: UInt32, now: Instant) -> [Action] {
        ring == waiting.generation ? attemptNow(now: now) : []
    }

    /// Makes the pending attempt at once, on behalf of the user.
    package mutating func retryNow(now: Instant) -> [Action] {
        if phase == .waitingForNetwork { network.endWait(now: now) }
        guard waitsForRetry, isActive else { return tryWithoutNetwork(now: now) }
        waiting.force()
        return attemptNow(now: now)
    }

    private mutating func attemptNow(now: Instant) -> [Action] {
        guard waitsForRetry, isActive else { return [] }
        waiting.end()
        return openFirst(now: now)
    }

    /// There is a place for the connection that it waits for.
    package mutating func turn(now: Instant) -> [Action] {
        guard isActive, waiting.isForPlace else { return [] }
        waiting.endForLane()
        if lanes.list.isEmpty { return attemptNow(now: now) }
        if let until = waiting.refillAfter, now < until { return [] }
        return phase == .transferring ? refill(now: now) : []
    }

    /// Whether a request waits for a connection to the host: the shell calls ``turn(now:)`` when there is one.
    package var awaitsPlace: Bool { waiting.isForPlace }

    /// When the next attempt is due, if the download waits for it without any connection.
    package var nextAttempt: Instant? { waitsForRetry ? waiting.due : nil }

    /// Whether it has no connection and waits for its next attempt or for a connection.
    package var waitsForRetry: Bool {
        guard waiting.maySkip, lanes.list.isEmpty else { return false }
        return isActive || phase == .waiting
    }

    /// Reading or writing on this machine failed; the bytes on disk stay as they are.
    package mutating func diskFailed(_ failure: Failure) -> [Action] {
        switch phase {
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: return fail(failure)
        case .waiting, .waitingForDisk, .paused, .preempted, .finished, .failed, .removed: return []
        }
    }

    /// `givesBack`: what was added to an existing file is discarded.
    package mutating func fail(_ failure: Failure, givesBack: Bool = false) -> [Action] {
        if mayWait(after: failure) { return waitForDescriptor(failure) }
        var failure = failure
        failure.url = failure.url ?? sources[0].current.text
        self.failure = failure
        let end = end(givesBack: givesBack)
        return stop() + [end, enter(.failed), .notify(.failed(failure))]
    }

    /// Leaves what is on disk to the next run.
    private func end(givesBack: Bool) -> Action {
        let existing = givesBack || file.isOriginal ? file.existingLength : nil
        return existing.map { restoreOriginal($0, keepsAdded: !givesBack) } ?? letGo()
    }

    /// Where no other download can release one, waiting counts as a retry does.
    private func mayWait(after failure: Failure) -> Bool {
        failure.lacksDescriptors && mayBeginAnew && waiting.descriptors.lonely <= plan.retry.retries
    }

    /// Whether no byte was delivered that the next run would deliver again.
    var mayBeginAnew: Bool { written == 0 || plan.mayBeginAnew && !file.isInMemory }

    /// Waits until descriptors are released, and holds none meanwhile: then the run begins anew.
    private mutating func waitForDescriptor(_ failure: Failure) -> [Action] {
        let end = end(givesBack: false)
        let drops = stop()
        phase = .waiting
        network.endAttempt()
        let wait = waiting.descriptors.duration(dice: &dice)
        budget.replaced()
        // Once: a hundred downloads may wait dozens of times.
        let notice: [Action] = waiting.descriptors.count == 0 ? [.notify(.retrying(failure, after: wait))] : []
        return drops + [end] + notice + [.alarm(waiting.begin(until: lastEvent + wait))]
    }

    /// Whether it waits for a descriptor, and is to begin anew after that.
    package var waitsForDescriptor: Bool { phase == .waiting && waiting.isForAttempt }
}

extension DownloadMachine {
    /// The next event is at this time.
    package mutating func happens(at now: Instant) { lastEvent = now }

    /// The place on disk was claimed under this name.
    package mutating func named(_ name: String) { file.name = name }
}
