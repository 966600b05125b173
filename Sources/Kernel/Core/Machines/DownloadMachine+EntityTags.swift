// Entity tags that differ: one more response shows whether each has its own.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The entity tag is not the only one seen so far: one more response shows whether each has its own.
    mutating func checkTag(lane index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        let drop = remove(index)
        let isAsked = lanes.list.contains { if case .checkingTag = $0.work { true } else { false } }
        guard !isAsked else { return [drop] }
        let tag = lane.response.identity?.validators.entityTag
        let question = TagQuestion(source: lane.source, host: lane.request.host, tag: tag)
        continuity.ask(question)
        // The target works, and may expire again before the next request.
        sources[lane.source].worked()
        return [drop, ask(question, now: now)]
    }

    mutating func ask(_ question: TagQuestion, now: Instant) -> Action {
        order(.checkingTag(question), source: question.source, range: ByteRange(0, 0), overlap: 0, now: now)
    }

    mutating func checkedTag(_ index: Int, head: ResponseHead, wallTime: UnixTime, now: Instant) -> [Action] {
        let lane = lanes[index]
        guard case .checkingTag(let question) = lane.work else { return [] }
        switch Judge(requested: lane.request.range, known: nil).verdict(on: head, wallTime: wallTime) {
        case .redirect(let target): return redirect(to: target, head: head, lane: index, now: now)
        case .fault(let fault): return presentLogin(fault, head: head, lane: index) ?? laneFault(index, fault, now: now)
        case .usable, .wholeInstead, .changed, .complete, .rangesBroken, .openRangeRefused, .validRangeRefused,
            .suspectPage:
            break
        }
        continuity.answered()
        // The digests of pieces are known by now.
        if hasPieces { return [remove(index)] + refillOrOpen(now: now) }
        if lane.request.host == question.host, head.entityTag == question.tag, let tag = question.tag {
            let before = record(of: lane.source, at: lane.request.host)?.validators
            let old = before?.entityTag?.text ?? "another"
            return changed(.entityTagChanged(from: old, to: tag.text), lane: index, now: now)
        }
        sources[lane.source].worked()
        let known = record(of: lane.source, at: question.host)?.validators.entityTag
        if lane.request.host == question.host, let known, known == head.entityTag {
            // The old tag was seen twice now: the other one is another version, from another node.
            continuity.representation?.prove(sources[lane.source].text, at: lane.request.host, Validators(head))
            return recording([remove(index)] + refillOrOpen(now: now))
        }
        continuity.representation?.distrust(sources[lane.source].text, at: question.host)
        // A redirect to another host leaves open what the asked one sends: its bytes are compared without that claim.
        guard lane.request.host == question.host else { return recording([remove(index)] + refillOrOpen(now: now)) }
        let notice = LocalizableMessage(
            "etag-varies-comparing",
            "\(sources[lane.source].current.redacted) sends a different ETag with each response: comparing bytes instead"
        )
        return recording([remove(index), .notify(.notice(notice))] + refillOrOpen(now: now))
    }
}
