package import PawlCore

/// A wish for a place on disk.
package struct Claim: Sendable {
    /// The folder, made when missing.
    package var folder: String
    /// The wished file name, already safe.
    package var name: String
    package var ifExists: IfExists
    /// What the journal would say: `facts.sources[0]` tells this download from another one of the same name.
    package var facts: JournalFacts
    /// Whether a part file of this final name belongs to another download, even one of the same address: then the name is
    /// taken.
    ///
    /// Asked only when there is such a part file.
    package var isOthers: @Sendable (_ name: String) -> Bool = { _ in false }

    /// The name was asked for, not suggested: where a device, a pipe or a socket has it, no other name is meant.
    package var isChosen = false
    /// The server's present content, once a response has described it: a finished file of this content is not fetched again.
    ///
    /// Called only when there is a finished file.
    package var content: @Sendable () -> ContentFingerprint? = { nil }
    /// How long the file will be, if that is known.
    package var length: Int64?

    package init(folder: String, name: String, ifExists: IfExists, facts: JournalFacts) {
        self.folder = folder
        self.name = name
        self.ifExists = ifExists
        self.facts = facts
    }
}

/// What a claim got.
package enum ClaimResult {
    /// A new, empty part file, locked; `partial.name` is the name that was free.
    case fresh(any Partial)
    /// An earlier run's part file with its journal, locked.
    case found(any Partial, LoadedJournal)
    /// `IfExists.resume`: a finished file of this length is there and is now the part file (renamed, no byte changed);
    /// `Partial.restoreOriginal()` restores it.
    case existing(any Partial, length: Int64)
    /// It is there, nothing was touched: `IfExists.skip`, or it was made of the same content of the same address.
    case skipped(path: String)
}

/// Folders, part files, journals.
///
/// Shared by all loops.
package protocol Disk: AnyObject, Sendable {
    /// Opens or creates the part file for `claim`. With `IfExists.rename` a taken name moves on to `name (1).ext`.
    /// A partial of another URL under the same name is offered to `adopts`; declined, it counts as a taken name.
    /// Throws code 11 when the same download is running elsewhere, 13, 15, 16, 17, 18 and 9 as their names say.
    func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult
    /// The name of a partial in `folder` whose journal names `source` first, if there is one.
    func unfinished(of source: String, in folder: String) -> String?
    /// The name of a part file of `source` in `folder` that an earlier process left without a readable journal.
    func leftover(of source: String, in folder: String) -> String?
    /// Whether a finished file of that name, or of one of its numbered variants, was made from `source` and not changed
    /// since: what the server has now may be the same.
    func wasFinished(_ name: String, from source: String, in folder: String) -> Bool
    /// The digest of a finished file, on a worker thread.
    func digest(
        _ algorithm: HashAlgorithm,
        of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    )
    /// The length of the file of that name in the folder; `nil` when there is none.
    func length(of name: String, in folder: String) -> Int64?
    /// Gives a finished file another name; a taken one is a failure.
    func rename(_ name: String, to newName: String, in folder: String) throws(Failure)
    /// Begins the part file of `facts` with the first `length` bytes of another program's file.
    ///
    /// They are on the disk when this returns, and the journal says so; the other file stays. A part file that is there
    /// for the same address is further than the other program knows, and is left as it is. Unless `isNamed`, the facts'
    /// name is for the part file alone, and the journal names none: the server is still to be heard.
    func adopt(
        _ name: String,
        in source: String,
        length: Int64,
        as facts: JournalFacts,
        isNamed: Bool,
        to folder: String
    ) throws(Failure)
    /// Removes the finished file of that name; one that is not there is no failure.
    func remove(_ name: String, in folder: String) throws(Failure)
}

extension Disk {
    /// Whether a file of that final name is in the folder.
    package func holds(_ name: String, in folder: String) -> Bool { length(of: name, in: folder) != nil }
    package func leftover(of source: String, in folder: String) -> String? { nil }
    package func wasFinished(_ name: String, from source: String, in folder: String) -> Bool { false }
    package func digest(
        _ algorithm: HashAlgorithm,
        of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        preconditionFailure("a disk without files skips none")
    }
}

/// One download's part file and journal.
///
/// Belongs to the loop thread of its download; completions may come on any thread, also before the call returns.
package protocol Partial: AnyObject {
    /// The final file name that was claimed, and the folder.
    var name: String { get }
    var path: String { get }

    /// Writes all of `bytes` at `offset` or throws (code 9 disk full, 17 I/O).
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure)
    /// Whether it takes more bytes at once; a reader of a pipe may be slow.
    var hasRoom: Bool { get }
    /// The part file for those who can write to it without copying; `nil` when everything has to pass through `write`.
    var descriptor: Int32? { get }
    /// The next write goes there, by `write` or by way of `descriptor`: noted in case that a kill comes in its middle.
    func willWrite(_ range: ByteRange)
    /// The bytes of `range` were written by way of `descriptor`.
    func wrote(_ range: ByteRange)
    /// Fills `buffer` from `offset`; fewer bytes than asked for is a failure.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure)
    /// Asks the file system for room for `total` bytes, where it can without writing them; throws code 9 when it cannot have them.
    func reserve(_ total: Int64) throws(Failure)

    /// The download takes longer than a moment: others may want to see that it is under way.
    func ensurePartName()
    /// Begins the journal, if there is none; without it a SIGKILL loses the partial.
    func beginJournal(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    var hasJournal: Bool { get }
    /// Writes changed facts and the whole set of written bytes.
    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    /// Lane `slot` begins to write at `start`. What the slot said before goes to the recorded set.
    func beginLane(slot: Int, at start: Int64) throws(Failure)
    /// Lane `slot` has written up to `cursor`: one store, no system call where possible. No-op without a journal.
    func advanceLane(slot: Int, to cursor: Int64)
    /// How many lanes can have a slot at once.
    var slotCount: Int { get }

    /// Forgets every byte: the journal says so durably before this returns, and the file is cut to length 0.
    func startOver(_ facts: JournalFacts) throws(Failure)

    /// Makes `done` durable: fdatasync of the data, then of a journal that says so. Runs on a worker thread;
    /// one at a time.
    func checkpoint(_ done: ByteRangeSet, completion: @escaping @Sendable (Result<Void, Failure>) -> Void)
    /// The bytes known to be durable.
    var durable: ByteRangeSet { get }

    /// Hashes the bytes [0, `available`) ahead of time on a worker thread, while they are in the page cache.
    func hashAhead(_ algorithm: HashAlgorithm, available: Int64)
    /// The digest of the first `length` bytes, on a worker thread.
    func digest(
        _ algorithm: HashAlgorithm,
        length: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    )

    /// What the finished file was made of, for it to remember.
    func remember(_ content: ContentFingerprint?)
    /// Cuts the file to `length`, sets its time, syncs it, moves it to its final name, syncs the folder and removes the
    /// journal. The completion's value is the final path (another name than claimed when it was taken in between and
    /// the claim said rename). Completions here may come on any thread, also before the call returns.
    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    )

    /// Closes and unlocks; partial and journal stay. Without a journal and with `done` not empty one is written first.
    func close(keeping facts: JournalFacts, done: ByteRangeSet) throws(Failure)
    /// Closes and removes the partial and the journal (never the finished file).
    func discard()
    /// Undoes `ClaimResult.existing`: the file gets its old name and length back.
    func restoreOriginal() throws(Failure)
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
        preconditionFailure("a disk without files has none to take over")
    }
}

extension Partial {
    package var hasRoom: Bool { true }
    package var descriptor: Int32? { nil }
    package func ensurePartName() {}
    package func willWrite(_ range: ByteRange) {}
    package func remember(_ content: ContentFingerprint?) {}

    package func wrote(_ range: ByteRange) {
        preconditionFailure("nobody can write past a partial without a descriptor")
    }
}
