import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlJournal

/// Journals that only another program, a damaged disk or a very long life produces.
@Suite struct JournalCaseTests {
    private func begun(done: ByteRangeSet = ByteRangeSet(), original: Int64? = nil) -> (JournalKeeper, [JournalWrite]) {
        JournalKeeper.begun(
            facts: someFacts(), done: done, original: original, inodes: someInodes, boot: someBoot, nonce: 5)
    }

    /// The same bytes with a correct length and checksum.
    private func sealed(_ bytes: ArraySlice<UInt8>, nonce: UInt64) -> [UInt8] {
        var writer = JournalWriter()
        writer.bytes = Array(bytes)
        var length = JournalWriter()
        length.put(UInt32(bytes.count + 8))
        writer.bytes.replaceSubrange(4..<8, with: length.bytes)
        var check = CRC64()
        check.feed(nonce)
        check.feed(writer.bytes)
        writer.put(check.value)
        return writer.bytes
    }

    @Test func `a truncated header is invalid, wherever it ends`() {
        let header = begun(done: ByteRangeSet([ByteRange(3, 9)])).0.header
        let bytes = header.encoded(nonce: 5)
        let body = bytes.dropLast(8)
        #expect(JournalHeader(ArraySlice(sealed(body, nonce: 5)), nonce: 5) == header)
        for end in 17..<body.count {
            #expect(JournalHeader(ArraySlice(sealed(body.prefix(end), nonce: 5)), nonce: 5) == nil)
        }
    }

    @Test func `at the end of a run nothing of the slots counts`() throws {
        var (keeper, writes) = begun()
        let (slot, begins) = keeper.beginLane(0, at: 0, retiring: nil)
        var file = VolatileBytes()
        file.perform(writes + begins + [slot.advance(to: 300)])
        #expect(try JournalImage(file.cache).written == ByteRangeSet([ByteRange(0, 300)]))
        // The bytes from 100 to 200 were found wrong, and the retraction could not be written.
        let right = ByteRangeSet([ByteRange(0, 100), ByteRange(200, 300)])
        file.perform(keeper.recordEnd(someFacts(), written: right))
        #expect(try JournalImage(file.cache).written == right)
    }

    @Test func `a finished file with appended bytes is not finished any more, and what it was is known`() throws {
        var (keeper, writes) = begun(original: 100)
        writes += keeper.record(someFacts(), written: ByteRangeSet([ByteRange(0, 100)]))
        var file = VolatileBytes()
        file.perform(writes)
        let same = try JournalImage(file.cache)
        #expect(same.original(trusting: same.written) == 100 && same.began(trusting: same.written) == nil)
        file.perform(keeper.record(someFacts(), written: ByteRangeSet([ByteRange(0, 101)])))
        let longer = try JournalImage(file.cache)
        #expect(longer.original(trusting: longer.written) == nil)
        #expect(longer.began(trusting: longer.written) == 100)
        // Bytes of it that are not trusted any more are nevertheless not to be overwritten.
        #expect(longer.original(trusting: ByteRangeSet([ByteRange(50, 101)])) == 100)
    }

    @Test func `a tail that a power cut removes makes a file finished again, and a kill does not`() throws {
        let (begun, writes) = begun(original: 100)
        var keeper = begun
        var file = VolatileBytes()
        file.perform(writes)
        file.perform(keeper.beginLane(0, at: 100, retiring: nil).1)
        file.perform([JournalSlot(index: 0, start: 100, incarnation: keeper.incarnation, nonce: 5).write(at: 120)])
        let killed = try JournalImage(file.cache)
        let all = ByteRangeSet([ByteRange(0, 120)])
        #expect(killed.original(trusting: all) == nil)
        #expect(killed.original(trusting: ByteRangeSet()) == 100)
        let (next, _) = JournalKeeper.resumed(killed, done: all, length: 120, inodes: someInodes, boot: someBoot)
        #expect(next.header.original == 100)
        let (same, _) = JournalKeeper.resumed(
            killed, done: ByteRangeSet(), length: 100, inodes: someInodes, boot: someBoot)
        #expect(same.header.original == 100)
    }

    @Test(arguments: [3, UInt64.max / 4, UInt64.max / 4 + 1, UInt64.max / 2])
    func `a journal with impossible counts is recognized`(count: UInt64) throws {
        let writes = begun().1
        var bytes: [UInt8] = []
        let slot = JournalSlot(index: 0, start: 0, incarnation: count, nonce: 5).write(at: 7)
        for write in writes + [slot] {
            let missing = write.offset + write.bytes.count - bytes.count
            if missing > 0 { bytes += [UInt8](repeating: 0, count: missing) }
            bytes.replaceSubrange(write.offset..<(write.offset + write.bytes.count), with: write.bytes)
        }
        #expect(try JournalImage(bytes).isMadeUp == (count > UInt64.max / 4))
    }

    @Test func `a run beyond all numbers is invalid`() {
        for far in [1, UInt64(Int64.max)] {
            var writer = JournalWriter()
            writer.putCount(2)
            for part in [1, UInt64(Int64.max) - 1, far, UInt64(Int64.max)] { writer.putCount(part) }
            var reader = JournalReader(ArraySlice(writer.bytes))
            #expect(reader.takeSet() == nil)
        }
        var endless = JournalReader(ArraySlice(repeatElement(0x80 as UInt8, count: 12)))
        #expect(endless.takeCount() == nil)
    }

    @Test func `a header that exceeds every buffer omits its shortest runs`() throws {
        let runs = (0..<400).map { index -> ByteRange in
            let start = Int64(index) << 20
            return ByteRange(start, start + Int64(index + 1) * 1000)
        }
        var (keeper, writes) = begun()
        var disk = VolatileBytes()
        disk.perform(writes)
        let written = ByteRangeSet(runs)
        writes = keeper.dataSynced(written, incarnation: keeper.incarnation)
        disk.perform(writes)
        let most = JournalLayout.capacity(ofArea: JournalLayout.lastArea)
        disk.perform(keeper.record(someFacts(padding: most - 3000), written: written))
        let image = try JournalImage(disk.cache)
        #expect(image.written == ByteRangeSet(runs.suffix(200)))
        #expect(image.header.durable == image.written)
        #expect(keeper.header.written == written, "the next header says all again, when it fits")
    }

    @Test func `a checksum is the same for any storage of the bytes`() {
        let bytes = (0..<9 as Range<UInt8>).map { $0 }
        let lazily = (0..<9 as Range<UInt8>).lazy.map { $0 }
        #expect(CRC64.value(of: lazily) == CRC64.value(of: bytes))
    }

    @Test func `a slot's text is the bytes before its cursor`() {
        let slot = JournalSlot(index: 3, start: 7, incarnation: 2, nonce: 5)
        var writer = JournalWriter()
        for word in [slot.words.start, slot.words.incarnation, slot.words.check] { writer.put(word) }
        #expect(slot.write(at: 7).bytes.prefix(24) == ArraySlice(writer.bytes))
        let bytes = slot.write(at: 9).bytes
        #expect(JournalSlot(in: ArraySlice(bytes), index: 3, nonce: 5) == nil, "the page ends before it")
        #expect(slot.cursor(in: ArraySlice(bytes)) == nil)
    }
}
