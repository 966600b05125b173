package import PawlCore

/// A small file on a disk that keeps what was synced, and of the rest whatever it likes, sector by sector.
package struct VolatileBytes: Sendable {
    private static let sector = 512

    /// What the kernel holds.
    package private(set) var cache: [UInt8] = []
    private var stable: [UInt8] = []
    /// What no sync has covered, in order.
    private var pending: [JournalWrite] = []
    /// Writes that syncs have covered.
    private var settled = 0

    package init() {}

    package mutating func perform(_ writes: [JournalWrite]) {
        for write in writes {
            Self.apply(write, to: &cache)
            pending.append(write)
        }
    }

    /// A sync that begins now covers so many writes, counted from the first, when it ends.
    package var syncPoint: Int { settled + pending.count }

    package mutating func sync(to point: Int) {
        let count = max(0, point - settled)
        for write in pending.prefix(count) { Self.apply(write, to: &stable) }
        pending.removeFirst(count)
        settled += count
    }

    /// What the cache holds when the process is killed inside the last of `writes`, after `count` of its bytes.
    package func killed(during writes: ArraySlice<JournalWrite>, after count: Int) -> [UInt8] {
        var bytes = cache
        for write in writes.dropLast() { Self.apply(write, to: &bytes) }
        if let last = writes.last {
            Self.apply(JournalWrite(offset: last.offset, bytes: Array(last.bytes.prefix(count))), to: &bytes)
        }
        return bytes
    }

    /// What the disk holds after a power cut: each sector is as old as it likes, but not older than the last sync.
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

    /// The machine starts anew, with a clean shutdown or after a power cut.
    package mutating func reboot(clean: Bool, _ dice: inout some RandomNumberGenerator) {
        if !clean { cache = afterPowerCut(&dice) }
        stable = cache
        settled += pending.count
        pending = []
    }

    package static func apply(_ write: JournalWrite, to bytes: inout [UInt8]) {
        let end = write.offset + write.bytes.count
        if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
        bytes.replaceSubrange(write.offset..<end, with: write.bytes)
    }
}
