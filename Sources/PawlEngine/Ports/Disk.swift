package import PawlCore

/// What a download may have under its name.
package enum ClaimedFile: Hashable, Sendable {
    case part
    case finished
}

/// A request for a place on disk.
package struct Claim: Sendable {
    /// The folder, created when missing.
    package var folder: String
    /// The requested file name, already safe.
    package var name: String
    package var ifExists: IfExists
    /// With `IfExists.overwrite`: the only file that is replaced, as it was then; `nil` for any.
    package var replaces: FileStamp?
    /// The journal's facts: `facts.sources[0]` distinguishes this download from another of the same name.
    package var facts: JournalFacts
    /// Whether what has this final name, or the part file of it, belongs to another download, even one of the same address:
    /// then the name is taken.
    ///
    /// Called only when there is such a file.
    package var belongsToAnother: @Sendable (_ name: String, ClaimedFile) -> Bool = { _, _ in false }

    /// The name was chosen, not suggested: where it is a device, a pipe or a socket, no other name is used.
    package var isChosen = false
    /// The content of the current response: a finished file made from it is not fetched again.
    ///
    /// Called only when there is a finished file.
    package var content: @Sendable () -> ContentFingerprint? = { nil }
    /// With `IfExists.rename`: where no response proves what content this is, an earlier download's finished file of the
    /// same URL with the same bytes is the result, and no second one is made.
    package var recognizesBytes = false
    /// The expected length of the file, if known.
    package var length: Int64?

    /// Files of up to this many bytes need neither a journal nor a name before they are complete.
    package static let smallFile: Int64 = 1 << 20

    package init(folder: String, name: String, ifExists: IfExists, facts: JournalFacts) {
        self.folder = folder
        self.name = name
        self.ifExists = ifExists
        self.facts = facts
    }
}

/// The result of a claim.
package enum ClaimResult {
    /// A new, empty part file, locked; `partial.name` is the name that was free.
    case fresh(any Partial)
    /// An earlier run's part file with its journal, locked.
    case found(any Partial, LoadedJournal)
    /// `IfExists.resume`: a finished file of this length exists and is now the part file (renamed, no byte
    /// changed); `Partial.restoreOriginal()` restores it.
    case existing(any Partial, length: Int64)
    /// The file exists and was not touched: `IfExists.skip`, or it was made from the same content of the same
    /// address.
    case skipped(path: String)
}

/// Folders, part files, journals.
///
/// Shared by all loops.
package protocol Disk: AnyObject, Sendable {
    /// Opens or creates the part file for `claim`. With `IfExists.rename` a taken name becomes `name
    /// (1).ext`. A part file of another URL under the same name is offered to `adopts`; if declined, it
    /// counts as a taken name. Throws code 11 when the same download is running elsewhere, 13, 15, 16, 17, 18
    /// and 9 as their names say.
    func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult
    /// The name of a part file in `folder` whose journal has `source` first, if there is one.
    func unfinished(of source: String, in folder: String) -> String?
    /// The name of a part file of `source` in `folder` that an earlier process left without a readable
    /// journal.
    func leftover(of source: String, in folder: String) -> String?
    /// Whether a finished file of that name, or of one of its numbered variants, was made from `source` and
    /// not changed since: the server's content may still be the same.
    func wasFinished(_ name: String, from source: String, in folder: String) -> Bool
    /// The digests of a finished file, on a worker thread.
    func digests(
        _ algorithms: [HashAlgorithm],
        of path: String,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    )
    /// The length of the file of that name in the folder, links followed; `nil` when there is none.
    func length(of name: String, in folder: String) -> Int64?
    /// Whether anything in the folder has that name: a file, a folder, a link that leads to nothing.
    func holds(_ name: String, in folder: String) -> Bool
    /// Makes a finished file and its name durable: an earlier process may have ended before that.
    func sync(_ name: String, in folder: String) throws(Failure)
    /// Renames a finished file; a taken name is a failure.
    func rename(_ name: String, to newName: String, in folder: String) throws(Failure)
    /// Gives a finished file the same name in another folder, which is created when missing; the old name stays until
    /// `remove`, unless the file system cannot give a file two names.
    ///
    /// A taken name is a failure.
    func link(_ name: String, from folder: String, to newFolder: String) throws(Failure)
    /// Begins the part file of `facts` with the first `length` bytes of another program's file.
    ///
    /// They are on disk and in the journal when this returns; the other file stays. An existing part file of
    /// the same address has more bytes than the other program knows, and is left as it is. Unless `isNamed`,
    /// the facts' name is for the part file alone, and the journal has none: the server's is not known yet.
    func adopt(
        _ name: String,
        in source: String,
        length: Int64,
        as facts: JournalFacts,
        isNamed: Bool,
        to folder: String
    ) throws(Failure)
    /// Removes the finished file of that name; a missing one is no failure.
    func remove(_ name: String, in folder: String) throws(Failure)
}

extension Disk {
    package func holds(_ name: String, in folder: String) -> Bool { length(of: name, in: folder) != nil }
    /// Whether there is a part file of `name`, which may be another program's.
    package func holdsPart(of name: String, in folder: String) -> Bool {
        FileName.PartForm.allCases.contains { holds(FileName.partial(of: name, as: $0), in: folder) }
    }
    /// Whether there is a journal of `name`, which may be another program's.
    package func holdsJournal(of name: String, in folder: String) -> Bool {
        FileName.PartForm.allCases.contains { holds(FileName.journal(of: name, as: $0), in: folder) }
    }
    /// Whether a file, and nothing else, has that name.
    package func hasFile(_ name: String, in folder: String) -> Bool { length(of: name, in: folder) != nil }
    package func leftover(of source: String, in folder: String) -> String? { nil }
    package func link(_ name: String, from folder: String, to newFolder: String) throws(Failure) {
        preconditionFailure("a disk without files cannot move any")
    }
    package func wasFinished(_ name: String, from source: String, in folder: String) -> Bool { false }
    package func digests(
        _ algorithms: [HashAlgorithm],
        of path: String,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        preconditionFailure("a disk without files never skips")
    }
}

/// Digests of bytes that pass in order.
package protocol ContentHasher: AnyObject {
    func feed(_ bytes: UnsafeRawBufferPointer)
    /// The digests, in the order of the algorithms; nothing is fed afterwards.
    func finish() -> [Checksum]
}

/// One download's part file and journal.
///
/// Belongs to the loop thread of its download; completions may come on any thread, also before the call
/// returns.
package protocol Partial: AnyObject {
    /// The final file name that was claimed, and the folder.
    var name: String { get }
    var path: String { get }
    /// The form of the names of part file and journal.
    var form: FileName.PartForm { get }

    /// Writes all of `bytes` at `offset` or throws (code 9 disk full, 17 I/O).
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure)
    /// Whether it accepts more bytes now; a reader of a pipe may be slow.
    var hasRoom: Bool { get }
    /// The part file for writes without copying; `nil` when everything has to pass through `write`.
    var descriptor: Int32? { get }
    /// The parts of a finished file to which nothing was ever written, as far as the file system knows.
    var holes: [ByteRange] { get }
    /// Announces the range of the next write, by `write` or through `descriptor`: recorded in case the
    /// process is killed during it.
    func willWrite(_ range: ByteRange)
    /// The bytes of `range` were written through `descriptor`.
    func wrote(_ range: ByteRange)
    /// Fills `buffer` from `offset`; fewer bytes than requested is a failure.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure)
    /// Allocates `total` bytes where the file system can without writing them; throws code 9 when it cannot.
    func reserve(_ total: Int64) throws(Failure)

    /// Makes the part file visible to other processes: the download takes longer than a moment.
    func ensurePartName()
    /// Begins the journal, if there is none; without it a SIGKILL loses the partial.
    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    var hasJournal: Bool { get }
    /// Writes changed facts and the whole set of written bytes.
    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    /// Starts lane `slot` at `start`. The slot's previous bytes are added to the recorded set.
    func beginLane(slot: Int, at start: Int64) throws(Failure)
    /// Lane `slot` has written up to `cursor`: one store, no system call where possible. No-op without a
    /// journal.
    func advanceLane(slot: Int, to cursor: Int64)
    /// How many lanes can have a slot at once.
    var slotCount: Int { get }

    /// Discards all bytes: the journal records this durably before this returns, and the file is truncated to
    /// length 0.
    func startOver(_ facts: JournalFacts) throws(Failure)

    /// Makes `done` durable: fdatasync of the data, then of a journal that records it. Runs on a worker
    /// thread; one at a time.
    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void)
    /// The bytes known to be durable.
    var durable: ByteRangeSet { get }

    /// Hashes bytes of `done` ahead of time on a worker thread, while they are in the page cache: from the first one, or
    /// where only CRCs are computed in any order.
    func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet)
    /// The digests of the first `length` bytes, on a worker thread; one of them is left out where it cannot be
    /// computed any more.
    func digests(
        _ algorithms: [HashAlgorithm],
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    )

    /// The digests of what the first `length` bytes decode to, on a worker thread; `nil` where this coding, or
    /// any, cannot be decoded, none where the bytes are not of that coding.
    func decodedDigests(
        _ algorithms: [HashAlgorithm],
        coding: String,
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    )

    /// The digest of the bytes of `range`, on a worker thread; nothing may write there in the meantime.
    func hash(
        _ range: ByteRange,
        _ algorithm: HashAlgorithm,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    )
    /// The bytes of `range` are wrong and will be written again: the journal records `done`, which has none of them.
    ///
    /// All slots of lanes are void afterwards.
    func discard(_ range: ByteRange, _ facts: JournalFacts, done: ByteRangeSet) throws(Failure)

    /// Stores the fingerprint that the finished file was made from.
    func remember(_ content: ContentFingerprint?)
    /// Stores extended attributes with the file; throws where the file system has none.
    func setAttributes(_ attributes: [(name: String, value: String)]) throws(Failure)
    /// Truncates the file to `length`, sets its time, syncs it, moves it to its final name, syncs the folder
    /// and removes the journal. The completion's value is the final path (another name than claimed when that
    /// was taken in between and the claim has `rename`). Completions may come on any thread, also before the
    /// call returns.
    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    )
    /// Whether `publish` waits for no disk and ends before it returns.
    var publishesAtOnce: Bool { get }

    /// Closes and unlocks; partial and journal stay. Without a journal and with `done` not empty one is
    /// written first.
    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    /// Closes and removes the partial and the journal (never the finished file).
    func discard()
    /// Undoes `ClaimResult.existing`: restores the file's old name and length.
    func restoreOriginal() throws(Failure)
    /// Ends `ClaimResult.existing` before the file is complete: restores the old name of its first `length`
    /// bytes, those that were added synced; where that cannot be done, as `restoreOriginal`.
    func restoreExtended(length: Int64) throws(Failure)
}

extension Disk {
    package func adopt(
        _ name: String,
        in source: String,
        length: Int64,
        as facts: JournalFacts,
        isNamed: Bool,
        to folder: String
    ) throws(Failure) {
        preconditionFailure("a disk without files cannot adopt any")
    }
}

extension Partial {
    package var form: FileName.PartForm { .usual }
    package func restoreExtended(length: Int64) throws(Failure) { try restoreOriginal() }
    package var hasRoom: Bool { true }
    package var descriptor: Int32? { nil }
    package var holes: [ByteRange] { [] }
    package var publishesAtOnce: Bool { false }
    package func ensurePartName() {}
    package func willWrite(_ range: ByteRange) {}
    package func remember(_ content: ContentFingerprint?) {}
    package func discard(_ range: ByteRange, _ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {}

    package func hash(
        _ range: ByteRange,
        _ algorithm: HashAlgorithm,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        preconditionFailure("pieces are those of a file")
    }

    package func setAttributes(_ attributes: [(name: String, value: String)]) throws(Failure) {}

    package func decodedDigests(
        _ algorithms: [HashAlgorithm],
        coding: String,
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) { completion(.success(nil)) }

    package func wrote(_ range: ByteRange) {
        preconditionFailure("a partial without a descriptor is written by write only")
    }
}

/// A disk without named files: there are none to find, rename or remove.
package protocol UnstoredDisk: Disk {}

extension UnstoredDisk {
    package func sync(_ name: String, in folder: String) throws(Failure) {}
    package func unfinished(of source: String, in folder: String) -> String? { nil }
    package func length(of name: String, in folder: String) -> Int64? { nil }
    package func rename(_ name: String, to newName: String, in folder: String) throws(Failure) {}
    package func remove(_ name: String, in folder: String) throws(Failure) {}
}

/// A part that is no file: it has no journal, and nothing of it survives the process.
package protocol UnstoredPartial: Partial {}

extension UnstoredPartial {
    package var path: String { "" }
    package var hasJournal: Bool { false }
    package var slotCount: Int { 64 }
    package var durable: ByteRangeSet { ByteRangeSet() }

    package func checkpoint(
        _ done: ByteRangeSet,
        completion: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) { completion(.success(())) }

    package func reserve(_ total: Int64) throws(Failure) {}
    package func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {}
    package func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {}
    package func beginLane(slot: Int, at start: Int64) throws(Failure) {}
    package func advanceLane(slot: Int, to cursor: Int64) {}
    package func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet) {}
    package func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure) {}
    package func discard() {}
    package func restoreOriginal() throws(Failure) {}
}
