package import PawlJournal

/// A small file on a disk that keeps what was synced, and any part of the rest, sector by sector.
package struct VolatileBytes: Sendable {
    private static let sector = 512

    /// The kernel's cache.
    package private(set) var cache: [UInt8] = []
    private var stable: [UInt8] = []
    /// Writes that no sync has covered, in order.
    private var pending: [JournalWrite] = []
    /// The number of writes that syncs have covered.
    private var settled = 0

    package init() {}

    package mutating func perform(_ writes: [JournalWrite]) {
        for write in writes {
            Self.apply(write, to: &cache)
            pending.append(write)
        }
    }

    /// The number of writes, counted from the first, that a sync starting now will cover.
    package var syncPoint: Int { settled + pending.count }

    package mutating func sync(to point: Int) {
        let count = max(0, point - settled)
        for write in pending.prefix(count) { Self.apply(write, to: &stable) }
        pending.removeFirst(count)
        settled += count
    }

    /// The cache when the process is killed inside the last of `writes`, after `count` of its bytes.
    package func killed(during writes: ArraySlice<JournalWrite>, after count: Int) -> [UInt8] {
        var bytes = cache
        for write in writes.dropLast() { Self.apply(write, to: &bytes) }
        if let last = writes.last {
            Self.apply(JournalWrite(offset: last.offset, bytes: Array(last.bytes.prefix(count))), to: &bytes)
        }
        return bytes
    }

    /// The disk after a power cut: each sector has any age, but not older than the last sync.
    package func afterPowerCut(_ dice: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = stable
        let end = pending.map { $0.offset + $0.bytes.count }.max() ?? 0
        for sector in stride(from: 0, to: end, by: Self.sector) {
            let limit = sector + Self.sector
            let touching = pending.filter { $0.offset < limit && $0.offset + $0.bytes.count > sector }
            let kept = Int(dice.next() % UInt64(touching.count + 1))
            for write in touching.prefix(kept) {
                let low = max(sector, write.offset)
                let high = min(limit, write.offset + write.bytes.count)
                let part = write.bytes[low - write.offset..<high - write.offset]
                Self.apply(JournalWrite(offset: low, bytes: Array(part)), to: &bytes)
            }
        }
        return bytes
    }

    /// Reboots, after a clean shutdown or a power cut.
    package mutating func reboot(clean: Bool, _ dice: inout some RandomNumberGenerator) {
        if !clean { cache = afterPowerCut(&dice) }
        stable = cache
        settled += pending.count
        pending = []
    }

    package static func apply(_ write: JournalWrite, to bytes: inout [UInt8]) {
        let end = write.offset + write.bytes.count
        if bytes.count < end { bytes.append(contentsOf: [UInt8](repeating: 0, count: end - bytes.count)) }
        bytes.replaceSubrange(write.offset..<end, with: write.bytes)
    }
}
