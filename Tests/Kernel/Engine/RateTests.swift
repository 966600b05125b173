import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Synchronization
import Testing

@Suite struct `Rate limits` {
    /// Checks every tenth of a second that no more arrived than the rate allows, with its burst.
    private func watch(_ stage: Stage, rate: Int64, from begin: Double = 0, to end: Double, allowance: Int64) {
        let steps = Int((end - begin) * 10)
        for step in 0...steps {
            stage.after(.seconds(begin + Double(step) / 10)) { stage in
                let base = stage.mark
                let most = Double(rate) * Double(step) / 10 + Double(allowance)
                #expect(Double(stage.world.network.taken - base) <= most, "step \(step)")
            }
        }
    }

    @Test(arguments: [1, 4]) func `all together never exceed the common limit`(lanes: Int) {
        let rate: Int64 = 512 * .kibi
        let stage = Stage(rate: rate)
        let first = stage.serve("a.bin", 3 * .mebi)
        let second = stage.serve("bb.bin", 2 * .mebi)
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(lanes) })
        stage.start(Stage.job("bb.bin") { $0.plan.ramp = .fixed(lanes) })
        // A burst of a quarter second, and one chunk that every lane may have read on credit.
        watch(stage, rate: rate, to: 9, allowance: rate / 4 + 2 * rate / 8 * Int64(lanes))
        stage.run()
        let seconds = (stage.world.clock.now - Instant(nanoseconds: 1_000_000_000)).seconds
        #expect(seconds < 11.5, "and it is made use of")
        stage.expect(first, at: "a.bin")
        stage.expect(second, at: "bb.bin")
    }

    @Test func `engines that share a limit never exceed it together, and are notified of changes`() {
        let rate: Int64 = 512 * .kibi
        let common = CommonRate()
        let stage = Stage(rate: rate, common: common)
        let payloads = [stage.serve("a.bin", 9 * .mebi), stage.serve("bb.bin", 9 * .mebi)]
        let box = Mutex<Engine?>(nil)
        let other = Engine(ports: stage.world.ports, loops: 1, rate: nil, common: common) { report in
            if report.update == .phase(.finished) { box.withLock { $0 }?.shutDown {} }
        }
        box.withLock { $0 = other }
        #expect(other.rate == rate)
        stage.start(Stage.job("a.bin"))
        other.start(other.add(Stage.job("bb.bin")).id)
        watch(stage, rate: rate, to: 9, allowance: rate / 4 + 2 * rate / 8)
        stage.after(.seconds(9)) { stage in
            stage.setMark()
            stage.engine.limit(to: nil)
        }
        stage.after(.seconds(10)) { stage in
            #expect(stage.world.network.taken - stage.mark > 4 * .mebi, "both are free at once")
        }
        stage.run()
        box.withLock { $0 = nil }
        stage.expect(payloads[0], at: "a.bin")
        stage.expect(payloads[1], at: "bb.bin")
    }

    @Test func `a download over one connection is not starved by one over many`() throws {
        let stage = Stage(rate: 512 * .kibi)
        let large = stage.serve("a.bin", 16 * .mebi)
        let small = stage.serve("bb.bin", 512 * .kibi)
        let many = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(8) })
        let one = stage.start(Stage.job("bb.bin"))
        stage.run()
        let ends = (try #require(stage.time(one, of: .finished)), try #require(stage.time(many, of: .finished)))
        #expect(ends.1 - ends.0 > .seconds(10), "the small one waited for the large one")
        stage.expect(large, at: "a.bin")
        stage.expect(small, at: "bb.bin")
    }

    @Test func `one download's own limit does not affect the others`() throws {
        let stage = Stage()
        let slow = stage.serve("a.bin", 1 * .mebi)
        let fast = stage.serve("bb.bin", 8 * .mebi)
        let limited = stage.start(Stage.job("a.bin") { $0.rateLimit = 256 * .kibi })
        let free = stage.start(Stage.job("bb.bin"))
        stage.run()
        let start = Instant(nanoseconds: 1_000_000_000)
        let slowEnd = try #require(stage.time(limited, of: .finished)) - start
        let fastEnd = try #require(stage.time(free, of: .finished)) - start
        #expect(slowEnd > .seconds(3.6) && slowEnd < .seconds(4.6))
        #expect(fastEnd < .seconds(2.3))
        stage.expect(slow, at: "a.bin")
        stage.expect(fast, at: "bb.bin")
    }

    @Test func `the common limit changes while downloads run`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 12 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.after(.seconds(1)) { stage in
            stage.setMark()
            stage.engine.limit(to: 256 * .kibi)
        }
        watch(stage, rate: 256 * .kibi, from: 1, to: 5, allowance: 512 * .kibi)
        stage.after(.seconds(5)) { stage in
            stage.engine.limit(to: nil)
            stage.setMark()
        }
        stage.after(.seconds(6)) { stage in
            #expect(stage.world.network.taken - stage.mark > 2 * .mebi, "free again at once")
        }
        stage.run()
        stage.expect(payload, at: "a.bin")
    }

    @Test func `back-pressure by a limit loses no byte and is not a timeout`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 200 * .kibi)
        let id = stage.start(
            Stage.job("a.bin") { job in
                job.rateLimit = 2 * .kibi
                job.plan.timeout = .seconds(1)
                job.plan.retry = RetryPolicy(retries: 0)
            })
        stage.run()
        #expect(stage.requests.count == 1)
        #expect(stage.requests[0].bufferSize == 4 * 1024, "small reads under a small limit")
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a pause while it is throttled keeps the written bytes`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 2 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.rateLimit = 300 * .kibi })
        stage.after(.milliseconds(2_050)) { $0.scheduler.pause(id) }
        stage.after(.seconds(5)) { $0.scheduler.resume(id) }
        stage.run()
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
        stage.expect(payload, at: "a.bin")
    }
}
