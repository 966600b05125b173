import CPawlSystem
import PawlBase
import PawlJournal
import PawlSystem

/// One download's part file and journal on this machine's disk.
final class FilePartial: JournalledFile {
    let disk: FileDisk
    let folder: Folder
    var names: PartNames
    let claim: Claim
    package let number: Int
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
    var crc: CRCHashing?
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
        disk: FileDisk, folder: Folder, names: PartNames, claim: Claim, number: Int, ticket: ClaimTicket,
        file: OpenFile, isNamed: Bool, length: Int64, journal: JournalFile?, origin: Provenance?
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
        do throws(SystemError) { try unsafe openFile.write(bytes, at: offset) } catch {
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
        do throws(SystemError) { count = try unsafe openFile.read(into: buffer, at: offset) } catch {
            throw Failure.system(.inputOutput, "cannot read", at: partPath, error)
        }
        guard count == buffer.count else { throw Self.cutShort(partPath) }
    }

    static func cutShort(_ path: String) -> Failure {
        Failure(
            .inputOutput, "cannot read", at: path,
            because: LocalizableMessage("part-cut-short", "it is shorter than the data that was written"),
            remedy: "another program changed it; \(.resume) to download the missing data")
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        if let journal {
            try journal.startOver(facts, syncs: syncs)
            slots = Array(repeating: nil, count: slotCount)
        }
        forgetHash()
        origin = nil
        do throws(SystemError) { try openFile.truncate(to: 0) } catch {
            throw Failure.system(.inputOutput, "cannot truncate", at: partPath, error)
        }
        length = 0
    }

    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        let (journal, data, path, syncs) = (journal, openFile, partPath, syncs)
        let incarnation = journal?.incarnation ?? 0
        disk.syncers.submit {
            do throws(Failure) {
                try journal?.checkpoint(done, incarnation: incarnation, data: data, dataPath: path, syncs: syncs)
                completion(.success(()))
            } catch { completion(.failure(error)) }
        }
    }

    func discard(_ range: ByteRange, _ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        if range.start < hashedTo { forgetHash() }
        crc?.discarded(range)
        guard let journal else { return }
        try journal.retract(facts, done: done, syncs: syncs)
        slots = Array(repeating: nil, count: slotCount)
    }

    func setAttributes(_ attributes: [(name: String, value: String)]) throws(Failure) {
        for (name, value) in attributes {
            let bytes = Array(value.utf8)
            let number = unsafe pawl_set_attribute(openFile.descriptor, name, bytes, bytes.count)
            guard number != 0 else { continue }
            throw Failure.system(.inputOutput, "cannot store \(name) with", at: path, SystemError(number: number))
        }
    }
}
