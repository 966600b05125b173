package import PawlBase

/// The state in one header buffer of the journal.
package struct JournalHeader: Hashable, Sendable {
    /// Counts the headers written; the valid one of the highest generation is current.
    package var generation: UInt64
    /// Lane slots of another incarnation are ignored.
    ///
    /// It increases at each opening and each start over.
    package var incarnation: UInt64
    /// `nil` when the page cache must not be trusted, on any boot.
    package var boot: BootIdentity?
    /// The buffer that was the last synced one when this header was written: it must not be overwritten
    /// before another one is synced, also not by a later process.
    package var synced: Int?
    /// The length of the finished file that became the part file, until a byte beyond it is recorded.
    ///
    /// Up to then nothing has shown that the file and the address belong together.
    package var original: Int64?
    package var inodes: JournalInodes
    package var facts: JournalFacts
    package var written: ByteRangeSet
    package var durable: ByteRangeSet
}

/// The inode numbers of both files when the journal was begun or last opened.
///
/// A part file of another inode beside a journal of the same one was put there by another program; when both
/// differ the pair was copied or restored.
package struct JournalInodes: Hashable, Sendable {
    package var part: UInt64
    package var journal: UInt64

    package init(part: UInt64, journal: UInt64) {
        self.part = part
        self.journal = journal
    }
}

extension JournalHeader {
    private static let mark: UInt32 = 0x3348_5750  // "PWH3"
    /// Of versions 1 and 2, which did not record the representation of the bytes.
    private static let oldMark: UInt32 = 0x4448_5750  // "PWHD"
    /// Mark, length, and at the end the check.
    private static let frame = 16

    /// The bytes of the header, sealed with a check that also covers `nonce`.
    func encoded(nonce: UInt64) -> [UInt8] {
        var writer = JournalWriter()
        writer.put(Self.mark)
        writer.put(UInt32(0))
        writer.put(generation)
        writer.put(incarnation)
        writer.put(boot?.high ?? 0)
        writer.put(boot?.low ?? 0)
        writer.put(inodes.part)
        writer.put(inodes.journal)
        writer.put(Int64(synced ?? -1))
        writer.put(original ?? -1)
        writer.put(facts)
        writer.put(written)
        writer.put(durable)
        writer.putTail(of: facts.representation)
        let length = UInt32(writer.bytes.count + 8)
        for index in 0..<4 { writer.bytes[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        writer.put(Self.seal(ArraySlice(writer.bytes), nonce: nonce))
        return writer.bytes
    }

    /// The header at the start of `buffer`, `nil` unless every bit of it is right.
    init?(_ buffer: ArraySlice<UInt8>, nonce: UInt64) {
        var front = JournalReader(buffer)
        guard let mark = front.take(UInt32.self), mark == Self.mark || mark == Self.oldMark,
            let length = front.take(UInt32.self).map(Int.init), length > Self.frame, length <= buffer.count
        else { return nil }
        let body = buffer.prefix(length - 8)
        var tail = JournalReader(buffer.prefix(length).suffix(8))
        guard tail.take(UInt64.self) == Self.seal(body, nonce: nonce) else { return nil }
        self.init(body: body.dropFirst(8), isOld: mark == Self.oldMark)
    }

    private init?(body: ArraySlice<UInt8>, isOld: Bool) {
        var reader = JournalReader(body)
        guard let generation = reader.take(UInt64.self), let incarnation = reader.take(UInt64.self),
            let high = reader.take(UInt64.self), let low = reader.take(UInt64.self),
            let part = reader.take(UInt64.self), let journal = reader.take(UInt64.self),
            let synced = reader.take(Int64.self), let original = reader.take(Int64.self),
            var facts = isOld ? reader.takeOldFacts() : reader.takeFacts(), let written = reader.takeSet(),
            let durable = reader.takeSet(), max(generation, incarnation) <= JournalLayout.lastCount,
            original <= ByteRange.longestFile
        else { return nil }
        if !reader.isAtEnd {
            guard !isOld, reader.takeTail(into: &facts.representation), reader.isAtEnd else { return nil }
        }
        self.generation = generation
        self.incarnation = incarnation
        self.boot = high == 0 && low == 0 ? nil : BootIdentity(high: high, low: low)
        self.synced = synced < 0 ? nil : Int(synced)
        self.original = original < 0 ? nil : original
        self.inodes = JournalInodes(part: part, journal: journal)
        self.facts = facts
        self.written = written
        self.durable = durable
    }

    private static func seal(_ bytes: ArraySlice<UInt8>, nonce: UInt64) -> UInt64 {
        var check = CRC64()
        check.feed(nonce)
        check.feed(bytes)
        return check.value
    }
}
