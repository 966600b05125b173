import PawlBase
import PawlJournal
import Testing

@Suite struct EvidenceTests {
    private static let now: Int64 = 1_700_000_000

    private static func said(
        _ tag: String?, weak: Bool = false, modified: Int64? = nil, date: Int64? = nil
    ) -> Validators {
        Validators(
            entityTag: tag.map { EntityTag(opaque: $0, isWeak: weak) },
            lastModified: modified.map { UnixTime(seconds: now + $0) }, date: date.map { UnixTime(seconds: now + $0) })
    }

    private static func record(
        _ validators: Validators, _ stability: ValidatorRecord.TagStability = .seenOnce
    ) -> ValidatorRecord {
        ValidatorRecord(
            source: "http://a.example/f", host: "http://a.example", validators: validators, stability: stability)
    }

    @Test func `only equal strong tags prove that content is the same`() {
        #expect(Self.record(Self.said("a")).evidence(for: Self.said("a")) == .strong)
        #expect(Self.record(Self.said("a", modified: 1)).evidence(for: Self.said("a", modified: 2)) == .strong)
        #expect(Self.record(Self.said("a")).evidence(for: Self.said("a", weak: true)) == .weak)
        #expect(Self.record(Self.said("a", weak: true)).evidence(for: Self.said("a")) == .weak)
        #expect(Self.record(Self.said("a", weak: true)).evidence(for: Self.said("a", weak: true)) == .weak)
        #expect(Self.record(Self.said("a")).evidence(for: Self.said(nil)) == .weak)
        #expect(Self.record(Self.said(nil)).evidence(for: Self.said("a")) == .weak)
        #expect(Self.record(Self.said(nil)).evidence(for: Self.said(nil)) == .weak)
    }

    @Test func `a tag that differs from one seen once is unclear, from one seen twice a change`() {
        for (tag, weak) in [("b", false), ("b", true)] {
            let other = Self.said(tag, weak: weak, modified: 5)
            #expect(Self.record(Self.said("a", modified: 5)).evidence(for: other) == .unclear)
            #expect(Self.record(Self.said("a", weak: true, modified: 5)).evidence(for: other) == .unclear)
            var seen = Self.record(Self.said("a", modified: 5))
            seen.note(Self.said("a"))
            #expect(seen.stability == .stable)
            let text = other.entityTag?.text ?? ""
            #expect(seen.evidence(for: other) == .changed(.entityTagChanged(from: "\"a\"", to: text)))
        }
        let later = Self.record(Self.said("a", modified: 5)).evidence(for: Self.said("b", modified: 6))
        #expect(later == .changed(.entityTagChanged(from: "\"a\"", to: "\"b\"")))
    }

    @Test func `tags that vary prove nothing, not even if one repeats`() {
        var record = Self.record(Self.said("a", modified: 5))
        record.distrust()
        #expect(record.promise == .weak)
        #expect(record.evidence(for: Self.said("a", modified: 5)) == .weak)
        #expect(record.evidence(for: Self.said("b", modified: 5)) == .weak)
        record.note(Self.said("a"))
        #expect(record.stability == .varying)
        #expect(
            record.evidence(for: Self.said("b", modified: 6))
                == .changed(.init("last-modified-changed", "its Last-Modified has changed")))
    }

    @Test func `Last-Modified proves only if it is older than the response on both sides`() {
        let strong = Self.said(nil, modified: 0, date: 1)
        #expect(strong.dateStrength == .strong)
        #expect(Self.said(nil, modified: 0, date: 0).dateStrength == .generated)
        #expect(Self.said(nil, modified: 1, date: 0).dateStrength == .generated)
        #expect(Self.said(nil, modified: 0).dateStrength == .plain)
        #expect(Self.said(nil, date: 5).dateStrength == .none)
        #expect(Self.said(nil, modified: -Self.now, date: 0).dateStrength == .none, "1970 is no date")

        #expect(Self.record(strong).evidence(for: Self.said(nil, modified: 0, date: 90)) == .dated)
        #expect(Self.record(strong).promise == .dated)
        for weak in [Self.said(nil, modified: 0, date: 0), Self.said(nil, modified: 0)] {
            #expect(Self.record(strong).evidence(for: weak) == .weak)
            #expect(Self.record(weak).evidence(for: strong) == .weak)
            #expect(Self.record(weak).promise == .weak)
        }
        #expect(Self.record(strong).evidence(for: Self.said("new", modified: 0, date: 1)) == .weak)
    }

    @Test func `another date is a change, except for content that is generated per response`() {
        let changed = Evidence.changed(.init("last-modified-changed", "its Last-Modified has changed"))
        let old = Self.said(nil, modified: 0, date: 9)
        #expect(Self.record(old).evidence(for: Self.said(nil, modified: 1, date: 9)) == changed)
        #expect(Self.record(old).evidence(for: Self.said(nil, modified: 9, date: 9)) == changed)
        #expect(Self.record(Self.said(nil, modified: 0)).evidence(for: Self.said(nil, modified: 1)) == changed)
        let made = Self.said(nil, modified: 3, date: 3)
        #expect(Self.record(made).evidence(for: Self.said(nil, modified: 7, date: 7)) == .weak)
        let weakTag = Self.record(Self.said("a", weak: true, modified: 1))
        #expect(weakTag.evidence(for: Self.said("a", weak: true, modified: 2)) == changed)
    }

    @Test func `a validator of one host is no evidence about another`() {
        var representation = Representation(total: 5)
        representation.prove("http://a.example/f", at: "http://a.example", Self.said("a"))
        #expect(representation.record(of: "http://a.example/f", at: "http://cdn.example") == nil)
        #expect(representation.record(of: "http://b.example/f", at: "http://a.example") == nil)
        #expect(representation.record(of: "http://a.example/f", at: "http://a.example")?.promise == .strong)
        for host in 0..<100 { representation.prove("http://m\(host).example/f", at: "x", Self.said("a")) }
        #expect(representation.records.count == Representation.maximumRecords)
    }

    @Test func `samples are both ends and the middle, or all of short content`() {
        let size = ComparisonSample.length
        #expect(ComparisonSample.places(of: ByteRange(0, 0)).isEmpty)
        #expect(ComparisonSample.places(of: ByteRange(7, 3 * size)) == [ByteRange(7, 3 * size)])
        let places = ComparisonSample.places(of: ByteRange(0, 10 * size))
        #expect(places == [ByteRange(0, size), ByteRange(5 * size, 6 * size), ByteRange(9 * size, 10 * size)])
    }
}
