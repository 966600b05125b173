import Testing

@testable import PawlBase
@testable import PawlJournal

/// What a file may be repaired by.
@Suite struct ContentComparisonTests {
    private static let tag = Validators(entityTag: EntityTag(opaque: "v", isWeak: false))

    private func refusal(
        of length: Int64, type: String? = nil, coding: String? = nil, equal: Int64 = 0,
        validators: Validators = Validators(), file: Int64 = 1000, name: String = "f.bin", hasChecksum: Bool = false
    ) -> LocalizableMessage? {
        var found = ContentComparison()
        found.length = length
        found.equal = ByteRangeSet([ByteRange(0, equal)])
        let record = ValidatorRecord(source: "http://a/f", host: "http://a", validators: validators)
        found.representation = Representation(coding: coding, total: length, mediaType: type, records: [record])
        return found.refusal(forFile: name, of: file, hasChecksum: hasChecksum)
    }

    @Test func `content of the same length is accepted`() {
        #expect(refusal(of: 1000) == nil)
        #expect(refusal(of: 1000, type: "text/html") == nil)
    }

    @Test func `a coded body is never the file`() {
        #expect(refusal(of: 1000, coding: "gzip", equal: 1000) != nil)
        #expect(refusal(of: 400, coding: "gzip", validators: Self.tag, hasChecksum: true) != nil)
    }

    @Test(arguments: ["text/html", "application/json", "application/problem+json", "text/xml"])
    func `a page of another length is refused`(type: String) {
        #expect(refusal(of: 20, type: type, validators: Self.tag) != nil)
        // Even where the file is empty.
        #expect(refusal(of: 20, type: type, validators: Self.tag, file: 0) != nil)
    }

    @Test func `a page may repair a page`() {
        let half = refusal(of: 900, type: "text/html", equal: 800, validators: Self.tag, name: "a.HTML")
        #expect(half == nil)
        #expect(refusal(of: 900, type: "application/json", equal: 800, validators: Self.tag, name: "a.json") == nil)
    }

    @Test func `another length without validators is accepted only where nothing of the file is lost`() {
        #expect(refusal(of: 2000, equal: 999) != nil)
        #expect(refusal(of: 999, equal: 999) != nil)
        #expect(refusal(of: 0) != nil)
        #expect(refusal(of: 2000, equal: 1000) == nil)
        #expect(refusal(of: 2000, file: 0) == nil)
    }

    @Test func `another length with validators is accepted where half of the file agrees`() {
        #expect(refusal(of: 2000, equal: 500, validators: Self.tag) == nil)
        #expect(refusal(of: 2000, equal: 499, validators: Self.tag) != nil)
        // A checksum decides better.
        #expect(refusal(of: 2000, equal: 1, hasChecksum: true) == nil)
    }
}
