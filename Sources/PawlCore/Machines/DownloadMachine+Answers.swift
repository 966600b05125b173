// What an answer's head leads to.
extension DownloadMachine {
    /// The head of a lane's answer is there and no byte of its body.
    ///
    /// The body is let in by `admit` only.
    package mutating func answered(
        _ id: LaneID,
        head: ResponseHead,
        wallTime: UnixTime,
        now: Moment
    ) -> [Action] {
        guard isActive, let index = index(of: id) else { return [] }
        lanes[index].lastByteAt = now
        lanes[index].opening = now - lanes[index].measuredAt
        growth.answered(after: lanes[index].opening)
        let lane = lanes[index]
        // A target that works may expire again.
        if [0, 200, 206, 416].contains(head.status) { sources[lane.source].wentBack = false }
        if head.status == 206 { sources[lane.source].sendsParts = true }
        let source = sources[lane.source]
        // Bytes of which nothing is known but that they are there are proved by none of the server's words.
        let known = source.identity ?? ContentIdentity(total: identity?.total)
        let prefix = map.done.runs.count == 1 ? map.done.prefix : nil
        let judge = Judge(
            asked: lane.asked,
            known: map.done.isEmpty && lanes.count == 1 ? nil : known,
            have: prefix.flatMap { have in base.map { $0 + have } },
            name: name
        )
        switch judge.verdict(on: head, wallTime: wallTime) {
        case .usable(let answer): return accept(answer, lane: index, now: now)
        case .wholeInstead(let answer, let evidence):
            return whole(answer, evidence: evidence, lane: index, now: now)
        case .changed(let evidence): return changed(evidence, lane: index, now: now)
        case .complete(let total): return alreadyComplete(total, lane: index, now: now)
        case .rangesBroken(let evidence): return rangesBroken(evidence, lane: index, now: now)
        case .redirect(let target): return redirect(to: target, lane: index, now: now)
        case .fault(let fault): return laneFault(index, fault, now: now)
        }
    }

    private mutating func accept(_ answer: Judge.Answer, lane index: Int, now: Moment) -> [Action] {
        let lane = lanes[index]
        if lane.kind == .restarting {
            guard answer.match == .same || !mayNotDiscard(for: lane.source) else {
                return failTrial(of: lane.source, "nothing can be compared without ranges")
            }
            return restart(with: answer, lane: index)
        }
        // With a suffix the first answer shows where the file begins in the resource.
        let start = base ?? answer.range.start
        base = start
        guard answer.range.start == start + lane.cursor - lane.overlap else {
            let evidence: Wording = "the server sent \(answer.range), which is not where the file goes on"
            return laneFault(index, .unproven(evidence), now: now)
        }
        if let wanted = plan.length, let told = wishedLength(of: answer.identity.total), told != wanted {
            return laneFault(index, .unproven(DownloadMachine.evidence(told, instead: wanted)), now: now)
        }
        // The same as this source's last answer is not yet the same as on disk.
        let isTrusted =
            answer.match == .same ? sources[lane.source].isProven : sources[lane.source].acceptsSoft
        let alone = map.done.isEmpty && lanes.count == 1
        guard lane.overlap > 0 || isTrusted || alone else { return settleFirst(lane: index, now: now) }
        if let known = map.total, let length = wishedLength(of: answer.identity.total), known != length,
            !map.done.isEmpty
        {
            return changed("it had \(known) bytes and has \(length) now", lane: index, now: now)
        }
        learn(answer, source: lane.source)
        lanes[index].answerEnd =
            answer.range.end == SegmentMap.open ? SegmentMap.open : answer.range.end - start
        return fit(answer, lane: index, now: now)
    }

    /// The lane ends where its answer, the file or the wish ends, whichever comes first.
    private mutating func fit(_ answer: Judge.Answer, lane index: Int, now: Moment) -> [Action] {
        let lane = lanes[index]
        if let total = totalSaid(by: answer, to: lane) {
            guard map.done.upperBound <= total else {
                return changed("it has \(total) bytes, fewer than are on disk", lane: index, now: now)
            }
            map.learn(total: total)
        }
        let mayBeEmpty = lane.kind == .settling || comparesEnd(lane)
        guard lane.answerEnd > lane.cursor || lane.cursor >= map.horizon || mayBeEmpty else {
            return rangesBroken("the server sent no byte after \(lane.cursor)", lane: index, now: now)
        }
        guard lane.answerEnd >= lane.cursor else {
            return rangesBroken("the server sent less than the bytes to compare", lane: index, now: now)
        }
        lanes[index].end = min(lane.end, lane.answerEnd, map.horizon, plan.longest)
        guard isClaimed else {
            map.shorten(lane.id, to: lanes[index].end)
            lanes[index].stage = .claiming
            return [.claim(lane.id)]
        }
        if isPassed(lanes[index]) { return [remove(index)] + refillOrOpen(now: now) }
        return endTogether(with: index) + admit(index, now: now)
    }

    /// Whether a mirror says that nothing follows the bytes on disk, and these show whether it is to be believed.
    private func comparesEnd(_ lane: Lane) -> Bool {
        map.total == nil && lane.kind == .data && lane.overlap > 0 && lane.answerEnd == lane.cursor
            && map.done.upperBound == lane.cursor
    }

    /// The file's length, when this answer is the first that tells it.
    private func totalSaid(by answer: Judge.Answer, to lane: Lane) -> Int64? {
        guard map.total == nil, lane.kind != .settling else { return nil }
        // A mirror whose bytes have not been compared may speak of other content.
        guard lane.overlap == 0 || sources.count == 1 || sources[lane.source].isProven else { return nil }
        if let total = wishedLength(of: answer.identity.total) { return total }
        // Nothing follows the bytes that are there.
        return lane.kind == .data && lane.answerEnd == lane.cursor ? lane.cursor : nil
    }

    private mutating func learn(_ answer: Judge.Answer, source: Int) {
        if answer.ranges == .denied { rangesUsable = false }
        if sources[source].identity == nil || !sources[source].isProven {
            sources[source].identity = answer.identity
        }
        if sources[source].identity?.total == nil { sources[source].identity?.total = answer.identity.total }
        guard lanes.count == 1, map.done.isEmpty || identity == nil else { return }
        identity = answer.identity
        sources[source].identity = answer.identity
        if existingLength ?? 0 > 0 { return distrustTags(of: source) }
        prove(source)
        sources[source].acceptsSoft = !answer.identity.isStrong && answer.identity.hasValidator
    }

    /// Nothing but the bytes themselves can prove an existing file.
    private mutating func distrustTags(of source: Int) {
        identity?.entityTag = nil
        sources[source].identity?.entityTag = nil
        sources[source].isProven = false
        sources[source].acceptsSoft = false
    }

    /// Lets the body in: the bytes of a proven answer go to the file.
    mutating func admit(_ index: Int, now: Moment) -> [Action] {
        let isFirst = phase != .transferring || received == 0
        lanes[index].stage = .flowing
        lanes[index].lastByteAt = now
        lanes[index].measuredAt = now
        let id = lanes[index].id
        if checkpointAt == nil { checkpointAt = now + DownloadMachine.checkpointPeriod }
        guard isFirst else { return [.admit(id)] }
        var actions: [Action] = [.tell(.started(total: map.total, resumedAt: written))]
        if phase != .transferring { actions.append(enter(.transferring)) }
        // Others may join at once, but not before bytes that have to be compared first.
        return actions + [.record, .admit(id)] + (sources.allSatisfy(\.isProven) ? refill(now: now) : [])
    }

    /// The file's place was looked for.
    package mutating func claimed(_ id: LaneID, _ outcome: ClaimOutcome, now: Moment) -> [Action] {
        guard isActive, let index = index(of: id), lanes[index].stage == .claiming else { return [] }

        switch outcome {
        case .fresh:
            isClaimed = true
            return reserve() + admit(index, now: now)
        case .found(let journal):
            isClaimed = true
            guard !journal.done.isEmpty else { return reserve() + admit(index, now: now) }
            let drops = stop()
            adopt(journal)
            return drops + (map.isComplete && sources[0].isProven ? complete() : openFirst(now: now))
        case .existing(let length):
            isClaimed = true
            return resumeExisting(length, now: now)
        case .skipped:
            return stop() + [enter(.finished), .tell(.finished(length: map.total ?? 0, wasThere: true))]
        case .failed(let failure):
            return fail(failure)
        }
    }

    func reserve() -> [Action] { map.total.map { [.reserve($0)] } ?? [] }

    private mutating func resumeExisting(_ length: Int64, now: Moment) -> [Action] {
        existingLength = length
        let total = map.total
        if let total, total < length {
            return cannotContinueExisting("the file has \(length) bytes, the server's only \(total)")
        }
        let drops = stop()
        map = SegmentMap(total: total, done: ByteRangeSet([ByteRange(0, length)]))
        highWater = length
        identity = sources[0].identity
        distrustTags(of: 0)
        return drops + (map.isComplete ? complete() : openFirst(now: now))
    }

    /// Disk and server disagree on nothing but the tag: bytes have to be compared before this lane's may be written.
    private mutating func settleFirst(lane index: Int, now: Moment) -> [Action] {
        let source = lanes[index].source
        let drop = remove(index)
        // A tag that differs although nothing else does is a token, and proves nothing in either direction.
        if sources[source].isProven || lanes.isEmpty { sources[source].identity?.entityTag = nil }
        sources[source].isProven = false
        if lanes.isEmpty {
            // The request that compares brings the next bytes as well.
            if firstResumable(from: source) != nil { return [drop] + openFirst(now: now) }
        }
        guard !lanes.contains(where: { $0.kind == .settling }), let settle = settle(source, now: now) else {
            refillAfter = now + .seconds(1)
            return [drop]
        }
        return [drop, settle]
    }

    /// The lane's overlap was compared with the disk, all of it.
    package mutating func compared(_ id: LaneID, agreed: Bool, now: Moment) -> [Action] {
        guard isActive, let index = index(of: id) else { return [] }
        let source = lanes[index].source
        guard agreed else {
            return changed("the bytes on disk differ from the server's", lane: index, now: now)
        }
        let isShown = sources[source].isOnTrial
        let isEnd = comparesEnd(lanes[index])
        let count = lanes[index].overlap
        prove(source)
        sources[source].acceptsSoft = true
        lanes[index].overlap = 0
        if isEnd {
            map.learn(total: lanes[index].cursor)
            return (isShown ? [.record] : []) + [remove(index)] + refillOrOpen(now: now)
        }
        guard lanes[index].kind == .settling else {
            if map.total == nil, let total = wishedLength(of: sources[source].identity?.total) {
                map.learn(total: max(total, map.done.upperBound))
            }
            return isShown ? [.record] : []
        }
        let notice: Wording =
            "compared \(ByteQuantity.text(count)) with \(sources[source].current.redacted): same content"
        return (isShown ? [.record] : []) + [remove(index), .tell(.notice(notice))] + refillOrOpen(now: now)
    }

    mutating func refillOrOpen(now: Moment) -> [Action] {
        lanes.isEmpty && !isRetryPending ? openFirst(now: now) : refill(now: now)
    }

    /// 416 with the length that is on disk.
    private mutating func alreadyComplete(_ total: Int64, lane index: Int, now: Moment) -> [Action] {
        let length = wishedLength(of: total)
        guard map.total ?? length == length, map.done == ByteRangeSet([ByteRange(0, length)]) else {
            return changed("it has \(total) bytes, which does not fit what is on disk", lane: index, now: now)
        }
        let drops = stop()
        if map.total == nil { map.learn(total: length) }
        return drops + complete()
    }

    mutating func remove(_ index: Int) -> Action {
        let lane = lanes.remove(at: index)
        map.release(lane.id)
        // Racers lose their goal with the owner and own the bytes that are left, the furthest first.
        if lane.kind == .data { promoteRacer(of: lane.id) }
        return .drop(lane.id)
    }
}
