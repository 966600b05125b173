import Testing

@testable import PawlBase
@testable import PawlCore

/// Downloads under Pawl's own rate limit.
@Suite struct LimitCaseTests {
    private let total = 100 * Bench.megabyte

    private func running(_ count: Int, rate: Int64?) -> Bench {
        var bench = Bench { $0.ramp = .fixed(count) }
        bench.machine.limited(to: rate, now: bench.now)
        bench.begin()
        bench.respond(Bench.whole(total))
        return bench
    }

    /// Seconds in which every lane receives `bytes`, with or without being throttled.
    private func run(_ bench: inout Bench, seconds: Int, speed: Int64, waits: Bool) -> [Action] {
        var said: [Action] = []
        for _ in 0..<(seconds * 10) {
            bench.now = bench.now + .milliseconds(100)
            for lane in bench.machine.lanes.list where lane.isFlowing {
                let next = min(lane.end, lane.cursor + speed / 10)
                bench.machine.progressed(
                    lane.id, cursor: next, received: lane.speed.received + speed / 10, waits: waits, now: bench.now)
            }
            said += bench.machine.tick(now: bench.now)
            for lane in bench.machine.lanes.list where lane.stage == .asking {
                bench.respond(Bench.part(lane.cursor, lane.end, of: total), to: lane.id)
                said += bench.said
            }
        }
        return said
    }

    private func requests(_ said: [Action]) -> Int { said.count { if case .open = $0 { true } else { false } } }

    private func drops(_ said: [Action]) -> Int { said.count { if case .drop = $0 { true } else { false } } }

    @Test(arguments: [1, 4, 8]) func `one connection is enough if the limit holds it back`(count: Int) {
        var bench = running(count, rate: 100_000)
        let said = bench.said + run(&bench, seconds: 60, speed: 100_000, waits: true)
        #expect(requests(said) == 0 && drops(said) == 0)
        #expect(bench.machine.lanes.list.count == 1)
    }

    @Test func `a server slower than the limit gets as many connections as the limit can use`() {
        var bench = running(8, rate: 400_000)
        let said = bench.said + run(&bench, seconds: 10, speed: 100_000, waits: false)
        #expect(requests(said) == 3 && bench.machine.lanes.list.count == 4)
    }

    @Test func `a limit that is set while many lanes run adds none and closes none`() {
        var bench = running(4, rate: nil)
        _ = run(&bench, seconds: 2, speed: 1_000_000, waits: false)
        #expect(bench.machine.lanes.list.count == 4)
        bench.machine.limited(to: 100_000, now: bench.now)
        let said = run(&bench, seconds: 30, speed: 25_000, waits: true)
        #expect(requests(said) == 0 && drops(said) == 0)
        bench.machine.limited(to: nil, now: bench.now)
        #expect(run(&bench, seconds: 3, speed: 1_000_000, waits: false).isEmpty == false)
    }

    @Test func `uneven shares of a limit are not slow connections`() {
        var bench = running(2, rate: nil)
        _ = run(&bench, seconds: 2, speed: 1_000_000, waits: false)
        bench.machine.limited(to: 100_000, now: bench.now)
        var said: [Action] = []
        for _ in 0..<300 {
            bench.now = bench.now + .milliseconds(100)
            for (index, lane) in bench.machine.lanes.list.enumerated() {
                let count: Int64 = index == 0 ? 10_000 : 10
                bench.machine.progressed(
                    lane.id, cursor: lane.cursor + count, received: lane.speed.received + count, waits: true,
                    now: bench.now)
            }
            said += bench.machine.tick(now: bench.now)
        }
        #expect(drops(said) == 0 && requests(said) == 0)
    }

    @Test func `a connection throttled by the limit is not below the lowest speed`() {
        var bench = Bench {
            $0.ramp = .fixed(1)
            $0.lowestSpeed = 50_000
        }
        bench.machine.limited(to: 1_000, now: bench.now)
        bench.begin()
        bench.respond(Bench.whole(total))
        let said = run(&bench, seconds: 60, speed: 1_000, waits: true)
        #expect(drops(said) == 0 && bench.machine.phase == .transferring)
    }
}
