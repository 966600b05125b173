import Testing

@testable import PawlCore

/// Pieces with digests of their own, where bytes on disk may be damaged.
@Suite struct PieceCaseTests {
    private static func digest(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 16) }

    /// Two pieces of 500 bytes, all of them on disk after an earlier run, whose length no response stated.
    private static func adopted() -> Bench {
        var bench = Bench {
            $0.pieces = PieceHashes(.md5, length: 500, digests: [digest(1), digest(2)])
        }
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: nil))
        return bench
    }

    private static func checks(_ actions: [Action]) -> [PieceMap.Check] {
        actions.compactMap { if case .check(let check, _) = $0 { check } else { nil } }
    }

    private static func refusal(total: Int64) -> ResponseHead {
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: total)
        return head
    }

    @Test func `a length that arrives late makes the digests decide instead of a comparison`() {
        var bench = Self.adopted()
        #expect(bench.requested == .from(1000))
        bench.answer(Self.refusal(total: 1000))
        #expect(bench.machine.lanes.isEmpty)
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0, 1])
        bench.said = bench.machine.pieceHashed(checks[0], digest: Self.digest(1), now: bench.now)
        bench.said = bench.machine.pieceHashed(checks[1], digest: Self.digest(9), now: bench.now)
        #expect(bench.notices == ["the piece at 500 on disk is wrong: fetching it again"])
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.answer(Bench.part(500, 1000, of: 1000))
        bench.progress(to: 1000)
        bench.end(.complete)
        let again = Self.checks(bench.said)
        #expect(again.map(\.piece) == [1])
        bench.said = bench.machine.pieceHashed(again[0], digest: Self.digest(2), now: bench.now)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `a response that differs from bytes that are not verified yet is not blamed`() {
        var bench = Bench {
            $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)])
        }
        bench.begin(Bench.journal([ByteRange(0, 600)], total: nil, tag: nil, date: 0))
        #expect(bench.requested == .from(0))
        bench.answer(Bench.part(0, 1000, of: 1000, tag: nil, date: 0))
        #expect(bench.machine.phase == .transferring)
        bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        #expect(bench.requested == .closed(ByteRange(600, 1000)))
        #expect(bench.machine.failure == nil)
    }

    @Test func `a whole that waited for checks of pieces is requested once`() {
        var bench = Bench {
            $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)])
        }
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: 1000))
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0, 1])
        bench.said = bench.machine.pieceHashed(checks[1], digest: Self.digest(9), now: bench.now)
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.answer(Bench.whole(1000))
        // The server has no ranges: piece 0 decides what of the whole is needed.
        #expect(bench.machine.lanes.isEmpty)
        bench.said = bench.machine.pieceHashed(checks[0], digest: Self.digest(9), now: bench.now)
        bench.answer(Bench.whole(1000))
        #expect(bench.machine.lanes.count == 1, "\(bench.said)")
        bench.progress(to: 500)
        bench.tick(after: 1)
        let first = Self.checks(bench.said)
        #expect(first.map(\.piece) == [0])
        bench.said = bench.machine.pieceHashed(first[0], digest: Self.digest(1), now: bench.now)
        #expect(bench.machine.lanes.count == 1, "\(bench.said)")
    }
}
