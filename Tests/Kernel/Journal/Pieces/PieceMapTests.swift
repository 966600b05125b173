import Testing

@testable import PawlBase
@testable import PawlJournal

@Suite struct PieceMapTests {
    /// Three pieces of 10, 10 and 5 bytes, whose digests are sixteen times their number.
    private static func hashes() throws -> PieceHashes {
        try #require(PieceHashes(.md5, length: 10, digests: (1...3).map(digest)))
    }

    private static func digest(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 16) }
    private static let wrong = digest(9)

    private static func map() throws -> PieceMap { try #require(PieceMap(hashes(), total: 25)) }

    private static func done(_ ranges: ByteRange...) -> ByteRangeSet { ByteRangeSet(ranges) }

    @Test func `pieces have to fit the file's length`() throws {
        let hashes = try Self.hashes()
        #expect([20, 21, 25, 30, 31].map { PieceMap(hashes, total: $0) != nil } == [false, true, true, true, false])
        #expect(PieceMap(hashes, total: 0) == nil)
        #expect(PieceHashes(.md5, length: 0, digests: [Self.wrong]) == nil)
        #expect(PieceHashes(.md5, length: 10, digests: []) == nil)
        #expect(PieceHashes(.sha1, length: 10, digests: [Self.wrong]) == nil)
    }

    @Test func `the first piece may be shorter, and zeros may complete the last`() throws {
        let digests = (1...3).map(Self.digest)
        let hashes = try #require(PieceHashes(.md5, length: 10, first: 4, isPadded: true, digests: digests))
        #expect([14, 15, 24, 25].map { hashes.fits($0) } == [false, true, true, false] && hashes.longest == 24)
        #expect((0..<3).map { hashes.range($0, in: 20) } == [ByteRange(0, 4), ByteRange(4, 14), ByteRange(14, 20)])
        #expect((0..<3).map { hashes.padding(of: $0, in: 20) } == [0, 0, 4])
        #expect([0, 3, 4, 13, 14].map { hashes.piece(at: $0) } == [0, 0, 1, 1, 2])
        #expect([0, 1, 4, 5, 14].map { hashes.firstPiece(from: $0) } == [0, 1, 1, 2, 2])
        #expect(PieceHashes(text: hashes.text) == hashes)
        #expect(PieceHashes(.md5, length: 10, first: 11, digests: [Self.wrong]) == nil)
        var map = try #require(PieceMap(hashes, total: 20))
        var ticket: UInt64 = 0
        let orders = map.due(in: Self.done(ByteRange(1, 20)), nextTicket: &ticket)
        #expect(orders.map(\.range) == [ByteRange(4, 14), ByteRange(14, 20)] && orders.map(\.padding) == [0, 4])
        for order in orders { #expect(map.checked(order, digest: Self.digest(order.piece + 1)) == .good) }
        #expect(map.areGood(in: ByteRange(4, 20)) && !map.areGood(in: ByteRange(3, 20)) && map.verifiedPrefix == 0)
    }

    @Test func `a piece is checked once, when all of its bytes are there`() throws {
        var map = try Self.map()
        var ticket: UInt64 = 0
        #expect(map.due(in: Self.done(ByteRange(0, 9), ByteRange(11, 24)), nextTicket: &ticket) == [])
        let first = map.due(in: Self.done(ByteRange(10, 25)), nextTicket: &ticket)
        #expect(first.map(\.range) == [ByteRange(10, 20), ByteRange(20, 25)])
        #expect(map.due(in: Self.done(ByteRange(0, 25)), nextTicket: &ticket) == [], "two at once")
        #expect(map.checked(first[0], digest: Self.digest(2)) == .good)
        #expect(map.checked(first[0], digest: Self.digest(2)) == .obsolete)
        #expect(map.due(in: Self.done(ByteRange(0, 25)), nextTicket: &ticket).map(\.piece) == [0])
        #expect(!map.isSettled)
    }

    @Test func `a source is blamed for a bad piece only if it sent all of it`() throws {
        var map = try Self.map()
        var ticket: UInt64 = 0
        map.wrote(ByteRange(0, 10), by: 1)
        map.wrote(ByteRange(10, 15), by: 1)
        map.wrote(ByteRange(15, 20), by: 2)
        let checks = map.due(in: Self.done(ByteRange(0, 20)), nextTicket: &ticket)
        #expect(map.checked(checks[0], digest: Self.wrong) == .bad(range: ByteRange(0, 10), blamed: 1))
        #expect(map.checked(checks[1], digest: Self.wrong) == .bad(range: ByteRange(10, 20), blamed: nil))
        #expect(!map.isConvicted(1) && !map.isConvicted(2))
        #expect(map.source(at: 0, preferring: 1, of: [0, 1, 2]) == 0)
        #expect(map.source(at: 10, preferring: 2, of: [0, 1, 2]) == 0)
        #expect(map.source(at: 10, preferring: 1, of: [1, 2]) == 2, "the other one, if both are suspect")
        #expect(map.source(at: 20, preferring: 1, of: [0, 1, 2]) == 1)
        map.wrote(ByteRange(0, 10), by: 1)
        let again = map.due(in: Self.done(ByteRange(0, 10)), nextTicket: &ticket)
        #expect(map.checked(again[0], digest: Self.wrong) == .bad(range: ByteRange(0, 10), blamed: 1))
        #expect(map.isConvicted(1))
    }

    @Test func `a bad piece on disk blames no source`() throws {
        var map = try Self.map()
        var ticket: UInt64 = 0
        let checks = map.due(in: Self.done(ByteRange(0, 10)), nextTicket: &ticket)
        #expect(map.checked(checks[0], digest: Self.wrong) == .bad(range: ByteRange(0, 10), blamed: nil))
        #expect(map.suspects(at: 0) == [])
        #expect(map.source(at: 0, preferring: 0, of: [0]) == 0)
    }

    @Test func `a bad piece is requested alone`() throws {
        var map = try Self.map()
        var ticket: UInt64 = 0
        map.wrote(ByteRange(10, 20), by: 0)
        let checks = map.due(in: Self.done(ByteRange(10, 20)), nextTicket: &ticket)
        _ = map.checked(checks[0], digest: Self.wrong)
        #expect(map.fitted(ByteRange(0, 25)) == ByteRange(0, 10))
        #expect(map.fitted(ByteRange(12, 25)) == ByteRange(12, 20))
        #expect(map.fitted(ByteRange(20, 25)) == ByteRange(20, 25))
    }

    /// Every order of events of two sources, one of which lies about a piece, ends with good pieces only.
    @Test func `every walk ends with all pieces good and no honest source left out`() throws {
        var seen: Set<PieceMap> = []
        var walks = 0
        func walk(_ map: PieceMap, _ done: ByteRangeSet, _ honest: Set<Int>, _ ticket: UInt64) {
            guard seen.insert(map).inserted else { return }
            if map.isSettled {
                walks += 1
                #expect(map.verified == 3)
                return
            }
            #expect(!map.isConvicted(0), "source 0 never lies")
            // Either source brings a missing piece.
            for piece in 0..<3 {
                let range = map.hashes.range(piece, in: 25)
                guard !done.contains(range) else { continue }
                for source in 0..<2 where !map.isConvicted(source) {
                    var (next, more, isHonest) = (map, done, honest)
                    next.wrote(range, by: source)
                    more.insert(range)
                    if source == 1, piece != 2 { isHonest.remove(piece) } else { isHonest.insert(piece) }
                    walk(next, more, isHonest, ticket)
                }
            }
            var (next, number) = (map, ticket)
            for check in next.due(in: done, nextTicket: &number) {
                var (result, left) = (next, done)
                let isRight = honest.contains(check.piece)
                switch result.checked(check, digest: isRight ? Self.digest(check.piece + 1) : Self.wrong) {
                case .good: #expect(isRight)
                case .bad(let range, let blamed):
                    #expect(blamed == 1)
                    left.remove(range)
                case .obsolete: Issue.record("an order that was just given")
                }
                // The other order has no result in this branch; a later one replaces it.
                walk(result, left, honest, number)
            }
        }
        walk(try Self.map(), ByteRangeSet(), [], 0)
        #expect(walks > 0)
        #expect(seen.count > 50)
    }
}
