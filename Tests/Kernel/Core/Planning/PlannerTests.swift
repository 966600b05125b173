import PawlBase
import PawlCore
import PawlTestKit
import Testing

@Suite struct PlannerTests {
    private static let megabyte: Int64 = 1 << 20

    /// Plans for one free connection after another, as the machine does, until no range is left.
    private static func plan(_ map: inout SegmentMap, _ check: (Planner.Work, SegmentMap) -> Void) -> Int {
        var lanes: [Planner.LaneView] = []
        var next: UInt32 = 0
        while let work = Planner().nextWork(in: map, lanes: lanes), lanes.count < 100 {
            check(work, map)
            let id = LaneID(rawValue: next)
            next += 1
            var racing: LaneID?
            switch work {
            case .rest(let range): map.assign(range, to: id)
            case .steal(let range, let victim):
                map.shorten(victim, to: range.start)
                map.assign(range, to: id)
            case .race(_, let owner): racing = owner
            }
            lanes.append(Planner.LaneView(id: id, speed: 0, isRacing: racing, silentFor: .seconds(2)))
        }
        return lanes.count
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func `splits leave two good halves, races come last and never have more than three lanes`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let total = Int64(dice.number(1...20_000_000))
        var map = SegmentMap(total: total)
        var steals = 0
        var racers: [LaneID: Int] = [:]
        let lanes = Self.plan(&map) { work, map in
            switch work {
            case .rest(let range): #expect(map.rest.contains(range))
            case .steal(let range, let victim):
                steals += 1
                #expect(racers.isEmpty)
                #expect(range.count >= Self.megabyte)
                #expect(map.claim(of: victim).map { range.start - $0.start >= Self.megabyte } ?? false)
                #expect(map.claim(of: victim)?.end == range.end)
            case .race(let range, let owner):
                racers[owner, default: 0] += 1
                #expect(map.claim(of: owner) == range)
                #expect(map.claims.allSatisfy { $0.range.count < 2 * Self.megabyte })
            }
        }
        #expect(lanes < 100)
        #expect(racers.count == map.claims.count && racers.values.allSatisfy { $0 == 2 })
        #expect(steals > 0 || total < 2 * Self.megabyte)
    }

    @Test func `a remainder that ends soon is left to its lane`() {
        var map = SegmentMap(total: 1000)
        let lane = LaneID(rawValue: 1)
        map.assign(ByteRange(0, 1000), to: lane)
        func work(speed: Double, silent: Interval) -> Planner.Work? {
            let view = Planner.LaneView(id: lane, speed: speed, isRacing: nil, silentFor: silent)
            return Planner().nextWork(in: map, lanes: [view])
        }
        #expect(work(speed: 2000, silent: .zero) == nil)
        #expect(work(speed: 500, silent: .zero) == .race(ByteRange(0, 1000), against: lane))
        #expect(work(speed: 0, silent: .milliseconds(900)) == nil)
        #expect(Planner().nextWork(in: map, lanes: []) == nil)
    }

    /// The range for one more connection beside lanes of these remainders and speeds.
    private static func work(_ lanes: [(rest: Int64, speed: Double)], opening: Interval = .zero) -> Planner.Work? {
        var map = SegmentMap(total: lanes.reduce(0) { $0 + $1.rest })
        var views: [Planner.LaneView] = []
        var start: Int64 = 0
        for (index, lane) in lanes.enumerated() {
            let id = LaneID(rawValue: UInt32(index))
            map.assign(ByteRange(start, start + lane.rest), to: id)
            views.append(Planner.LaneView(id: id, speed: lane.speed, isRacing: nil, silentFor: .zero))
            start += lane.rest
        }
        var planner = Planner()
        planner.opening = opening
        return planner.nextWork(in: map, lanes: views)
    }

    @Test func `the lane that would finish last is split, not the one with the most bytes`() {
        let two = Self.work([(8_000_000, 4e6), (2_000_000, 5e5)])
        #expect(two == .steal(ByteRange(9_000_000, 10_000_000), from: LaneID(rawValue: 1)))
        let fresh = Self.work([(8_000_000, 4e6), (9_000_000, 0)])
        #expect(fresh == .steal(ByteRange(12_500_000, 17_000_000), from: LaneID(rawValue: 1)))
    }

    @Test func `a slow lane's last bytes are split too, unless a new connection would come too late`() {
        let slow = [(rest: Int64(600_000), speed: 1e6)]
        let half = Planner.Work.steal(ByteRange(300_000, 600_000), from: LaneID(rawValue: 0))
        #expect(Self.work(slow) == half)
        #expect(Self.work(slow, opening: .milliseconds(300)) == half)
        #expect(Self.work(slow, opening: .milliseconds(301)) == nil)
        #expect(Self.work([(rest: 600_000, speed: 1e7)]) == nil)
        #expect(Self.work([(rest: 120_000, speed: 2e5)]) == nil, "less than a request is worth")
    }

    @Test func `a bounded range leaves what follows it without an owner, unless that is little`() {
        var planner = Planner()
        planner.longestRange = 3 * Self.megabyte
        var map = SegmentMap(total: 20 * Self.megabyte)
        let lane = LaneID(rawValue: 1)
        map.assign(ByteRange(0, map.horizon), to: lane)
        let view = Planner.LaneView(id: lane, speed: 0, isRacing: nil, silentFor: .zero)
        let stolen = ByteRange(10 * Self.megabyte, 13 * Self.megabyte)
        #expect(planner.nextWork(in: map, lanes: [view]) == .steal(stolen, from: lane))
        map.shorten(lane, to: stolen.start)
        map.assign(stolen, to: LaneID(rawValue: 2))
        var rest: [ByteRange] = []
        while case .rest(let range) = planner.nextWork(in: map, lanes: [view]) {
            rest.append(range)
            map.assign(range, to: LaneID(rawValue: UInt32(2 + rest.count)))
        }
        #expect(rest.map { $0.count / Self.megabyte } == [3, 4])
    }

    @Test func `without a total nothing is split`() {
        var map = SegmentMap()
        map.assign(ByteRange(0, ByteRange.open), to: LaneID(rawValue: 1))
        #expect(Planner().nextWork(in: map, lanes: []) == nil)
    }

    @Test func `a wanted byte is fetched first, unless a lane brings it soon`() {
        var planner = Planner()
        var map = SegmentMap(total: 20 * Self.megabyte)
        let (near, far) = (LaneID(rawValue: 1), LaneID(rawValue: 2))
        map.assign(ByteRange(0, 5 * Self.megabyte), to: near)
        map.assign(ByteRange(10 * Self.megabyte, 20 * Self.megabyte), to: far)
        var views = [near, far].map { Planner.LaneView(id: $0, speed: 1e6, isRacing: nil, silentFor: .zero) }
        func work(for byte: Int64) -> Planner.Work? {
            planner.wanted = byte
            return planner.nextWork(in: map, lanes: views)
        }
        let usual = Planner.Work.rest(ByteRange(5 * Self.megabyte, 10 * Self.megabyte))
        #expect(work(for: 7 * Self.megabyte) == .rest(ByteRange(7 * Self.megabyte, 10 * Self.megabyte)))
        let index = 19 * Self.megabyte
        #expect(work(for: index) == .steal(ByteRange(index, 20 * Self.megabyte), from: far))
        #expect(work(for: Planner.shortWay) == usual)
        views[0].speed = 1e8
        #expect(work(for: 4 * Self.megabyte) == usual)
        views[1].keepsRange = true
        #expect(work(for: index) == usual)
        views[1].keepsRange = false
        views.append(Planner.LaneView(id: LaneID(rawValue: 3), speed: 0, isRacing: far, silentFor: .zero))
        #expect(work(for: index) == usual)
        #expect(work(for: 30 * Self.megabyte) == usual, "beyond the end")
    }
}
