import PawlBase
import PawlJournal
import PawlSystem

// Journal records while the file is written.
extension FilePartial {
    var hasJournal: Bool { journal != nil }
    var slotCount: Int { JournalLayout.slotCount }
    var durable: ByteRangeSet { journal?.durable ?? ByteRangeSet() }

    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard journal == nil else { return try record(facts, done: done) }
        try linkPartName()
        let part: UInt64
        do throws(SystemError) { part = try openFile.status().identity.inode } catch {
            throw Failure.system(.inputOutput, "cannot inspect", at: partPath, error)
        }
        let boot = folder.traits.contains(.local) ? disk.environment.boot : nil
        let nonce = disk.environment.nonce()
        journal = try JournalFile.make(names.journal, in: folder) { inode in
            JournalKeeper.begun(
                facts: facts, done: done, inodes: JournalInodes(part: part, journal: inode), boot: boot, nonce: nonce)
        }
        disk.unfinished.add(source, name: names.final, in: folder)
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) { try journal?.record(facts, written: done) }

    func beginLane(slot: Int, at start: Int64) throws(Failure) {
        guard let journal else { return }
        if slots.isEmpty {
            slots = Array(repeating: nil, count: slotCount)
            if folder.traits.contains(.mappable) { map = SlotMap(journal.file) }
        }
        let retired = slots[slot].flatMap { written(by: $0, in: journal) }
        slots[slot] = try journal.beginLane(slot, at: start, retiring: retired, map: map)
        if let begun = slots[slot] { slotIncarnation = begun.incarnation }
    }

    /// The range that a slot's lane has written, as the journal states it.
    ///
    /// A cursor that cannot be read claims nothing, which is safe; the next record covers the range.
    private func written(by slot: JournalSlot, in journal: JournalFile) -> ByteRange? {
        var word: UInt64 = 0
        let count = unsafe withUnsafeMutableBytes(of: &word) { buffer in
            unsafe (try? journal.file.read(into: buffer, at: Int64(slot.wordOffset))) ?? 0
        }
        guard count == MemoryLayout<UInt64>.size else { return nil }
        return slot.cursor(of: UInt64(littleEndian: word)).map { ByteRange(slot.start, $0) }
    }

    func advanceLane(slot: Int, to cursor: Int64) {
        guard slot < slots.count, let slot = slots[slot] else { return }
        if let map {
            map.advance(slot, to: cursor)
        } else if let journal {
            // A cursor that could not be written claims less, which is safe; the next record covers it.
            try? JournalFile.perform([slot.advance(to: cursor)], on: journal.file)
        }
    }

    /// Announces a write that extends the file, so that a kill in the middle of it loses nothing.
    func willWrite(_ range: ByteRange) {
        guard range.end > length, let journal, let file, !slots.isEmpty else { return }
        // Bytes that another program has appended would be taken for this write's.
        let isLast = ((try? file.end()) ?? .max) <= range.start
        let intent =
            isLast ? JournalIntent(range, at: SystemTime.now, incarnation: slotIncarnation, nonce: journal.nonce) : nil
        if let map { return map.announce(intent) }
        // An announcement that could not be written claims less, which is safe.
        try? JournalFile.perform([intent?.write ?? JournalIntent.retraction], on: journal.file)
    }

    func retractWrite() {
        if let map { return map.announce(nil) }
        guard let journal, !slots.isEmpty else { return }
        try? JournalFile.perform([JournalIntent.retraction], on: journal.file)
    }
}
