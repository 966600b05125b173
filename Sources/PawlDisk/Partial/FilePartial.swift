import PawlCore
import PawlEngine
import Synchronization

/// One download's part file and journal on this machine's disk.
final class FilePartial: Partial {
    let disk: FileDisk
    let folder: Folder
    let names: PartNames
    let claim: Claim
    let number: Int
    let ticket: ClaimTicket
    /// `nil` when closed.
    var file: OpenFile?
    /// Whether the file is there under the part file's name, locked and marked.
    var isNamed: Bool
    /// How long the file is: the highest end of what was written.
    var length: Int64
    var journal: JournalFile?
    var origin: Origin?
    private var map: SlotMap?
    private var lanes: [Lane?] = []
    var hashing: ContentHashing?

    /// Where the bytes of `ClaimAnswer.existing` come from.
    enum Origin {
        /// The finished file itself, under another name.
        case renamed(length: Int64, status: FileStatus)
        /// A copy, because the finished file has other names too.
        case copied(from: FileIdentity)
    }

    private struct Lane {
        let slot: JournalSlot
        var cursor: Int64
    }

    init(
        disk: FileDisk,
        folder: Folder,
        names: PartNames,
        claim: Claim,
        number: Int,
        ticket: ClaimTicket,
        file: OpenFile,
        isNamed: Bool,
        length: Int64,
        journal: JournalFile?,
        origin: Origin?
    ) {
        self.disk = disk
        self.folder = folder
        self.names = names
        self.claim = claim
        self.number = number
        self.ticket = ticket
        self.file = file
        self.isNamed = isNamed
        self.length = length
        self.journal = journal
        self.origin = origin
    }

    // Dropped without being closed: what a kill would leave. The locks go with the last user of the files.
    deinit { hashing?.reset() }

    var name: String { names.final }
    var path: String { folder.path(of: names.final) }
    var partPath: String { folder.path(of: names.part) }
    var syncs: Bool { !folder.traits.contains(.volatile) }
    var source: String { claim.facts.sources.first ?? "" }

    /// The open file; using a partial after closing it is our own mistake.
    var openFile: OpenFile {
        guard let file else { preconditionFailure("\(partPath) is used after it was closed") }
        return file
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        do throws(SystemError) {
            try unsafe openFile.write(bytes, at: offset)
        } catch {
            throw Failure.system(.inputOutput, "cannot write", at: partPath, error)
        }
        length = max(length, offset + Int64(bytes.count))
    }

    var descriptor: Int32? { file?.descriptor }

    func wrote(_ range: ByteRange) { length = max(length, range.end) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let count: Int
        do throws(SystemError) {
            count = try unsafe openFile.read(into: buffer, at: offset)
        } catch {
            throw Failure.system(.inputOutput, "cannot read", at: partPath, error)
        }
        guard count == buffer.count else { throw Self.cutShort(partPath) }
    }

    static func cutShort(_ path: String) -> Failure {
        Failure(
            .inputOutput,
            "cannot read",
            at: path,
            because: "it is shorter than what was written to it",
            remedy: "another program has changed it; run again to fetch what is missing"
        )
    }

    // MARK: Journal

    var hasJournal: Bool { journal != nil }
    var slotCount: Int { JournalLayout.slotCount }
    var durable: ByteRangeSet { journal?.durable ?? ByteRangeSet() }

    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard journal == nil else { return try record(facts, done: done) }
        try takeName()
        let part: UInt64
        do throws(SystemError) {
            part = try openFile.status().identity.inode
        } catch {
            throw Failure.system(.inputOutput, "cannot look at", at: partPath, error)
        }
        let boot = folder.traits.contains(.local) ? disk.environment.boot : nil
        let nonce = disk.environment.nonce()
        journal = try JournalFile.make(names.journal, in: folder) { inode in
            JournalKeeper.begun(
                facts: facts,
                done: done,
                inodes: JournalInodes(part: part, journal: inode),
                boot: boot,
                nonce: nonce
            )
        }
        disk.unfinished.add(source, name: names.final, in: folder)
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        try journal?.record(facts, written: done)
    }

    func beginLane(slot: Int, at start: Int64) throws(Failure) {
        guard let journal else { return }
        if lanes.isEmpty {
            lanes = Array(repeating: nil, count: slotCount)
            if folder.traits.contains(.mappable) { map = SlotMap(journal.file) }
        }
        let retired = lanes[slot].map { ByteRange($0.slot.start, $0.cursor) }
        let begun = try journal.beginLane(slot, at: start, retiring: retired, map: map)
        lanes[slot] = begun.map { Lane(slot: $0, cursor: start) }
    }

    func advanceLane(slot: Int, to cursor: Int64) {
        guard slot < lanes.count, let lane = lanes[slot] else { return }
        lanes[slot]?.cursor = cursor
        if let map {
            map.advance(lane.slot, to: cursor)
        } else if let journal {
            // A cursor that could not be written claims less, which is safe; the next record says it all.
            try? JournalFile.perform([lane.slot.advance(to: cursor)], on: journal.file)
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        if let journal {
            try journal.startOver(facts, syncs: syncs)
            lanes = Array(repeating: nil, count: slotCount)
        }
        hashing?.reset()
        origin = nil
        do throws(SystemError) {
            try openFile.truncate(to: 0)
        } catch {
            throw Failure.system(.inputOutput, "cannot empty", at: partPath, error)
        }
        length = 0
    }

    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        let (journal, data, path, syncs) = (journal, openFile, partPath, syncs)
        let incarnation = journal?.incarnation ?? 0
        disk.syncers.submit {
            do throws(Failure) {
                try journal?.checkpoint(
                    done,
                    incarnation: incarnation,
                    data: data,
                    dataPath: path,
                    syncs: syncs
                )
                completion(.success(()))
            } catch {
                completion(.failure(error))
            }
        }
    }

    // MARK: Hashing

    func hashAhead(_ algorithm: HashAlgorithm, available: Int64) {
        contentHashing.hashAhead(algorithm, available: available)
    }

    func digest(
        _ algorithm: HashAlgorithm,
        length: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        contentHashing.digest(algorithm, length: length, completion: completion)
    }

    private var contentHashing: ContentHashing {
        if let hashing { return hashing }
        let made = ContentHashing(file: openFile, path: partPath, workers: disk.hashers)
        hashing = made
        return made
    }

    // MARK: Ending

    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard isOpen else { return forget() }
        guard !done.isEmpty || hasJournal else { return discard() }
        defer { release() }
        try beginJournal(facts, done: done)
        // Nobody writes any more, so what is there can be promised for the next boot too.
        try journal?.checkpoint(
            done,
            incarnation: journal?.incarnation ?? 0,
            data: openFile,
            dataPath: partPath,
            syncs: syncs
        )
    }

    func discard() {
        guard isOpen else { return forget() }
        if isNamed { removeOwnFiles() }
        release()
    }

    /// Removes the part file, if its name still leads to it, and then the journal: in this order a kill between
    /// leaves a journal that is seen to have no data.
    private func removeOwnFiles() {
        guard let mine = try? openFile.status().identity,
            (try? folder.status(of: names.part))??.identity == mine
        else { return }
        try? folder.remove(names.part)
        if journal != nil || !folder.bearsMarks { try? folder.remove(names.journal) }
        disk.unfinished.remove(source, name: names.final, in: folder)
    }

    func giveBack() throws(Failure) {
        guard case .renamed(let original, let status) = origin else { return discard() }
        do throws(SystemError) {
            if length != original {
                try openFile.truncate(to: original)
                try openFile.setModified(status.modified)
            }
            PartMark.remove(from: openFile)
            try folder.rename(names.part, to: names.final, replacing: false)
            try folder.remove(names.journal)
        } catch {
            throw Failure.system(.renameFailed, "cannot give its name back to", at: path, error)
        }
        release()
    }

    /// Closes and unlocks.
    ///
    /// A worker may hold the files a little longer, so they are unlocked before they are closed.
    func release() {
        journal?.close()
        if isNamed { file?.unlock() }
        ticket.release()
        forget()
    }

    /// Neither published nor being published.
    private var isOpen: Bool { !ticket.isReleased && !ticket.isPublishing.load(ordering: .acquiring) }

    private func forget() {
        map = nil
        lanes = []
        hashing?.reset()
        hashing = nil
        journal = nil
        file = nil
    }
}
