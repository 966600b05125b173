import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Pieces with digests of their own, where bytes on disk may be damaged.
@Suite struct PieceCaseTests {
    private static func digest(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 16) }

    /// Two pieces of 500 bytes, all of them on disk after an earlier run, whose length no response stated.
    private static func adopted() -> Bench {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [digest(1), digest(2)]) }
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
        bench.respond(Self.refusal(total: 1000))
        #expect(bench.machine.lanes.list.isEmpty)
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0, 1])
        bench.said = bench.machine.pieceHashed(checks[0], digest: Self.digest(1), now: bench.now)
        bench.said = bench.machine.pieceHashed(checks[1], digest: Self.digest(9), now: bench.now)
        #expect(bench.notices == ["the piece at 500 on disk is wrong: fetching it again"])
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.respond(Bench.part(500, 1000, of: 1000))
        bench.progress(to: 1000)
        bench.end(.complete)
        let again = Self.checks(bench.said)
        #expect(again.map(\.piece) == [1])
        bench.said = bench.machine.pieceHashed(again[0], digest: Self.digest(2), now: bench.now)
        #expect(bench.machine.phase == .publishing)
        let result = bench.machine.verification.result
        #expect(result?.level == .given && result?.algorithm == .md5 && result?.pieces == 2)
    }

    @Test func `a response that differs from bytes that are not verified yet is not blamed`() {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)]) }
        bench.begin(Bench.journal([ByteRange(0, 600)], total: nil, tag: nil, date: 0))
        #expect(bench.requested == .from(0))
        bench.respond(Bench.part(0, 1000, of: 1000, tag: nil, date: 0))
        #expect(bench.machine.phase == .transferring)
        bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        #expect(bench.requested == .closed(ByteRange(600, 1000)))
        #expect(bench.machine.failure == nil)
    }

    @Test func `a whole that waited for checks of pieces is requested once`() {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)]) }
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: 1000))
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0, 1])
        bench.said = bench.machine.pieceHashed(checks[1], digest: Self.digest(9), now: bench.now)
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.respond(Bench.whole(1000))
        // The server has no ranges: piece 0 decides what of the whole is needed.
        #expect(bench.machine.lanes.list.isEmpty)
        bench.said = bench.machine.pieceHashed(checks[0], digest: Self.digest(9), now: bench.now)
        bench.respond(Bench.whole(1000))
        #expect(bench.machine.lanes.list.count == 1, "\(bench.said)")
        bench.progress(to: 500)
        bench.tick(after: 1)
        let first = Self.checks(bench.said)
        #expect(first.map(\.piece) == [0])
        bench.said = bench.machine.pieceHashed(first[0], digest: Self.digest(1), now: bench.now)
        #expect(bench.machine.lanes.list.count == 1, "\(bench.said)")
    }

    /// A 200 with neither a length nor validators where both are known may be an error page, but not for ever.
    @Test(arguments: [0, 500]) func `a repeated response of unknown size is used where digests of pieces decide`(
        held: Int64
    ) {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)]) }
        bench.begin(Bench.journal([ByteRange(0, held)], total: 1000))
        for check in Self.checks(bench.said) {
            let digest = Self.digest(check.piece + 1)
            bench.said = bench.machine.pieceHashed(check, digest: digest, now: bench.now)
        }
        bench.respond(Bench.whole(nil, tag: nil))
        #expect(bench.machine.lanes.list.isEmpty && bench.machine.written == held, "it is doubted once")
        bench.ring()
        bench.respond(Bench.whole(nil, tag: nil))
        #expect(bench.machine.written == held && bench.machine.failure == nil, "\(bench.said)")
        #expect(bench.machine.phase == .transferring)
    }

    /// Two pieces of 500 bytes, of which the first is on disk, from a host whose tag was seen twice.
    private static func stable(hosts: [String] = ["a.example"]) -> Bench {
        var bench = Bench(hosts: hosts) { $0.pieces = PieceHashes(.md5, length: 500, digests: [digest(1), digest(2)]) }
        var version = Representation(selection: .whole, base: 0, total: 1000)
        for host in hosts {
            for _ in 0..<2 { version.prove("http://\(host)/f", at: "http://\(host)", Validators(Bench.whole(1000))) }
        }
        bench.begin(Bench.journal([ByteRange(0, 500)], of: version))
        return bench
    }

    @Test func `a tag that changes is no other content where pieces decide`() {
        var bench = Self.stable()
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
        bench.respond(Bench.part(500, 1000, of: 1000, tag: "v2"))
        #expect(bench.machine.lanes.list.first?.isFlowing == true && bench.machine.written == 500)
        bench.progress(to: 1000)
        bench.end(.complete)
        for check in Self.checks(bench.said) {
            let digest = Self.digest(check.piece + 1)
            bench.said = bench.machine.pieceHashed(check, digest: digest, now: bench.now)
        }
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `nor is it where the server sends the whole`() {
        var bench = Self.stable()
        bench.respond(Bench.whole(1000, tag: "v2"))
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0] && bench.machine.failure == nil)
        guard let check = checks.first else { return }
        bench.said = bench.machine.pieceHashed(check, digest: Self.digest(1), now: bench.now)
        #expect(bench.requested == .whole)
        bench.respond(Bench.whole(1000, tag: "v3"))
        #expect(bench.machine.lanes.list.first?.isFlowing == true && bench.machine.written == 500)
    }

    @Test func `one response shows a tag once, although the pieces were known before it was compared`() {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)]) }
        bench.begin(Bench.journal([ByteRange(0, 600)], total: nil, tag: nil))
        #expect(bench.requested == .from(0))
        bench.machine.lanes.learn(total: 1000)
        bench.machine.preparePieces()
        bench.respond(Bench.part(0, 1000, of: 1000))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.record(of: 0)?.stability == .seenOnce)
    }

    @Test func `a tag that was to be checked does not matter once pieces decide`() {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [Self.digest(1), Self.digest(2)]) }
        bench.begin(Bench.journal([ByteRange(0, 500)], total: nil))
        bench.respond(Bench.part(500, 1000, of: nil, tag: "v2"))
        #expect(bench.requested == .closed(ByteRange(0, 1)))
        bench.machine.lanes.learn(total: 1000)
        bench.machine.preparePieces()
        bench.respond(Bench.part(0, 1, of: nil, tag: "v2"))
        #expect(bench.machine.failure == nil && bench.machine.written == 500)
        #expect(bench.requested == .closed(ByteRange(500, 1000)))
    }

    @Test func `a source whose length changes is left out while another may have the pieces`() {
        var bench = Self.stable(hosts: ["a.example", "b.example"])
        bench.respond(Bench.part(500, 999, of: 999, tag: "v2"))
        #expect(bench.machine.failure == nil && bench.machine.written == 500)
        #expect(bench.notices.contains { $0.contains("left out") })
        #expect(bench.machine.sources[bench.machine.lanes.list[0].source].given.host == "b.example")
        bench.respond(Bench.part(500, 999, of: 999, tag: "v2"))
        #expect(bench.machine.failure?.code == .cannotResume && bench.machine.written == 500)
    }

    @Test(arguments: [true, false]) func `a discarded piece voids a checkpoint in progress, and another one follows`(
        isOnline: Bool
    ) {
        var bench = Bench { $0.pieces = PieceHashes(.md5, length: 500, digests: [1, 2, 3].map(Self.digest)) }
        bench.begin(Bench.journal([ByteRange(0, 1000)], total: 1500))
        #expect(bench.said.first == .checkpoint)
        bench.tick(after: 1)
        let checks = Self.checks(bench.said)
        #expect(checks.map(\.piece) == [0, 1] && !bench.said.contains(.checkpoint))
        guard let check = checks.first else { return }
        if !isOnline { bench.said = bench.machine.network(online: false, now: bench.now) }
        bench.said = bench.machine.pieceHashed(check, digest: Self.digest(9), now: bench.now)
        #expect(bench.said.contains(.discard(ByteRange(0, 500))))
        bench.tick(after: 1)
        #expect(bench.said.contains(.checkpoint))
        bench.tick(after: 3)
        #expect(!bench.said.contains(.checkpoint))
    }
}
