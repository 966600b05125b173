// Existing bytes at the file's place, and what they are worth.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The file's place was claimed.
    package mutating func claimed(_ id: LaneID, _ outcome: ClaimOutcome, now: Instant) -> [Action] {
        guard isActive, let index = lanes.index(of: id), lanes[index].stage == .claiming else { return [] }
        switch outcome {
        case .fresh:
            file.claimed()
            return reserve() + admit(index, now: now)
        case .found(let journal):
            file.claimed()
            guard !journal.done.isEmpty else { return reserve() + admit(index, now: now) }
            let lane = lanes[index]
            let drops = stop()
            return drops + takeOver(journal, after: lane, now: now)
        case .existing(let length, let holes):
            file.claimed()
            let drops = stop()
            return drops + resumeExisting(length, holes: holes, total: lanes.map.total, now: now)
        case .skipped(let length): return stop() + keepExisting(length)
        case .failed(let failure): return fail(failure)
        }
    }

    func reserve() -> [Action] { lanes.map.total.map { [.reserve($0)] } ?? [] }

    /// The place was known before any request.
    mutating func beginClaimed(_ outcome: ClaimOutcome, now: Instant) -> [Action] {
        switch outcome {
        case .fresh:
            file.claimed()
            lanes.begin(with: SegmentMap(total: nil))
            return openFirst(now: now)
        case .found(let journal):
            file.claimed()
            return takeOver(journal, now: now)
        case .existing(let length, let holes):
            file.claimed()
            return resumeExisting(length, holes: holes, total: nil, now: now)
        case .skipped(let length): return keepExisting(length)
        case .failed(let failure): return fail(failure)
        }
    }

    /// Continues an earlier run's bytes, and makes them durable: a killed process may not have done so, and no response
    /// may come for a long time.
    private mutating func takeOver(_ journal: LoadedJournal, after lane: Lane? = nil, now: Instant) -> [Action] {
        let actions = adopt(journal, after: lane, now: now)
        // Discarding, publishing and closing sync what is left.
        guard isActive || phase == .waitingForNetwork || phase == .verifying, !lanes.map.done.isEmpty else {
            return actions
        }
        checkpoints.made(of: written, now: now)
        return [.checkpoint] + actions
    }

    /// Continues an earlier run's bytes, as far as they belong to the requested range.
    ///
    /// `lane` has the response for which they were found, if there was one.
    private mutating func adopt(_ journal: LoadedJournal, after lane: Lane? = nil, now: Instant) -> [Action] {
        let found = journal.facts.representation
        if let original = journal.original {
            file.claimed(existing: original, isContinued: true)
            budget.countsProgress(from: journal.done.count)
            guard found.selection == plan.selection else {
                lanes.begin(with: SegmentMap(done: journal.done))
                return cannotContinueExisting(
                    .init("continued-other-range", "another range of it was requested before"))
            }
        }
        if found.damage != nil, plan.retriesCorrupt, file.existingLength == nil {
            lanes.begin(with: SegmentMap(total: nil))
            return [.notify(.notice(Self.startsOverCorrupt)), .startOver] + openFirst(now: now)
        }
        // Offsets count from where the earlier run's part began; another beginning never replaces it.
        let base = found.selection == plan.selection ? found.base : plan.base(total: found.total)
        continuity.base = base
        // A part of a coded body is no part of the content.
        let isPlain = found.coding == nil || found.selection == plan.selection && plan.selection == .whole
        let isKept = base != nil && (found.selection == nil || found.base == base) && isPlain
        budget.countsProgress(from: journal.done.count)
        continuity.describe(found)
        let isSameAddress = journal.facts.sources.containsBytes(of: sources[0].text)
        if isSameAddress { sources[0].trial = nil }
        guard isKept || journal.done.isEmpty else {
            continuity.foundStale()
            lanes.begin(with: SegmentMap(done: journal.done))
            let notice =
                isPlain
                ? LocalizableMessage(
                    "other-range-starting-over",
                    "the bytes on disk are of another range: starting over with the requested one")
                : LocalizableMessage(
                    "encoded-range-starting-over",
                    "the bytes on disk have Content-Encoding \(found.coding ?? ""), and only a part was requested: starting over"
                )
            return [.notify(.notice(notice))] + openFirst(now: now)
        }
        return continueBytes(of: journal, after: lane, now: now)
    }

    /// Requests what is missing of bytes that begin where the requested range does.
    private mutating func continueBytes(of journal: LoadedJournal, after lane: Lane?, now: Instant) -> [Action] {
        let found = journal.facts.representation
        // The journal's total is the resource's; the requested range decides how much of it is the file, also
        // where the server never reported a total.
        let isWhole = journal.done.contains(ByteRange(0, plan.longest))
        let total = plan.selectedLength(of: found.total) ?? (isWhole ? plan.longest : nil)
        lanes.begin(with: SegmentMap(total: total, done: journal.done.clipped(to: plan.longest)))
        budget.countsProgress(from: lanes.map.done.count)
        continuity.join(at: found.openJoints.filter { lanes.map.done.contains(ByteRange($0 - 1, $0 + 1)) })
        if digestsDecide { continuity.join(at: []) }
        preparePieces()
        let isUnrecorded = found.selection == nil && !digestsDecide
        if isUnrecorded {
            let base = continuity.base
            continuity.representation?.base = base
        } else {
            let selection = plan.selection
            continuity.representation?.selection = selection
        }
        if isUnrecorded || isOfOtherAddress(journal, lane) {
            continuity.sample(
                lanes.map.done.runs.max { $0.count < $1.count }.map { ComparisonSample.places(of: $0) } ?? [])
        }
        var notices: [Action] = found.selection == plan.selection ? [] : [.record]
        if let coding = found.coding, !lanes.map.done.isEmpty, !lanes.map.isComplete {
            server.giveUpRanges()
            let notice = LocalizableMessage(
                "encoded-starting-over",
                "the bytes on disk have Content-Encoding \(coding) and cannot be requested in ranges: starting over")
            notices.append(.notify(.notice(notice)))
        }
        // Of addresses that differ, the first one given counts; bytes that began with a mirror are discarded
        // for it.
        let own = found.records.filter { $0.source.hasSameBytes(as: sources[0].text) }
        // Nothing is finished that the response at hand contradicts: another one decides.
        let isContradicted = lane.map { contradicts($0, found) } ?? false
        sources[0].isProven = !isContradicted && own.contains { !$0.validators.isEmpty }
        if lanes.map.isComplete, sources[0].isFileTransfer { noteReportedEnd() }
        let isKnown = (sources[0].isProven || digestsDecide) && continuity.openJoints.isEmpty
        return notices + (lanes.map.isComplete && isKnown ? complete() : openFirst(now: now))
    }

    /// Whether the part file was begun for another address, and no equal strong tag says that it is the same content.
    ///
    /// The bytes before the place where it is continued may be equal in both contents, such as zeros: several places are
    /// compared.
    private func isOfOtherAddress(_ journal: LoadedJournal, _ lane: Lane?) -> Bool {
        // All of a short run is compared before anything is added to it.
        guard !digestsDecide, lanes.map.done.runs.contains(where: { $0.count > DownloadMachine.overlap }),
            !journal.facts.sources.containsBytes(of: sources[0].text),
            !sources.map(\.text).contains(where: journal.facts.sources.first.hasSameBytes)
        else { return false }
        let tag = lane?.response.identity?.validators.entityTag
        return tag == nil || tag?.isWeak == true || tag != journal.facts.representation.validators.entityTag
    }

    private func contradicts(_ lane: Lane, _ found: Representation) -> Bool {
        guard let seen = lane.response.identity else { return false }
        if seen.coding != found.coding { return true }
        if let before = found.total, let total = seen.total, before != total { return true }
        let record = found.record(of: sources[lane.source].text, at: lane.request.host)
        switch record?.evidence(for: seen.validators) {
        case .changed?, .unclear?: return true
        case .strong?, .dated?, .weak?, nil: return false
        }
    }

    /// Continues a finished file: nothing but its bytes identifies it.
    private mutating func resumeExisting(_ length: Int64, holes: [ByteRange], total: Int64?, now: Instant) -> [Action] {
        file.claimed(existing: length, isContinued: false)
        continuity.describe(Representation(selection: plan.selection, base: continuity.base))
        for index in sources.indices { sources[index].isProven = false }
        guard length <= total ?? plan.longest else {
            guard let total else {
                return cannotContinueExisting(
                    .init("file-above-limit", "the file has \(length) bytes, only \(plan.longest) were requested"))
            }
            return cannotContinueExisting(
                .init("file-above-size", "the file has \(length) bytes, the server's only \(total)"))
        }
        // Nothing follows a requested part that is all there.
        let total = total ?? (length == plan.longest ? length : nil)
        lanes.begin(with: SegmentMap(total: total, done: ByteRangeSet([ByteRange(0, length)])))
        budget.countsProgress(from: length)
        // A digest proves more than any sample.
        if !plan.hasDigest { continuity.sample(ComparisonSample.places(of: ByteRange(0, length), holes: holes)) }
        if lanes.map.isComplete, plan.hasDigest { return complete() }
        return openFirst(now: now)
    }
}
