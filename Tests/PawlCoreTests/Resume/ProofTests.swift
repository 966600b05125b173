import PawlCore
import Testing

@Suite struct ProofTests {
    private static func identity(
        _ total: Int64?,
        _ tag: String?,
        weak: Bool = false,
        _ date: Int64?
    ) -> ContentIdentity {
        ContentIdentity(
            total: total,
            entityTag: tag.map { EntityTag(opaque: $0, isWeak: weak) },
            lastModified: date.map { UnixTime(seconds: $0) }
        )
    }

    @Test func `only equal strong tags prove that content is the same`() {
        let mine = Self.identity(10, "a", 5)
        #expect(mine.match(Self.identity(10, "a", 5)) == .same)
        #expect(mine.match(Self.identity(nil, "a", nil)) == .same)
        #expect(mine.match(Self.identity(10, "a", weak: true, 5)) == .soft)
        #expect(Self.identity(10, "a", weak: true, 5).match(mine) == .soft)
        #expect(mine.match(Self.identity(10, nil, 5)) == .soft)
        #expect(mine.match(Self.identity(nil, nil, nil)) == .soft)
        #expect(Self.identity(10, nil, nil).match(mine) == .soft)
    }

    @Test func `a tag that differs is soft while the date agrees`() {
        let mine = Self.identity(10, "a", 5)
        #expect(mine.match(Self.identity(10, "b", 5)) == .soft)
        #expect(
            mine.match(Self.identity(10, "b", 6)) == .changed("its tag was \("\"a\"") and is \("\"b\"") now")
        )
        #expect(
            mine.match(Self.identity(10, "b", weak: true, nil))
                == .changed("its tag was \("\"a\"") and is \("W/\"b\"") now")
        )
    }

    @Test func `another length or date is other content`() {
        let mine = Self.identity(10, "a", 5)
        #expect(mine.match(Self.identity(11, "a", 5)) == .changed("it had \(10) bytes and has \(11) now"))
        #expect(mine.match(Self.identity(10, nil, 6)) == .changed("its Last-Modified is another now"))
        #expect(mine.isStrong && mine.hasValidator)
        #expect(!Self.identity(10, "a", weak: true, nil).isStrong && !Self.identity(10, nil, 5).isStrong)
        #expect(Self.identity(nil, nil, 5).hasValidator && !Self.identity(5, nil, nil).hasValidator)
    }
}
