// Handling of a response's head.
extension DownloadMachine {
    /// The head of a lane's response arrived, and no byte of its body.
    ///
    /// The body is delivered after `admit` only.
    package mutating func answered(
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
        lanes[index].host = sources[lanes[index].source].host
        ramp.answered(after: lanes[index].opening)
        let lane = lanes[index]
        if head.status == 206 { sources[lane.source].sendsParts = true }
        if case .checkingTag = lane.kind {
            return checkedTag(index, head: head, wallTime: wallTime, now: now)
        }
        let prefix = map.done.runs.count == 1 ? map.done.prefix : nil
        let judge = Judge(
            asked: lane.asked,
            known: representation,
            record: record(of: lane.source),
            have: isStale ? nil : prefix.flatMap { have in base.map { $0 + have } },
            name: name
        )
        return follow(judge.verdict(on: head, wallTime: wallTime), lane: index, now: now)
    }

    private mutating func follow(_ verdict: Judge.Verdict, lane index: Int, now: Instant) -> [Action] {
        switch verdict {
        case .usable(let response): return accept(response, lane: index, now: now)
        case .wholeInstead(let response, let evidence):
            return whole(response, evidence: evidence, lane: index, now: now)
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .complete(let total): return alreadyComplete(total, lane: index, now: now)
        case .rangesBroken(let evidence): return rangesBroken(evidence, lane: index, now: now)
        case .openRangeRefused(let evidence):
            guard !asksClosed else { return rangesBroken(evidence, lane: index, now: now) }
            asksClosed = true
            // The target works, and may expire again before the next request.
            sources[lanes[index].source].wentBack = false
            return [.drop(lanes[index].id), reopen(index, now: now)]
        case .suspectPage(let response, let evidence):
            let isAgain =
                suspect?.total == response.identity.total && suspect?.mediaType == response.identity.mediaType
            suspect = response.identity
            return isAgain
                ? changed(evidence, lane: index, now: now)
                : laneFault(index, .suspectPage(evidence), now: now)
        case .redirect(let target): return redirect(to: target, lane: index, now: now)
        case .fault(let fault): return laneFault(index, fault, now: now)
        }
    }

    private mutating func accept(
        _ response: Judge.AcceptedResponse,
        lane index: Int,
        now: Instant
    ) -> [Action] {
        lanes[index].identity = response.identity
        let lane = lanes[index]
        if lane.kind == .restarting {
            guard existingLength != nil || mayNotDiscard(for: lane.source) else {
                let notice: LocalizableMessage = "the server sent the whole file again: started over from 0"
                let isTold = rangeWasSilent || map.done.isEmpty
                return (isTold ? [] : [.tell(.notice(notice))]) + restart(with: response, lane: index)
            }
            if let compares = compareWhole(response, lane: index, now: now) { return compares }
            return existingLength == nil
                ? failTrial(of: lane.source, "nothing can be compared without ranges")
                : cannotContinueExisting("the server sent the whole file")
        }
        // With a suffix range the first response shows where the file begins in the resource.
        let start = base ?? response.range.start
        base = start
        guard response.range.start == start + lane.cursor - lane.overlap else {
            let evidence: LocalizableMessage =
                "the server sent \(response.range), which does not continue the file"
            return laneFault(index, .unproven(evidence), now: now)
        }
        if let wanted = plan.length, let length = wishedLength(of: response.identity.total), length != wanted
        {
            return laneFault(index, .unproven(DownloadMachine.evidence(length, instead: wanted)), now: now)
        }
        if representation == nil {
            represent(response.identity, from: lane)
            if response.ranges == .denied { rangesUsable = false }
        } else if let refused = hold(response, against: lane, index, now: now) {
            return refused
        }
        lanes[index].responseEnd =
            response.range.end == SegmentMap.open ? SegmentMap.open : response.range.end - start
        return fit(response, lane: index, now: now)
    }

    /// Compares the response with what is known of the bytes on disk; `nil` when its body may be delivered.
    private mutating func hold(
        _ response: Judge.AcceptedResponse,
        against lane: Lane,
        _ index: Int,
        now: Instant
    ) -> [Action]? {
        switch response.evidence {
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .unclear: return checkTag(lane: index, now: now)
        case .weak where lane.overlap == 0: return settleFirst(lane: index, now: now)
        case .weak
        where lane.isBringing && lanes.contains { $0.id != lane.id && $0.stage == .flowing && $0.isBringing }:
            // Responses that only a comparison tells apart are requested one at a time.
            return [remove(index)]
        case .weak: break
        case .strong, .dated:
            representation?.prove(
                sources[lane.source].text,
                at: lane.host,
                response.identity.validators
            )
            if lane.overlap == 0 || response.evidence == .strong { prove(lane.source) }
        }
        if let known = map.total, let length = wishedLength(of: response.identity.total), known != length {
            return changed("it had \(known) bytes and has \(length) now", lane: index, now: now)
        }
        if let length = wishedLength(of: response.identity.total), length < map.done.upperBound {
            return changed("it has \(length) bytes, fewer than are on disk", lane: index, now: now)
        }
        if response.ranges == .denied { rangesUsable = false }
        return nil
    }

    /// Describes the bytes on disk by this identity from now on.
    mutating func represent(_ identity: ContentIdentity, from lane: Lane) {
        var version = Representation(wish: plan.wish, base: base)
        version.coding = identity.coding
        version.total = identity.total
        version.mediaType = identity.mediaType
        version.prove(sources[lane.source].text, at: lane.host, identity.validators)
        representation = version
        prove(lane.source)
    }

    /// Ends the lane where its response, the file or the requested range ends, whichever comes first.
    private mutating func fit(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        if let total = totalSaid(by: response, to: lane) {
            guard map.done.upperBound <= total else {
                return changed("it has \(total) bytes, fewer than are on disk", lane: index, now: now)
            }
            map.learn(total: total)
            if representation?.total == nil { representation?.total = response.identity.total }
        }
        let mayBeEmpty = lane.kind == .settling || comparesEnd(lane)
        guard lane.responseEnd > lane.cursor || lane.cursor >= map.horizon || mayBeEmpty else {
            return rangesBroken("the server sent no byte after \(lane.cursor)", lane: index, now: now)
        }
        guard lane.responseEnd >= lane.cursor else {
            return rangesBroken("the server sent less than the bytes to compare", lane: index, now: now)
        }
        lanes[index].end = min(lane.end, lane.responseEnd, map.horizon, plan.longest)
        guard isClaimed else {
            map.shorten(lane.id, to: lanes[index].end)
            lanes[index].stage = .claiming
            return [.claim(lane.id)]
        }
        if isPassed(lanes[index]) { return [remove(index)] + refillOrOpen(now: now) }
        return endTogether(with: index) + admit(index, now: now)
    }

    /// Whether a mirror reports that nothing follows the bytes on disk, and a comparison has to confirm it.
    func comparesEnd(_ lane: Lane) -> Bool {
        map.total == nil && lane.kind == .data && lane.overlap > 0 && lane.responseEnd == lane.cursor
            && map.done.upperBound == lane.cursor
    }

    /// The file's length, when this response is the first to state it.
    private func totalSaid(by response: Judge.AcceptedResponse, to lane: Lane) -> Int64? {
        guard map.total == nil, lane.kind != .settling else { return nil }
        // A mirror whose bytes have not been compared may have other content.
        guard lane.overlap == 0 || sources.count == 1 || sources[lane.source].isProven else { return nil }
        if let total = wishedLength(of: response.identity.total) { return total }
        // Nothing follows the existing bytes.
        return lane.kind == .data && lane.responseEnd == lane.cursor ? lane.cursor : nil
    }

    /// Admits the body: the bytes of a proven response are written to the file.
    mutating func admit(_ index: Int, now: Instant) -> [Action] {
        let isFirst = phase != .transferring || received == 0
        lanes[index].stage = .flowing
        lanes[index].lastByteAt = now
        lanes[index].measuredAt = now
        let id = lanes[index].id
        // A target that works may expire again.
        sources[lanes[index].source].wentBack = false
        if checkpointAt == nil { checkpointAt = now + DownloadMachine.checkpointPeriod }
        guard isFirst else { return [.admit(id)] }
        var actions: [Action] = [.tell(.started(total: map.total, resumedAt: written))]
        if phase != .transferring { actions.append(enter(.transferring)) }
        // Other lanes may join at once, but not before a pending comparison.
        return actions + [.record, .admit(id)] + (sources.allSatisfy(\.isProven) ? refill(now: now) : [])
    }

    mutating func refillOrOpen(now: Instant) -> [Action] {
        lanes.isEmpty && !isRetryPending ? openFirst(now: now) : refill(now: now)
    }

    /// 416 with the length that is on disk.
    private mutating func alreadyComplete(_ total: Int64, lane index: Int, now: Instant) -> [Action] {
        let length = wishedLength(of: total)
        if lanes[index].kind == .settling {
            return rangesBroken("the server refuses bytes that it has (416)", lane: index, now: now)
        }
        guard map.total ?? length == length, map.done == ByteRangeSet([ByteRange(0, length)]) else {
            return changed(
                "it has \(total) bytes, which does not match the bytes on disk",
                lane: index,
                now: now
            )
        }
        let drops = stop()
        if map.total == nil { map.learn(total: length) }
        if representation?.total == nil { representation?.total = total }
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
