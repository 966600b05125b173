package import PawlBase

/// The contents of a journal file.
package struct JournalImage: Hashable, Sendable {
    package let nonce: UInt64
    package let header: JournalHeader
    /// The buffer that contained `header`.
    package let buffer: Int
    /// The ranges in the lane slots of the header's incarnation.
    package let lanes: [ByteRange]
    /// The highest cursor of a lane; `nil` without any.
    private let front: Int64?
    /// The format version in the preamble.
    let version: UInt32
    /// The last announced write; `nil` where there is none, as in journals of older versions.
    private let intent: JournalIntent?
    /// The newest incarnation in the header or a slot.
    ///
    /// A power failure may leave slots whose header never reached the disk; no later incarnation may be taken
    /// for theirs.
    package let newestIncarnation: UInt64

    /// Whether its counts are higher than any that can have been counted.
    ///
    /// Such a journal is not resumed: the next count might not be readable.
    package var isMadeUp: Bool { max(header.generation, newestIncarnation) > JournalLayout.lastCount / 2 }

    /// Why bytes are not a valid journal.
    package enum Fault: Error, Hashable, Sendable {
        /// Created and never filled: empty, or its first bytes are still zero.
        case unborn
        /// Written by a newer Pawl.
        case newer(version: UInt32)
        /// Not a journal, or a damaged one.
        case damaged(String)
    }

    package init(_ bytes: [UInt8]) throws(Fault) {
        let front = bytes.prefix(JournalLayout.preambleLength)
        guard front.contains(where: { $0 != 0 }) else { throw .unborn }
        (nonce, version) = try Self.preamble(of: front)
        guard let (header, buffer) = Self.newestHeader(in: bytes, nonce: nonce) else {
            throw .damaged("it has no valid header")
        }
        self.header = header
        self.buffer = buffer
        let page = bytes.prefix(JournalLayout.pageLength)
        let nonce = nonce
        let slots = (0..<JournalLayout.slotCount).compactMap { JournalSlot(in: page, index: $0, nonce: nonce) }
        let cursors = slots.filter { $0.incarnation == header.incarnation }.compactMap { slot in
            slot.cursor(in: page).map { ByteRange(slot.start, $0) }
        }
        lanes = cursors.filter { !$0.isEmpty }
        self.front = cursors.map(\.end).max()
        let isAnnounced = version >= JournalLayout.announcingVersion
        intent = isAnnounced ? JournalIntent(in: page, incarnation: header.incarnation, nonce: nonce) : nil
        newestIncarnation = slots.reduce(header.incarnation) { max($0, $1.incarnation) }
    }

    /// The first 32 bytes: magic, version, four reserved bytes, nonce, check.
    ///
    /// The same in every version.
    static func preamble(nonce: UInt64, version: UInt32 = JournalLayout.version) -> [UInt8] {
        var writer = JournalWriter()
        writer.bytes = JournalLayout.magic
        writer.put(version)
        writer.put(UInt32(0))
        writer.put(nonce)
        writer.put(CRC64.value(of: writer.bytes))
        return writer.bytes
    }

    private static func preamble(of front: ArraySlice<UInt8>) throws(Fault) -> (nonce: UInt64, version: UInt32) {
        guard front.starts(with: JournalLayout.magic) else { throw .damaged("it does not begin like a journal") }
        var reader = JournalReader(front.dropFirst(JournalLayout.magic.count))
        guard let version = reader.take(UInt32.self), reader.take(UInt32.self) != nil,
            let nonce = reader.take(UInt64.self), reader.take(UInt64.self) == CRC64.value(of: front.prefix(24))
        else { throw .damaged("its preamble is damaged") }
        guard version <= JournalLayout.version else { throw .newer(version: version) }
        return (nonce, version)
    }

    private static func newestHeader(in bytes: [UInt8], nonce: UInt64) -> (JournalHeader, Int)? {
        var newest: (JournalHeader, Int)?
        for buffer in 0..<(JournalLayout.lastArea + 1) * JournalLayout.buffersPerArea {
            let start = JournalLayout.offset(ofBuffer: buffer)
            guard start < bytes.count else { break }
            let end = start + JournalLayout.capacity(ofArea: JournalLayout.area(ofBuffer: buffer))
            guard let header = JournalHeader(bytes[start..<min(end, bytes.count)], nonce: nonce) else { continue }
            if header.generation > newest?.0.generation ?? 0 { newest = (header, buffer) }
        }
        return newest
    }
}

extension JournalImage {
    /// The header's facts, with the joints that a process which was killed had no time to record: where a lane has
    /// written up to bytes of others.
    package var facts: JournalFacts {
        var facts = header.facts
        let written = written
        for lane in lanes where written.contains(ByteRange(lane.end, lane.end + 1)) {
            facts.representation.noteOpenJoint(lane.end)
        }
        return facts
    }

    /// The bytes passed to the kernel, if the page cache that held them still exists.
    package var written: ByteRangeSet {
        var set = header.written
        for lane in lanes { set.insert(lane) }
        return set
    }

    /// The length of the finished file, if the part file still consists of exactly that file: no trusted byte
    /// follows it.
    ///
    /// If a power failure has removed the bytes behind it, it is that file again: no byte of it was ever
    /// overwritten.
    package func original(trusting done: ByteRangeSet) -> Int64? {
        guard let original = header.original, began(trusting: done) == nil else { return nil }
        return original
    }

    /// The length of the finished file, if trusted bytes follow it.
    package func began(trusting done: ByteRangeSet) -> Int64? {
        guard let original = header.original, done.upperBound > original, done.contains(ByteRange(0, original)) else {
            return nil
        }
        return original
    }

    /// The bytes that may be trusted on this boot, in a part file of `length` bytes: all written bytes when
    /// the kernel and its page cache are the same (`boot` is `nil` for a file system that is not local), else
    /// only what was synced before the header was.
    ///
    /// The file's length overrides the journal's. `changed`: when the file was last changed, in nanoseconds
    /// since 1970, `nil` unless it is the one that the journal was made for and no copy of it; with its
    /// length it shows which write a kill interrupted before its cursor was stored.
    package func trusted(boot: BootIdentity?, length: Int64, changed: Int64?) -> ByteRangeSet {
        guard boot != nil, boot == header.boot else { return header.durable.clipped(to: length) }
        var set = written
        if let changed, let tail = tail(length, changed: changed) { set.insert(tail) }
        return set.clipped(to: length)
    }

    /// The bytes behind the highest cursor: the interrupted write of that lane, and nothing else.
    ///
    /// Each write that extends the file is announced before it is made, with its end. After it the lane's
    /// cursor is there, and nothing behind it counts. A file that ends elsewhere has half a write, or more
    /// than one, and the origin of its last bytes is unknown.
    private func tail(_ length: Int64, changed: Int64) -> ByteRange? {
        guard original(trusting: written) == nil, let front, front >= written.upperBound, let intent,
            intent.range.start == front, length > front, length == intent.range.end, intent.fits(changed)
        else { return nil }
        return intent.range
    }
}
