import PawlBase

/// One lane's entry in the journal: its start, and a cursor that is updated by a single store of eight bytes.
///
/// The first 24 bytes (start, incarnation, check) are written once for each lane; the last eight are the
/// cursor's 48 bits with 16 bits of check. An aligned store of eight bytes is never torn by a kill.
package struct JournalSlot: Hashable, Sendable {
    package let index: Int
    package let start: Int64
    package let incarnation: UInt64
    private let check: UInt64

    package init(index: Int, start: Int64, incarnation: UInt64, nonce: UInt64) {
        self.index = index
        self.start = start
        self.incarnation = incarnation
        self.check = Self.check(index: index, start: start, incarnation: incarnation, nonce: nonce)
    }

    /// Offset of the cursor's word in the journal file; a multiple of eight.
    package var wordOffset: Int { JournalLayout.offset(ofSlot: index) + 24 }

    /// The three words before the cursor's.
    package var words: (start: UInt64, incarnation: UInt64, check: UInt64) {
        (UInt64(bitPattern: start), incarnation, check)
    }

    /// The cursor's word for a lane that has written up to `cursor`.
    ///
    /// A word of 0 (stored while the words before it change) can only claim an empty range.
    package func word(at cursor: Int64) -> UInt64 {
        precondition(
            start <= cursor && cursor <= ByteRange.longestFile, "a cursor runs forward below 256 TiB: \(cursor)")
        let bits = UInt64(cursor)
        return bits | UInt64(CursorCheck.value(of: bits, seed: seed)) << 48
    }

    package func write(at cursor: Int64) -> JournalWrite {
        var writer = JournalWriter()
        writer.put(start)
        writer.put(incarnation)
        writer.put(check)
        writer.put(word(at: cursor))
        return JournalWrite(offset: JournalLayout.offset(ofSlot: index), bytes: writer.bytes)
    }

    package func advance(to cursor: Int64) -> JournalWrite {
        var writer = JournalWriter()
        writer.put(word(at: cursor))
        return JournalWrite(offset: wordOffset, bytes: writer.bytes)
    }

    private var seed: UInt16 { UInt16(truncatingIfNeeded: check ^ (check >> 16) ^ (check >> 32) ^ (check >> 48)) }

    private static func check(index: Int, start: Int64, incarnation: UInt64, nonce: UInt64) -> UInt64 {
        var check = CRC64()
        check.feed(nonce)
        check.feed(UInt64(index))
        check.feed(UInt64(bitPattern: start))
        check.feed(incarnation)
        return check.value
    }

    /// Slot `index` of the first page, `nil` unless the words before its cursor are valid.
    init?(in page: ArraySlice<UInt8>, index: Int, nonce: UInt64) {
        let offset = page.startIndex + JournalLayout.offset(ofSlot: index)
        guard offset + JournalLayout.slotLength <= page.endIndex else { return nil }
        var reader = JournalReader(page[offset..<offset + JournalLayout.slotLength])
        guard let start = reader.take(Int64.self), 0...ByteRange.longestFile ~= start,
            let incarnation = reader.take(UInt64.self), incarnation <= JournalLayout.lastCount
        else { return nil }
        self.init(index: index, start: start, incarnation: incarnation, nonce: nonce)
        guard reader.take(UInt64.self) == check else { return nil }
    }

    /// The cursor of this slot in the first page, `nil` unless its word is valid.
    func cursor(in page: ArraySlice<UInt8>) -> Int64? {
        var reader = JournalReader(page.dropFirst(wordOffset))
        return reader.take(UInt64.self).flatMap { cursor(of: $0) }
    }

    /// The cursor that its word states, `nil` unless that is valid.
    package func cursor(of word: UInt64) -> Int64? {
        let cursor = Int64(word & 0xFFFF_FFFF_FFFF)
        guard cursor >= start, self.word(at: cursor) == word else { return nil }
        return cursor
    }
}
