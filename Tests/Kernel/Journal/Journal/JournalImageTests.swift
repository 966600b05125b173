import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlJournal

@Suite struct JournalImageTests {
    private func journal(
        facts: JournalFacts = someFacts(), done: ByteRangeSet = ByteRangeSet(), original: Int64? = nil
    ) -> [UInt8] {
        var disk = VolatileBytes()
        let (_, writes) = JournalKeeper.begun(
            facts: facts, done: done, original: original, inodes: someInodes, boot: someBoot, nonce: 99)
        disk.perform(writes)
        return disk.cache
    }

    @Test func `a journal returns its content`() throws {
        let done = ByteRangeSet([ByteRange(0, 5), ByteRange(1 << 41, (1 << 41) + 7)])
        let image = try JournalImage(journal(done: done, original: 77))
        #expect(image.header.facts == someFacts())
        #expect(image.written == done)
        #expect(image.header.original == 77)
        #expect(image.header.inodes == someInodes)
        #expect(image.header.durable.isEmpty)
        #expect(image.nonce == 99)
    }

    @Test(arguments: [
        SuspectPage(total: 1 << 40, mediaType: "text/html"), SuspectPage(total: nil, mediaType: nil),
        SuspectPage(total: 0, mediaType: ""),
    ]) func `a page that may be a new version is recorded`(page: SuspectPage) throws {
        var facts = someFacts()
        facts.representation.suspect = page
        let done = ByteRangeSet([ByteRange(0, 5)])
        let image = try JournalImage(journal(facts: facts, done: done))
        #expect(image.header.facts == facts && image.written == done)
    }

    @Test(arguments: [
        Representation(), Representation(selection: nil, base: nil), Representation(coding: "", total: 0),
        Representation(selection: .from(7), base: 7, total: 1 << 48 - 1),
        Representation(selection: .suffix(7), base: nil),
        Representation(
            selection: .closed(ByteRange(7, 7)), mediaType: "",
            records: [
                ValidatorRecord(source: "", host: "", validators: Validators()),
                ValidatorRecord(
                    source: "a", host: "b",
                    validators: Validators(
                        entityTag: EntityTag(opaque: "", isWeak: false), lastModified: UnixTime(seconds: -1), date: nil),
                    stability: .varying),
            ]),
    ]) func `a representation is restored whichever part of it is known`(_ representation: Representation) throws {
        let facts = JournalFacts(sources: [], representation: representation, name: "")
        #expect(try JournalImage(journal(facts: facts)).header.facts == facts)
    }

    @Test func `many mirrors and long URLs make the journal grow`() throws {
        let sources = (0..<200).map { "https://m\($0).example/" + String(repeating: "u", count: 2000) }
        let facts = JournalFacts(sources: sources, name: "x")
        let bytes = journal(facts: facts)
        #expect(bytes.count == JournalLayout.end(ofArea: 7))
        #expect(try JournalImage(bytes).header.facts == facts)
    }

    @Test(arguments: [
        Representation(total: 1 << 48), Representation(selection: .from(.max), base: 7),
        Representation(selection: .suffix(1 << 48), base: nil), Representation(selection: .closed(ByteRange(0, .max))),
        Representation(selection: .from(7), base: .max),
    ]) func `a journal that claims more than a file can have is invalid`(_ representation: Representation) {
        let facts = JournalFacts(sources: [], representation: representation, name: "")
        #expect(throws: JournalImage.Fault.self) { try JournalImage(journal(facts: facts)) }
    }

    @Test func `a journal that claims bytes beyond any file is invalid`() {
        let done = ByteRangeSet([ByteRange(0, 5), ByteRange(1 << 48 - 1, .max)])
        #expect(throws: JournalImage.Fault.self) { try JournalImage(journal(done: done)) }
        #expect(throws: JournalImage.Fault.self) { try JournalImage(journal(original: .max)) }
    }

    @Test func `URLs that do not fit into a journal are dropped in favour of the first ones`() throws {
        let sources = (0..<9).map { "https://m\($0).example/" + String(repeating: "u", count: 1 << 20) }
        let done = ByteRangeSet([ByteRange(0, 5)])
        let image = try JournalImage(journal(facts: JournalFacts(sources: sources, name: "x"), done: done))
        #expect(image.header.facts.sources == [sources[0]])
        #expect(image.written == done)
    }

    @Test func `the file's length takes precedence over the journal`() throws {
        let image = try JournalImage(journal(done: ByteRangeSet([ByteRange(0, 100), ByteRange(200, 300)])))
        #expect(
            image.trusted(boot: someBoot, length: 250, changed: nil).runs == [ByteRange(0, 100), ByteRange(200, 250)])
        #expect(image.trusted(boot: someBoot, length: 0, changed: nil).isEmpty)
    }

    private let time: Int64 = 1_700_000_000_000_000_000

    private func put(_ write: JournalWrite, into bytes: inout [UInt8]) {
        bytes.replaceSubrange(write.offset..<write.offset + write.bytes.count, with: write.bytes)
    }

    /// Two lanes: [0, 40) and [100, 120), the second being last; it has announced [120, 180).
    private func twoLanes(
        version: UInt32 = JournalLayout.version, original: Int64? = nil, done: ByteRangeSet = ByteRangeSet(),
        announced: ByteRange? = ByteRange(120, 180), incarnation: UInt64 = 1
    ) throws -> JournalImage {
        var bytes = journal(done: done, original: original)
        bytes.replaceSubrange(0..<32, with: JournalImage.preamble(nonce: 99, version: version))
        for (index, start, cursor) in [(0, 0, 40), (1, 100, 120)] as [(Int, Int64, Int64)] {
            let slot = JournalSlot(index: index, start: start, incarnation: 1, nonce: 99)
            put(slot.write(at: cursor), into: &bytes)
        }
        if let announced {
            let intent = JournalIntent(announced, at: time, incarnation: incarnation, nonce: 99)
            try put(#require(intent).write, into: &bytes)
        }
        return try JournalImage(bytes)
    }

    private let lanes = [ByteRange(0, 40), ByteRange(100, 120)]

    @Test func `A4 bytes written but not recorded before a kill are known by the file's length`() throws {
        let image = try twoLanes()
        func trusted(_ length: Int64, boot: BootIdentity? = someBoot) -> [ByteRange] {
            image.trusted(boot: boot, length: length, changed: time).runs
        }
        #expect(trusted(120) == lanes)
        #expect(trusted(180) == [lanes[0], ByteRange(100, 180)])
        #expect(trusted(110) == [lanes[0], ByteRange(100, 110)])
        #expect(image.trusted(boot: someBoot, length: 180, changed: nil).runs == lanes, "it may be a copy")
        #expect(trusted(180, boot: otherBoot).isEmpty)
    }

    @Test func `bytes that were not announced are not trusted, nor any beside them`() throws {
        let image = try twoLanes()
        for length in [121, 170, 179, 181, 200, 120 + ByteRange.longestWrite, .max] as [Int64] {
            #expect(image.trusted(boot: someBoot, length: length, changed: time).runs == lanes)
        }
        for other in [nil, ByteRange(119, 180), ByteRange(121, 180), ByteRange(40, 180)] {
            let image = try twoLanes(announced: other)
            #expect(image.trusted(boot: someBoot, length: 180, changed: time).runs == lanes, "\(other as Any)")
        }
        let older = try twoLanes(incarnation: 0)
        #expect(older.trusted(boot: someBoot, length: 180, changed: time).runs == lanes)
    }

    @Test func `a file that was changed after the announced write is not trusted behind its cursors`() throws {
        let image = try twoLanes()
        // File systems take times from a clock with coarse ticks, so a file may look slightly older.
        for (age, isTrusted) in [
            (0, true), (-9_000_000, true), (900_000, true), (1_100_000, false), (4_000_000, false),
            (-11_000_000, false), (3_600_000_000_000, false),
        ] as [(Int64, Bool)] {
            let runs = image.trusted(boot: someBoot, length: 180, changed: time + age).runs
            #expect((runs != lanes) == isTrusted, "\(age)")
        }
        for time in [Int64.min, .max] {
            #expect(image.trusted(boot: someBoot, length: 180, changed: time).runs == lanes)
        }
    }

    @Test(arguments: [1, 2] as [UInt32])
    func `a journal of an older version keeps its meaning, and bytes after it are ignored`(version: UInt32) throws {
        let old = try twoLanes(version: version)
        #expect(old.header.facts == someFacts())
        #expect(old.trusted(boot: someBoot, length: 180, changed: time).runs == lanes)
    }

    @Test func `a length that another program may have caused proves nothing`() throws {
        let finished = try twoLanes(original: 180)
        #expect(finished.trusted(boot: someBoot, length: 180, changed: time).runs == lanes)
        let behind = try twoLanes(done: ByteRangeSet([ByteRange(150, 160)]))
        #expect(behind.trusted(boot: someBoot, length: 180, changed: time).runs == lanes + [ByteRange(150, 160)])
        let without = try JournalImage(journal(done: ByteRangeSet([ByteRange(0, 100)])))
        #expect(without.trusted(boot: someBoot, length: 180, changed: time).runs == [ByteRange(0, 100)])
    }

    @Test func `a lane without a recorded byte is at its start`() throws {
        var bytes = journal(done: ByteRangeSet([ByteRange(0, 50)]))
        put(JournalSlot(index: 0, start: 200, incarnation: 1, nonce: 99).write(at: 200), into: &bytes)
        let intent = JournalIntent(ByteRange(200, 260), at: time, incarnation: 1, nonce: 99)
        try put(#require(intent).write, into: &bytes)
        let image = try JournalImage(bytes)
        #expect(image.lanes.isEmpty)
        #expect(
            image.trusted(boot: someBoot, length: 260, changed: time).runs == [ByteRange(0, 50), ByteRange(200, 260)])
        #expect(image.trusted(boot: someBoot, length: 90, changed: time).runs == [ByteRange(0, 50)])
    }

    @Test func `an impossible announcement is ignored`() {
        for range in [ByteRange(0, 1 << 48), ByteRange(1 << 48, 1 << 49)] {
            #expect(JournalIntent(range, at: 0, incarnation: 1, nonce: 1) == nil)
        }
        #expect(JournalIntent(ByteRange(0, 9), at: -1, incarnation: 1, nonce: 1) == nil)
        #expect(JournalIntent(ByteRange(0, 9), at: .max, incarnation: 1, nonce: 1) == nil)
    }

    @Test func `every damaged bit of an announcement is detected`() throws {
        var bytes = journal()
        put(JournalSlot(index: 0, start: 0, incarnation: 1, nonce: 99).write(at: 10), into: &bytes)
        let write = try #require(JournalIntent(ByteRange(10, 60), at: time, incarnation: 1, nonce: 99)).write
        put(write, into: &bytes)
        #expect(try JournalImage(bytes).trusted(boot: someBoot, length: 60, changed: time).count == 60)
        for bit in 0..<JournalIntent.length * 8 {
            var damaged = bytes
            damaged[write.offset + bit / 8] ^= 1 << (bit % 8)
            let changed = time
            #expect(try JournalImage(damaged).trusted(boot: someBoot, length: 60, changed: changed).count == 10)
        }
    }

    @Test func `without a boot ID to compare only durable bytes are trusted`() throws {
        let image = try JournalImage(journal(done: ByteRangeSet([ByteRange(0, 100)])))
        #expect(image.trusted(boot: nil, length: 100, changed: nil).isEmpty)
        #expect(image.trusted(boot: otherBoot, length: 100, changed: nil).isEmpty)
    }

    @Test func `an empty file and one of zeros are journals that were never filled`() {
        #expect(throws: JournalImage.Fault.unborn) { try JournalImage([]) }
        #expect(throws: JournalImage.Fault.unborn) { try JournalImage([UInt8](repeating: 0, count: 20_480)) }
    }

    @Test func `another program's file is not a journal`() {
        #expect(throws: JournalImage.Fault.damaged("it does not begin like a journal")) {
            try JournalImage(Array("<!DOCTYPE html><html><head><title>Sign in</title></head></html>".utf8))
        }
    }

    @Test func `a newer format is distinguished from damage`() {
        var bytes = journal()
        bytes.replaceSubrange(0..<32, with: JournalImage.preamble(nonce: 99, version: 9))
        #expect(throws: JournalImage.Fault.newer(version: 9)) { try JournalImage(bytes) }
        bytes[20] ^= 1
        #expect(throws: JournalImage.Fault.damaged("its preamble is damaged")) { try JournalImage(bytes) }
    }

    @Test func `a header of another journal in the same blocks is ignored`() {
        var bytes = journal()
        bytes.replaceSubrange(0..<32, with: JournalImage.preamble(nonce: 98))
        #expect(throws: JournalImage.Fault.damaged("it has no valid header")) { try JournalImage(bytes) }
    }

    @Test func `the checksums match the published ones`() {
        // The check value of CRC-64/XZ in the catalogue.
        #expect(CRC64.value(of: "123456789".utf8) == 0x995D_C9BB_DF19_39FA)
    }

    @Test func `a slot's cursor is found, and a slot of another incarnation is not`() throws {
        var bytes = journal()
        let slot = JournalSlot(index: 63, start: 10, incarnation: 1, nonce: 99)
        VolatileBytes.apply(slot.write(at: 10), to: &bytes)
        #expect(try JournalImage(bytes).lanes.isEmpty)
        VolatileBytes.apply(slot.advance(to: (1 << 48) - 1), to: &bytes)
        #expect(try JournalImage(bytes).lanes == [ByteRange(10, (1 << 48) - 1)])
        let stale = JournalSlot(index: 63, start: 10, incarnation: 2, nonce: 99)
        VolatileBytes.apply(stale.write(at: 20), to: &bytes)
        #expect(try JournalImage(bytes).lanes.isEmpty)
    }

    /// The process was killed before it could record where bytes of two responses met.
    @Test(arguments: [true, false])
    func `the end of a lane before bytes of others is a joint, unless one strong tag covers both`(isStrong: Bool) throws
    {
        var facts = someFacts()
        let tag = EntityTag(opaque: "a", isWeak: !isStrong)
        let record = ValidatorRecord(source: "u", host: "h", validators: Validators(entityTag: tag))
        facts.representation = Representation(total: 100, records: [record])
        if !isStrong { facts.representation.openJoints = [70] }
        var bytes = journal(facts: facts, done: ByteRangeSet([ByteRange(40, 80)]))
        for (index, lane) in [ByteRange(0, 20), ByteRange(20, 40), ByteRange(80, 90)].enumerated() {
            let slot = JournalSlot(index: index, start: lane.start, incarnation: 1, nonce: 99)
            VolatileBytes.apply(slot.write(at: lane.end), to: &bytes)
        }
        let image = try JournalImage(bytes)
        #expect(image.header.facts == facts)
        #expect(image.facts.representation.openJoints == (isStrong ? [] : [70, 20, 40]))
        #expect(JournalFacts(encoded: image.facts.encoded) == image.facts)
    }
}
