import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct LanesTests {
    private let start = Instant(nanoseconds: 0)

    /// Lanes for these ranges of 1000 bytes, which all receive.
    private func lanes(_ ranges: [ByteRange], total: Int64 = 1000) -> Lanes {
        var lanes = Lanes(.fixed(4))
        lanes.begin(with: SegmentMap(total: total))
        for range in ranges { add(to: &lanes, range) }
        return lanes
    }

    private func add(
        to lanes: inout Lanes, _ range: ByteRange, _ work: Lane.Work = .data(), source: Int = 0, replacing: Int? = nil
    ) {
        let request = Lane.Request(range: .closed(range), host: "a")
        lanes.add(work, source: source, range: range, overlap: 0, request, replacing: replacing, now: start)
        let index = lanes.list.count - 1
        lanes[index].stage = .flowing
        lanes[index].response.end = range.end
    }

    private func progress(_ lanes: inout Lanes, _ index: Int, to cursor: Int64) {
        lanes.progressed(index, cursor: cursor, received: cursor, waits: false, now: start)
    }

    private func broken(_ lanes: Lanes) -> String? { Law.owner(lanes.list, of: lanes.map, in: .transferring) }

    private func claims(_ lanes: Lanes) -> [LaneID: ByteRange] {
        Dictionary(uniqueKeysWithValues: lanes.map.claims.map { ($0.lane, $0.range) })
    }

    @Test func `slots are used again and numbers are not`() {
        var lanes = lanes([ByteRange(0, 100), ByteRange(100, 200), ByteRange(200, 300)])
        let first = lanes.list[0].id
        #expect(lanes.list.map(\.slot) == [0, 1, 2])
        #expect(lanes.remove(0) == first)
        add(to: &lanes, ByteRange(0, 100))
        #expect(lanes.list.map(\.slot) == [1, 2, 0] && !lanes.list.map(\.id).contains(first))
        lanes.removeAll()
        add(to: &lanes, ByteRange(0, 1000))
        #expect(lanes.list[0].id.rawValue == 4 && broken(lanes) == nil)
    }

    @Test func `a lane that is asked for again owns what it has not received, and keeps its racers`() {
        var lanes = lanes([ByteRange(0, 500)])
        progress(&lanes, 0, to: 200)
        add(to: &lanes, ByteRange(200, 500), .racing(lanes.list[0].id))
        let left = lanes.left(of: 0)
        #expect(left == ByteRange(200, 500))
        add(to: &lanes, left, replacing: 0)
        let id = lanes.list[1].id
        #expect(lanes.list.map(\.isRacing) == [id, nil] && claims(lanes) == [id: left] && broken(lanes) == nil)
    }

    @Test func `the racer that is ahead owns the bytes`() {
        var lanes = lanes([ByteRange(0, 1000)])
        let owner = lanes.list[0].id
        for _ in 0..<2 { add(to: &lanes, ByteRange(0, 1000), .racing(owner)) }
        let (first, second) = (lanes.list[1].id, lanes.list[2].id)
        progress(&lanes, 0, to: 100)
        progress(&lanes, 1, to: 100)
        #expect(lanes.list[0].isData && !lanes.isAlone(owner))
        progress(&lanes, 1, to: 300)
        #expect(lanes.list.map(\.isRacing) == [first, nil, first])
        #expect(claims(lanes) == [first: ByteRange(300, 1000)] && lanes.map.done.count == 300 && broken(lanes) == nil)
        #expect(!lanes.isAlone(first))
        #expect(lanes.remove(1) == first)
        #expect(lanes.list.map(\.isRacing) == [nil, owner] && claims(lanes) == [owner: ByteRange(300, 1000)])
        #expect(!lanes.isAlone(owner), "it has yet to reach the bytes that it owns")
        #expect(broken(lanes) == nil)
        progress(&lanes, 0, to: 1000)
        let (lane, losers) = lanes.finish(0)
        #expect(lane.id == owner && losers == [second] && lanes.list.isEmpty && lanes.map.isComplete)
    }

    @Test func `all that receive the same bytes end together`() {
        var lanes = lanes([ByteRange(0, 1000)])
        let owner = lanes.list[0].id
        add(to: &lanes, ByteRange(0, 1000), .racing(owner))
        #expect(lanes.endTogether(1, at: 600) == [owner])
        #expect(lanes.list.map(\.end) == [600, 600] && lanes.map.rest == [ByteRange(600, 1000)])
        #expect(lanes.endTogether(0, at: 600) == [] && broken(lanes) == nil)
        progress(&lanes, 0, to: 500)
        #expect(!lanes.isPassed(1, endingAt: 600) && lanes.isPassed(1, endingAt: 500))
        #expect(!lanes.isPassed(0, endingAt: 500), "its own bytes begin at its cursor")
    }

    @Test func `bytes go from lane to lane`() {
        var lanes = lanes([ByteRange(0, 1000)])
        let (id, gap) = (lanes.list[0].id, ByteRange(400, 1000))
        lanes.shorten(id, to: 400)
        #expect(lanes.list[0].end == 400 && lanes.map.rest == [gap] && broken(lanes) == nil)
        add(to: &lanes, ByteRange(0, 400), .racing(id))
        let racer = lanes.list[1].id
        #expect(lanes.extend(through: gap, keepsRacers: true) == nil)
        let extended = lanes.extend(through: gap, keepsRacers: false)
        #expect(extended?.lane == id && extended?.losers == [racer])
        #expect(lanes.list.map(\.end) == [1000] && lanes.map.rest == [] && broken(lanes) == nil)
    }

    @Test func `a response ends where its head says`() {
        var lanes = lanes([ByteRange(0, 400)])
        #expect(lanes.extend(through: ByteRange(400, 1000), keepsRacers: false) == nil)
        #expect(lanes.list[0].end == 400 && broken(lanes) == nil)
    }

    @Test func `racers that would write a bad piece again end`() {
        var lanes = lanes([ByteRange(0, 1000)])
        let owner = lanes.list[0].id
        add(to: &lanes, ByteRange(0, 1000), .racing(owner))
        progress(&lanes, 0, to: 300)
        lanes.discard(ByteRange(0, 200))
        #expect(lanes.removeRacers(before: 0) == [])
        #expect(lanes.removeRacers(before: 200).count == 1 && lanes.list.map(\.id) == [owner])
        #expect(lanes.map.done.count == 100 && broken(lanes) == nil)
    }

    @Test(arguments: [nil, 700] as [Int64?]) func `a whole response starts over, and ends the other lanes`(
        total: Int64?
    ) {
        var lanes = lanes([ByteRange(0, 500), ByteRange(500, 1000)])
        progress(&lanes, 0, to: 300)
        let (other, id) = (lanes.list[0].id, lanes.list[1].id)
        #expect(lanes.startOver(with: 1, total: total, responseEnd: ByteRange.open, longest: 900) == [other])
        #expect(lanes.list.map(\.id) == [id] && lanes.list[0].cursor == 0 && lanes.list[0].end == total ?? 900)
        #expect(lanes.map.done.isEmpty && lanes.map.total == total && broken(lanes) == nil)
    }

    @Test(arguments: [300, 1000] as [Int64]) func `a whole response compares what is on disk and brings the rest`(
        have: Int64
    ) {
        var lanes = lanes([ByteRange(0, 1000)])
        progress(&lanes, 0, to: have)
        add(to: &lanes, ByteRange(0, ByteRange.open), .restarting)
        #expect(lanes.keep(1).count == 1 && lanes.map.claims.isEmpty && lanes.list[0].work == .restarting)
        lanes.compareWhole(have, responseEnd: 1000, longest: 1000)
        #expect(lanes.list[0].isSettling == (have == 1000) && lanes.list[0].overlap == have)
        #expect(lanes.map.rest == [] && broken(lanes) == nil)
        lanes.compared(0)
        #expect(lanes.list[0].overlap == 0)
    }

    @Test func `only a data lane compares what another one wrote`() {
        var lanes = lanes([ByteRange(0, 500)])
        add(to: &lanes, ByteRange(0, 500), .racing(lanes.list[0].id))
        for index in [0, 1] { lanes.joins(index, 20) }
        #expect(lanes.list.map(\.joint) == [20, 0])
        for index in [0, 1] { lanes.joined(index, isEqual: true) }
        #expect(lanes.list[0].work == .data(.equal) && lanes.list[1].isRacing == lanes.list[0].id)
        lanes.joins(0, 0)
        #expect(lanes.list[0].work == .data(.open))
    }

    @Test func `sources with the fewest lanes have their turn, in rotation`() {
        var lanes = lanes([])
        #expect((0..<4).map { _ in lanes.turn(of: [0, 1, 2]) } == [1, 2, 0, 1])
        add(to: &lanes, ByteRange(0, 100), source: 2)
        add(to: &lanes, ByteRange(100, 200), source: 0)
        #expect((0..<3).map { _ in lanes.turn(of: [0, 1, 2]) } == [1, 1, 1])
        #expect((0..<2).map { _ in lanes.turn(of: [0, 2]) } == [0, 2])
    }

    @Test func `a lane waits for one thing at a time`() {
        var lanes = lanes([ByteRange(0, 100)])
        #expect(lanes.list[0].isFlowing && !lanes.list[0].isAsking && lanes.list[0].pending == nil)
        let question = PendingQuestion(id: HookID(rawValue: 1), kind: .adapt)
        lanes[0].stage = .asked(question)
        #expect(!lanes.list[0].isFlowing && lanes.list[0].isAsking && lanes.list[0].pending == question)
        lanes[0].stage = .claiming
        #expect(!lanes.list[0].isFlowing && !lanes.list[0].isAsking && lanes.list[0].pending == nil)
    }
}
