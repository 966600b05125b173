package import PawlBase

/// The announcement of a write that extends the file, stored before it is made.
///
/// A kill between a write and its cursor leaves bytes behind the cursor. They are trusted where the file ends
/// exactly as announced, and was last changed at the time of that write: both reveal what another program
/// appends. The words are in the journal's first page; an end of 0 announces nothing.
package struct JournalIntent: Hashable, Sendable {
    package let range: ByteRange
    /// Nanoseconds since 1970 of the clock that sets file times.
    package let time: Int64
    private let incarnation: UInt64
    private let nonce: UInt64

    /// Between the preamble and the lane slots.
    private static let offset = 64
    package static let length = 24
    /// How much older than the clock a file's time can be: file systems use a clock that advances in ticks.
    private static let tick: Int64 = 10_000_000
    /// How long after the announcement the write begins.
    private static let delay: Int64 = 1_000_000

    /// `nil` where no cursor can represent the end of the write.
    package init?(_ range: ByteRange, at time: Int64, incarnation: UInt64, nonce: UInt64) {
        guard range.start >= 0, range.end <= ByteRange.longestFile, time >= 0, time <= .max / 2 else { return nil }
        self.range = range
        self.time = time
        self.incarnation = incarnation
        self.nonce = nonce
    }

    /// Offset of the last word, which is cleared before the others change and set after them.
    package static var endOffset: Int { offset + 16 }
    package static var startOffset: Int { offset }
    package static var timeOffset: Int { offset + 8 }

    package var words: (start: UInt64, time: UInt64, end: UInt64) {
        (UInt64(bitPattern: range.start), UInt64(bitPattern: time), word)
    }

    package var write: JournalWrite {
        var writer = JournalWriter()
        let (start, time, end) = words
        for word in [start, time, end] { writer.put(word) }
        return JournalWrite(offset: Self.offset, bytes: writer.bytes)
    }

    /// The writes that withdraw the announcement.
    package static var retraction: JournalWrite {
        JournalWrite(offset: endOffset, bytes: [UInt8](repeating: 0, count: 8))
    }

    private var word: UInt64 {
        let bits = UInt64(range.end)
        var check = CRC64()
        for part in [nonce, incarnation, UInt64(bitPattern: range.start), UInt64(bitPattern: time)] { check.feed(part) }
        let value = check.value
        let seed = UInt16(truncatingIfNeeded: value ^ (value >> 16) ^ (value >> 32) ^ (value >> 48))
        return bits | UInt64(CursorCheck.value(of: bits, seed: seed)) << 48
    }

    /// The announcement in the first page, `nil` unless it is complete and of this incarnation.
    init?(in page: ArraySlice<UInt8>, incarnation: UInt64, nonce: UInt64) {
        var reader = JournalReader(page.dropFirst(Self.offset))
        guard let start = reader.take(Int64.self), let time = reader.take(Int64.self),
            let end = reader.take(UInt64.self), start >= 0, end != 0
        else { return nil }
        let last = Int64(end & 0xFFFF_FFFF_FFFF)
        guard start <= last else { return nil }
        self.init(ByteRange(start, last), at: time, incarnation: incarnation, nonce: nonce)
        guard word == end else { return nil }
    }

    /// Whether this write may have set that time of last change.
    func fits(_ changed: Int64) -> Bool {
        let (age, overflows) = changed.subtractingReportingOverflow(time)
        return !overflows && age >= -Self.tick && age <= Self.delay
    }
}
