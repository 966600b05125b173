import Glibc
import PawlCore
import Synchronization

/// One file of a fake disk with the journal that lies beside it, as the kernel holds them and as the disk would keep them.
final class FakeFile: Sendable {
    struct Contents: Sendable {
        var bytes: [UInt8] = []
        var length = 0
        /// How long it was when it was synced last.
        var syncedLength = 0
        /// Every byte that a write put there.
        var written = ByteRangeSet()
        /// Of these, the ones that a sync has covered.
        var synced = ByteRangeSet()
        /// What came when, the oldest first; nothing is kept of what the journal says durably.
        var arrivals: [(at: Instant, range: ByteRange)] = []
        /// When its process died; `nil` while it is held, and when it was closed.
        var diedAt: Instant?
        var modified: UnixTime?
        /// When anybody last changed it, in nanoseconds.
        var changed: Int64 = 0
        /// Somebody else made it longer since it was taken up.
        var isGrown = false
        /// What was hashed ahead, as it was then.
        var hashed: [UInt8] = []
        /// Bytes of the last write that no cursor has passed yet.
        var unpassed: Int64 = 0
        var source: String
        /// Whose it is; a crash takes it from everybody.
        var holder: Int?
        /// Counts the times that it was emptied.
        var incarnation = 0
        /// The bytes are given up, although they are still there.
        var isVoid = false
        /// The finished file that it was before.
        var original: Int?
        /// What is in the file of a write that its process dies in; no cursor knows of it.
        var unsaid = ByteRangeSet()
        /// That write put only some of its bytes there.
        var isHalf = false
        /// Whether it is known for the file that its journal was made for.
        var isSame = true
        /// What its holder found there and may trust.
        var found = ByteRangeSet()
        /// The journal's file, and who writes to it.
        var journal: VolatileBytes?
        var journalBegan = Instant(nanoseconds: 0)
        /// What a power cut at this instant must leave.
        var mustStay = ByteRangeSet()
        var keeper: JournalKeeper?
        var lanes: [Int: (slot: JournalSlot, cursor: Int64)] = [:]
    }

    /// Tells files apart, in the order in which they were made.
    let number: Int
    let contents: Mutex<Contents>

    init(source: String, number: Int) {
        self.number = number
        contents = Mutex(Contents(source: source))
    }

    /// A finished file that has been on the disk for long.
    init(_ finished: FakeDisk.Finished, number: Int) {
        self.number = number
        var file = Contents(source: "")
        file.bytes = finished.bytes
        file.length = finished.bytes.count
        file.syncedLength = file.length
        file.written = ByteRangeSet([ByteRange(0, Int64(file.length))])
        file.synced = file.written
        file.modified = finished.modified
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

    /// Returns how many of the bytes were there before.
    @discardableResult
    mutating func put(_ source: UnsafeRawBufferPointer, at offset: Int64, now: Instant) -> Int64 {
        let end = Int(offset) + source.count
        grow(to: end)
        length = max(length, end)
        unsafe bytes.withUnsafeMutableBytes { target in
            guard let from = source.baseAddress, let into = target.baseAddress else { return }
            _ = unsafe memcpy(into + Int(offset), from, source.count)
        }
        changed = now.nanoseconds
        let range = ByteRange(offset, Int64(end))
        let new = written.gaps(in: range)
        // The same bytes once more cannot be lost in a power cut when they were synced before.
        for run in new { arrivals.append((now, run)) }
        written.insert(range)
        return range.count - new.reduce(0) { $0 + $1.count }
    }

    /// Whoever held it is gone.
    mutating func die(at now: Instant) {
        if holder != nil { diedAt = now }
        holder = nil
        keeper = nil
        lanes = [:]
        unsaid = ByteRangeSet()
        hashed = []
        unpassed = 0
    }

    /// How long it is by what its holders have written.
    var ownLength: Int64 { written.upperBound }

    /// Somebody else makes it longer, when nobody writes to it.
    mutating func append(_ count: Int, now: Instant) {
        grow(to: length + count)
        for index in length..<(length + count) { bytes[index] = 0xEE }
        length += count
        changed = now.nanoseconds
    }

    /// What a kill may take: what was being written, unless all of it is there and that lane stands last in the file.
    var mayBeLost: ByteRangeSet {
        guard let start = unsaid.runs.first?.start else { return unsaid }
        // What somebody else appended before it hides how far it got.
        let isKnown = !isGrown && !isHalf && written.upperBound == unsaid.upperBound
        let isLast = isKnown && lanes.values.allSatisfy { $0.cursor <= start }
        return isLast ? ByteRangeSet() : unsaid
    }

    mutating func cut(to length: Int) {
        self.length = length
        hashed.removeLast(max(0, hashed.count - length))
        let end = Int64(length)
        written = written.clipped(to: end)
        synced = synced.clipped(to: end)
        arrivals = arrivals.filter { $0.range.end <= end }
    }

    /// It is the finished file that it was: its length is no newer than its name.
    mutating func goBack() {
        if let original { cut(to: original) }
        syncedLength = length
        original = nil
        found = ByteRangeSet()
        journal = nil
    }

    /// A sync of the data that began when `written` and `length` were there has ended.
    mutating func synced(_ written: ByteRangeSet, length: Int) {
        synced.insert(written)
        syncedLength = length
    }

    /// What the journal's bytes say, decoded anew.
    var image: JournalImage? { journal.flatMap { try? JournalImage($0.cache) } }

    /// The bytes that the next run may trust on `boot`; `nil` without a journal that can be read.
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
    /// What no sync covered may be there or not, sector by sector, and so may the journal, whatever became of the data.
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
        journal?.reboot(clean: false, &dice)
    }

    private mutating func spoil(_ run: ByteRange, _ odds: Double, _ dice: inout Dice) {
        guard odds < 1 else { return }
        var start = Int(run.start)
        while start < run.end {
            let end = min(Int(run.end), (start / 512 + 1) * 512)
            if odds == 0 || dice.fraction() > odds {
                for index in start..<end { bytes[index] = 0xDB }
            }
            start = end
        }
    }
}
