/// The layout of a journal file.
///
/// The first page contains the preamble and the table of lane slots; it alone is mapped into memory. Header
/// buffers follow in areas of four; each area's buffers are twice as large as those of the area before. A
/// header that has outgrown its area goes to the next one, so a journal grows without being rewritten and its
/// older headers stay valid.
package enum JournalLayout {
    package static let version: UInt32 = 3
    /// The version since which writes that extend the file are announced (`JournalIntent`).
    static let announcingVersion: UInt32 = 3
    /// Stands in a header where a suspect page could, before what follows it.
    static let noSuspect: Int64 = -2
    package static let magic: [UInt8] = Array("PAWLJRNL".utf8)
    /// The mapped first page: preamble, the announced write, lane slots.
    package static let pageLength = 4096
    package static let preambleLength = 32
    package static let slotTable = 2048
    package static let slotLength = 32
    package static let slotCount = 64
    /// Four, not three: one synced, one whose sync is in progress, the newest, and a free one.
    ///
    /// With three the newest would be overwritten during a sync, and a kill during that write would lose the
    /// former contents of the reused slots.
    package static let buffersPerArea = 4
    /// Headers of up to 8 MiB; no journal file is longer than `end(ofArea: lastArea)`.
    package static let lastArea = 11

    /// A generation or an incarnation above it was not counted but forged.
    static let lastCount = UInt64.max / 2

    package static func capacity(ofArea area: Int) -> Int { pageLength << area }
    package static func start(ofArea area: Int) -> Int { pageLength + buffersPerArea * pageLength * ((1 << area) - 1) }
    package static func end(ofArea area: Int) -> Int { start(ofArea: area + 1) }

    package static func area(ofBuffer buffer: Int) -> Int { buffer / buffersPerArea }
    package static func offset(ofBuffer buffer: Int) -> Int {
        let area = area(ofBuffer: buffer)
        return start(ofArea: area) + (buffer % buffersPerArea) * capacity(ofArea: area)
    }
    package static func offset(ofSlot slot: Int) -> Int { slotTable + slot * slotLength }
}

/// A write to an offset of the journal file.
package struct JournalWrite: Hashable, Sendable {
    package var offset: Int
    package var bytes: [UInt8]

    package init(offset: Int, bytes: [UInt8]) {
        self.offset = offset
        self.bytes = bytes
    }
}

/// The boot of the kernel that wrote a journal: the page cache lives as long as it.
package struct BootIdentity: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
