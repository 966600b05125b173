import PawlBase
import PawlJournal
import Synchronization

// The journal: the real keeper decides what is written, and the real decoder reads it.
extension FakePartial {
    var hasJournal: Bool { on { $0.keeper != nil } ?? false }

    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard !hasJournal else { return try record(facts, done: done) }
        try check(disk.troubles.journal)
        let (boot, now) = (disk.state.withLock { $0.boot }, disk.timeline.now)
        let (keeper, writes) = JournalKeeper.begun(
            facts: facts, done: done, inodes: JournalInodes(part: 1, journal: 2), boot: boot, nonce: UInt64(file.number)
        )
        _ = on { contents in
            contents.journal = VolatileBytes()
            contents.journalBegan = now
        }
        try perform(writes)
        _ = on { $0.keeper = keeper }
        checkClaim("begin", done)
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        try record(facts, done: done, isEnd: false)
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet, isEnd: Bool) throws(Failure) {
        try check(disk.troubles.journal)
        try change { keeper in
            ((), isEnd ? keeper.recordEnd(facts, written: done) : keeper.record(facts, written: done))
        }
        if let said = on({ $0.image?.written }), let said, !said.isSubset(of: done) {
            disk.violate(.ladder, "\(path): recorded \(done.runs), less than the slots claim: \(said.runs)")
        }
        checkClaim("record", done)
    }

    func beginLane(slot: Int, at start: Int64) throws(Failure) {
        try check(disk.troubles.journal)
        guard (0..<slotCount).contains(slot) else {
            return disk.violate(.ladder, "\(path): slot \(slot) does not exist")
        }
        let retired = on { contents in contents.lanes[slot].map { ByteRange($0.slot.start, $0.cursor) } }
        let begun = try change { $0.beginLane(slot, at: start, retiring: retired ?? nil) }
        _ = on { contents in contents.lanes[slot] = begun.map { ($0, start) } }
    }

    /// Announces a write as the real partial does: only one that extends the file, and only if no other program did.
    func willWrite(_ range: ByteRange) {
        let now = disk.timeline.now.nanoseconds
        _ = on { contents in
            guard let keeper = contents.keeper, !contents.lanes.isEmpty, range.end > contents.ownLength else { return }
            let isLast = Int64(contents.length) <= range.start
            let intent =
                isLast ? JournalIntent(range, at: now, incarnation: keeper.incarnation, nonce: keeper.nonce) : nil
            contents.journal?.perform([intent?.write ?? JournalIntent.retraction])
        }
    }

    func advanceLane(slot: Int, to cursor: Int64) {
        let isForgetful = disk.state.withLock { $0.sabotage == .forgetsCursors }
        let (isKnown, isTrue) =
            on { contents -> (Bool, Bool) in
                guard contents.keeper != nil else { return (true, true) }
                guard let lane = contents.lanes[slot] else { return (false, true) }
                guard !isForgetful else { return (true, true) }
                let dropped = max(0, cursor - lane.cursor - contents.unpassed)
                if dropped > 0 { disk.state.withLock { $0.counts.dropped += dropped } }
                contents.unpassed = 0
                contents.lanes[slot]?.cursor = cursor
                contents.journal?.perform([lane.slot.advance(to: cursor)])
                return (true, contents.written.contains(ByteRange(lane.slot.start, cursor)))
            } ?? (true, true)
        if !isKnown { disk.violate(.ladder, "\(path): slot \(slot) moved to \(cursor) without a start") }
        if !isTrue { disk.violate(.ladder, "\(path): slot \(slot) claims \(cursor), which was not written") }
    }

    /// The journal records durably that nothing is written, and only then is the file truncated.
    func startOver(_ facts: JournalFacts) throws(Failure) {
        try check(disk.troubles.journal)
        _ = on { $0.isVoid = true }
        if hasJournal {
            try change { ((), $0.startOver(facts)) }
            try syncJournal()
            try change { ((), $0.startedOver()) }
        }
        try disk.call(at: path)
        _ = on { contents in
            contents.cut(to: 0)
            contents.incarnation += 1
            contents.isVoid = false
            contents.original = nil
            contents.found = ByteRangeSet()
            contents.lanes = [:]
        }
        disk.timeline.note("disk: \(name) restarts from 0")
    }

    /// The bytes of `range` are wrong: the journal forgets them, and they may be written again.
    func discard(_ range: ByteRange, _ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        _ = on { $0.doubted.insert(range) }
        try check(disk.troubles.journal)
        try change { ((), $0.retract(facts, to: done)) }
        try syncJournal()
        try change { ((), $0.startedOver()) }
        let now = disk.timeline.now
        _ = on { contents in
            contents.forget(range)
            contents.lanes = [:]
            // A checkpoint in progress becomes void.
            contents.arrivals = contents.arrivals.map { (now, $0.range) }
        }
        checkClaim("discard", done)
    }

    private func syncJournal() throws(Failure) {
        try disk.call(at: path)
        _ = on { contents in
            guard let sync = contents.keeper?.syncBegins() else { return }
            let point = contents.journal?.syncPoint ?? 0
            contents.journal?.sync(to: point)
            contents.keeper?.syncEnded(sync, succeeded: true)
        }
    }

    /// Writes what a new value of the keeper requires, and keeps that value if the write succeeded.
    @discardableResult func change<Result: Sendable>(
        _ body: (inout JournalKeeper) -> (Result, [JournalWrite])
    ) throws(Failure) -> Result? {
        guard let present = on({ $0.keeper }), var next = present else { return nil }
        let (result, writes) = body(&next)
        try perform(writes)
        _ = on { $0.keeper = next }
        return result
    }

    private func perform(_ writes: [JournalWrite]) throws(Failure) {
        for write in writes {
            try disk.call(at: path)
            _ = on { $0.journal?.perform([write]) }
        }
    }

    func checkClaim(_ what: String, _ claimed: ByteRangeSet) {
        guard let written = on({ $0.written }) else { return }
        if !claimed.isSubset(of: written) {
            disk.violate(.ladder, "\(path): \(what) claims \(claimed.runs), written is \(written.runs)")
        }
    }
}
