// Accepted responses, up to the first byte of their bodies.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// A page before this response was an error: the journal forgets it too.
    mutating func accept(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        let isForgotten = continuity.representation?.suspect != nil
        if isForgotten { continuity.representation?.suspect = nil }
        let actions = use(response, lane: index, now: now)
        return isForgotten && file.isClaimed ? recording(actions) : actions
    }

    private mutating func use(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        if let coding = response.identity.coding, plan.selection != .whole {
            let evidence = LocalizableMessage(
                "range-encoded-whole",
                "it sent the content with Content-Encoding \(coding), of which no part can be used")
            return laneFault(index, .unproven(evidence), now: now)
        }
        if let actions = beginSuffix(response, lane: index, now: now) { return actions }
        lanes[index].response.identity = response.identity
        let lane = lanes[index]
        if lane.work == .restarting { return useWhole(response, lane: index, now: now) }
        // With a suffix range the first response shows where the file begins in the resource.
        let start = continuity.base ?? response.range.start
        continuity.base = start
        guard response.range.start == start + lane.cursor - lane.overlap else {
            let evidence = LocalizableMessage(
                "range-does-not-continue", "the server sent \(response.range), which does not continue the file")
            return laneFault(index, .unproven(evidence), now: now)
        }
        if continuity.representation == nil {
            represent(response.identity, from: lane)
            if response.ranges == .denied { server.giveUpRanges() }
        } else if let refused = hold(response, against: lane, index, now: now) {
            return refused
        }
        lanes[index].response.end =
            response.range.end == ByteRange.open ? ByteRange.open : response.range.end - start
        return learnDigests(of: lane) + fit(response, lane: index, now: now)
    }

    /// All that is wanted was requested from its beginning: it is compared with the bytes on disk, or replaces them.
    private mutating func useWhole(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        let isBound = file.existingLength != nil || mayNotDiscard(for: lanes[index].source)
        if !isBound, hasPieces, let keeps = keepVerified(response, lane: index, now: now) { return keeps }
        if isBound || !digestsDecide, let compares = compareWhole(response, lane: index, now: now) { return compares }
        guard isBound else { return noticeOfWhole() + restart(with: response, lane: index) }
        return file.existingLength == nil
            ? failTrial(
                of: lanes[index].source,
                .init("cannot-compare-without-ranges", "nothing can be compared without ranges"))
            : cannotContinueExisting(.init("whole-file-sent", "the server sent the whole file"))
    }

    /// Says why bytes on disk are discarded, unless that was said.
    private func noticeOfWhole() -> [Action] {
        if server.isSuspect || continuity.isStale || lanes.map.done.isEmpty { return [] }
        let notice =
            plan.selection == .whole
            ? LocalizableMessage(
                "whole-file-again-started-over", "the server sent the whole file again: started over from 0")
            : LocalizableMessage(
                "whole-range-again-started-over",
                "the server sent the whole range again: started over from its beginning")
        return [.notify(.notice(notice))]
    }

    /// Begins the last bytes of a file whose length a response has reported: FTP and SFTP have no requests for those.
    ///
    /// `nil` when the response itself begins there.
    private mutating func beginSuffix(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action]? {
        guard case .suffix = plan.selection, continuity.representation == nil else { return nil }
        let lane = lanes[index]
        guard sources[lane.source].isFileTransfer else { return nil }
        guard let total = response.identity.total, let start = plan.base(total: total) else {
            if continuity.base != nil, budget.startedOver() {
                // It may have another one than before.
                continuity.base = nil
                return [.drop(lane.id), reopen(index, now: now)]
            }
            let evidence = LocalizableMessage(
                "length-missing", "it does not report the length, which a request for the last bytes needs")
            return laneFault(index, .unproven(evidence), now: now)
        }
        guard response.range.start != start else { return nil }
        // The file has another length than before.
        if continuity.base != nil, !budget.startedOver() { return keepsChanging(.fewerThanOnDisk(total)) }
        continuity.base = start
        return [.drop(lane.id), reopen(index, now: now)]
    }

    /// Compares the response with what is known of the bytes on disk; `nil` when its body may be delivered.
    private mutating func hold(
        _ response: Judge.AcceptedResponse, against lane: Lane, _ index: Int, now: Instant
    ) -> [Action]? {
        let isDecidedLater = hasPieces || plan.isSeeded && response.evidence.contradictsNothing
        switch isDecidedLater ? .strong : response.evidence {
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .unclear: return checkTag(lane: index, now: now)
        case .weak where lane.overlap == 0: return settleFirst(lane: index, now: now)
        case .weak
        where lane.isBringing && lanes.list.contains { $0.id != lane.id && $0.isFlowing && $0.isBringing }:
            // Responses that only a comparison tells apart are requested one at a time.
            return [remove(index)]
        case .weak: break
        case .strong, .dated:
            // Else the comparison does it.
            if lane.overlap == 0 || response.evidence == .strong || response.evidence == .dated {
                continuity.representation?.prove(
                    sources[lane.source].text, at: lane.request.host, response.identity.validators)
            }
            if lane.overlap == 0 || response.evidence == .strong { sources[lane.source].prove() }
        }
        if let known = lanes.map.total, let length = plan.selectedLength(of: response.identity.total), known != length {
            return changed(.sizeChanged(from: known, to: length), lane: index, now: now)
        }
        if let length = plan.selectedLength(of: response.identity.total), length < lanes.map.done.upperBound {
            return changed(.fewerThanOnDisk(length), lane: index, now: now)
        }
        let isSame = response.evidence == .strong
        if let refused = holdDigests(of: lane, index, isSame: isSame, now: now) { return refused }
        if response.ranges == .denied { server.giveUpRanges() }
        return nil
    }

    /// Describes the bytes on disk by this identity from now on.
    mutating func represent(_ identity: ContentIdentity, from lane: Lane) {
        var version = Representation(selection: plan.selection, base: continuity.base)
        version.coding = identity.coding
        version.total = identity.total
        version.mediaType = identity.mediaType
        version.digests = lane.response.stated
        version.prove(sources[lane.source].text, at: lane.request.host, identity.validators)
        continuity.describe(version)
        sources[lane.source].prove()
    }

    /// Ends the lane where its response, the file or the requested range ends, whichever comes first.
    private mutating func fit(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        if let total = totalSaid(by: response, to: index) {
            guard lanes.map.done.upperBound <= total else {
                return changed(.fewerThanOnDisk(total), lane: index, now: now)
            }
            lanes.learn(total: total)
            continuity.representation?.learn(total: response.identity.total)
        }
        // A copy of the lane, an autoclosure (of `||`) that names `self`, or a method of it would copy all of it.
        let (isData, cursor, responseEnd) = (lanes[index].isData, lanes[index].cursor, lanes[index].response.end)
        let comparesEnd = lanes[index].comparesEnd(of: lanes.map)
        let horizon = lanes.map.horizon
        let mayBeEmpty = lanes[index].isSettling || comparesEnd
        guard responseEnd > cursor || cursor >= horizon || mayBeEmpty else {
            return partTooShort(
                .init("range-ends-early", "the server sent no byte after \(cursor)"), lane: index, now: now)
        }
        guard responseEnd >= cursor else {
            return partTooShort(
                .init("range-too-short-to-compare", "the server sent less than the bytes to compare"), lane: index,
                now: now)
        }
        let wanted = min(lanes[index].end, horizon, plan.longest)
        let end = min(wanted, responseEnd)
        // More responses of this length would mostly repeat the overlap.
        let isShortEnd = sources[lanes[index].source].parts.end == end
        let isShort = end < wanted && end - cursor < lanes[index].overlap
        if isData, isShort, !comparesEnd, !isShortEnd {
            return partTooShort(
                .init("range-too-short", "the server sent only \(end - cursor) bytes after those to compare"),
                lane: index, now: now)
        }
        if file.isClaimed, lanes.isPassed(index, endingAt: end) { return [remove(index)] + refillOrOpen(now: now) }
        let limits = lanes.endTogether(index, at: end).map { Action.limit($0, end: end) }
        guard file.isClaimed else {
            lanes[index].stage = .claiming
            return [.claim(lanes[index].id)]
        }
        return limits + admit(index, now: now)
    }

    /// The file's length, when this response is the first to state it.
    ///
    /// Changes nothing; if it were not `mutating`, it would be called with a copy of the whole machine.
    private mutating func totalSaid(by response: Judge.AcceptedResponse, to index: Int) -> Int64? {
        guard lanes.map.total == nil, !lanes[index].isSettling else { return nil }
        // A mirror whose bytes have not been compared may have other content.
        let isProven = sources[lanes[index].source].isProven
        if lanes[index].overlap > 0, sources.count > 1, !isProven { return nil }
        return plan.selectedLength(of: response.identity.total)
    }

    /// Admits the body: the bytes of a proven response are written to the file.
    mutating func admit(_ index: Int, now: Instant) -> [Action] {
        assert(lanes[index].overlap <= lanes[index].cursor, "the overlap is before the cursor")
        preparePieces()
        let isFirst = phase != .transferring || lanes.received == 0
        lanes[index].stage = .flowing
        let asks = askForSidecars()
        lanes[index].speed.began(now: now)
        let id = lanes[index].id
        // A target that works may expire again.
        sources[lanes[index].source].worked()
        checkpoints.began(now: now)
        guard isFirst else { return [.admit(id)] + asks }
        let started = Action.notify(.started(total: lanes.map.total, resumedAt: written))
        let actions =
            phase == .transferring
            ? [started, .record, .admit(id)] : [started, enter(.transferring), .record, .admit(id)]
        // Other lanes may join at once, but not before a pending comparison.
        return actions + asks + (sources.allSatisfy(\.isProven) ? refill(now: now) : [])
    }
}
