import Testing

@testable import PawlBase
@testable import PawlJournal

@Suite struct CompletionMarkTests {
    private func content(
        _ source: String = "https://a.example/f", _ selection: RequestedRange = .whole,
        tag: EntityTag? = EntityTag(opaque: "v1", isWeak: false), date: Int64? = 5, sentAt: Int64? = 100,
        host: String = "http://a.example"
    ) -> ContentFingerprint? {
        let time = { (seconds: Int64) in UnixTime(seconds: 1_700_000_000 + seconds) }
        let validators = Validators(entityTag: tag, lastModified: date.map(time), date: sentAt.map(time))
        return ContentFingerprint(source: source, host: host, selection: selection, validators: validators)
    }

    @Test func `content without a strong validator cannot be recognized later`() {
        let weak = EntityTag(opaque: "v1", isWeak: true)
        for tag in [nil, weak] {
            #expect(content(tag: tag, date: nil) == nil)
            #expect(content(tag: tag, sentAt: 5) == nil, "rewritten within the same second")
            #expect(content(tag: tag, sentAt: 4) == nil, "a date in the future")
            #expect(content(tag: tag, sentAt: nil) == nil)
            #expect(content(tag: tag, date: -1_700_000_000) == nil, "1970")
            #expect(content(tag: tag) != nil)
        }
        #expect(content(date: nil) != nil)
    }

    @Test func `an old time without a Date identifies the content, as that of an FTP or SFTP file`() {
        func content(_ source: String, age: Int64?, tag: EntityTag? = nil) -> ContentFingerprint? {
            let now = UnixTime(seconds: 1_700_000_000)
            let modified = UnixTime(seconds: 1_700_000_000 - (age ?? 1_000_000))
            return ContentFingerprint(
                source: source, host: "h", selection: .whole,
                validators: Validators(entityTag: tag, lastModified: modified, date: nil), now: age == nil ? nil : now)
        }
        let day: Int64 = 86_400
        for scheme in ["ftp", "ftps", "sftp", "http"] {
            #expect(content("\(scheme)://a/f", age: day + 1) != nil)
            #expect(content("\(scheme)://a/f", age: day) == nil, "the server's clock may differ")
            #expect(content("\(scheme)://a/f", age: nil) == nil)
        }
        #expect(content("ftp://a/f", age: 2 * day) != content("ftp://a/f", age: 3 * day))
    }

    @Test func `another URL, another part or another validator is other content`() {
        let others = [
            content(), content("https://a.example/g"), content("https://a.example/f", .from(1)),
            content("https://a.example/f", .suffix(1)), content("https://a.example/f", .closed(ByteRange(0, 1))),
            content(tag: EntityTag(opaque: "v1", isWeak: true)), content(tag: EntityTag(opaque: "v2", isWeak: false)),
            content(tag: nil), content(tag: nil, date: 6), content(tag: EntityTag(opaque: "v1", isWeak: true), date: 6),
            content(host: "http://b.example"),
        ]
        #expect(Set(others).count == others.count)
        #expect(content() == content())
    }

    @Test func `a strong tag identifies the content whatever the date is`() {
        for date in [nil, 6, 200] as [Int64?] { #expect(content(date: date) == content()) }
    }

    @Test(arguments: [true, false], [true, false])
    func `a mark is read back as it was written, and no other bytes are one`(isTold: Bool, isProven: Bool) throws {
        let mark = CompletionMark(
            try #require(content()), isProven: isProven, length: 1 << 40, modified: -7, isTold: isTold)
        let bytes = mark.bytes
        #expect(bytes.count == CompletionMark.size)
        #expect(CompletionMark(bytes) == mark)
        #expect(CompletionMark(Array(bytes.dropLast())) == nil)
        #expect(CompletionMark(bytes + [0]) == nil)
        #expect(CompletionMark([]) == nil)
        for index in 0..<8 {
            var other = bytes
            other[index] = 9
            #expect(CompletionMark(other) == nil, "a later version, or another program's")
        }
        var negative = bytes
        negative[31] = 0x80
        #expect(CompletionMark(negative) == nil)
    }
}
