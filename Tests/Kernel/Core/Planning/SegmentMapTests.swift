import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

@Suite struct SegmentMapTests {
    /// One random operation that its caller may request.
    private static func step(_ map: inout SegmentMap, _ next: inout UInt32, _ dice: inout Dice) {
        let claim = map.claims.isEmpty ? nil : dice.pick(map.claims)
        switch dice.number(0...6) {
        case 0, 1:
            guard let gap = map.rest.first(where: { _ in dice.chance(1, in: 2) }) else { return }
            let end = gap.end == ByteRange.open ? gap.start + 100 : gap.end
            let some = ByteRange(gap.start, Int64.random(in: gap.start + 1...end, using: &dice))
            map.assign(some, to: LaneID(rawValue: next))
            next += 1
        case 2, 3:
            guard let claim else { return }
            map.advance(claim.lane, to: Int64.random(in: claim.range.start...claim.range.end, using: &dice))
        case 4:
            guard let claim else { return }
            map.shorten(claim.lane, to: Int64.random(in: claim.range.start...claim.range.end, using: &dice))
        case 5:
            guard let claim, let gap = map.rest.first(where: { $0.start == claim.range.end }) else { return }
            map.extend(claim.lane, to: min(gap.end, gap.start + 10))
        default:
            guard let claim else { return }
            if dice.chance(1, in: 2) { return map.release(claim.lane) }
            let racer = LaneID(rawValue: next)
            next += 1
            let cursor = Int64.random(in: claim.range.start...claim.range.end, using: &dice)
            map.handOver(from: claim.lane, to: racer, at: cursor)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `every byte has exactly one owner after any operations`(seed: UInt64)
    {
        var dice = Dice(seed: seed)
        var map = SegmentMap(total: seed.isMultiple(of: 2) ? 1000 : nil)
        var next: UInt32 = 0
        for index in 0..<300 {
            let done = map.done
            Self.step(&map, &next, &dice)
            #expect(map.isConserved)
            // Completed bytes stay completed.
            #expect(done.isSubset(of: map.done))
            if index == 150, map.total == nil { map.learn(total: max(900, map.done.upperBound)) }
        }
        for claim in map.claims { map.release(claim.lane) }
        for gap in map.rest {
            map.assign(gap, to: LaneID(rawValue: next))
            map.advance(LaneID(rawValue: next), to: gap.end)
            next += 1
        }
        #expect(map.isComplete && map.rest.isEmpty && map.claims.isEmpty && map.isConserved)
    }

    @Test func `lanes without a claim change nothing`() {
        var map = SegmentMap(total: 10, done: ByteRangeSet([ByteRange(0, 50)]))
        let before = map
        let nobody = LaneID(rawValue: 7)
        map.advance(nobody, to: 5)
        map.shorten(nobody, to: 5)
        map.extend(nobody, to: 5)
        map.release(nobody)
        map.handOver(from: nobody, to: nobody, at: 3)
        #expect(map == before)
        #expect(map.isComplete && map.claim(of: nobody) == nil)
        #expect(SegmentMap(total: 0).isComplete && SegmentMap(total: 0).isConserved)
        #expect(nobody.description == "lane 7")
    }
}
