// Handling of a response's head.
extension DownloadMachine {
    /// The head of a lane's response arrived, and no byte of its body.
    ///
    /// The body is delivered after `admit` only.
    package mutating func responded(
        _ id: LaneID,
        head: ResponseHead,
        isCrowded: Bool = false,
        wallTime: UnixTime,
        now: Instant
    ) -> [Action] {
        guard isActive, let index = index(of: id) else { return [] }
        hostIsCrowded = isCrowded
        lanes[index].lastByteAt = now
        lanes[index].opening = now - lanes[index].measuredAt
        ramp.responded(after: lanes[index].opening)
        let source = lanes[index].source
        if head.status == 206 { sources[source].sendsParts = true }
        if case .checkingTag = lanes[index].kind {
            return checkedTag(index, head: head, wallTime: wallTime, now: now)
        }
        if let actions = followedEnd(index, head: head, now: now) { return actions }
        return judge(index, head: head, wallTime: wallTime, now: now)
    }

    /// Judges the response with what is known now.
    mutating func judge(
        _ index: Int,
        head: ResponseHead,
        wallTime: UnixTime,
        now: Instant
    ) -> [Action] {
        let source = lanes[index].source
        // The requested part does not exist; the bytes on disk are of another one, and stay.
        if isStale, head.status == 416 { return laneFault(index, .status(416, retryAfter: nil), now: now) }
        if (301...308).contains(head.status), let linked = head.linkedDigest {
            sources[source].linked = linked
        }
        if let wanted = plan.length, let length = plan.selectedLength(of: head.resourceLength),
            length != wanted
        {
            let evidence = DownloadMachine.evidence(length, instead: wanted)
            return leaveOut(index, evidence, now: now) ?? laneFault(index, .unproven(evidence), now: now)
        }
        var have: Int64?
        if !isStale, map.done.runs.count == 1, let base { have = base + map.done.prefix }
        let known = representation
        var judge = Judge(
            requested: lanes[index].requested,
            known: known,
            // With pieces every byte will be checked, whatever the validators say.
            record: !hasPieces ? known?.record(of: sources[source].text, at: lanes[index].host) : nil,
            have: have,
            held: written,
            name: name
        )
        judge.former = former.map { former in
            let isOwn = former.record(of: sources[source].text, at: lanes[index].host) != nil
            let isPage = ContentIdentity(head, total: nil).mediaType.map(Judge.isPage) ?? false
            return FormerContent(
                mediaType: former.mediaType,
                hasValidators: isOwn || isPage && !former.records.isEmpty,
                suspect: former.suspect
            )
        }
        let verdict = judge.verdict(on: head, wallTime: wallTime)
        lastEvent = now
        if !plan.hooks.isEmpty {
            if case .fault(let fault) = verdict, let asks = presentLogin(fault, head: head, lane: index) {
                return asks
            }
            if let asks = presentResponse(verdict, head: head, wallTime: wallTime, lane: index) {
                return asks
            }
        }
        switch verdict {
        case .usable(let response), .wholeInstead(let response, evidence: _):
            if let actions = noteDigests(head, of: response, lane: index, now: now) { return actions }
            noteLinks(head, lane: index)
        case .changed, .complete, .rangesBroken, .openRangeRefused, .validRangeRefused, .suspectPage,
            .redirect,
            .fault:
            break
        }
        return follow(verdict, head: head, lane: index, now: now)
    }

    private mutating func follow(
        _ verdict: Judge.Verdict,
        head: ResponseHead,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        switch verdict {
        case .usable(let response): return accept(response, lane: index, now: now)
        case .wholeInstead(let response, let evidence):
            return whole(response, evidence: evidence, lane: index, now: now)
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .complete(let total, let isProven):
            return alreadyComplete(total, isProven: isProven, lane: index, now: now)
        case .rangesBroken(let evidence): return rangesBroken(evidence, lane: index, now: now)
        case .openRangeRefused(let evidence):
            guard !asksClosed else { return rangesBroken(evidence, lane: index, now: now) }
            asksClosed = true
            // The target works, and may expire again before the next request.
            sources[lanes[index].source].wentBack = false
            return [.drop(lanes[index].id), reopen(index, now: now)]
        case .validRangeRefused(let evidence):
            return validRangeRefused(evidence, lane: index, now: now)
        case .suspectPage(let response, let evidence):
            return suspectPage(response.identity, evidence, lane: index, now: now)
        case .redirect(let target): return redirect(to: target, head: head, lane: index, now: now)
        case .fault(let fault): return laneFault(index, fault, now: now)
        }
    }

    /// The same page for the second time, in this run or a later one, is the new version.
    private mutating func suspectPage(
        _ identity: ContentIdentity,
        _ evidence: LocalizableMessage,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        let page = SuspectPage(total: identity.total, mediaType: identity.mediaType)
        guard representation != nil else {
            // Nothing is on disk that it could replace.
            former?.suspect = page
            return laneFault(index, .suspectPage(evidence), now: now)
        }
        if representation?.suspect == page { return changed(evidence, lane: index, now: now) }
        representation?.suspect = page
        let note: [Action] = isClaimed ? [.record] : []
        return note + laneFault(index, .suspectPage(evidence), now: now)
    }

    /// A page before this response was an error: the journal forgets it too.
    private mutating func accept(
        _ response: Judge.AcceptedResponse,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        let isForgotten = representation?.suspect != nil
        if isForgotten { representation?.suspect = nil }
        let actions = use(response, lane: index, now: now)
        // Starting over records it, and so do wrong bytes and the end of the download.
        guard isForgotten, isClaimed, isActive, !actions.contains(where: \.recordsFacts) else {
            return actions
        }
        return [.record] + actions
    }

    private mutating func use(
        _ response: Judge.AcceptedResponse,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        if let coding = response.identity.coding, plan.selection != .whole {
            let evidence = LocalizableMessage(
                "range-encoded-whole",
                "it sent the content with Content-Encoding \(coding), of which no part can be used"
            )
            return laneFault(index, .unproven(evidence), now: now)
        }
        if let actions = beginSuffix(response, lane: index, now: now) { return actions }
        lanes[index].identity = response.identity
        let lane = lanes[index]
        if lane.kind == .restarting {
            let isBound = existingLength != nil || mayNotDiscard(for: lane.source)
            let mayBeSame = (comparesWhole || response.evidence == .strong) && !digestsDecide
            if !isBound, hasPieces, let keeps = keepVerified(response, lane: index, now: now) {
                return keeps
            }
            if isBound || mayBeSame, let compares = compareWhole(response, lane: index, now: now) {
                return compares
            }
            guard isBound else {
                let notice = LocalizableMessage(
                    "whole-file-again-started-over",
                    "the server sent the whole file again: started over from 0"
                )
                let isTold = rangeWasSilent || map.done.isEmpty
                return (isTold ? [] : [.notify(.notice(notice))]) + restart(with: response, lane: index)
            }
            return existingLength == nil
                ? failTrial(
                    of: lane.source,
                    .init("cannot-compare-without-ranges", "nothing can be compared without ranges")
                )
                : cannotContinueExisting(.init("whole-file-sent", "the server sent the whole file"))
        }
        // With a suffix range the first response shows where the file begins in the resource.
        let start = base ?? response.range.start
        base = start
        guard response.range.start == start + lane.cursor - lane.overlap else {
            let evidence =
                LocalizableMessage(
                    "range-does-not-continue",
                    "the server sent \(response.range), which does not continue the file"
                )
            return laneFault(index, .unproven(evidence), now: now)
        }
        if representation == nil {
            represent(response.identity, from: lane)
            if response.ranges == .denied { rangesUsable = false }
        } else if let refused = hold(response, against: lane, index, now: now) {
            return refused
        }
        lanes[index].responseEnd =
            response.range.end == SegmentMap.open ? SegmentMap.open : response.range.end - start
        return learnDigests(of: lane) + fit(response, lane: index, now: now)
    }

    /// Begins the last bytes of a file whose length a response has reported: FTP and SFTP have no requests for those.
    ///
    /// `nil` when the response itself begins there.
    private mutating func beginSuffix(
        _ response: Judge.AcceptedResponse,
        lane index: Int,
        now: Instant
    ) -> [Action]? {
        guard case .suffix = plan.selection, representation == nil else { return nil }
        let lane = lanes[index]
        guard sources[lane.source].isFileTransfer else { return nil }
        guard let total = response.identity.total, let start = plan.base(total: total) else {
            if base != nil, countRestart() {
                // It may have another one than before.
                base = nil
                return [.drop(lane.id), reopen(index, now: now)]
            }
            let evidence = LocalizableMessage(
                "length-missing",
                "it does not report the length, which a request for the last bytes needs"
            )
            return laneFault(index, .unproven(evidence), now: now)
        }
        guard response.range.start != start else { return nil }
        // The file has another length than before.
        if base != nil, !countRestart() { return keepsChanging(.fewerThanOnDisk(total)) }
        base = start
        return [.drop(lane.id), reopen(index, now: now)]
    }

    /// Compares the response with what is known of the bytes on disk; `nil` when its body may be delivered.
    private mutating func hold(
        _ response: Judge.AcceptedResponse,
        against lane: Lane,
        _ index: Int,
        now: Instant
    ) -> [Action]? {
        let isDecidedLater = hasPieces || plan.isSeeded && response.evidence.contradictsNothing
        switch isDecidedLater ? .strong : response.evidence {
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .unclear: return checkTag(lane: index, now: now)
        case .weak where lane.overlap == 0: return settleFirst(lane: index, now: now)
        case .weak
        where lane.isBringing && lanes.contains { $0.id != lane.id && $0.stage == .flowing && $0.isBringing }:
            // Responses that only a comparison tells apart are requested one at a time.
            return [remove(index)]
        case .weak: break
        case .strong, .dated:
            // Else the comparison does it.
            if lane.overlap == 0 || response.evidence == .strong || response.evidence == .dated {
                representation?.prove(
                    sources[lane.source].text,
                    at: lane.host,
                    response.identity.validators
                )
            }
            if lane.overlap == 0 || response.evidence == .strong { prove(lane.source) }
        }
        if let known = map.total, let length = plan.selectedLength(of: response.identity.total),
            known != length
        {
            return changed(.sizeChanged(from: known, to: length), lane: index, now: now)
        }
        if let length = plan.selectedLength(of: response.identity.total), length < map.done.upperBound {
            return changed(.fewerThanOnDisk(length), lane: index, now: now)
        }
        if let refused = holdDigests(of: lane, index, now: now) { return refused }
        if response.ranges == .denied { rangesUsable = false }
        return nil
    }

    /// Describes the bytes on disk by this identity from now on.
    mutating func represent(_ identity: ContentIdentity, from lane: Lane) {
        var version = Representation(selection: plan.selection, base: base)
        version.coding = identity.coding
        version.total = identity.total
        version.mediaType = identity.mediaType
        version.digests = lane.stated
        version.prove(sources[lane.source].text, at: lane.host, identity.validators)
        representation = version
        former = nil
        prove(lane.source)
    }

    /// Ends the lane where its response, the file or the requested range ends, whichever comes first.
    private mutating func fit(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        if let total = totalSaid(by: response, to: index) {
            guard map.done.upperBound <= total else {
                return changed(.fewerThanOnDisk(total), lane: index, now: now)
            }
            map.learn(total: total)
            representation?.learn(total: response.identity.total)
        }
        // A copy of the lane, an autoclosure (of `||`) that names `self`, or a method of it would copy all of it.
        let (kind, cursor, responseEnd) = (lanes[index].kind, lanes[index].cursor, lanes[index].responseEnd)
        let comparesEnd = lanes[index].comparesEnd(of: map)
        let horizon = map.horizon
        let mayBeEmpty = kind == .settling || comparesEnd
        guard responseEnd > cursor || cursor >= horizon || mayBeEmpty else {
            return partTooShort(
                .init("range-ends-early", "the server sent no byte after \(cursor)"),
                lane: index,
                now: now
            )
        }
        guard responseEnd >= cursor else {
            return partTooShort(
                .init("range-too-short-to-compare", "the server sent less than the bytes to compare"),
                lane: index,
                now: now
            )
        }
        let wanted = min(lanes[index].end, horizon, plan.longest)
        let end = min(wanted, responseEnd)
        // More responses of this length would mostly repeat the overlap.
        let isShortEnd = sources[lanes[index].source].shortEnd == end
        let isShort = end < wanted && end - cursor < lanes[index].overlap
        if kind == .data, isShort, !comparesEnd, !isShortEnd {
            return partTooShort(
                .init(
                    "range-too-short",
                    "the server sent only \(end - cursor) bytes after those to compare"
                ),
                lane: index,
                now: now
            )
        }
        lanes[index].end = end
        guard isClaimed else {
            map.shorten(lanes[index].id, to: end)
            lanes[index].stage = .claiming
            return [.claim(lanes[index].id)]
        }
        if isPassed(lanes[index]) { return [remove(index)] + refillOrOpen(now: now) }
        return endTogether(with: index) + admit(index, now: now)
    }

    /// The response to a request that begins where a compared one without a total ended.
    ///
    /// 416 says that this is the end. A part that begins there cannot be compared with what is on disk: the server
    /// may have sent less than requested before, and its content may have changed since.
    private mutating func followedEnd(_ index: Int, head: ResponseHead, now: Instant) -> [Action]? {
        guard comparedEnd != nil, lanes[index].overlap == 0 else { return nil }
        let lane = lanes[index]
        guard isComparedEnd(lane.cursor, of: lane.source) else { return nil }
        switch (head.status, head.contentRange) {
        case (416, .unsatisfied): return nil
        case (416, _):
            let drops = stop()
            map.learn(total: lane.cursor)
            return drops + complete()
        case (206, _):
            let evidence = LocalizableMessage(
                "part-without-total",
                "it states no total, and more bytes follow where its part ended"
            )
            return rangesBroken(evidence, lane: index, now: now)
        default: return nil
        }
    }

    /// The file's length, when this response is the first to state it.
    ///
    /// Changes nothing; if it were not `mutating`, it would be called with a copy of the whole machine.
    private mutating func totalSaid(by response: Judge.AcceptedResponse, to index: Int) -> Int64? {
        guard map.total == nil, lanes[index].kind != .settling else { return nil }
        // A mirror whose bytes have not been compared may have other content.
        let isProven = sources[lanes[index].source].isProven
        if lanes[index].overlap > 0, sources.count > 1, !isProven { return nil }
        return plan.selectedLength(of: response.identity.total)
    }

    /// Admits the body: the bytes of a proven response are written to the file.
    mutating func admit(_ index: Int, now: Instant) -> [Action] {
        assert(lanes[index].overlap <= lanes[index].cursor, "the overlap is before the cursor")
        preparePieces()
        let isFirst = phase != .transferring || received == 0
        lanes[index].stage = .flowing
        let asks = askForSidecars()
        lanes[index].lastByteAt = now
        lanes[index].measuredAt = now
        let id = lanes[index].id
        // A target that works may expire again.
        sources[lanes[index].source].wentBack = false
        if checkpointAt == nil { checkpointAt = now + DownloadMachine.checkpointPeriod }
        guard isFirst else { return [.admit(id)] + asks }
        let started = Action.notify(.started(total: map.total, resumedAt: written))
        let actions =
            phase == .transferring
            ? [started, .record, .admit(id)] : [started, enter(.transferring), .record, .admit(id)]
        // Other lanes may join at once, but not before a pending comparison.
        return actions + asks + (sources.allSatisfy(\.isProven) ? refill(now: now) : [])
    }

    mutating func refillOrOpen(now: Instant) -> [Action] {
        lanes.isEmpty && !isRetryPending ? openFirst(now: now) : refill(now: now)
    }

    /// 416 with the length that is on disk.
    ///
    /// The length alone does not show that these bytes are the content: they are compared, unless that was done or a
    /// digest decides.
    private mutating func alreadyComplete(
        _ total: Int64,
        isProven: Bool,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        let length = plan.selectedLength(of: total)
        if lanes[index].kind == .settling {
            return validRangeRefused(
                .init("existing-range-refused", "the server refuses bytes that it has (416)"),
                lane: index,
                now: now
            )
        }
        guard map.total ?? length == length, map.done == ByteRangeSet([ByteRange(0, length)]) else {
            return changed(
                .init("size-does-not-match", "it has \(total) bytes, which does not match the bytes on disk"),
                lane: index,
                now: now
            )
        }
        let source = lanes[index].source
        let drops = stop()
        if map.total == nil {
            map.learn(total: length)
            preparePieces()
        }
        guard isProven || digestsDecide || existingLength != nil || comparedEnd?.offset == length else {
            samples = [ByteRange(max(0, length - DownloadMachine.overlap), length)]
            // A target that works may expire again.
            sources[source].wentBack = false
            return drops + openFirst(now: now)
        }
        representation?.learn(total: total)
        return drops + complete()
    }

    mutating func remove(_ index: Int) -> Action {
        let lane = lanes.remove(at: index)
        map.release(lane.id)
        // Racers lose their goal with the owner and own the remaining bytes, the furthest first.
        if lane.kind == .data { promoteRacer(of: lane.id) }
        return .drop(lane.id)
    }
}
