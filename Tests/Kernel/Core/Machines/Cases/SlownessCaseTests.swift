import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlSystem

/// A lowest speed that connections must exceed.
@Suite struct SlownessCaseTests {
    /// A download over `count` connections that all have a response.
    private func running(_ count: Int = 1, hosts: [String] = ["a.example"]) -> Bench {
        var bench = Bench(hosts: hosts) {
            $0.ramp = .fixed(count)
            $0.lowestSpeed = 1000
        }
        let total = 100 * Bench.megabyte
        bench.begin()
        bench.respond(Bench.whole(total))
        bench.tick(after: 0.1)
        for lane in bench.machine.lanes.list.dropFirst() {
            bench.respond(Bench.part(lane.cursor, lane.end, of: total), to: lane.id)
        }
        return bench
    }

    /// Seconds in which each lane receives `bytes`, until one is closed.
    private func run(_ bench: inout Bench, seconds: Int, speeds: [Int64]) -> [Action] {
        for _ in 0..<seconds {
            for (lane, speed) in zip(bench.machine.lanes.list, speeds) {
                bench.progress(to: lane.cursor + speed, lane: lane.id)
            }
            bench.tick(after: 1)
            if bench.said.contains(where: { if case .drop = $0 { true } else { false } }) { return bench.said }
        }
        return []
    }

    private func failure(_ said: [Action]) -> Failure? {
        for case .notify(.retrying(let failure, _)) in said { return failure }
        for case .notify(.failed(let failure)) in said { return failure }
        return nil
    }

    @Test func `a connection at the lowest speed is closed after ten seconds and another one tried`() {
        var bench = running()
        #expect(run(&bench, seconds: 9, speeds: [1000]).isEmpty)
        let said = run(&bench, seconds: 3, speeds: [1000])
        #expect(failure(said)?.code == .tooSlow)
        #expect(failure(said)?.description.contains("no more than 1000 bytes per second for 10.0 s") == true)
        #expect(bench.machine.phase == .transferring && bench.machine.lanes.list.isEmpty)
        bench.ring()
        #expect(bench.requested == .closed(ByteRange(bench.machine.written, 100 * Bench.megabyte)))
    }

    @Test func `one that is slightly faster continues indefinitely`() {
        var bench = running()
        #expect(run(&bench, seconds: 1000, speeds: [1010]).isEmpty)
    }

    @Test func `crawling is not progress that resets the retry count, a sufficient speed is`() {
        var bench = running()
        /// Closed for its low speed; the next one is open.
        func closed(_ bench: inout Bench) -> Bool {
            let said = run(&bench, seconds: 30, speeds: [500])
            guard failure(said) != nil, bench.machine.phase == .transferring else { return false }
            bench.ring()
            let written = bench.machine.written
            bench.respond(Bench.part(written, 100 * Bench.megabyte, of: 100 * Bench.megabyte))
            return true
        }
        #expect(closed(&bench) && bench.machine.attempts == 1)
        #expect(closed(&bench) && bench.machine.attempts == 2)
        // The count starts over.
        #expect(run(&bench, seconds: 3, speeds: [5_000]).isEmpty)
        #expect(closed(&bench) && bench.machine.attempts == 1)
        #expect(closed(&bench) && bench.machine.attempts == 2)
        let written = bench.machine.written
        #expect(!closed(&bench) && bench.machine.phase == .failed)
        #expect(bench.machine.failure?.code == .tooSlow && bench.machine.written > written)
    }

    @Test func `of several only the slow one is closed, and no attempt is counted`() {
        var bench = running(2)
        #expect(bench.machine.lanes.flowing == 2)
        let slow = bench.machine.lanes.list[1].id
        let said = run(&bench, seconds: 30, speeds: [1200, 900])
        #expect(said.contains(.drop(slow)) && failure(said) == nil)
        #expect(bench.machine.attempts == 0 && bench.machine.lanes.flowing == 1)
        // Another lane finishes its range later.
        for _ in 0..<5 { bench.tick(after: 1) }
        #expect(bench.machine.lanes.list.count == 2)
    }

    @Test func `a mirror is requested if one is too slow too often`() {
        var bench = running(hosts: ["a.example", "b.example"])
        var left: [Source] = []
        for _ in 0..<40 where left.isEmpty {
            _ = run(&bench, seconds: 12, speeds: [10])
            if bench.machine.lanes.list.isEmpty { bench.ring() }
            let total = 100 * Bench.megabyte
            if bench.machine.lanes.list.last?.stage == .asking {
                bench.respond(Bench.part(bench.machine.written, total, of: total))
            }
            left = bench.machine.sources.filter { !$0.isUsable }
        }
        #expect(left.count == 1 && bench.machine.phase == .transferring)
        #expect(bench.machine.lanes.list.last.map { bench.machine.sources[$0.source].isUsable } == true)
    }

    @Test func `a throttled or suspended connection is not too slow`() {
        var bench = running()
        for _ in 0..<60 {
            let lane = bench.machine.lanes.list[0]
            bench.machine.progressed(
                lane.id, cursor: lane.cursor + 100, received: lane.speed.received + 100, waits: true, now: bench.now)
            bench.tick(after: 1)
            #expect(bench.said.isEmpty || bench.said == [.checkpoint])
        }
        #expect(run(&bench, seconds: 8, speeds: [100]).isEmpty)
        bench.now = bench.now + .seconds(60)
        bench.machine.stoodStill(for: .seconds(60), now: bench.now)
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list.count == 1)
    }
}
