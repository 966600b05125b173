import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Several downloads` {
    private func serve(_ names: [String], on stage: Stage, _ length: Int64 = 2 * .mebi) -> [DownloadID] {
        names.map { name in
            stage.serve(name, length)
            return stage.start(Stage.job(name))
        }
    }

    /// The maximum number of downloads that held a slot at once.
    private func mostAtOnce(_ stage: Stage) -> Int {
        var running: Set<DownloadID> = []
        var most = 0
        for report in stage.reports {
            guard case .phase(let phase) = report.update else { continue }
            switch phase {
            // A download that is being published needs no slot.
            case .waiting, .waitingForDisk, .paused, .preempted, .publishing, .finished, .failed, .removed:
                running.remove(report.id)
            case .probing, .transferring, .waitingForNetwork, .verifying: running.insert(report.id)
            }
            most = max(most, running.count)
        }
        return most
    }

    private func order(_ stage: Stage) -> [UInt64] {
        stage.reports.filter { $0.update == .phase(.probing) }.map(\.id.rawValue)
    }

    @Test(arguments: [1, 2, 3, 7]) func `D7 at most N run at once and the rest wait in order`(jobs: Int) {
        let stage = Stage(jobs: jobs)
        let ids = serve((0..<10).map { "file\($0).bin" }, on: stage)
        stage.run()
        #expect(mostAtOnce(stage) == jobs)
        #expect(order(stage) == ids.map(\.rawValue))
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        #expect(stage.world.disk.listing == (0..<10).map { "/downloads/file\($0).bin" })
    }

    @Test func `where the number is not given, it rises while that pays, within the bounds of the host`() {
        let stage = Stage(jobs: nil)
        stage.world.network[Stage.host].latency = .milliseconds(500)
        let ids = serve((0..<300).map { "file\($0).bin" }, on: stage, 4096)
        stage.run()
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        #expect(stage.scheduler.mostRunning > 16)
        #expect(stage.world.network.peak(Stage.host) == HostBounds.web.connections)
    }

    @Test func `where the number is not given, refused downloads are fewer, and each ends well`() {
        let stage = Stage(jobs: nil)
        stage.world.network[Stage.host].latency = .milliseconds(200)
        stage.world.network[Stage.host].connections = 6
        stage.world.network[Stage.host].overflow = .busy(retryAfter: nil)
        let ids = (0..<100).map { index in
            stage.serve("file\(index).bin", 4096)
            return stage.start(Stage.job("file\(index).bin") { $0.plan.retry.retries = 50 })
        }
        stage.run()
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        #expect(stage.scheduler.mostRunning >= 8 && stage.scheduler.slots < 16)
    }

    @Test func `A7 partials of downloads that run together never mix`() {
        let stage = Stage(jobs: 5)
        let payloads = (0..<5).map { stage.serve("file\($0).bin", 3 * .mebi, seed: UInt64($0)) }
        for index in 0..<5 { stage.start(Stage.job("file\(index).bin") { $0.plan.ramp = .fixed(2) }) }
        stage.run()
        for (index, payload) in payloads.enumerated() { stage.expect(payload, at: "file\(index).bin") }
    }

    @Test func `D10 a slot freed by a pause starts the next one`() {
        let stage = Stage(jobs: 1)
        let ids = serve(["a.bin", "b.bin", "c.bin"], on: stage)
        stage.whenTaken(1 * .mebi) { $0.scheduler.pause(ids[0]) }
        stage.run()
        #expect(stage.phases(ids[0]) == [.probing, .transferring, .paused])
        #expect(stage.phases(ids[1]).last == .finished)
        #expect(stage.phases(ids[2]).last == .finished)
    }

    @Test func `D10 a slot freed by a failure starts the next one`() {
        let stage = Stage(jobs: 1)
        let ids = serve(["a.bin", "b.bin"], on: stage)
        stage.world.network[Stage.host].faults[0] = .status(404)
        stage.run()
        #expect(stage.phases(ids[0]).last == .failed)
        #expect(stage.phases(ids[1]).last == .finished)
    }

    @Test func `D9 a download paused by the user is not started by a free slot`() {
        let stage = Stage(jobs: 2)
        let ids = serve(["a.bin", "b.bin", "c.bin"], on: stage)
        stage.whenTaken(1 * .mebi) { $0.scheduler.pause(ids[0]) }
        stage.run()
        #expect(stage.phases(ids[0]).count { $0 == .probing } == 1)
        #expect(stage.phases(ids[0]).last == .paused)
    }

    @Test func `D9 a waiting download that is paused stays out of the queue until it is resumed`() {
        let stage = Stage(jobs: 1)
        let ids = serve(["a.bin", "b.bin", "c.bin"], on: stage)
        stage.after(.milliseconds(50)) { $0.scheduler.pause(ids[1]) }
        stage.after(.seconds(30)) { stage in
            #expect(stage.phases(ids[1]) == [.paused])
            #expect(stage.phases(ids[2]).last == .finished)
            stage.scheduler.resume(ids[1])
        }
        stage.run()
        #expect(stage.phases(ids[1]).last == .finished)
    }

    @Test func `the same name twice at once gives two files`() {
        let stage = Stage()
        let first = stage.serve("a.bin", 2 * .mebi)
        let second = Payload(seed: 99, length: 1 * .mebi + 17)
        stage.world.network["other.test"].files["/a.bin"] = SimulatedFile(second)
        stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(200)) { stage in
            var job = Stage.job("a.bin")
            job.plan = DownloadPlan(sources: [Stage.address("a.bin", host: "other.test")])
            stage.start(job)
        }
        stage.run()
        stage.expect(first, at: "a.bin")
        stage.expect(second, at: "a (1).bin")
    }

    @Test func `the same download twice at once is refused with code 11 and the first continues`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 4 * .mebi)
        let first = stage.start(Stage.job("a.bin"))
        let second = stage.scheduler.add(Stage.job("a.bin")).id
        stage.after(.milliseconds(300)) { $0.scheduler.resume(second) }
        stage.run()
        #expect(stage.failure(second)?.code == .alreadyDownloading)
        #expect(stage.phases(first).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `one that is forgotten while it runs continues to its end`() {
        let stage = Stage(jobs: 1)
        let ids = serve(["a.bin", "b.bin"], on: stage)
        stage.after(.milliseconds(100)) { stage in
            stage.scheduler.forget(ids[0])
            stage.scheduler.forget(ids[1])
        }
        stage.after(.seconds(20)) { stage in
            stage.scheduler.resume(ids[0])
            stage.scheduler.pause(ids[1])
        }
        stage.run()
        #expect(stage.phases(ids[0]).last == .finished)
        #expect(stage.phases(ids[1]).last == .finished)
        #expect(stage.requests.count == 2)
    }

    @Test func `one that is forgotten at rest is unknown afterwards`() {
        let stage = Stage()
        stage.serve("a.bin", 1000)
        let (id, _) = stage.scheduler.add(Stage.job("a.bin"))
        stage.scheduler.forget(id)
        stage.scheduler.resume(id)
        stage.run()
        #expect(stage.requests.isEmpty)
    }

    @Test func `shutting down pauses running downloads, keeps their bytes and starts nothing more`() {
        let stage = Stage(jobs: 2)
        let ids = serve(["a.bin", "b.bin", "c.bin"], on: stage, 8 * .mebi)
        stage.whenTaken(5 * .mebi) { $0.shutDown() }
        stage.run()
        #expect(stage.phases(ids[0]).last == .paused)
        #expect(stage.phases(ids[1]).last == .paused)
        #expect(stage.phases(ids[2]) == [])
        #expect(stage.world.disk.listing == ["/downloads/a.bin.part+journal", "/downloads/b.bin.part+journal"])
        #expect(!stage.world.reachability.isWatched)
    }

    @Test func `shutting down twice completes twice, and not before everything is closed`() {
        let stage = Stage()
        stage.serve("a.bin", 8 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { stage in
            stage.shutDown()
            stage.shutDown()
        }
        stage.run()
        #expect(stage.closings == 2)
    }

    @Test func `several loops share the downloads and the slots`() {
        let stage = Stage(loops: 3, jobs: 4)
        let payloads = (0..<12).map { stage.serve("file\($0).bin", 2 * .mebi, seed: UInt64($0)) }
        let ids = (0..<12).map { index in stage.start(Stage.job("file\(index).bin") { $0.plan.ramp = .fixed(2) }) }
        stage.run()
        #expect(mostAtOnce(stage) == 4)
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        for (index, payload) in payloads.enumerated() { stage.expect(payload, at: "file\(index).bin") }
    }

    @Test func `several loops are deterministic for the same seed`() {
        func story() -> [String] {
            let stage = Stage(seed: 9, loops: 3, jobs: 4)
            stage.world.network[Stage.host].isUneven = true
            _ = serve((0..<6).map { "file\($0).bin" }, on: stage)
            stage.run()
            return stage.world.timeline.log
        }
        #expect(story() == story())
    }
}
