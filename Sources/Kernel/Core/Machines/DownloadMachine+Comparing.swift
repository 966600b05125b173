// Comparison of bytes on disk with the server's where no header field proves that they are the same (rules of
// evidence: Resume).
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The previous validators of a source's host, of the one that it currently leads to by default.
    func record(of source: Int, at host: String? = nil) -> ValidatorRecord? {
        continuity.representation?.record(of: sources[source].text, at: host ?? sources[source].host)
    }

    /// The evidence that the host's next response can be expected to give.
    func promise(of source: Int, at host: String? = nil) -> Evidence {
        sources[source].isFileTransfer ? .weak : record(of: source, at: host)?.promise ?? .weak
    }

    /// How many bytes before `offset` a request to the source fetches first, for comparison.
    func overlap(before offset: Int64, from source: Int) -> Int64 {
        if digestsDecide || promise(of: source) == .strong || isComparedEnd(offset, of: source) { return 0 }
        if let reach = reach(before: offset, from: source) { return reach }
        return min(contiguous(before: offset), window(of: source))
    }

    /// Whether the source's last response was compared, ended at `offset`, and stated no total.
    func isComparedEnd(_ offset: Int64, of source: Int) -> Bool {
        lanes.map.total == nil && continuity.isEnd(offset, of: source)
    }

    func contiguous(before offset: Int64) -> Int64 {
        let low = max(0, offset - DownloadMachine.overlap)
        let from = lanes.map.done.gaps(in: ByteRange(low, offset)).last?.end ?? low
        return offset - from
    }

    private func contiguous(after offset: Int64) -> Int64 {
        let high = min(lanes.map.horizon, offset + DownloadMachine.overlap)
        guard offset < high else { return 0 }
        return (lanes.map.done.gaps(in: ByteRange(offset, high)).first?.start ?? high) - offset
    }

    /// How many bytes behind `offset`, fetched by other lanes, a request fetches in addition.
    func joint(after offset: Int64, from source: Int) -> Int64 {
        comparesJoints(promise(of: source)) && lanes.map.total != nil ? contiguous(after: offset) : 0
    }

    /// Whether lanes are compared where they meet: no strong entity tag covers all of them.
    private func comparesJoints(_ promise: Evidence) -> Bool {
        !digestsDecide && (promise != .strong || sources.count(where: \.isProven) > 1)
    }

    private func comparesJoints(_ lane: Lane) -> Bool {
        comparesJoints(promise(of: lane.source, at: lane.request.host))
    }

    /// Notes that the bytes behind a lane's end are another response's and were not compared with its own: they did not
    /// exist yet, its request ended there, or its connection broke.
    ///
    /// A later lane that begins there compares its overlap. Returns the action that records it.
    mutating func noteOpenJoint(of lane: Lane) -> [Action] {
        guard lane.isData, lane.work != .data(.equal), lane.cursor == lane.end, lane.end < lanes.map.horizon,
            lanes.map.total != nil, comparesJoints(lane), !lanes.map.rest.contains(where: { $0.start == lane.end })
        else { return [] }
        continuity.openJoint(at: lane.end)
        continuity.representation?.openJoints.append(lane.end)
        return file.isClaimed ? [.record] : []
    }

    /// Notes that only the length which an SFTP server reported shows that the file ends here.
    ///
    /// libcurl opens the file before it reads that length: a shorter file that replaced it in between would have cut it.
    mutating func noteReportedEnd(of lane: Lane) {
        guard sources[lane.source].current.scheme == .sftp, lane.isData, lane.cursor == lane.end else { return }
        noteReportedEnd()
    }

    /// The same of a file of an FTP or SFTP server that an earlier run has completed, but not finished.
    mutating func noteReportedEnd() {
        guard let base = continuity.base, let end = lanes.map.total, end > 0, !digestsDecide, !plan.hasDigest,
            continuity.representation?.total == base.addingClamped(end)
        else { return }
        continuity.openJoint(at: end)
    }

    /// All bytes are on disk: what met without a comparison is compared before the end.
    mutating func sampleOpenJoints() {
        guard lanes.map.isComplete, !continuity.openJoints.isEmpty else { return }
        continuity.sampleOpenJoints(horizon: lanes.map.horizon)
    }

    /// The lane has received its last byte and its body continues: how many of the following bytes it
    /// compares.
    package mutating func reachedEnd(_ id: LaneID) -> Int64 {
        guard isActive, let index = lanes.index(of: id), lanes[index].isData, lanes[index].cursor == lanes[index].end,
            comparesJoints(lanes[index]),
            // Its racers have lost, and end with it.
            !lanes.list.contains(where: { $0.isRacing == id })
        else { return 0 }
        let lane = lanes[index]
        lanes.joins(index, min(contiguous(after: lane.end), lane.response.end - lane.end))
        return lanes[index].joint
    }

    /// The bytes behind the lane's end were compared with those that another lane wrote.
    package mutating func joined(_ id: LaneID, agreed: Bool, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        let lane = lanes[index]
        // A few bytes say little of the rest.
        let isAll = lane.joint == min(DownloadMachine.overlap, lanes.map.horizon - lane.end)
        lanes.joined(index, isEqual: agreed && isAll)
        if agreed { return [] }
        return changed(
            .init("bytes-differ-between-connections", "bytes differ where two connections meet"), lane: index,
            isOnDisk: true, now: now)
    }

    /// Only a comparison can tell whether this response is of the version on disk, and it contains no bytes
    /// to compare.
    mutating func settleFirst(lane index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        let isKnown = continuity.representation?.record(of: sources[lane.source].text, at: lane.request.host) != nil
        // The response proves less than its validators promised.
        continuity.representation?.distrust(sources[lane.source].text, at: lane.request.host)
        if lane.request.redirects > 0 {
            // Nor does the URL that redirects promise anything; else it would be requested so again after each expiry.
            let given = sources[lane.source].given.origin.text
            continuity.representation?.distrust(sources[lane.source].text, at: given)
        }
        sources[lane.source].worked()
        let drop = remove(index)
        if lanes.list.isEmpty { return [drop] + recording(openFirst(now: now)) }
        if isKnown { return [drop, .record] }
        guard !lanes.list.contains(where: { $0.isSettling }), let settle = settle(lane.source, now: now) else {
            waiting.refillAfter = now + .seconds(1)
            return [drop]
        }
        return [drop, settle]
    }

    /// The lane's whole overlap was compared with the disk.
    ///
    /// `elsewhere`: the bytes have no information; these places have, or there is none that has.
    package mutating func compared(_ id: LaneID, agreed: Bool, elsewhere: [ByteRange] = [], now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id) else { return [] }
        let lane = lanes[index]
        guard agreed else { return differs(index, now: now) }
        if let compares = compareElsewhere(index, elsewhere, now: now) { return compares }
        let isShown = sources[lane.source].isOnTrial
        let isNew = noteAgreement(lane)
        let isEnd = lane.comparesEnd(of: lanes.map)
        lanes.compared(index)
        if lanes.map.total == nil, let total = plan.selectedLength(of: continuity.representation?.total) {
            lanes.learn(total: max(total, lanes.map.done.upperBound))
        }
        if isEnd {
            if plan.selectedLength(of: lane.response.identity?.total) == lane.cursor {
                lanes.learn(total: lane.cursor)
            } else {
                continuity.ended(at: lane.cursor, of: lane.source)
            }
            let next = [remove(index)] + refillOrOpen(now: now)
            return isShown || isNew ? recording(next) : next
        }
        guard lane.isSettling else {
            // The bytes that this response adds are compared for it alone.
            continuity.forgetAhead()
            return isShown || isNew ? [.record] : []
        }
        let place = sources[lane.source].current.redacted
        let isReportedEnd = sources[lane.source].isFileTransfer && lane.cursor == lanes.map.total
        if noteComparedAhead(lane) || isReportedEnd {
            let next = [remove(index)] + refillOrOpen(now: now)
            return isShown || isNew ? recording(next) : next
        }
        let notice = LocalizableMessage(
            "compared-same-content", "compared \(ByteQuantity.text(lane.overlap)) with \(place): same content")
        let next = [remove(index), .notify(.notice(notice))] + refillOrOpen(now: now)
        return isShown || isNew ? recording(next) : next
    }

    /// The bytes on disk differ from those that the lane compared with them.
    private mutating func differs(_ index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        let range = ByteRange(lane.cursor - lane.overlap, lane.cursor)
        if pieces.map?.areGood(in: range) == true { return contradictsPieces(index, now: now) }
        // The bytes on disk may be the wrong ones. The request was made before the length was known; now the
        // digests of pieces will tell.
        if hasPieces, !mayNotDiscard(for: lane.source) {
            return [remove(index)] + (waiting.isForAttempt ? [] : refillOrOpen(now: now))
        }
        return changed(.init("bytes-differ", "the bytes on disk differ from the server's"), lane: index, now: now)
    }

    /// Records in the journal before what follows, unless the download ends.
    ///
    /// Starting over records by itself: a record before it would claim nothing of a file that still has bytes. So do wrong
    /// bytes.
    func recording(_ actions: [Action]) -> [Action] {
        isActive && !actions.contains(where: \.recordsFacts) ? [.record] + actions : actions
    }

    /// Notes that the host's bytes equal those on disk at one more place; returns whether that has to be
    /// recorded.
    private mutating func noteAgreement(_ lane: Lane) -> Bool {
        sources[lane.source].prove()
        let before = continuity.representation
        let compared = ByteRange(lane.cursor - lane.overlap, lane.cursor)
        continuity.sampled(compared)
        let selection = plan.selection
        if continuity.samples.isEmpty { continuity.representation?.selection = selection }
        if continuity.samples.isEmpty, lanes.map.isComplete {
            let joints = continuity.openJoints
            continuity.representation?.openJoints = joints
        }
        guard let identity = lane.response.identity else { return continuity.representation != before }
        let source = sources[lane.source].text
        // The whole was compared, and its tag may be that of another version with an equal beginning.
        if record(of: lane.source, at: lane.request.host)?.evidence(for: identity.validators) == .unclear {
            continuity.representation?.distrust(source, at: lane.request.host)
        }
        continuity.representation?.prove(source, at: lane.request.host, identity.validators)
        continuity.representation?.learn(total: identity.total)
        addDigests(of: lane)
        if continuity.representation?.mediaType == nil { continuity.representation?.mediaType = identity.mediaType }
        return continuity.representation != before
    }

    /// The whole content is sent from 0: what is on disk is compared with it before anything is added.
    ///
    /// What is behind a gap arrives again. `nil` where nothing on disk is its beginning.
    mutating func compareWhole(_ response: Judge.AcceptedResponse, lane index: Int, now: Instant) -> [Action]? {
        let have = lanes.map.done.prefix
        let isBound = file.existingLength != nil || mayNotDiscard(for: lanes[index].source)
        guard have > 0, !plan.isInOrder, lanes.map.done.runs.count == 1 || !isBound, file.isClaimed,
            !continuity.isStale,
            continuity.base == 0,
            response.range.start == 0, response.range.end >= have,
            continuity.representation?.coding == response.identity.coding
        else { return nil }
        let total = plan.selectedLength(of: response.identity.total)
        // A whole without a length has the known one if its tag proves it; else all of the pieces, or their digests tell.
        let isOfKnownLength = total == nil && (hasPieces || response.evidence == .strong)
        guard lanes.map.total ?? total == total || isOfKnownLength, !contradictsDigests(lanes[index]) else {
            return nil
        }
        let drops = lanes.keep(index).map { Action.drop($0) }
        let discards = discard(behind: have)
        if lanes.map.total == nil, let total { lanes.learn(total: total) }
        let silence: [Action] = server.settleSuspicion() ? [.notify(.notice(Self.silentToRanges))] : []
        server.giveUpRanges()
        continuity.compareNothing()
        lanes[0].response.identity = response.identity
        lanes.compareWhole(have, responseEnd: response.range.end, longest: plan.longest)
        let notice =
            discards.isEmpty
            ? LocalizableMessage(
                "whole-file-comparing", "the server sends only the whole file: comparing it with the bytes on disk")
            : LocalizableMessage(
                "whole-file-comparing-beginning",
                "the server sends only the whole file: comparing it with the first \(ByteQuantity.text(have)) on disk, and fetching the rest again"
            )
        return drops + discards + silence + [.notify(.notice(notice))] + admit(0, now: now)
    }
}
