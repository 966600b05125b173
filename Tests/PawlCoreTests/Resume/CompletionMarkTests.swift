import Testing

@testable import PawlCore

@Suite struct CompletionMarkTests {
    private func content(
        _ source: String = "https://a.example/f",
        _ wish: RequestedRange = .whole,
        tag: EntityTag? = EntityTag(opaque: "v1", isWeak: false),
        date: Int64? = 5
    ) -> ContentFingerprint? {
        let time = date.map { UnixTime(seconds: 1_700_000_000 + $0) }
        let validators = Validators(entityTag: tag, lastModified: time, date: nil)
        return ContentFingerprint(source: source, wish: wish, validators: validators)
    }

    @Test func `content without a validator is none that could be known again`() {
        #expect(content(tag: nil, date: nil) == nil)
        #expect(content(tag: nil) != nil)
        #expect(content(date: nil) != nil)
    }

    @Test func `another address, another part or another validator is other content`() {
        let others = [
            content(), content("https://a.example/g"), content("https://a.example/f", .from(1)),
            content("https://a.example/f", .suffix(1)),
            content("https://a.example/f", .closed(ByteRange(0, 1))),
            content(tag: EntityTag(opaque: "v1", isWeak: true)),
            content(tag: EntityTag(opaque: "v2", isWeak: false)), content(tag: nil), content(date: 6),
            content(date: nil),
        ]
        #expect(Set(others).count == others.count)
        #expect(content() == content())
    }

    @Test(arguments: [true, false])
    func `a mark is read as it was written, and no other bytes are one`(isTold: Bool) throws {
        let mark = CompletionMark(try #require(content()), length: 1 << 40, modified: -7, isTold: isTold)
        let bytes = mark.bytes
        #expect(bytes.count == CompletionMark.size)
        #expect(CompletionMark(bytes) == mark)
        #expect(CompletionMark(Array(bytes.dropLast())) == nil)
        #expect(CompletionMark(bytes + [0]) == nil)
        #expect(CompletionMark([]) == nil)
        for index in 0..<8 {
            var other = bytes
            other[index] = 9
            #expect(CompletionMark(other) == nil, "a later version, or somebody else's")
        }
        var negative = bytes
        negative[31] = 0x80
        #expect(CompletionMark(negative) == nil)
    }
}
