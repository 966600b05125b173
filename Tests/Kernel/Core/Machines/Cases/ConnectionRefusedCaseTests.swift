import Testing

@testable import PawlBase
@testable import PawlCore

/// Servers that accept some connections and reject the next without a reason.
@Suite struct ConnectionRefusedCaseTests {
    private let total = 100 * Bench.megabyte

    private func running(_ count: Int) -> Bench {
        var bench = Bench { $0.ramp = .fixed(count) }
        bench.begin()
        bench.respond(Bench.whole(total))
        return bench
    }

    private func asking(_ bench: Bench) -> [LaneID] {
        bench.machine.lanes.list.filter { $0.stage == .asking }.map(\.id)
    }

    private var forbidden: ResponseHead { ResponseHead(status: 403) }

    @Test func `403 to all but the first is no failure, and the first completes the file`() {
        var bench = running(8)
        let refused = asking(bench)
        #expect(refused.count == 7)
        var noticed = 0
        for lane in refused {
            bench.respond(forbidden, to: lane)
            noticed += bench.said.count { if case .refused(let refusal) = $0 { refusal.isSameFile } else { false } }
        }
        #expect(noticed == 7 && bench.machine.lanes.list.count == 1 && bench.machine.phase == .transferring)
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list[0].end == total, "it has its range back")
        // And nothing is requested while it receives bytes.
        var requests = 0
        for _ in 0..<90 {
            bench.progress(to: bench.machine.lanes.list[0].cursor + 1_000_000)
            bench.tick(after: 0.1)
            requests += bench.said.count { if case .open = $0 { true } else { false } }
        }
        #expect(requests == 0 && bench.machine.attempts == 0)
    }

    @Test func `a 403 beyond the limit that this run has seen is retried, one within it is final`() {
        var bench = Bench()
        bench.begin()
        func respond(isCrowded: Bool) {
            bench.said = bench.machine.responded(
                bench.lane, head: forbidden, isCrowded: isCrowded, wallTime: UnixTime(seconds: 0), now: bench.now)
        }
        respond(isCrowded: true)
        let refusals = bench.said.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }
        #expect(refusals.map(\.reason) == [.status(403)] && bench.machine.phase == .probing)
        bench.ring()
        respond(isCrowded: false)
        #expect(bench.machine.phase == .failed)
        let isReported = bench.said.contains { if case .refused = $0 { true } else { false } }
        #expect(!isReported, "it says nothing of the host")
    }

    @Test func `a reset of every further connection has the same effect`() {
        var bench = running(4)
        for lane in asking(bench) { bench.fail(.connectionLost, lane: lane) }
        bench.tick(after: 0.1)
        #expect(bench.machine.lanes.list.count == 1 && bench.machine.lanes.list[0].end == total)
    }

    @Test func `a 403 just after the last connection closed is retried`() {
        var bench = running(2)
        bench.respond(forbidden, to: asking(bench)[0])
        bench.progress(to: 5 * Bench.megabyte)
        bench.fail(.connectionLost)
        #expect(bench.machine.phase == .transferring)
        bench.ring()
        bench.respond(forbidden)
        #expect(bench.machine.phase == .transferring, "not the end")
        bench.ring()
        bench.respond(Bench.part(5 * Bench.megabyte, total, of: total))
        #expect(bench.machine.lanes.list[0].isFlowing)
    }

    @Test func `a 403 of a server that rejected no connection before is final`() {
        var bench = running(1)
        bench.progress(to: 5 * Bench.megabyte)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(forbidden)
        #expect(bench.machine.failure?.code == .authorization)
    }
}
