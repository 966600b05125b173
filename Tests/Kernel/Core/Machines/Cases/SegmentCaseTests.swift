import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct SegmentCaseTests {
    private static let total = 40 * Bench.megabyte

    /// Four lanes of 10 MiB each, all receiving.
    private static func four(_ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        var bench = Bench { plan in
            plan.ramp = .fixed(4)
            change(&plan)
        }
        bench.begin()
        bench.respond(Bench.whole(total))
        bench.tick(after: 0.1)
        for lane in bench.machine.lanes.list where lane.stage == .asking {
            let end: Int64 = if case .closed(let range) = lane.request.range { range.end } else { total }
            bench.respond(Bench.part(lane.cursor, end, of: total), to: lane.id)
        }
        return bench
    }

    /// A shortened response is cut: its connection is lost, with what is on its way.
    @Test(arguments: [true, false])
    func `over a long way only the first response is shortened while connections are added`(isLong: Bool) {
        var bench = Bench { $0.ramp = .automatic(maximum: 32) }
        bench.begin()
        if isLong { bench.tick(after: 0.1) }
        bench.respond(Bench.whole(Self.total))
        let first = bench.machine.lanes.list[0].id
        while bench.machine.lanes.list.count < 8 {
            for lane in bench.machine.lanes.list {
                if lane.stage == .asking, case .closed(let range) = lane.request.range {
                    bench.respond(Bench.part(range.start, range.end, of: Self.total), to: lane.id)
                } else {
                    bench.progress(to: lane.cursor + 10_000, lane: lane.id)
                }
            }
            bench.tick(after: 0.1)
        }
        let shortened = bench.machine.lanes.list.filter { lane in
            if case .closed(let range) = lane.request.range { range.end != lane.end } else { true }
        }
        #expect(bench.machine.lanes.map.isConserved)
        #expect(isLong ? shortened.map(\.id) == [first] : shortened.count > 1)
    }

    @Test func `G3 a lane far slower than the mean hands its range to a fresh connection`() {
        var bench = Self.four()
        let slow = bench.machine.lanes.list[1].id
        for _ in 0..<16 {
            for lane in bench.machine.lanes.list where lane.isFlowing {
                bench.progress(to: lane.cursor + (lane.id == slow ? 10 : 300_000), lane: lane.id)
            }
            bench.tick(after: 0.5)
        }
        #expect(!bench.machine.lanes.list.contains { $0.id == slow })
        #expect(bench.machine.lanes.list.count == 4 && bench.machine.lanes.map.isConserved)
    }

    @Test func `G3 a lane that recovers is kept`() {
        var bench = Self.four()
        let slow = bench.machine.lanes.list[1].id
        for turn in 0..<16 {
            for lane in bench.machine.lanes.list where lane.isFlowing {
                let isSlow = lane.id == slow && turn % 6 < 3
                bench.progress(to: lane.cursor + (isSlow ? 50_000 : 300_000), lane: lane.id)
            }
            bench.tick(after: 0.5)
        }
        #expect(bench.machine.lanes.list.contains { $0.id == slow })
    }

    @Test func `G3 a suspended time makes no lane a slow one`() {
        var bench = Self.four()
        let slow = bench.machine.lanes.list[1].id
        func turns(_ count: Int) {
            for _ in 0..<count {
                for lane in bench.machine.lanes.list where lane.isFlowing {
                    bench.progress(to: lane.cursor + (lane.id == slow ? 50_000 : 300_000), lane: lane.id)
                }
                bench.tick(after: 0.5)
            }
        }
        turns(5)
        #expect(bench.machine.lanes.list.first { $0.id == slow }?.speed.slowSince != nil)
        bench.now = bench.now + .seconds(10)
        bench.machine.stoodStill(for: .seconds(10), now: bench.now)
        turns(1)
        #expect(bench.machine.lanes.list.contains { $0.id == slow })
        turns(8)
        #expect(!bench.machine.lanes.list.contains { $0.id == slow })
    }

    @Test(arguments: [(10, false), (50_000, true)])
    func `G3 a crawling lane is replaced immediately, a slow one gets more time`(step: Int64, isKept: Bool) {
        var bench = Self.four()
        let slow = bench.machine.lanes.list[1].id
        for _ in 0..<5 {
            for lane in bench.machine.lanes.list where lane.isFlowing {
                bench.progress(to: lane.cursor + (lane.id == slow ? step : 300_000), lane: lane.id)
            }
            bench.tick(after: 0.5)
        }
        #expect(bench.machine.lanes.list.contains { $0.id == slow } == isKept)
    }

    @Test func `G3 a refused connection leaves its range to the receiving ones`() {
        var bench = Self.four()
        let lane = bench.machine.lanes.list[2].id
        bench.fail(.connectionRefused, lane: lane)
        let refusal = LaneRefusal(lane: lane, reason: .connection, isSameFile: true)
        #expect(bench.said.contains(.refused(refusal)))
        #expect(bench.machine.phase == .transferring && bench.machine.lanes.list.count == 3)
        bench.tick(after: 5)
        #expect(bench.machine.lanes.list.count == 3)
        bench.tick(after: 10)
        #expect(bench.machine.lanes.list.count == 4, "the host's budget has recovered as well")
    }

    @Test func `G3 a single lane that falls to a twentieth of its best gets a helper`() {
        var bench = Bench { $0.ramp = .fixed(1) }
        bench.begin()
        bench.respond(Bench.whole(Self.total))
        let lane = bench.lane
        for _ in 0..<8 {
            bench.progress(to: bench.machine.lanes.list[0].cursor + 500_000, lane: lane)
            bench.tick(after: 0.5)
        }
        var seconds = 0.0
        while bench.machine.lanes.list.count == 1, seconds < 30 {
            bench.progress(to: bench.machine.lanes.list[0].cursor + 1000, lane: lane)
            bench.tick(after: 0.5)
            seconds += 0.5
        }
        #expect(seconds >= 10 && seconds < 16)
        let helper = bench.machine.lanes.list[1]
        #expect(helper.isData && helper.cursor > bench.machine.lanes.list[0].cursor)
        bench.respond(Bench.part(helper.cursor, Self.total, of: Self.total), to: helper.id)
        for _ in 0..<8 {
            for one in bench.machine.lanes.list where one.isFlowing {
                bench.progress(to: one.cursor + (one.id == lane ? 1000 : 500_000), lane: one.id)
            }
            bench.tick(after: 0.5)
        }
        #expect(bench.machine.lanes.list.map(\.id) == [helper.id], "the crawling one is closed")
        #expect(bench.machine.lanes.map.isConserved)
    }

    @Test(arguments: [true, false]) func `a single lane whose bytes go in order gets no helper`(isStream: Bool) throws {
        var bench = Bench {
            $0.ramp = isStream ? .fixed(1) : .fixed(4)
            $0.isInOrder = isStream
            if !isStream { $0.hooks = .validate }
        }
        bench.begin()
        bench.respond(Bench.whole(Self.total))
        if !isStream {
            let id = try #require(bench.machine.lanes[0].pending?.id)
            bench.said = bench.machine.replied(id, .memory(Self.total), now: bench.now)
            bench.said += bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        }
        let lane = bench.lane
        for step in 0..<60 {
            bench.progress(to: bench.machine.lanes[0].cursor + (step < 8 ? 500_000 : 1000), lane: lane)
            bench.tick(after: 0.5)
            #expect(bench.machine.lanes.list.map(\.id) == [lane])
        }
        #expect(bench.machine.lanes.list[0].speed.crawls(for: Lanes.loneCrawl, now: bench.now))
    }

    @Test func `without ranges the lane before a gap continues through it`() {
        var bench = Self.four()
        let middle = bench.machine.lanes.list.first { $0.cursor == 10 * Bench.megabyte }?.id ?? bench.lane
        for lane in bench.machine.lanes.list where lane.id != middle {
            bench.progress(to: lane.cursor + 5, lane: lane.id)
        }
        bench.machine.server.giveUpRanges()
        bench.fail(.connectionLost, lane: middle)
        bench.tick(after: 10)
        #expect(bench.said.contains { if case .limit(_, let end) = $0 { end == 20 * Bench.megabyte } else { false } })
        #expect(Law.owner(bench.machine) == nil)
    }

    @Test func `G3 the bytes of a race are written once and its losers are closed`() {
        var bench = Bench { $0.ramp = .fixed(3) }
        bench.begin()
        bench.respond(Bench.whole(1000))
        bench.progress(to: 100)
        bench.tick(after: 3)
        #expect(bench.machine.lanes.list.count { $0.isRacing != nil } == 2)
        let (owner, first, second) = (
            bench.machine.lanes.list[0].id, bench.machine.lanes.list[1].id, bench.machine.lanes.list[2].id
        )
        bench.respond(Bench.part(100, 1000, of: 1000), to: first)
        bench.progress(to: 700, lane: first)
        #expect(bench.machine.lanes.list.first { $0.id == first }?.isData == true)
        #expect(bench.machine.lanes.list.first { $0.id == owner }?.isRacing == first)
        #expect(bench.machine.lanes.list.first { $0.id == second }?.isRacing == first)
        #expect(bench.machine.written == 700 && Law.owner(bench.machine) == nil)
        bench.progress(to: 1000, lane: first)
        bench.end(.complete, lane: first)
        #expect(bench.said.contains(.drop(owner)) && bench.said.contains(.drop(second)))
        #expect(bench.machine.phase == .publishing)
    }
}
