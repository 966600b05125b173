import PawlCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What stands on a fake disk under one partial's names: bytes, journal, lock.
final class FakePartFile: Sendable {
    struct Journal: Sendable, Hashable {
        var facts: JournalFacts
        /// The recorded set; the lanes' slots hold what came after.
        var done: ByteRangeSet
        var slots: [Int: ByteRange] = [:]
        var durable = ByteRangeSet()

        var written: ByteRangeSet {
            var all = done
            for slot in slots.values { all.insert(slot) }
            return all
        }
    }

    struct Contents: Sendable {
        var bytes: [UInt8] = []
        var length = 0
        /// Every byte that a write put there.
        var written = ByteRangeSet()
        /// Of these, the ones that no sync has covered.
        var dirty = ByteRangeSet()
        /// Bytes that were written although they were there.
        var rewritten: Int64 = 0
        var journal: Journal?
        var source: String
        /// Whose it is; a crash takes it from everybody.
        var holder: Int?
        /// Counts the times that it started over.
        var incarnation = 0
        /// The finished file that it was before.
        var original: Int?
    }

    let contents: Mutex<Contents>

    init(source: String) { contents = Mutex(Contents(source: source)) }
}

extension FakePartFile.Contents {
    mutating func grow(to count: Int) {
        guard count > bytes.count else { return }
        if bytes.isEmpty {
            bytes = [UInt8](repeating: 0, count: count)
        } else {
            bytes += [UInt8](repeating: 0, count: max(count, 2 * bytes.count) - bytes.count)
        }
    }

    mutating func put(_ source: UnsafeRawBufferPointer, at offset: Int64) {
        let end = Int(offset) + source.count
        grow(to: end)
        length = max(length, end)
        unsafe bytes.withUnsafeMutableBytes { target in
            guard let from = source.baseAddress, let into = target.baseAddress else { return }
            _ = unsafe memcpy(into + Int(offset), from, source.count)
        }
        let range = ByteRange(offset, Int64(end))
        let new = written.gaps(in: range)
        rewritten += range.count - new.reduce(0) { $0 + $1.count }
        // The same bytes once more cannot be lost in a power cut when they were synced before.
        for run in new { dirty.insert(run) }
        written.insert(range)
    }

    mutating func cut(to length: Int) {
        self.length = length
        let end = Int64(length)
        written = written.clipped(to: end)
        dirty = dirty.clipped(to: end)
    }

    /// What no sync covered may be there or not, page by page.
    mutating func losePower(_ dice: inout Dice) {
        for run in dirty.runs {
            var start = run.start
            while start < run.end {
                let end = min(run.end, (start / 4096 + 1) * 4096)
                if dice.fraction() < 0.5 {
                    for index in Int(start)..<Int(end) { bytes[index] = 0xDB }
                }
                start = end
            }
        }
        dirty = ByteRangeSet()
        guard let durable = journal?.durable else { return }
        journal?.done = durable
        journal?.slots = [:]
        written = durable
    }
}
