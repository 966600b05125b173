@testable import PawlBase
@testable import PawlCommands
@testable import PawlJournal

/// The journal's bytes: any are read without harm, and a written journal is read back.
enum JournalLaws {
    static let nonce: UInt64 = 0x5EED
    static let boot = BootIdentity(high: 1, low: 2)
    static let inodes = JournalInodes(part: 3, journal: 4)

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        switch input.byte() % 3 {
        case 0: if let image = try? JournalImage(input.rest()) { try check(image) }
        case 1: try checkSealed(&input)
        default: try checkRoundTrip(&input)
        }
    }

    /// A journal with valid checksums around a header and slots of any bytes.
    private static func checkSealed(_ input: inout FuzzInput) throws(BrokenLaw) {
        var bytes = JournalImage.preamble(nonce: nonce)
        bytes += [UInt8](repeating: 0, count: JournalLayout.pageLength - bytes.count)
        for _ in 0..<input.byte() % 4 {
            let index = Int(input.byte()) % JournalLayout.slotCount
            let start = input.number() % (1 << 48)
            let slot = JournalSlot(index: index, start: start, incarnation: input.word(), nonce: nonce)
            let end = min((1 << 48) - 1, start + input.number() % (1 << 48))
            perform([slot.write(at: start), slot.advance(to: end)], on: &bytes)
        }
        let start = input.number() % (1 << 48)
        let incarnation = input.word()
        if let intent = JournalIntent(
            ByteRange(start, start + input.number() % (1 << 48)), at: input.number(), incarnation: incarnation,
            nonce: nonce)
        {
            perform([intent.write], on: &bytes)
        }
        let body = input.rest()
        var header = JournalWriter()
        header.put(UInt32(0x4448_5750))
        header.put(UInt32(body.count + 16))
        header.bytes += body
        var seal = CRC64()
        seal.feed(nonce)
        seal.feed(header.bytes)
        header.put(seal.value)
        perform([JournalWrite(offset: JournalLayout.offset(ofBuffer: 0), bytes: header.bytes)], on: &bytes)
        if let image = try? JournalImage(bytes) { try check(image, bytes) }
    }

    private static func checkRoundTrip(_ input: inout FuzzInput) throws(BrokenLaw) {
        let header = drawHeader(&input)
        let bytes = header.encoded(nonce: nonce)
        try hold(JournalHeader(bytes[...], nonce: nonce) == header, "read back as another: \(header)")
        try hold(JournalHeader(bytes.dropLast(), nonce: nonce) == nil, "a header without its end is taken")
        try hold(JournalHeader(bytes[...], nonce: nonce + 1) == nil, "another journal's header is taken")
    }

    private static func drawHeader(_ input: inout FuzzInput) -> JournalHeader {
        let sources = (0..<input.byte() % 4).map { _ in input.text() }
        return JournalHeader(
            generation: UInt64(input.number()), incarnation: UInt64(input.number()),
            boot: input.flag() ? BootIdentity(high: input.word(), low: input.word() | 1) : nil,
            synced: input.flag() ? Int(input.number()) : nil, original: input.flag() ? place(&input) : nil,
            inodes: JournalInodes(part: input.word(), journal: input.word()),
            facts: JournalFacts(sources: sources, representation: drawRepresentation(&input), name: input.text()),
            written: drawSet(&input), durable: drawSet(&input))
    }

    private static func drawRepresentation(_ input: inout FuzzInput) -> Representation {
        let start = place(&input)
        let selections: [RequestedRange?] = [
            nil, .whole, .from(start), .suffix(start), .closed(ByteRange(start, start + place(&input))),
        ]
        let records = (0..<input.byte() % 3).map { _ in
            ValidatorRecord(
                source: input.text(), host: input.text(),
                validators: Validators(
                    entityTag: input.flag() ? EntityTag(opaque: input.text(), isWeak: input.flag()) : nil,
                    lastModified: input.flag() ? UnixTime(seconds: Int64(bitPattern: input.word())) : nil,
                    date: input.flag() ? UnixTime(seconds: Int64(bitPattern: input.word())) : nil),
                stability: input.flag() ? .varying : .seenOnce)
        }
        return Representation(
            selection: selections[Int(input.byte()) % selections.count], base: input.flag() ? start : nil,
            coding: input.flag() ? input.text() : nil, total: input.flag() ? place(&input) : nil,
            mediaType: input.flag() ? input.text() : nil, records: records)
    }

    /// A position in the first half of the longest possible file.
    private static func place(_ input: inout FuzzInput) -> Int64 { input.number() % (ByteRange.longestFile / 2) }

    private static func drawSet(_ input: inout FuzzInput) -> ByteRangeSet {
        ByteRangeSet(
            (0..<input.byte() % 8).map { _ in
                let start = place(&input)
                return ByteRange(start, start + place(&input))
            })
    }

    /// The properties that every reader of a journal relies on, and that it can be continued.
    private static func check(_ image: JournalImage, _ bytes: [UInt8] = []) throws(BrokenLaw) {
        try checkForm(image.written)
        try checkForm(image.header.durable)
        // No file is longer than a cursor can represent.
        let length = min(image.written.upperBound / 2, 1 << 47)
        for boot in [nil, boot, image.header.boot] {
            let trusted = image.trusted(boot: boot, length: length, changed: 1)
            try checkForm(trusted)
            try hold(trusted.upperBound <= length, "bytes beyond the file are trusted")
            let source = boot != nil && boot == image.header.boot ? image.written : image.header.durable
            try hold(trusted.isSubset(of: source), "more is trusted than is claimed")
        }
        guard !bytes.isEmpty, !image.isMadeUp else { return }
        try checkGoingOn(image, bytes, length: length)
    }

    private static func checkGoingOn(_ image: JournalImage, _ bytes: [UInt8], length: Int64) throws(BrokenLaw) {
        var bytes = bytes
        let done = image.trusted(boot: boot, length: length, changed: 1)
        var (keeper, writes) = JournalKeeper.resumed(image, done: done, length: length, inodes: inodes, boot: boot)
        try checkWritten(writes, keeper, done, &bytes)
        let (slot, more) = keeper.beginLane(5, at: length, retiring: ByteRange(0, length))
        let whole = ByteRangeSet(done.runs + [ByteRange(0, length)])
        try checkWritten(more, keeper, whole, &bytes)
        try checkWritten([slot.advance(to: length + 1)], keeper, ByteRangeSet([ByteRange(0, length + 1)]), &bytes)
        let sync = keeper.syncBegins()
        try checkWritten(keeper.startOver(image.header.facts), keeper, ByteRangeSet(), &bytes)
        keeper.syncEnded(sync, succeeded: true)
        try checkWritten(keeper.startedOver(), keeper, ByteRangeSet(), &bytes)
    }

    private static func checkWritten(
        _ writes: [JournalWrite], _ keeper: JournalKeeper, _ written: ByteRangeSet, _ bytes: inout [UInt8]
    ) throws(BrokenLaw) {
        perform(writes, on: &bytes)
        guard let image = try? JournalImage(bytes) else {
            throw BrokenLaw(description: "a continued journal is not read")
        }
        try hold(image.header.incarnation == keeper.incarnation, "another incarnation is read")
        try hold(image.written == written, "\(image.written) is read instead of \(written)")
    }

    private static func perform(_ writes: [JournalWrite], on bytes: inout [UInt8]) {
        for write in writes {
            let end = write.offset + write.bytes.count
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(write.offset..<end, with: write.bytes)
        }
    }

    private static func checkForm(_ set: ByteRangeSet) throws(BrokenLaw) {
        var end: Int64 = -1
        for run in set.runs {
            try hold(run.start > end && run.count > 0, "runs touch: \(set)")
            end = run.end
        }
    }
}
