package import PawlBase

/// Digests of bytes that pass in order.
package protocol ContentHasher: AnyObject, Sendable {
    func feed(_ bytes: UnsafeRawBufferPointer)
    /// The digests, in the order of the algorithms; nothing is fed afterwards.
    func finish() -> [Checksum]
}

/// One download's part file and its journal.
///
/// Belongs to the loop thread of its download; completions may come on any thread, also before the call
/// returns.
package protocol JournalledFile: AnyObject {
    /// The final file name that was claimed, and the folder.
    var name: String { get }
    var path: String { get }
    /// The form of the names of part file and journal.
    var form: FileName.PartForm { get }

    /// Writes all of `bytes` at `offset` or throws (code 9 disk full, 17 I/O).
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure)
    /// The part file for writes without copying; `nil` when everything has to pass through `write`, as in tests.
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
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void)

    /// The digests of what the first `length` bytes decode to, on a worker thread; `nil` where this coding, or
    /// any, cannot be decoded, none where the bytes are not of that coding.
    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void)

    /// The digest of the bytes of `range`, which `padding` zeros follow, on a worker thread; nothing may write there in the
    /// meantime.
    func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void)
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
    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    /// The part file, which the finished file will be; `nil` when it is closed.
    var stamp: FileStamp? { get }
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
