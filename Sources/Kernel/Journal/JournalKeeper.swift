package import PawlBase

/// Decides what is written to a journal file, and where; a shell performs the writes in order.
///
/// A header never goes to the buffer that was synced last, nor to one whose sync is in progress, nor over the
/// newest: if a kill or a power failure tears one, an older valid header remains. Within one incarnation the
/// sets only grow, so an older header claims less, never more.
///
/// The keeper is a value: take a copy, perform the writes that the copy returned, and keep the copy only when
/// that succeeded.
package struct JournalKeeper: Hashable, Sendable {
    package let nonce: UInt64
    /// The newest header returned.
    package private(set) var header: JournalHeader
    /// The durable bytes of the newest header known to be synced.
    package private(set) var durable: ByteRangeSet
    private var newest: Int
    private var syncs: [Sync] = []
    private var syncedGeneration: UInt64 = 0

    /// A sync of the journal file that is in progress.
    package struct Sync: Hashable, Sendable {
        let buffer: Int
        let generation: UInt64
        let incarnation: UInt64
        let durable: ByteRangeSet
    }

    /// A new journal, with the writes that create it; the preamble comes last, so that an incomplete journal
    /// is recognized.
    package static func begun(
        facts: JournalFacts, done: ByteRangeSet, original: Int64? = nil, inodes: JournalInodes, boot: BootIdentity?,
        nonce: UInt64
    ) -> (JournalKeeper, [JournalWrite]) {
        let header = JournalHeader(
            generation: 0, incarnation: 1, boot: boot, synced: nil, original: original, inodes: inodes, facts: facts,
            written: done, durable: ByteRangeSet())
        var keeper = JournalKeeper(nonce: nonce, header: header, durable: ByteRangeSet(), newest: -1)
        var writes = keeper.writeHeader()
        var page = JournalImage.preamble(nonce: nonce)
        page.append(contentsOf: [UInt8](repeating: 0, count: JournalLayout.pageLength - page.count))
        writes.append(JournalWrite(offset: 0, bytes: page))
        return (keeper, writes)
    }

    /// Resumes an earlier run's journal, of whose bytes `done` are trusted.
    ///
    /// The write makes a new incarnation: the old slots, which may be of an earlier boot, are void.
    package static func resumed(
        _ image: JournalImage, done: ByteRangeSet, length: Int64, inodes: JournalInodes, boot: BootIdentity?
    ) -> (JournalKeeper, [JournalWrite]) {
        var header = image.header
        header.facts = image.facts
        header.incarnation = image.newestIncarnation + 1
        header.boot = boot
        header.inodes = inodes
        header.written = done
        header.durable = header.durable.clipped(to: length)
        // After another boot the header was read from the disk, so it is durable. On the same boot it may be
        // in the page cache only, and has to be synced again before its durable bytes count.
        let isStable = boot != nil && image.header.boot != nil && boot != image.header.boot
        if isStable { header.synced = image.buffer }
        var keeper = JournalKeeper(
            nonce: image.nonce, header: header, durable: isStable ? header.durable : ByteRangeSet(),
            newest: image.buffer)
        var writes = keeper.writeHeader()
        // Headers are of this version from now on, which an older program must not read.
        if image.version < JournalLayout.version {
            writes.append(JournalWrite(offset: 0, bytes: JournalImage.preamble(nonce: image.nonce)))
        }
        return (keeper, writes)
    }

    private init(nonce: UInt64, header: JournalHeader, durable: ByteRangeSet, newest: Int) {
        self.nonce = nonce
        self.header = header
        self.durable = durable
        self.newest = newest
    }

    package var incarnation: UInt64 { header.incarnation }

    /// Records new facts, and every byte written so far.
    package mutating func record(_ facts: JournalFacts, written: ByteRangeSet) -> [JournalWrite] {
        header.facts = facts
        header.written = written
        keepDurable(within: written)
        return writeHeader()
    }

    /// Records the end of a run: the slots are void.
    ///
    /// One may still claim bytes that were found wrong, when their retraction could not be written.
    package mutating func recordEnd(_ facts: JournalFacts, written: ByteRangeSet) -> [JournalWrite] {
        header.incarnation += 1
        return record(facts, written: written)
    }

    /// Starts a lane at `start` in `slot`; `retired` is the range that its last lane has written.
    package mutating func beginLane(
        _ slot: Int, at start: Int64, retiring retired: ByteRange?
    ) -> (JournalSlot, [JournalWrite]) {
        precondition(slot >= 0 && slot < JournalLayout.slotCount, "no lane slot \(slot)")
        var writes: [JournalWrite] = []
        if let retired, !header.written.contains(retired) {
            header.written.insert(retired)
            writes = writeHeader()
        }
        let slot = JournalSlot(index: slot, start: start, incarnation: header.incarnation, nonce: nonce)
        writes.append(slot.write(at: start))
        return (slot, writes)
    }

    /// The data bytes `done` are synced, if they are still of this incarnation.
    package mutating func dataSynced(_ done: ByteRangeSet, incarnation: UInt64) -> [JournalWrite] {
        guard incarnation == header.incarnation else { return [] }
        header.durable.insert(done)
        header.written.insert(done)
        return writeHeader()
    }

    /// A sync of the data failed: the page cache may hold bytes that no disk will ever have.
    package mutating func distrustCache() -> [JournalWrite] {
        header.boot = nil
        return writeHeader()
    }

    /// The part file is a finished file of `length` bytes again, whose name is about to be restored.
    ///
    /// The slots are void: a cursor may be beyond that length.
    package mutating func restored(length: Int64) -> [JournalWrite] {
        header.incarnation += 1
        header.original = length
        header.written = header.written.clipped(to: length)
        header.durable = header.durable.clipped(to: length)
        durable = durable.clipped(to: length)
        return writeHeader()
    }

    /// The shell is about to sync the journal file.
    package mutating func syncBegins() -> Sync {
        let sync = Sync(
            buffer: newest, generation: header.generation, incarnation: header.incarnation, durable: header.durable)
        syncs.append(sync)
        return sync
    }

    package mutating func syncEnded(_ sync: Sync, succeeded: Bool) {
        syncs.removeAll { $0 == sync }
        guard succeeded, sync.generation > syncedGeneration else { return }
        syncedGeneration = sync.generation
        header.synced = sync.buffer
        if sync.incarnation == header.incarnation { durable = sync.durable }
    }

    /// Some bytes are wrong: only `done` is left.
    ///
    /// The slots are void. The shell syncs and overwrites older headers as for ``startOver(_:)``: they claim the wrong bytes.
    package mutating func retract(_ facts: JournalFacts, to done: ByteRangeSet) -> [JournalWrite] {
        header.incarnation += 1
        header.facts = facts
        header.original = nil
        header.written = done
        keepDurable(within: done)
        durable = header.durable
        return writeHeader()
    }

    /// Bytes that no longer count as written were found wrong, so they are not durable either.
    private mutating func keepDurable(within written: ByteRangeSet) {
        guard !header.durable.isSubset(of: written) else { return }
        for gap in written.gaps(in: ByteRange(0, header.durable.upperBound)) { header.durable.remove(gap) }
    }

    /// Discards every byte.
    ///
    /// The shell syncs the journal after these writes, then calls `startedOver()` and performs its writes
    /// too, and only then changes the data.
    package mutating func startOver(_ facts: JournalFacts) -> [JournalWrite] {
        header.incarnation += 1
        header.facts = facts
        header.original = nil
        header.written = ByteRangeSet()
        header.durable = ByteRangeSet()
        durable = ByteRangeSet()
        return writeHeader()
    }

    /// After the sync: overwrites every older header, so that no damage to the newest makes an older one
    /// current.
    package mutating func startedOver() -> [JournalWrite] {
        let area = JournalLayout.area(ofBuffer: newest)
        var writes: [JournalWrite] = []
        for buffer in 0..<(area + 1) * JournalLayout.buffersPerArea where buffer != header.synced {
            header.generation += 1
            let bytes = header.encoded(nonce: nonce)
            let fits = bytes.count <= JournalLayout.capacity(ofArea: JournalLayout.area(ofBuffer: buffer))
            writes.append(
                JournalWrite(
                    offset: JournalLayout.offset(ofBuffer: buffer),
                    bytes: fits ? bytes : Array(repeating: 0, count: 512)))
            if fits { newest = buffer }
        }
        return writes
    }

    /// The writes of the next header: to a free buffer, in a larger area when it has outgrown this one.
    private mutating func writeHeader() -> [JournalWrite] {
        header.generation += 1
        let bytes = fittingHeader()
        let firstNew = newest < 0 ? 0 : JournalLayout.area(ofBuffer: newest) + 1
        var area = max(firstNew - 1, 0)
        while bytes.count > JournalLayout.capacity(ofArea: area) { area += 1 }
        var writes: [JournalWrite] = []
        for made in stride(from: firstNew, through: area, by: 1) {
            // Really written, not left sparse: a later header must not find the disk full.
            let start = JournalLayout.start(ofArea: made)
            let length = JournalLayout.end(ofArea: made) - start
            writes.append(JournalWrite(offset: start, bytes: Array(repeating: 0, count: length)))
        }
        let buffer = freeBuffer(in: area)
        writes.append(JournalWrite(offset: JournalLayout.offset(ofBuffer: buffer), bytes: bytes))
        newest = buffer
        return writes
    }

    private func freeBuffer(in area: Int) -> Int {
        let buffers = area * JournalLayout.buffersPerArea..<(area + 1) * JournalLayout.buffersPerArea
        let free = buffers.first { buffer in
            buffer != newest && buffer != header.synced && !syncs.contains { $0.buffer == buffer }
        }
        guard let free else { preconditionFailure("two syncs of one journal are under way: \(syncs)") }
        return free
    }

    /// The header's bytes.
    ///
    /// A set of more than about half a million runs loses its shortest ones: they are fetched again.
    private func fittingHeader() -> [UInt8] {
        let capacity = JournalLayout.capacity(ofArea: JournalLayout.lastArea)
        var bytes = header.encoded(nonce: nonce)
        guard bytes.count > capacity else { return bytes }
        var whole = header
        // One address is enough to identify the file.
        if whole.facts.sources.reduce(0, { $0 + $1.utf8.count }) > capacity {
            whole.facts = whole.facts.brief
            bytes = whole.encoded(nonce: nonce)
        }
        while bytes.count > capacity {
            let longest = whole.written.runs.sorted { $0.count > $1.count }
            guard longest.count > 1 else {
                whole.facts = whole.facts.brief
                return whole.encoded(nonce: nonce)
            }
            whole.written = ByteRangeSet(longest.prefix(longest.count / 2))
            let durable = whole.durable.runs.sorted { $0.count > $1.count }
            whole.durable = ByteRangeSet(durable.prefix(durable.count / 2))
            bytes = whole.encoded(nonce: nonce)
        }
        return bytes
    }
}
