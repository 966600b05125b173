import Glibc
import PawlBase
import PawlJournal
import Synchronization

/// One file of a fake disk with its journal, as the kernel caches them and as the disk would keep them.
final class FakeFile: Sendable {
    struct Contents: Sendable {
        var bytes: [UInt8] = []
        var length = 0
        /// The length at the last sync.
        var syncedLength = 0
        /// Every byte that was written.
        var written = ByteRangeSet()
        /// Written bytes that a sync has covered.
        var synced = ByteRangeSet()
        /// The times of the writes, the oldest first, without those that the journal records durably.
        var arrivals: [(at: Instant, range: ByteRange)] = []
        /// The time when its process died; `nil` while it is in use, and after it was closed.
        var diedAt: Instant?
        var modified: UnixTime?
        /// The time of its last change by any program, in nanoseconds.
        var changed: Int64 = 0
        /// Whether its user has written it after it was finished.
        var isUsers = false
        /// The length before that: with no more, a power cut has undone it.
        var usersFrom = 0
        /// Whether another program has extended it since it was opened.
        var isGrown = false
        /// The bytes that were hashed ahead, as they were then.
        var hashed: [UInt8] = []
        /// Whether it was seeded with bytes that no origin has sent.
        var isSeeded = false
        /// The right bytes at offsets where a seed or later damage is wrong.
        var wrongSeeds: [Int: UInt8] = [:]
        var damaged: [Int: UInt8] = [:]
        /// Ranges to discard, even if the journal cannot be written.
        var doubted = ByteRangeSet()
        /// Discarded ranges in order; a sync that began earlier does not cover them.
        var forgotten: [ByteRange] = []
        /// Bytes of the last write that no cursor has passed yet.
        var unpassed: Int64 = 0
        var source: String
        /// The current holder; a crash takes the file from every holder.
        var holder: Int?
        /// The number of times that it was truncated to 0.
        var incarnation = 0
        /// Whether the bytes are void, although they still exist.
        var isVoid = false
        /// The length of the finished file that it was before.
        var original: Int?
        /// The parts of that file to which nothing was ever written.
        var holes: [ByteRange] = []
        /// The bytes of a write in which its process died; no cursor covers them.
        var unsaid = ByteRangeSet()
        /// Whether only a part of that write was done.
        var isHalf = false
        /// Whether it is recognized as the file that its journal was created for.
        var isSame = true
        /// The bytes that its holder found and may trust.
        var found = ByteRangeSet()
        /// The journal's file.
        var journal: VolatileBytes?
        var journalBegan = Instant(nanoseconds: 0)
        /// The bytes that a power cut at this instant must leave.
        var mustStay = ByteRangeSet()
        var keeper: JournalKeeper?
        var lanes: [Int: (slot: JournalSlot, cursor: Int64)] = [:]
    }

    /// The number of the file, in the order of creation.
    package let number: Int
    let contents: Mutex<Contents>

    init(source: String, number: Int) {
        self.number = number
        contents = Mutex(Contents(source: source))
    }

    /// Creates a finished file that was synced long ago.
    init(_ finished: FakeDisk.Finished, number: Int) {
        self.number = number
        var file = Contents(source: "")
        file.bytes = finished.bytes
        file.length = finished.bytes.count
        file.syncedLength = file.length
        file.written = ByteRangeSet([ByteRange(0, Int64(file.length))])
        file.synced = file.written
        file.modified = finished.modified
        file.holes = finished.holes
        contents = Mutex(file)
    }
}

extension FakeFile.Contents {
    mutating func grow(to count: Int) {
        guard count > bytes.count else { return }
        if bytes.isEmpty {
            bytes = [UInt8](repeating: 0, count: count)
        } else {
            bytes += [UInt8](repeating: 0, count: max(count, 2 * bytes.count) - bytes.count)
        }
    }

    /// Returns the number of bytes that existed before.
    @discardableResult mutating func put(_ source: UnsafeRawBufferPointer, at offset: Int64, now: Instant) -> Int64 {
        let end = Int(offset) + source.count
        grow(to: end)
        length = max(length, end)
        unsafe bytes.withUnsafeMutableBytes { target in
            guard let from = source.baseAddress, let into = target.baseAddress else { return }
            _ = unsafe memcpy(into + Int(offset), from, source.count)
        }
        changed = now.nanoseconds
        let range = ByteRange(offset, Int64(end))
        doubted.remove(range)
        if !damaged.isEmpty { damaged = damaged.filter { !range.contains(Int64($0.key)) } }
        if !wrongSeeds.isEmpty { wrongSeeds = wrongSeeds.filter { !range.contains(Int64($0.key)) } }
        let new = written.gaps(in: range)
        // Rewriting equal bytes cannot lose them in a power cut when they were synced before.
        for run in new { arrivals.append((now, run)) }
        written.insert(range)
        return range.count - new.reduce(0) { $0 + $1.count }
    }

    /// Handles the end of the holder's process.
    mutating func die(at now: Instant) {
        if holder != nil { diedAt = now }
        holder = nil
        keeper = nil
        lanes = [:]
        unsaid = ByteRangeSet()
        hashed = []
        unpassed = 0
    }

    /// The length by its holders' writes.
    var ownLength: Int64 { written.upperBound }

    /// Extends the file as another program, while nobody writes to it.
    mutating func append(_ count: Int, now: Instant) {
        grow(to: length + count)
        for index in length..<(length + count) { bytes[index] = 0xEE }
        length += count
        changed = now.nanoseconds
    }

    /// The bytes that a kill may lose: the write in progress, unless it is complete and its lane is the last in the file.
    var mayBeLost: ByteRangeSet {
        guard let start = unsaid.runs.first?.start else { return unsaid }
        // Bytes that another program appended before hide the progress of the write, and so do wrong ones that were
        // discarded at the file's end.
        let isEnd = written.upperBound == unsaid.upperBound && Int64(length) == unsaid.upperBound
        let isKnown = !isGrown && !isHalf && isEnd
        let isLast = isKnown && lanes.values.allSatisfy { $0.cursor <= start }
        return isLast ? ByteRangeSet() : unsaid
    }

    /// The written bytes, without those that were found wrong.
    var trusted: ByteRangeSet {
        var trusted = written
        for run in doubted.runs { trusted.remove(run) }
        return trusted
    }

    /// The bytes of `range` are wrong and will be written again.
    mutating func forget(_ range: ByteRange) {
        hashed.removeLast(max(0, hashed.count - Int(range.start)))
        written.remove(range)
        synced.remove(range)
        found.remove(range)
        forgotten.append(range)
        arrivals = arrivals.flatMap { arrival in
            ByteRangeSet([range]).gaps(in: arrival.range).map { (at: arrival.at, range: $0) }
        }
    }

    mutating func cut(to length: Int) {
        self.length = length
        hashed.removeLast(max(0, hashed.count - length))
        let end = Int64(length)
        written = written.clipped(to: end)
        synced = synced.clipped(to: end)
        arrivals = arrivals.filter { $0.range.end <= end }
    }

    /// Makes it the finished file that it was: its length is no newer than its name.
    mutating func goBack() {
        if let original { cut(to: original) }
        syncedLength = length
        original = nil
        found = ByteRangeSet()
        journal = nil
    }

    /// Handles the end of a data sync that began with these values of `written` and `length`.
    mutating func synced(_ written: ByteRangeSet, length: Int) {
        synced.insert(written)
        syncedLength = length
    }

    /// The decoded journal.
    var image: JournalImage? { journal.flatMap { try? JournalImage($0.cache) } }

    /// The bytes that the next run may trust on `boot`; `nil` without a readable journal.
    func trusted(boot: BootIdentity?) -> ByteRangeSet? { image.map { trusted($0, boot: boot) } }

    func trusted(_ image: JournalImage, boot: BootIdentity?) -> ByteRangeSet {
        image.trusted(boot: boot, length: Int64(length), changed: isSame ? changed : nil)
    }
}

extension ByteRangeSet {
    func intersection(_ other: ByteRangeSet) -> ByteRangeSet {
        var shared = self
        for run in runs { for gap in other.gaps(in: run) { shared.remove(gap) } }
        return shared
    }
}

extension FakeFile.Contents {
    /// Loses or keeps each sector that no sync covered, and likewise the journal, independently of the data.
    mutating func losePower(_ dice: inout Dice) {
        let before = length
        if dice.fraction() < 0.5 {
            length = syncedLength
        } else if length > syncedLength {
            length = syncedLength + Int(Double(length - syncedLength + 1) * dice.fraction())
        }
        grow(to: max(length, before))
        let odds = [0, 0.5, 1][Int(dice.next() % 3)]
        for run in synced.gaps(in: ByteRange(0, Int64(length))) { spoil(run, odds, &dice) }
        written = synced.clipped(to: Int64(length))
        synced = written
        arrivals = []
        syncedLength = length
        if isUsers, length <= usersFrom { isUsers = false }
        journal?.reboot(clean: false, &dice)
    }

    private mutating func spoil(_ run: ByteRange, _ odds: Double, _ dice: inout Dice) {
        guard odds < 1 else { return }
        var start = Int(run.start)
        while start < run.end {
            let end = min(Int(run.end), (start / 512 + 1) * 512)
            if odds == 0 || dice.fraction() > odds { for index in start..<end { bytes[index] = 0xDB } }
            start = end
        }
    }
}
