import CPawlSystem
import PawlCore
import PawlEngine
import PawlSystem
import Synchronization

/// One download's part file and journal on this machine's disk.
final class FilePartial: Partial {
    let disk: FileDisk
    let folder: Folder
    var names: PartNames
    let claim: Claim
    let number: Int
    let ticket: ClaimTicket
    /// `nil` when closed.
    var file: OpenFile?
    /// Whether the file exists under the part file's name, locked and marked.
    var isNamed: Bool
    /// The file's length: the highest end of the writes.
    var length: Int64
    var journal: JournalFile?
    var origin: Provenance?
    /// Those that the finished file had.
    var holes: [ByteRange] = []
    var map: SlotMap?
    /// The slots of lanes, whose cursors stand in the journal only.
    var slots: [JournalSlot?] = []
    var slotIncarnation: UInt64 = 0
    var hashing: ContentHashing?
    /// Instead of it, where only CRCs are expected.
    private(set) var crc: CRCHashing?
    /// The end of the bytes that may have been hashed.
    var hashedTo: Int64 = 0
    /// The fingerprint of the finished file's content.
    var content: ContentFingerprint?
    /// The file's status when its last byte was available to be hashed.
    var verified: FileStatus?

    /// The origin of the bytes of `ClaimResult.existing`.
    enum Provenance {
        /// The finished file itself, under another name.
        case renamed(length: Int64, status: FileStatus)
        /// A copy, because the finished file has other names too.
        case copied(from: FileIdentity)
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
        origin: Provenance?
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

    // Dropped without being closed: the state that a kill would leave. The locks are released with the files.
    deinit {
        hashing?.reset()
        crc?.reset()
    }

    var name: String { names.final }
    var form: FileName.PartForm { names.form }
    var path: String { folder.path(of: names.final) }
    var partPath: String { folder.path(of: names.part) }
    var syncs: Bool { !folder.traits.contains(.volatile) }
    var source: String { claim.facts.sources.first ?? "" }

    /// The open file; using a partial after closing it is a programming error.
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
        noteWritten(ByteRange(offset, offset + Int64(bytes.count)))
    }

    var descriptor: Int32? { file?.descriptor }

    func wrote(_ range: ByteRange) { noteWritten(range) }

    private func noteWritten(_ range: ByteRange) {
        length = max(length, range.end)
        // The digest covers the bytes in order, so when one changes that was hashed, hashing restarts.
        if range.start < hashedTo { forgetHash() }
        crc?.wrote(range)
    }

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
            because: LocalizableMessage("part-cut-short", "it is shorter than the data that was written"),
            remedy: "another program changed it; \(.resume) to download the missing data"
        )
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        if let journal {
            try journal.startOver(facts, syncs: syncs)
            slots = Array(repeating: nil, count: slotCount)
        }
        forgetHash()
        origin = nil
        do throws(SystemError) {
            try openFile.truncate(to: 0)
        } catch {
            throw Failure.system(.inputOutput, "cannot truncate", at: partPath, error)
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

    func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet) {
        if CRCHashing.canCompute(algorithms) {
            return crcHashing.hashAhead(algorithms, done: done)
        }
        hashedTo = max(hashedTo, done.prefix)
        contentHashing.hashAhead(algorithms, available: done.prefix)
    }

    func digests(
        _ algorithms: [HashAlgorithm],
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        hashedTo = length
        verified = try? openFile.status()
        if CRCHashing.canCompute(algorithms) {
            return crcHashing.digests(algorithms, length: length, completion: completion)
        }
        contentHashing.digests(algorithms, length: length, completion: completion)
    }

    func decodedDigests(
        _ algorithms: [HashAlgorithm],
        coding: String,
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) {
        let (file, path) = (openFile, partPath)
        disk.hashers.submit {
            completion(DecodedHash.digests(algorithms, of: file, at: path, coding: coding, length: length))
        }
    }

    func setAttributes(_ attributes: [(name: String, value: String)]) throws(Failure) {
        for (name, value) in attributes {
            let bytes = Array(value.utf8)
            let number = unsafe pawl_set_attribute(openFile.descriptor, name, bytes, bytes.count)
            guard number != 0 else { continue }
            throw Failure.system(
                .inputOutput,
                "cannot store \(name) with",
                at: path,
                SystemError(number: number)
            )
        }
    }

    func hash(
        _ range: ByteRange,
        _ algorithm: HashAlgorithm,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        let (file, path) = (openFile, partPath)
        disk.hashers.submit {
            do throws(Failure) {
                completion(.success(try FileHashing(file, path: path).digest(algorithm, of: range)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    func discard(_ range: ByteRange, _ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        if range.start < hashedTo { forgetHash() }
        crc?.discarded(range)
        guard let journal else { return }
        try journal.retract(facts, done: done, syncs: syncs)
        slots = Array(repeating: nil, count: slotCount)
    }

    private func forgetHash() {
        hashing?.reset()
        crc?.reset()
        hashedTo = 0
        verified = nil
    }

    private var crcHashing: CRCHashing {
        if let crc { return crc }
        let made = CRCHashing(file: openFile, path: partPath, workers: disk.hashers)
        crc = made
        return made
    }

    private var contentHashing: ContentHashing {
        if let hashing { return hashing }
        let made = ContentHashing(file: openFile, path: partPath, workers: disk.hashers)
        hashing = made
        return made
    }

    // MARK: Closing

    func remember(_ content: ContentFingerprint?) { self.content = content }

    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        guard isOpen else { return forget() }
        guard !done.isEmpty || hasJournal else { return discard() }
        defer { release() }
        // After a clean end there are no own bytes beyond the cursors.
        retractWrite()
        if let journal {
            try journal.record(facts, written: done, isEnd: true)
        } else {
            try beginJournal(facts, done: done)
        }
        // Nothing is written any more, so the content can be recorded as durable for the next boot too.
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

    /// Removes the part file, if its name still leads to it, and then the journal: in this order a kill in between
    /// leaves a journal that is recognized as having no data.
    private func removeOwnFiles() {
        guard let mine = try? openFile.status().identity,
            (try? folder.status(of: names.part))??.identity == mine
        else { return }
        try? folder.remove(names.part)
        removeJournal()
        disk.unfinished.remove(source, name: names.final, in: folder)
    }

    private func removeJournal() {
        guard journal != nil || !folder.bearsMarks else { return }
        try? JournalFile.remove(names.journal, in: folder, written: journal)
    }

    func restoreOriginal() throws(Failure) {
        guard isOpen else { return forget() }
        guard case .renamed(let original, let status) = origin else { return discard() }
        let wasExtended = length != original
        try restore(length: original, wasExtended: wasExtended) { () throws(SystemError) in
            guard wasExtended else { return }
            try openFile.truncate(to: original)
            try openFile.setModified(status.modified)
        }
    }

    func restoreExtended(length: Int64) throws(Failure) {
        guard isOpen else { return forget() }
        guard case .renamed(let original, _) = origin, original < length, length <= self.length else {
            return try restoreOriginal()
        }
        do throws(SystemError) {
            if length < self.length { try openFile.truncate(to: length) }
            self.length = length
            // The file's name promises bytes that a power cut must not take.
            if syncs { try openFile.syncData() }
            if let error = journal?.syncError { throw error }
        } catch {
            return try restoreOriginal()
        }
        try restore(length: length, wasExtended: true) { () throws(SystemError) in }
    }

    /// Returns the finished file, whose length `settle` corrects, to its name.
    ///
    /// Where that fails, the next claim finds part file and journal, and does it.
    private func restore(
        length: Int64,
        wasExtended: Bool,
        _ settle: () throws(SystemError) -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            try settle()
            if wasExtended { try recordRestored(length: length) }
            try folder.restore(openFile, names)
            try JournalFile.remove(names.journal, in: folder, written: journal)
        } catch {
            throw Failure.system(.renameFailed, "cannot restore", at: path, error)
        }
        release()
    }

    /// Without the attribute, the journal beside the finished name would say that the file was published.
    private func recordRestored(length: Int64) throws(SystemError) {
        do throws(SystemError) {
            try journal?.restored(length: length)
        } catch {
            if !folder.bearsMarks { throw error }
        }
    }

    /// Closes and unlocks.
    ///
    /// A worker may retain the files a little longer, so they are unlocked before they are closed.
    func release() {
        journal?.close()
        if isNamed { file?.unlock() }
        ticket.release()
        forget()
    }

    /// Whether it is neither published nor being published.
    private var isOpen: Bool { !ticket.isReleased && !ticket.isPublishing.load(ordering: .acquiring) }

    private func forget() {
        map = nil
        slots = []
        hashing?.reset()
        hashing = nil
        journal = nil
        file = nil
    }
}
