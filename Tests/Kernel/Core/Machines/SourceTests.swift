import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct SourceTests {
    private static func address(_ host: String) -> WebAddress {
        WebAddress(scheme: .https, host: host, port: 443, path: "/f", query: nil)
    }

    @Test func `a redirect's target is left once, until it works`() {
        var source = Source(Self.address("a"))
        #expect(source.goBack() == false)
        source.follow(to: Self.address("b"))
        source.link(Checksum(algorithm: .sha256, digest: [1]))
        #expect(source.current.host == "b" && source.host != source.given.origin.text && source.linked != nil)
        #expect(source.goBack() && source.current == source.given && source.host == source.given.origin.text)
        #expect(source.linked == nil)
        source.follow(to: Self.address("c"))
        #expect(source.goBack() == false)
        source.worked()
        #expect(source.goBack() == true)
    }

    @Test func `an original address that chooses again keeps what it has said`() {
        var source = Source(Self.address("a"))
        source.follow(to: Self.address("b"))
        source.link(Checksum(algorithm: .sha256, digest: [1]))
        source.restart()
        #expect(source.current == source.given && source.linked != nil)
        source.forgetTarget()
        #expect(source == Source(Self.address("a")))
    }

    @Test func `only a source that lacks ranges is taken back`() {
        var source = Source(Self.address("a"))
        #expect(source.isUsable && !source.takeBack())
        source.leaveOut(lacksRanges: true)
        source.leaveOut()
        #expect(!source.isUsable && source.takeBack() && source.isUsable)
        source.leaveOut()
        #expect(!source.isUsable && !source.takeBack())
        source.begin()
        #expect(source.isUsable)
    }

    @Test func `a proof ends a trial`() {
        var source = Source(Self.address("a"), replacing: .byUser)
        #expect(source.isOnTrial && !source.isProven)
        source.prove()
        #expect(!source.isOnTrial && source.isProven)
    }

    @Test func `a connection that breaks among compared bytes limits the next parts`() {
        var parts = PartLimits()
        #expect(!parts.broke(after: 200_000, compared: 65_536) && parts.breaksAfter == nil && parts.hasBroken)
        #expect(!parts.broke(after: 70_000, compared: 65_536) && parts.breaksAfter == 70_000)
        #expect(!parts.broke(after: 80_000, compared: 0) && parts.breaksAfter == 80_000)
        #expect(!parts.broke(after: 2 * DownloadMachine.overlap, compared: 0) && parts.breaksAfter == nil)
    }

    @Test func `a break after a part that was too short shows once that the whole is no way out`() {
        var parts = PartLimits()
        parts.ended(at: 9)
        parts.shortened(to: 5)
        #expect(parts.end == 9 && parts.longest == 5)
        #expect(parts.broke(after: 1, compared: 0) && !parts.broke(after: 1, compared: 0))
    }
}
