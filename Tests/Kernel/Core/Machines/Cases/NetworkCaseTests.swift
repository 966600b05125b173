import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

/// What a machine makes of the monitor's reports.
@Suite struct NetworkCaseTests {
    private static let noRoute: [TransferFault.Kind] = [.unreachable, .nameResolution, .connectTimeout]

    /// A bench whose first attempt found no route.
    private static func waiting(_ hosts: [String] = ["a.example"]) -> Bench {
        var bench = Bench(hosts: hosts) { $0.retry = RetryPolicy(retries: 0) }
        bench.begin(online: false)
        for _ in hosts { bench.fail(.unreachable) }
        return bench
    }

    @Test(arguments: noRoute) func `D5 one attempt is made without a network, and then it waits`(
        _ kind: TransferFault.Kind
    ) {
        var bench = Bench { $0.retry = RetryPolicy(retries: 0) }
        bench.begin(online: false)
        #expect(bench.machine.phase == .probing && bench.machine.lanes.list.count == 1)
        bench.fail(kind)
        #expect(bench.said.last == .notify(.phase(.waitingForNetwork)))
        #expect(bench.machine.lanes.list.isEmpty && bench.machine.attempts == 0)
        bench.said = bench.machine.network(online: true, now: bench.now)
        #expect(bench.said.count == 2 && bench.machine.phase == .probing)
    }

    @Test func `what responds without a network is used`() {
        var bench = Bench()
        bench.begin(online: false)
        bench.respond(Bench.whole(1000))
        #expect(bench.machine.phase == .transferring)
        bench.progress(to: 400)
        let lane = bench.lane
        for _ in 0..<20 {
            bench.tick(after: 1)
            bench.progress(to: (bench.machine.lanes.list.first?.cursor ?? 0) + 10)
        }
        #expect(bench.machine.phase == .transferring && bench.machine.lane(lane) != nil)
    }

    @Test(arguments: [TransferFault.Kind.connectionRefused, .tls, .proxy, .nameMissing, .malformed])
    func `an attempt that reached something is judged as with a network`(_ kind: TransferFault.Kind) {
        var bench = Bench { $0.retry = RetryPolicy(retries: 0) }
        bench.begin(online: false)
        bench.fail(kind)
        #expect(bench.machine.phase == .failed)
    }

    @Test func `a status is judged as with a network`() {
        var bench = Bench { $0.retry = RetryPolicy(retries: 0) }
        bench.begin(online: false)
        bench.respond(ResponseHead(status: 503))
        #expect(bench.machine.phase == .failed && bench.machine.failure?.code == .overloaded)
    }

    @Test func `a proxy whose name is not resolved means no network`() {
        var bench = Bench()
        bench.begin(online: false)
        bench.end(.failed(TransferFault(.proxy, TransferFault.causeOfUnresolved(proxy: "proxy.example"))))
        #expect(bench.machine.phase == .waitingForNetwork)
    }

    @Test func `D4 a name that was known before and is missing without a network is waited for`() {
        var bench = Bench { $0.retry = RetryPolicy(retries: 0) }
        bench.begin()
        bench.respond(Bench.whole(1000))
        _ = bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        bench.progress(to: 400)
        _ = bench.machine.network(online: false, now: bench.now)
        bench.fail(.connectionLost)
        #expect(bench.machine.lanes.list.count == 1, "an attempt shows what the lost connection means")
        bench.fail(.nameMissing)
        #expect(bench.machine.phase == .waitingForNetwork)
    }

    @Test func `D4 the attempt after a lost connection does not count, and only one does not`() {
        var bench = Bench { $0.retry = RetryPolicy(retries: 0) }
        bench.begin()
        _ = bench.machine.network(online: false, now: bench.now)
        bench.fail(.connectionLost)
        #expect(bench.machine.lanes.list.count == 1 && bench.machine.attempts == 0)
        bench.fail(.connectionLost)
        #expect(bench.machine.phase == .failed)
    }

    @Test func `a wait ends though the monitor reports no network, and its attempts are not shown`() {
        var bench = Self.waiting()
        var waits: [Double] = []
        for _ in 0..<8 {
            var seconds = 0.0
            while bench.machine.phase == .waitingForNetwork, seconds < 100 {
                bench.tick(after: 1)
                seconds += 1
                #expect(!bench.said.contains { if case .notify = $0 { true } else { false } })
            }
            waits.append(seconds)
            #expect(bench.machine.lanes.list.count == 1 && bench.machine.shownPhase == .waitingForNetwork)
            bench.fail(.unreachable)
            #expect(bench.said.allSatisfy { if case .notify = $0 { false } else { true } })
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60])
        bench.tick(after: 60)
        bench.respond(Bench.whole(1000))
        #expect(bench.said.first == .notify(.phase(.probing)))
        #expect(bench.machine.shownPhase == bench.machine.phase)
    }

    @Test func `another failure ends the wait`() {
        var bench = Self.waiting()
        bench.tick(after: 2)
        bench.fail(.connectionRefused)
        #expect(bench.machine.phase == .failed && bench.said.contains(.notify(.phase(.probing))))
    }

    @Test func `the user may have the attempt made at once`() {
        var bench = Self.waiting()
        bench.said = bench.machine.retryNow(now: bench.now)
        #expect(bench.machine.lanes.list.count == 1)
    }

    @Test func `a network that comes back during an attempt replaces the attempt`() {
        var bench = Self.waiting()
        bench.tick(after: 2)
        let lane = bench.lane
        bench.said = bench.machine.network(online: true, now: bench.now)
        #expect(bench.said.first == .drop(lane) && bench.machine.lanes.list.count == 1)
        #expect(bench.machine.shownPhase == .probing && bench.lane != lane)
    }

    @Test func `the wait begins when no source is left to try`() {
        var bench = Bench(hosts: ["a.example", "b.example"]) { $0.retry = RetryPolicy(retries: 0) }
        bench.begin(online: false)
        bench.fail(.unreachable)
        #expect(bench.machine.lanes.list.first?.source == 1)
        bench.fail(.nameResolution)
        #expect(bench.machine.phase == .waitingForNetwork)
    }

    @Test func `D4 a source on this machine needs no network, and is not waited for`() {
        var bench = Bench(hosts: ["a.example", "127.0.0.1"])
        bench.begin(online: false)
        bench.fail(.unreachable)
        #expect(bench.machine.lanes.list.first?.source == 1)
        bench.fail(.connectionRefused)
        #expect(bench.machine.phase == .probing && bench.machine.attempts == 1)
    }

    @Test func `D4 connections that are silent since the report are replaced once`() {
        var bench = Bench { $0.timeout = .seconds(60) }
        bench.begin()
        bench.respond(Bench.whole(1000))
        _ = bench.machine.claimed(bench.lane, .fresh, now: bench.now)
        bench.progress(to: 400)
        bench.tick(after: 10)
        #expect(bench.machine.network(online: false, now: bench.now).isEmpty)
        let lane = bench.lane
        bench.tick(after: 2)
        #expect(bench.lane == lane)
        bench.tick(after: 2)
        #expect(bench.said.first == .drop(lane) && bench.machine.lanes.list.count == 1)
        let next = bench.lane
        bench.tick(after: 10)
        #expect(bench.lane == next, "its own timeout decides")
        bench.fail(.unreachable)
        #expect(bench.machine.phase == .waitingForNetwork && bench.machine.attempts == 0)
    }

    @Test func `another URL is tried at once`() {
        var bench = Self.waiting()
        let address = WebAddress(scheme: .http, host: "b.example", port: 80, path: "/f", query: nil)
        bench.said = bench.machine.replaceSource(0, with: address, now: bench.now)
        #expect(bench.machine.lanes.list.count == 1)
    }
}
