// Handling of responses that are not plain acceptance.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The whole content was sent in response to a range request.
    mutating func whole(
        _ response: Judge.AcceptedResponse, evidence: LocalizableMessage, lane index: Int, now: Instant
    ) -> [Action] {
        if plan.selection != .whole {
            return laneFault(
                index, .unproven(.init("part-was-requested", "\(evidence), but only a part was requested")), now: now)
        }
        if let others = leaveOut(index, evidence, forRanges: true, now: now) { return others }
        if lanes[index].request.range != .whole { server.giveUpRanges() }
        let isBound = file.existingLength != nil || mayNotDiscard(for: lanes[index].source)
        let others = lanes.list.indices.filter { $0 != index && lanes[$0].isFlowing }
        if !isBound, hasPieces {
            guard case .changed(let change) = response.evidence, lanes[index].request.range == .whole else {
                return wholeWithPieces(evidence, lane: index, others: others, now: now)
            }
            // The whole was requested, and it has another length or coding than the bytes on disk.
            guard lanes.map.done.isEmpty, response.identity.coding == nil, budget.startedOver() else {
                return changed(change, lane: index, now: now)
            }
            return restart(with: response, lane: index)
        }
        // Seeds are proven by the digest of the whole alone.
        let mayBeSame = response.evidence.contradictsNothing && others.isEmpty && !plan.isSeeded
        if isBound || mayBeSame || lanes.map.isComplete && !lanes.map.done.isEmpty {
            let isKnown = file.existingLength == nil && continuity.samples.isEmpty && continuity.openJoints.isEmpty
            if lanes.map.isComplete, isKnown, response.evidence == .strong {
                addDigests(of: lanes[index])
                return stop() + complete()
            }
            if let compares = compareWhole(response, lane: index, now: now) { return compares }
        }
        if file.existingLength != nil { return cannotContinueExisting(evidence) }
        if isBound { return failTrial(of: lanes[index].source, evidence) }
        guard others.isEmpty else {
            if case .changed(let change) = response.evidence { return changed(change, lane: index, now: now) }
            return [remove(index), .notify(.notice(Self.withOneConnection(evidence)))] + refill(now: now)
        }
        guard lanes.map.done.isEmpty || budget.startedOver() else { return keepsChanging(evidence) }
        return [.notify(.notice(.init("started-over", "\(evidence): started over from 0")))]
            + restart(with: response, lane: index)
    }

    /// Starts over: this lane's response is the whole content from 0, and replaces everything on disk.
    mutating func restart(with response: Judge.AcceptedResponse, lane index: Int) -> [Action] {
        var actions: [Action] = []
        if server.settleSuspicion() {
            actions.append(
                .notify(
                    .notice(
                        .init(
                            "no-response-to-range-started-over",
                            "the server does not respond to requests with Range: started over without ranges"))))
        }
        let now = lanes[index].speed.lastByteAt
        let others = lanes.startOver(
            with: index, total: plan.selectedLength(of: response.identity.total),
            responseEnd: response.range.end == ByteRange.open ? ByteRange.open : response.range.count,
            longest: plan.longest)
        actions += others.map { .drop($0) }
        forget()
        continuity.base = continuity.base ?? response.range.start
        represent(response.identity, from: lanes[0])
        if response.ranges == .denied { server.giveUpRanges() }
        return actions + [.startOver] + reserve() + admit(0, now: now)
    }

    /// Forgets the bytes on disk.
    ///
    /// The high-water mark stays: bytes received again are no progress.
    mutating func reset(total: Int64?) {
        lanes.begin(with: SegmentMap(total: total))
        forget()
    }

    private mutating func forget() {
        continuity.reset(base: plan.base(total: nil))
        checkpoints.startedOver()
        pieces.map?.startOver()
        for index in sources.indices { sources[index].isProven = false }
    }

    /// Why a source is left out that has other content.
    static func otherContent(_ evidence: LocalizableMessage) -> LocalizableMessage {
        LocalizableMessage("other-content", "it has other content: \(evidence)")
    }

    /// The content differs from the bytes on disk; `isOnDisk`: these are of both, so none can be continued.
    mutating func changed(
        _ evidence: LocalizableMessage, lane index: Int, isOnDisk: Bool = false, now: Instant
    ) -> [Action] {
        if file.existingLength != nil { return cannotContinueExisting(evidence) }
        let isOther = Self.otherContent(evidence)
        if let others = leaveOut(index, isOther, now: now) { return others }
        if mayNotDiscard(for: lanes[index].source) { return failTrial(of: lanes[index].source, evidence) }
        // Another source may still have the content that the pieces describe.
        if hasPieces, sources.count(where: \.isUsable) > 1 { return without(index, isOther, now: now) }
        if digestsDecide { return isOtherContent(evidence) }
        if budget.restarts > 0, lanes[index].request.range != .whole, lanes.flowing > 0, plan.selection == .whole {
            // A second contradiction of a response that is still being received: this server's ranges are
            // wrong, or its content is another one each time.
            server.giveUpRanges(because: evidence)
            guard isOnDisk else { return rangesBroken(evidence, lane: index, now: now) }
        }
        // The target works, and may expire again before the next request.
        sources[lanes[index].source].worked()
        let drops = stop()
        let wasEmpty = lanes.map.done.isEmpty
        reset(total: nil)
        budget.countsProgress(from: 0)
        let void: [Action] = file.isClaimed && !wasEmpty ? [.startOver] : []
        // Another run must not take bytes of several versions for a file that is complete.
        guard budget.startedOver() else { return drops + void + keepsChanging(evidence) }
        return drops + void + [
            .notify(
                .notice(.init("content-changed-started-over", "the content changed: \(evidence): started over from 0")))
        ] + openFirst(now: now)
    }

    /// Drops a mirror that has proven nothing while another source works; `nil` when there is none.
    mutating func leaveOut(
        _ index: Int, _ evidence: LocalizableMessage, forRanges: Bool = false, now: Instant
    ) -> [Action]? {
        let source = lanes[index].source
        guard !sources[source].isProven, sources.contains(where: { $0.isProven && $0.isUsable }) else { return nil }
        return without(index, evidence, forRanges: forRanges, now: now)
    }

    private mutating func without(
        _ index: Int, _ evidence: LocalizableMessage, forRanges: Bool = false, now: Instant
    ) -> [Action] {
        let source = lanes[index].source
        sources[source].leaveOut(lacksRanges: forRanges)
        let notice = LocalizableMessage("left-out-source", "left out \(sources[source].given.redacted): \(evidence)")
        return [remove(index), .notify(.notice(notice))] + refillOrOpen(now: now)
    }

    mutating func keepsChanging(_ evidence: LocalizableMessage) -> [Action] {
        fail(
            Failure(
                .cannotResume, "cannot finish", at: sources[0].given.redacted,
                because: .init(
                    "keeps-changing",
                    "the content changed \(budget.restarts) times during the download, most recently: \(evidence)"),
                remedy: "try again when the file no longer changes"))
    }

    mutating func cannotContinueExisting(_ evidence: LocalizableMessage) -> [Action] {
        fail(
            Failure(
                .cannotResume, "cannot continue", at: file.name ?? sources[0].given.redacted, because: evidence,
                remedy: "the file is unchanged; choose another name, or change \(.option(.existingFile))"),
            givesBack: true)
    }

    /// Stops using ranges of this server for this object.
    mutating func rangesBroken(_ evidence: LocalizableMessage, lane index: Int, now: Instant) -> [Action] {
        if plan.selection != .whole || lanes[index].request.range == .whole {
            return laneFault(index, .unproven(evidence), now: now)
        }
        if let others = leaveOut(index, evidence, forRanges: true, now: now) { return others }
        if file.existingLength != nil { return cannotContinueExisting(evidence) }
        server.giveUpRanges()
        sources[lanes[index].source].worked()
        let drop = remove(index)
        return [drop, .notify(.notice(Self.withoutRanges(evidence)))] + refillOrOpen(now: now)
    }

    /// A range of the content on disk was refused: the bytes stay.
    ///
    /// The range is requested again, from each source. If all refuse it, the whole is requested and compared
    /// with the bytes on disk, where these are its beginning. Those behind a gap cannot be continued by it: they are
    /// discarded for it, unless the server has sent parts in this run.
    mutating func validRangeRefused(_ evidence: LocalizableMessage, lane index: Int, now: Instant) -> [Action] {
        if let others = leaveOut(index, evidence, forRanges: true, now: now) { return others }
        let isAlone = lanes.list.indices.allSatisfy { $0 == index || lanes[$0].isSettling }
        let isBeginning = lanes.map.done.runs.count == 1 && lanes.map.done.prefix > 0
        let isBound = file.existingLength != nil || mayNotDiscard(for: lanes[index].source)
        let mayReplace = isBeginning || !isBound && !sources.contains(where: \.sendsParts)
        if isAlone { budget.rangeRefused() }
        // Before bytes are discarded, all retries but one are used for others.
        let isLast =
            isBeginning
            ? budget.rangeRefusals > sources.count(where: \.isUsable) || attempts >= plan.retry.retries
            : attempts + 1 >= plan.retry.retries
        guard isAlone, plan.selection == .whole, mayReplace, isLast else {
            return laneFault(index, .rangeRefused(evidence), now: now)
        }
        server.giveUpRanges()
        sources[lanes[index].source].worked()
        return stop() + [.notify(.notice(Self.withoutRanges(evidence)))] + openFirst(now: now)
    }

    static func withOneConnection(_ evidence: LocalizableMessage) -> LocalizableMessage {
        LocalizableMessage("continuing-with-one-connection", "\(evidence): continuing with one connection")
    }

    static func withoutRanges(_ evidence: LocalizableMessage) -> LocalizableMessage {
        LocalizableMessage("continuing-without-ranges", "\(evidence): continuing without ranges")
    }

    /// Requests the lane's work again under a new id, so that no late event is taken for its response.
    ///
    /// What it has to compare depends on the host of the new request.
    mutating func reopen(
        _ index: Int, isRedirected: Bool = false, logins: Lane.Request.Logins = .init(), now: Instant
    ) -> Action {
        let lane = lanes[index]
        let range = lanes.left(of: index)
        return order(
            lane.work, source: lane.source, range: range,
            overlap: lane.isBringing ? overlap(before: range.start, from: lane.source) : lane.overlap,
            redirects: lane.request.redirects + (isRedirected ? 1 : 0), logins: logins, replacing: index, now: now)
    }
}
