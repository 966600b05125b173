import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct VerificationTests {
    private static func digest(
        _ byte: UInt8, _ algorithm: HashAlgorithm = .sha256, or others: [Checksum] = []
    ) -> ExpectedDigest {
        ExpectedDigest(Checksum(algorithm: algorithm, digest: [byte]), or: others, level: .sidecar, source: "")
    }

    private static func computed(_ byte: UInt8, _ algorithm: HashAlgorithm = .sha256) -> [Checksum] {
        [Checksum(algorithm: algorithm, digest: [byte])]
    }

    private let evidence = LocalizableMessage("bytes-differ", "the bytes on disk differ from the server's")

    @Test func `sidecars are requested once, or again beside another address`() {
        var verification = Verification()
        #expect(verification.ask() && verification.isAsking && !verification.ask())
        verification.forgetSidecars()
        #expect(!verification.hasAsked && verification.ask())
        verification.found(FoundDigests([Self.digest(1)]))
        verification.forgetSidecars()
        #expect(verification.hasAsked && !verification.isAsking && verification.knowsMore)
        var all: [ExpectedDigest] = []
        verification.addFound(to: &all)
        #expect(all == [Self.digest(1)])
    }

    @Test func `duplicates are taken in their order`() {
        let first = WebAddress(scheme: .https, host: "a", port: 443, path: "/f", query: nil)
        var verification = Verification()
        #expect(verification.nextDuplicate() == nil)
        verification.linked(to: DescribedSources(duplicates: [first]))
        #expect(verification.nextDuplicate() == first && verification.nextDuplicate() == nil)
        verification.linked(to: DescribedSources(duplicates: [first]))
        verification.forgetLinks()
        #expect(verification.nextDuplicate() == nil)
    }

    @Test func `one computation decides where the algorithm is known`() {
        var verification = Verification()
        let step = verification.digested(Self.computed(1), expected: [Self.digest(1)], coding: nil)
        guard case .decide(.verified(let result)) = step else { return #expect(Bool(false)) }
        #expect(verification.result == nil)
        verification.verified(result)
        #expect(verification.result == result)
    }

    @Test func `a digest of a guessed algorithm is tried as the others, once`() {
        var verification = Verification()
        let others = Self.computed(1, .blake2b)
        let expected = [Self.digest(1, .sha256, or: others)]
        let first = verification.digested(Self.computed(2), expected: expected, coding: nil)
        #expect(first == .digest([.blake2b]))
        let second = verification.digested(others, expected: expected, coding: nil)
        guard case .decide(.verified) = second else { return #expect(Bool(false)) }
    }

    @Test(arguments: [true, false]) func `a wrong digest of coded content may be of its plain form`(isRight: Bool) {
        var verification = Verification()
        let expected = [Self.digest(1)]
        #expect(verification.digestedDecoded(Self.computed(1), expected: expected) == nil)
        let step = verification.digested(Self.computed(2), expected: expected, coding: "gzip")
        #expect(step == .digestDecoded([.sha256], coding: "gzip"))
        let verdict = verification.digestedDecoded(Self.computed(isRight ? 1 : 3), expected: expected)
        if case .verified? = verdict { #expect(isRight) } else { #expect(!isRight && verdict != nil) }
        #expect(verification.digestedDecoded(nil, expected: expected) == nil)
    }

    @Test func `what a source stated of content that it does not have is remembered beside a bad piece`() {
        var verification = Verification()
        #expect(verification.wrong == nil && !verification.knowsMore)
        verification.refute(piece: evidence)
        #expect(verification.wrong == evidence && !verification.hasRefetched && !verification.knowsMore)
        verification.replaced()
        verification.refute(content: evidence, stated: [Self.digest(1)])
        #expect(verification.hasRefetched && !verification.comparesReplacement && verification.knowsMore)
        let piece = LocalizableMessage("piece-bad-on-disk", "the piece at 0 on disk is wrong: fetching it again")
        verification.refute(piece: piece)
        #expect(verification.wrong == piece && verification.hasRefetched)
        var all = [Self.digest(1)]
        verification.addStated(to: &all)
        #expect(all.count == 1)
        all = []
        verification.addStated(to: &all)
        #expect(all == [Self.digest(1)])
    }

    @Test func `a pause counts more than a preemption, and both are taken back`() {
        var verification = Verification()
        verification.stop(as: .preempted)
        #expect(verification.stopPhase == .preempted)
        verification.stop(as: .paused)
        verification.stop(as: .preempted)
        #expect(verification.stopPhase == .paused)
        verification.stop(as: nil)
        #expect(verification.stopPhase == nil)
        verification.replaced()
        verification.comparedReplacement()
        #expect(!verification.comparesReplacement)
    }
}

@Suite struct PieceChecksTests {
    @Test func `no number of a check is used twice`() throws {
        let digests = [UInt8(1), 2].map { Array(repeating: $0, count: 16) }
        let hashes = try #require(PieceHashes(.md5, length: 500, digests: digests))
        var pieces = PieceChecks()
        #expect(pieces.due(in: ByteRangeSet([ByteRange(0, 1000)])) == nil && !pieces.awaits(false))
        var numbers: Set<UInt64> = []
        for _ in 0..<2 {
            pieces.map = PieceMap(hashes, total: 1000)
            let checks = pieces.due(in: ByteRangeSet([ByteRange(0, 1000)])) ?? []
            #expect(checks.count == 2 && pieces.awaits(false) && pieces.areAwaited)
            numbers.formUnion(checks.map(\.ticket))
        }
        #expect(numbers.count == 4)
        pieces.awaitNone()
        #expect(!pieces.areAwaited && pieces.awaits(true))
    }
}
