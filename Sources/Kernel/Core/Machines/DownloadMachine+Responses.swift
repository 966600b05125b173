// Handling of a response's head.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The head of a lane's response arrived, and no byte of its body.
    ///
    /// The body is delivered after `admit` only.
    package mutating func responded(
        _ id: LaneID, head: ResponseHead, isCrowded: Bool = false, wallTime: UnixTime, now: Instant
    ) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        server.isCrowded = isCrowded
        lanes.responded(index, now: now)
        let source = lanes[index].source
        if head.status == 206 { sources[source].sendsParts = true }
        let noted = noteNetwork()
        if case .checkingTag = lanes[index].work {
            return noted + checkedTag(index, head: head, wallTime: wallTime, now: now)
        }
        if head.status == 304, lanes[index].request.isConditional {
            return noted + unmodified(index, head: head, now: now)
        }
        if let actions = followedEnd(index, head: head, now: now) { return noted + actions }
        return noted + judge(index, head: head, wallTime: wallTime, now: now)
    }

    /// Judges the response with what is known now.
    mutating func judge(_ index: Int, head: ResponseHead, wallTime: UnixTime, now: Instant) -> [Action] {
        let source = lanes[index].source
        // The requested part does not exist; the bytes on disk are of another one, and stay.
        if continuity.isStale, head.status == 416 { return laneFault(index, .status(416, retryAfter: nil), now: now) }
        if (301...308).contains(head.status), let linked = head.linkedDigest { sources[source].link(linked) }
        if let wanted = plan.length, let length = plan.selectedLength(of: head.resourceLength), length != wanted {
            let evidence = DownloadMachine.evidence(length, instead: wanted)
            return leaveOut(index, evidence, now: now) ?? laneFault(index, .unproven(evidence), now: now)
        }
        let verdict = makeJudge(of: head, lane: index).verdict(on: head, wallTime: wallTime)
        lastEvent = now
        if !plan.hooks.isEmpty {
            if case .fault(let fault) = verdict, let asks = presentLogin(fault, head: head, lane: index) { return asks }
            if let asks = presentResponse(verdict, head: head, wallTime: wallTime, lane: index) { return asks }
        }
        switch verdict {
        case .usable(let response), .wholeInstead(let response, evidence: _):
            if let type = response.identity.mediaType, plan.otherTypes.contains(type), written == 0 {
                return fail(.otherType(type, of: sources[source].current))
            }
            if let actions = noteDigests(head, of: response, lane: index, now: now) { return actions }
            noteLinks(head, lane: index)
        case .changed, .complete, .rangesBroken, .openRangeRefused, .validRangeRefused, .suspectPage, .redirect, .fault:
            break
        }
        return follow(verdict, head: head, lane: index, now: now)
    }

    /// The judge of a response, with what was requested and what is on disk.
    private func makeJudge(of head: ResponseHead, lane index: Int) -> Judge {
        let source = lanes[index].source
        var have: Int64?
        if !continuity.isStale, lanes.map.done.runs.count == 1, let base = continuity.base {
            have = base + lanes.map.done.prefix
        }
        let known = continuity.representation
        var judge = Judge(
            requested: lanes[index].request.range, known: known,
            // With pieces every byte will be checked, whatever the validators say.
            record: !hasPieces ? known?.record(of: sources[source].text, at: lanes[index].request.host) : nil,
            have: have,
            held: written,
            name: file.name ?? (known == nil && continuity.former == nil ? nil : namedBySource))
        judge.takesEverySuccess = plan.takesEverySuccess
        judge.former = continuity.former.map { former in
            let isOwn = former.record(of: sources[source].text, at: lanes[index].request.host) != nil
            let isPage = ContentIdentity(head, total: nil).mediaType.map(Judge.isPage) ?? false
            return FormerContent(
                mediaType: former.mediaType, hasValidators: isOwn || isPage && !former.records.isEmpty,
                suspect: former.suspect)
        }
        return judge
    }

    /// What the URL calls the file, before it has a place: only a name with an ending says which types fit.
    private var namedBySource: String? {
        let name = sources[0].given.lastPathComponent
        return name.utf8.contains(.dot) ? name : nil
    }

    private mutating func follow(
        _ verdict: Judge.Verdict, head: ResponseHead, lane index: Int, now: Instant
    ) -> [Action] {
        switch verdict {
        case .usable(let response): return accept(response, lane: index, now: now)
        case .wholeInstead(let response, let evidence):
            return whole(response, evidence: evidence, lane: index, now: now)
        case .changed(let evidence):
            if head.status == 416, let asks = askForWhole(evidence, lane: index, now: now) { return asks }
            return changed(evidence, lane: index, now: now)
        case .complete(let total, let isProven):
            return alreadyComplete(total, isProven: isProven, lane: index, now: now)
        case .rangesBroken(let evidence): return rangesBroken(evidence, lane: index, now: now)
        case .openRangeRefused(let evidence):
            guard server.openRangeRefused() else { return rangesBroken(evidence, lane: index, now: now) }
            // The target works, and may expire again before the next request.
            sources[lanes[index].source].worked()
            return [.drop(lanes[index].id), reopen(index, now: now)]
        case .validRangeRefused(let evidence): return validRangeRefused(evidence, lane: index, now: now)
        case .suspectPage(let response, let evidence): return suspectPage(response, evidence, lane: index, now: now)
        case .redirect(let target): return redirect(to: target, head: head, lane: index, now: now)
        case .fault(let fault): return laneFault(index, fault, now: now)
        }
    }

    /// The same page for the second time, in this run or a later one, is the new version.
    private mutating func suspectPage(
        _ response: Judge.AcceptedResponse, _ evidence: LocalizableMessage, lane index: Int, now: Instant
    ) -> [Action] {
        let identity = response.identity
        let page = SuspectPage(total: identity.total, mediaType: identity.mediaType)
        guard continuity.representation != nil else {
            // Nothing is on disk that it could replace.
            continuity.noteFormer(page)
            return laneFault(index, .suspectPage(evidence), now: now)
        }
        if continuity.representation?.suspect == page {
            guard hasPieces, identity.total == nil else { return changed(evidence, lane: index, now: now) }
            // Its size is not known to be another one, and the digests of pieces show which bytes are right.
            guard lanes[index].request.range == .whole else {
                return whole(response, evidence: evidence, lane: index, now: now)
            }
            return accept(response, lane: index, now: now)
        }
        continuity.representation?.suspect = page
        let note: [Action] = file.isClaimed ? [.record] : []
        return note + laneFault(index, .suspectPage(evidence), now: now)
    }

    /// The response to a request that begins where a compared one without a total ended.
    ///
    /// 416 says that this is the end. A part that begins there cannot be compared with what is on disk: the server
    /// may have sent less than requested before, and its content may have changed since.
    private mutating func followedEnd(_ index: Int, head: ResponseHead, now: Instant) -> [Action]? {
        guard continuity.end != nil, lanes[index].overlap == 0 else { return nil }
        let lane = lanes[index]
        guard isComparedEnd(lane.cursor, of: lane.source) else { return nil }
        switch (head.status, head.contentRange) {
        case (416, .unsatisfied): return nil
        case (416, _):
            let drops = stop()
            lanes.learn(total: lane.cursor)
            return drops + complete()
        case (206, _):
            let evidence = LocalizableMessage(
                "part-without-total", "it states no total, and more bytes follow where its part ended")
            return rangesBroken(evidence, lane: index, now: now)
        case _: return nil
        }
    }

    /// 416 with another length: the whole is requested, and bytes on disk stay until its response has shown that it is a new
    /// version.
    ///
    /// A cache applies Range to an error page with status 200, too, and states the page's length. `nil` where the whole is no
    /// way out.
    private mutating func askForWhole(_ evidence: LocalizableMessage, lane index: Int, now: Instant) -> [Action]? {
        let source = lanes[index].source
        guard plan.selection == .whole, lanes.list.count == 1, file.isClaimed, !continuity.isStale,
            !lanes.map.done.isEmpty,
            file.existingLength == nil,
            !hasPieces, !mayNotDiscard(for: source), !sources[source].isFileTransfer
        else { return nil }
        if let others = leaveOut(index, Self.otherContent(evidence), now: now) { return others }
        sources[source].worked()
        return [remove(index), startOver(from: source, now: now)]
    }

    mutating func refillOrOpen(now: Instant) -> [Action] {
        lanes.list.isEmpty && !waiting.isForAttempt ? openFirst(now: now) : refill(now: now)
    }

    /// 416 with the length that is on disk.
    ///
    /// The length alone does not show that these bytes are the content: they are compared, unless that was done or a
    /// digest decides.
    private mutating func alreadyComplete(_ total: Int64, isProven: Bool, lane index: Int, now: Instant) -> [Action] {
        let length = plan.selectedLength(of: total)
        if lanes[index].isSettling {
            return validRangeRefused(
                .init("existing-range-refused", "the server refuses bytes that it has (416)"), lane: index, now: now)
        }
        guard lanes.map.total ?? length == length, lanes.map.done == ByteRangeSet([ByteRange(0, length)]) else {
            return changed(
                .init("size-does-not-match", "it has \(total) bytes, which does not match the bytes on disk"),
                lane: index, now: now)
        }
        let source = lanes[index].source
        let drops = stop()
        if lanes.map.total == nil {
            lanes.learn(total: length)
            preparePieces()
        }
        guard isProven || digestsDecide || file.existingLength != nil || continuity.end?.offset == length else {
            continuity.sample([ByteRange(max(0, length - DownloadMachine.overlap), length)])
            // A target that works may expire again.
            sources[source].worked()
            return drops + openFirst(now: now)
        }
        continuity.representation?.learn(total: total)
        return drops + complete()
    }

    mutating func remove(_ index: Int) -> Action { .drop(lanes.remove(index)) }
}

extension Failure {
    fileprivate static func otherType(_ type: String, of address: WebAddress) -> Failure {
        Failure(
            .rejected, "cannot use the response of", at: address.redacted,
            because: LocalizableMessage("type-of-no-file", "its type is \(type)"))
    }

    /// Whether the download ended because its content is not downloaded as a file (``DownloadPlan/otherTypes``).
    package var isOfOtherType: Bool { cause?.id == "type-of-no-file" }
}
