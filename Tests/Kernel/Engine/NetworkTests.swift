import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Network loss` {
    @Test func `D4 a network lost in the middle costs no retry and no byte`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.whenTaken(3 * .mebi) { $0.world.set(online: false) }
        stage.after(.seconds(300)) { stage in
            #expect(stage.phases(id).last == .waitingForNetwork)
            #expect(stage.world.network.open == 0)
            stage.world.set(online: true)
        }
        stage.run()
        #expect(stage.retries(id).isEmpty)
        #expect(stage.responses.count == 2)
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D4 a connection that still receives data continues`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.whenTaken(3 * .mebi) { $0.world.set(online: false, breaks: false) }
        stage.run()
        #expect(stage.phases(id).last == .finished && stage.requests.count == 1)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D4 a failure before the monitor's notification is no attempt either`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.whenTaken(3 * .mebi) { stage in
            stage.world.reachability.change(to: false, isTold: false)
            stage.world.network.set(isUp: false)
        }
        stage.after(.seconds(60)) { stage in
            #expect(stage.phases(id).last == .waitingForNetwork)
            stage.world.network.set(isUp: true)
            stage.world.reachability.change(to: true)
        }
        stage.run()
        #expect(stage.retries(id).isEmpty)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D4 a short network loss without notification is recovered`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.whenTaken(3 * .mebi) { stage in
            stage.world.reachability.change(to: false, isTold: false)
            stage.world.network.set(isUp: false)
        }
        stage.after(.seconds(60)) { stage in
            stage.world.network.set(isUp: true)
            stage.world.reachability.change(to: true, isTold: false)
        }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D5 started without network nothing is touched and it waits`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 2 * .mebi)
        stage.world.set(online: false)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.after(.seconds(100)) { stage in
            #expect(stage.phases(id) == [.probing, .waitingForNetwork])
            #expect(stage.responses.isEmpty)
            #expect(stage.world.disk.listing.isEmpty)
            stage.world.set(online: true)
        }
        stage.run()
        #expect(stage.retries(id).isEmpty)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D5 the files of an earlier run stay unchanged without network`() {
        let world = World(seed: 8)
        let stage = Stage(world: world)
        let payload = stage.serve("a.bin", 6 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(2 * .mebi) { $0.scheduler.pause(id) }
        stage.run()
        let kept = world.disk.journalled("/downloads/a.bin")

        let next = Stage(world: world)
        world.set(online: false)
        let again = next.start(Stage.job("a.bin"))
        next.after(.seconds(50)) { stage in
            #expect(stage.phases(again) == [.transferring, .waitingForNetwork])
            #expect(world.disk.journalled("/downloads/a.bin") == kept)
            stage.scheduler.pause(again)
        }
        next.after(.seconds(60)) { stage in
            #expect(world.disk.journalled("/downloads/a.bin") == kept)
            world.set(online: true)
            stage.scheduler.resume(again)
        }
        next.run()
        #expect(world.network.takenTwice(Stage.host, "/a.bin") == 0)
        next.expect(payload, at: "a.bin")
    }

    @Test func `a download from this machine itself needs no network and starts no monitor`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 1 * .mebi, host: "127.0.0.1")
        stage.world.reachability.change(to: false)
        var job = Stage.job("a.bin")
        job.plan = DownloadPlan(sources: [Stage.address("a.bin", host: "127.0.0.1")])
        stage.start(job)
        stage.run()
        #expect(stage.world.reachability.starts == 0)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a server that can be reached is used though the monitor reports no network`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        stage.world.reachability.change(to: false)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.run()
        #expect(!stage.phases(id).contains(.waitingForNetwork))
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D4 a network that comes back without a report is found`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 0) })
        stage.whenTaken(3 * .mebi) { $0.world.set(online: false) }
        stage.after(.seconds(300)) { $0.world.network.set(isUp: true) }
        stage.run()
        #expect(
            stage.phases(id) == [.probing, .transferring, .waitingForNetwork, .transferring, .publishing, .finished])
        #expect(stage.responses.count == 2 && stage.retries(id).isEmpty)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a paused one does not resume when the network comes back`() {
        let stage = Stage()
        stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(3 * .mebi) { $0.world.set(online: false) }
        stage.after(.seconds(5)) { $0.scheduler.pause(id) }
        stage.after(.seconds(6)) { $0.world.set(online: true) }
        stage.run()
        #expect(stage.phases(id).suffix(2) == [.waitingForNetwork, .paused])
        #expect(stage.responses.count == 1)
    }

    /// More than check their lanes at one tick of the loop.
    @Test func `of very many downloads each notices silence`() {
        let stage = Stage(jobs: 300)
        let ids = (0..<300).map { number in
            let host = "h\(number).test"
            stage.serve("\(number).bin", 50_000, host: host)
            stage.world.network[host].faults[0] = .stalled(after: 10_000)
            return stage.start(
                Stage.job("\(number).bin") {
                    $0.plan.sources = [Stage.address("\(number).bin", host: host)]
                    $0.plan.timeout = .seconds(7)
                })
        }
        stage.run()
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        #expect(ids.allSatisfy { stage.retries($0).count == 1 })
    }

    @Test func `silence longer than the timeout is a retry that requests the rest`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 4 * .mebi)
        stage.world.network[Stage.host].faults[0] = .stalled(after: 1 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.timeout = .seconds(7) })
        stage.run()
        #expect(stage.retries(id).count == 1)
        #expect(stage.requests.map(\.range) == [.whole, .closed(ByteRange(1 * .mebi, 4 * .mebi))])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `E1 a server that never responds to Range gets requests without it, and never with it again`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi) { $0.ranges = .silent }
        stage.world.network[Stage.host].faults = [0: .reset(after: 1 * .mebi), 2: .reset(after: 2 * .mebi)]
        stage.start(Stage.job("a.bin") { $0.plan.timeout = .seconds(5) })
        stage.run()
        #expect(stage.requests.map(\.range) == [.whole, .closed(ByteRange(1 * .mebi, 3 * .mebi)), .whole, .whole])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `E2 the whole of the same version in place of a range is compared, and nothing is appended`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi) { $0.ranges = .ignored }
        stage.world.network[Stage.host].faults[0] = .reset(after: 1 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.sentences(id).contains { $0.contains("comparing it with the bytes on disk") })
        #expect(!stage.sentences(id).contains { $0.contains("started over") })
        stage.expect(payload, at: "a.bin")
    }
}
