// Handling of failed attempts.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// One lane failed.
    ///
    /// The others continue; without others it counts as an attempt.
    mutating func laneFault(_ index: Int, _ fault: AttemptFault, now: Instant) -> [Action] {
        let lane = lanes[index]
        let disposition = RetryPolicy.disposition(of: fault)
        var actions = [remove(index)]
        noteProgress()
        noteBreak(of: lane)
        if !lane.request.hasReportedRefusal, let report = refusal(fault, lane: lane) { actions.append(report) }
        if fault.lacksDescriptors, !lanes.list.isEmpty {
            waiting.refillAfter = max(waiting.refillAfter ?? now, now + .seconds(1))
            return actions
        }
        if lanes.flowing > 0 { return actions + outlive(fault, disposition, lane: lane, now: now) }
        if lanes.list.contains(where: { !$0.isSettling }) { return actions }
        actions += stop()
        if let wait = withoutNetwork(fault, source: lane.source, now: now) { return actions + wait }
        actions += noteNetwork()
        if case .status = fault, takesErrorResponse {
            return actions + fail(describe(fault, disposition, source: lane.source))
        }
        if fault.lacksDescriptors, mayBeginAnew {
            return actions + fail(describe(fault, disposition, source: lane.source))
        }
        if noteSilence(fault, lane: lane) {
            sources[lane.source].forgetTarget()
            let notice = LocalizableMessage(
                "no-response-to-range-retrying", "no response to a request with Range: retrying without it")
            return actions + [.notify(.notice(notice))] + openFirst(now: now)
        }
        if !disposition.isRetried { return actions + final(fault, disposition, lane: lane, now: now) }
        return actions + retry(fault, disposition, source: lane.source, now: now)
    }

    /// What the fault says of the connections that the host allows, if anything.
    ///
    /// A server that serves one lane and rejects the next before a response allows no more lanes.
    func refusal(_ fault: AttemptFault, lane: Lane) -> Action? {
        let isSameFile = lanes.list.contains {
            $0.isFlowing && $0.source == lane.source && $0.request.host == lane.request.host
        }
        let isComplaint = RetryPolicy.disposition(of: fault).isComplaint
        guard lane.isAsking || isComplaint, let reason = fault.reasonOfRefusal,
            isComplaint || reason == .reset || fault.mayMeanTooMany && (isSameFile || server.isCrowded)
        else { return nil }
        return .refused(
            LaneRefusal(
                lane: lane.id, reason: reason, retryAfter: plan.retry.allowed(fault.retryAfter), isSameFile: isSameFile)
        )
    }

    /// What an FTP server made known after its head was judged, or instead of one: what was agreed on before does not
    /// hold.
    mutating func disowned(_ fault: TransferFault, lane index: Int, now: Instant) -> [Action]? {
        switch fault.kind {
        case .contentChanged: return changed(.init("changed-during-transfer", "\(fault.cause)"), lane: index, now: now)
        case .offsetRefused:
            let evidence = LocalizableMessage("offset-refused", "the server refuses the offset: \(fault.cause)")
            return rangesBroken(evidence, lane: index, now: now)
        case .nameResolution, .nameMissing, .unreachable, .connectionRefused, .connectTimeout, .connectionLost,
            .truncated, .tls, .publicKey, .proxy, .notFound, .denied, .serverRefused, .commandRefused, .malformed,
            .privateAddress, .other:
            return nil
        }
    }

    /// Whether a response with another status than success is the result.
    package var takesErrorResponse: Bool {
        plan.endsWithErrorResponse && lanes.map.done.isEmpty && lanes.flowing == 0 && file.existingLength == nil
            && sources.count(where: \.isUsable) == 1
    }

    /// E1: a request with Range that gets no response at all is followed by one without; if that gets none
    /// either, the Range is not the cause.
    ///
    /// After a server has sent parts, one timeout proves nothing: the bytes on disk would be discarded for
    /// the whole file.
    private mutating func noteSilence(_ fault: AttemptFault, lane: Lane) -> Bool {
        let isSuspect =
            fault == .silent(hasResponse: false) && lane.request.range != .whole && !server.isSuspect
            && server.rangesUsable
        let sentParts = sources[lane.source].sendsParts
        if isSuspect { sources[lane.source].sendsParts = false }
        server.suspect(isSuspect && !sentParts && plan.selection == .whole && file.existingLength == nil)
        return server.isSuspect
    }

    /// Handles a fault while other lanes receive bytes: this lane's work waits, and the server gets no more
    /// requests than it serves.
    private mutating func outlive(
        _ fault: AttemptFault, _ disposition: RetryPolicy.Disposition, lane: Lane, now: Instant
    ) -> [Action] {
        // Faults during the wait for the last one belong to it: five refusals at one moment are not five
        // attempts, and do not make the wait sixteen times as long.
        let waited = waiting.refillAfter.flatMap { now < $0 ? $0 : nil }
        if waited == nil { budget.laneFailed() }
        let wait = wait(attempt: budget.laneFaults, after: fault, source: lane.source, now: now)
        waiting.refillAfter = max(waited ?? now, now + wait)
        let isRepeated = budget.laneFaults > 1 || waited != nil
        let isSilent = fault == .silent(hasResponse: false) && lane.request.range != .whole && lane.isAsking
        // A server that has sent parts may serve one connection at a time and let the others wait.
        let givesUpRanges = isSilent && isRepeated && server.rangesUsable && !sources[lane.source].sendsParts
        if givesUpRanges { server.giveUpRanges() }
        // A server that rejects a connection before it responds allows no more of them.
        if disposition.isComplaint || !disposition.isRetried || lane.isAsking {
            lanes.ramp.shrink(to: lanes.list.count, now: now)
        }
        noteTurnedAway(fault, lane: lane)
        return givesUpRanges ? [.notify(.notice(Self.silentToRanges))] : []
    }

    static let silentToRanges = LocalizableMessage(
        "no-response-to-range-continuing",
        "the server does not respond to requests with Range: continuing without ranges")

    /// A server that rejects a further lane with a 403 may do so to the next one, too: while it still counts this one.
    private mutating func noteTurnedAway(_ fault: AttemptFault, lane: Lane) {
        guard lane.isAsking, fault.mayMeanTooMany,
            lanes.list.contains(where: { $0.isFlowing && $0.source == lane.source })
        else { return }
        sources[lane.source].turnsAway = true
    }

    /// A retry would fail in the same way: another way, another source, or the end.
    private mutating func final(
        _ fault: AttemptFault, _ disposition: RetryPolicy.Disposition, lane: Lane, now: Instant
    ) -> [Action] {
        let source = lane.source
        if fault.isExpiry, sources[source].goBack() {
            let notice = LocalizableMessage(
                "redirect-target-expired", "the redirect's target has expired: requesting the original URL again")
            return [.notify(.notice(notice))] + openFirst(now: now)
        }
        // The server may not have noticed yet that the last connection is closed.
        if sources[source].turnsAway, fault.mayMeanTooMany, attempts < plan.retry.retries {
            return retry(fault, disposition, source: source, now: now)
        }
        // It was one connection more than the host has shown to allow: later there are fewer.
        if server.isCrowded, fault.mayMeanTooMany, attempts < plan.retry.retries {
            return retry(fault, disposition, source: source, now: now)
        }
        let failure = describe(fault, disposition, source: source)
        if sources.count(where: \.isUsable) == 1, let question = refresh(source, after: fault, failure) {
            return [question]
        }
        return leave(source, failure, now: now)
    }

    /// Abandons this source: another one, or the end.
    private mutating func leave(_ source: Int, _ failure: Failure, now: Instant) -> [Action] {
        if sources.count(where: \.isUsable) == 1, let asks = presentFailure(failure, of: source, wait: nil) {
            return asks
        }
        sources[source].leaveOut()
        guard sources.contains(where: \.isUsable) || addDuplicate() else { return fail(afterMismatch(failure)) }
        return [.notify(.notice(.init("left-out-failed-source", "left out a source: \(failure)")))]
            + openFirst(now: now)
    }

    /// The failure of the last source: where another one sent wrong bytes, those are why there is no file.
    private func afterMismatch(_ failure: Failure) -> Failure {
        guard verification.hasRefetched || pieces.map?.hasSuspects == true, let wrong = verification.wrong else {
            return failure
        }
        var cause = failure
        cause.remedy = ""
        return Failure(
            .checksumMismatch, "checksum mismatch:", at: file.name ?? sources[0].given.redacted,
            because: LocalizableMessage(
                "mismatch-and-other-failed", "\(wrong), and another source failed: \(cause)"),
            remedy: kept("\(.resume) to continue", otherwise: "give another source of the same file"))
    }

    private mutating func retry(
        _ fault: AttemptFault, _ disposition: RetryPolicy.Disposition, source: Int, now: Instant
    ) -> [Action] {
        var failure = describe(fault, disposition, source: source)
        guard attempts < plan.retry.retries else { return leave(source, failure, now: now) }
        let wait = wait(attempt: attempts + 1, after: fault, source: source, now: now)
        // What is awaited is another source.
        if sources[source].isResting(now: now + wait) { failure.retryAfter = nil }
        if let asks = presentFailure(failure, of: source, wait: wait) { return asks }
        return attempt(source, after: wait, failure, now: now)
    }

    /// The wait before the next request: a Retry-After is one source's, and holds up no other.
    private mutating func wait(attempt: Int, after fault: AttemptFault, source: Int, now: Instant) -> Interval {
        guard sources.count > 1, let requested = plan.retry.allowed(fault.retryAfter) else {
            return plan.retry.wait(attempt: attempt, retryAfter: fault.retryAfter, dice: &dice)
        }
        sources[source].rest(until: now + requested)
        if requested > .zero, hasOther(than: source, now: now) { return .zero }
        let first = sources.filter(\.isUsable).map { $0.restsUntil ?? now }.min() ?? now
        return plan.retry.wait(attempt: attempt, retryAfter: max(first - now, .zero), dice: &dice)
    }

    /// Makes the next attempt after `wait`.
    mutating func attempt(_ source: Int, after wait: Interval, _ failure: Failure, now: Instant) -> [Action] {
        budget.attempted()
        // The target of a redirect may be what is broken; the original address chooses again.
        if attempts > 1 { sources[source].restart() }
        sources[source].worked()
        return [.notify(.retrying(failure, after: wait)), .alarm(waiting.begin(until: now + wait))]
    }

    /// There is no connection to the host for the lane: the download stands in the host's line for one.
    ///
    /// `until`: the host requested no request before.
    package mutating func denied(_ id: LaneID, until: Instant?, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        let source = lanes[index].source
        let drop = remove(index)
        let noted = noteNetwork()
        if let until, sources.count > 1, sources[source].rest(until: until), hasOther(than: source, now: now) {
            return [drop] + noted + (lanes.list.isEmpty ? openFirst(now: now) : reclaim(now: now))
        }
        waiting.beginForPlace(until: until, isForLane: !lanes.list.isEmpty)
        // At once: work taken from a lane for this one must not end that lane in the meantime.
        return [drop] + noted + (lanes.list.isEmpty ? [] : reclaim(now: now))
    }

    /// This machine has nothing for a further lane until then.
    package mutating func postponed(_ id: LaneID, until: Instant, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        waiting.refillAfter = until
        return [remove(index)] + reclaim(now: now)
    }

    /// What to do about a response that no retry mends.
    static let askOwner: Remedy = "check the URL, or ask the server's owner"
}
