import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCore
@testable import PawlEngine
@testable import PawlIntegrity
@testable import PawlJournal
@testable import PawlQueue
@testable import PawlSystem

@Suite struct `Pausing and resuming` {
    @Test func `A5 C2 a pause keeps every byte and only the rest is requested`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 6 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(2 * .mebi) { $0.scheduler.pause(id) }
        stage.after(.seconds(10)) { stage in
            #expect(stage.phases(id).last == .paused)
            #expect(stage.world.disk.listing == ["/downloads/a.bin.part+journal"])
            #expect(stage.world.disk.openPartials == 0)
            #expect(stage.world.network.open == 0)
            #expect(stage.world.disk.journalled("/downloads/a.bin")?.count == stage.world.network.taken)
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.requests.map(\.range) == [.whole, .closed(ByteRange(stage.requests[0].taken.end, 6 * .mebi))])
        #expect(stage.requests[1].bypassesCaches, "E4")
        #expect(stage.world.network.taken == 6 * .mebi)
        stage.expect(payload, at: "a.bin")
        let resumedAt = stage.requests[0].taken.end
        #expect(stage.updates(id).contains(.started(total: 6 * .mebi, resumedAt: resumedAt)))
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
    }

    @Test func `E1 a process that was stopped blames no server for it`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 6 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(2 * .mebi) { $0.scheduler.pause(id) }
        stage.after(.seconds(10)) { $0.scheduler.resume(id) }
        stage.onReport { stage, report in
            // The request is decided and not sent yet.
            guard stage.phases(id).contains(.paused), report.update == .phase(.transferring) else { return }
            #expect(stage.requests.count == 1)
            stage.world.timeline.skip(.seconds(100))
        }
        stage.run()
        #expect(stage.requests.map(\.range) == [.whole, .closed(ByteRange(stage.requests[0].taken.end, 6 * .mebi))])
        #expect(stage.requests[1].at - stage.requests[0].at > .seconds(100))
        #expect(stage.retries(id).isEmpty && stage.sentences(id).isEmpty)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a pause with many lanes keeps the bytes of each`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 20 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.whenTaken(9 * .mebi) { $0.scheduler.pause(id) }
        stage.after(.seconds(10)) { stage in
            #expect(stage.world.network.peak(Stage.host) == 4)
            #expect(stage.world.disk.journalled("/downloads/a.bin")?.runs.count == 4)
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") < 4 * 64 * .kibi)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a small file that is paused gets its journal at the pause`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 900 * .kibi)
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(100)) { stage in
            #expect(stage.world.disk.listing == ["/downloads/a.bin.part"], "no journal while it runs")
            stage.scheduler.pause(id)
        }
        stage.after(.seconds(3)) { stage in
            #expect(stage.world.disk.listing == ["/downloads/a.bin.part+journal"])
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a large file has its journal from the first byte on`() {
        let stage = Stage()
        stage.serve("a.bin", 2 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.whenTaken(1) { stage in
            #expect(stage.world.disk.listing == ["/downloads/a.bin.part+journal"])
            #expect(stage.world.disk.journalled("/downloads/a.bin")?.isEmpty == false)
        }
        stage.run()
    }

    @Test func `a pause before the first byte leaves nothing behind`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 2 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(10)) { $0.scheduler.pause(id) }
        stage.after(.seconds(1)) { stage in
            #expect(stage.world.disk.listing.isEmpty)
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.phases(id).prefix(3) == [.probing, .paused, .probing])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a pause during a retry's wait ends the wait`() {
        let stage = Stage()
        stage.serve("a.bin", 2 * .mebi)
        stage.world.network[Stage.host].faults[0] = .reset(after: 1 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 5, delay: .seconds(30)) })
        stage.after(.seconds(5)) { $0.scheduler.pause(id) }
        stage.run()
        #expect(stage.phases(id).last == .paused)
        #expect(stage.requests.count == 1)
        #expect(stage.world.disk.journalled("/downloads/a.bin") == ByteRangeSet([ByteRange(0, 1 * .mebi)]))
    }

    @Test func `E6 pausing twice is reported once`() {
        let stage = Stage()
        stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { stage in
            stage.scheduler.pause(id)
            stage.scheduler.pause(id)
        }
        stage.after(.seconds(5)) { $0.scheduler.pause(id) }
        stage.run()
        #expect(stage.phases(id) == [.probing, .transferring, .paused])
    }

    @Test func `the last request wins if pause and start come at once`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { stage in
            stage.scheduler.pause(id)
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a failed or paused download may be resumed from within its report`() {
        let stage = Stage(jobs: 1)
        let payload = stage.serve("a.bin", 8 * .mebi)
        stage.world.network[Stage.host].faults[0] = .status(404)
        let id = stage.start(Stage.job("a.bin"))
        stage.onReport { stage, report in
            switch report.update {
            case .failed, .phase(.paused): stage.scheduler.resume(id)
            case .phase, .started, .notice, .retrying, .finished: break
            }
        }
        stage.whenTaken(1 * .mebi) { $0.scheduler.pause(id) }
        stage.run()
        #expect(stage.phases(id).contains(.failed) && stage.phases(id).contains(.paused))
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `the last request wins if start and pause come at once`() {
        let stage = Stage()
        stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { $0.scheduler.pause(id) }
        stage.after(.seconds(5)) { stage in
            stage.scheduler.resume(id)
            stage.scheduler.pause(id)
        }
        stage.run()
        #expect(stage.phases(id).last == .paused)
        #expect(stage.world.disk.journalled("/downloads/a.bin")?.isEmpty == false)
    }

    @Test func `A4 after a kill nothing that reached the file is fetched again`() {
        let world = World(seed: 3)
        let stage = Stage(world: world)
        let payload = stage.serve("a.bin", 9 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.whenTaken(4 * .mebi) { $0.crash(.kill) }
        stage.run()
        #expect(world.disk.journalled("/downloads/a.bin")?.count == world.network.taken)

        let next = Stage(world: world)
        next.start(Stage.job("a.bin"))
        next.run()
        #expect(world.network.takenTwice(Stage.host, "/a.bin") == 0)
        #expect(world.network.taken == 9 * .mebi)
        next.expect(payload, at: "a.bin")
    }

    @Test func `G2 after a power cut only what was not durable is fetched again`() {
        let world = World(seed: 4)
        let stage = Stage(world: world)
        let payload = stage.serve("a.bin", 30 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(5_500)) { $0.crash(.powerCut) }
        stage.run()
        let trusted = world.disk.journalled("/downloads/a.bin")?.count ?? 0
        let lost = world.network.taken - trusted
        #expect(world.disk.checkpoints >= 2)
        #expect(lost > 0 && lost <= 9 * .mebi, "at most what came in two seconds and a tick")

        let next = Stage(world: world)
        next.start(Stage.job("a.bin"))
        next.run()
        #expect(world.network.takenTwice(Stage.host, "/a.bin") == lost)
        next.expect(payload, at: "a.bin")
    }

    @Test(arguments: [true, false]) func `what a killed process had not synced is synced as soon as it is reopened`(
        isOnline: Bool
    ) {
        let world = World(seed: 4)
        let stage = Stage(world: world)
        stage.serve("a.bin", 30 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(1_500)) { $0.crash(.kill) }
        stage.run()
        let kept = world.disk.journalled("/downloads/a.bin")
        #expect(kept?.count == world.network.taken && world.disk.checkpoints == 0)

        // No response comes that would start the clock of checkpoints.
        world.network[Stage.host].always = .silent
        world.set(online: isOnline)
        let next = Stage(world: world)
        next.start(Stage.job("a.bin"))
        next.after(.milliseconds(500)) { $0.crash(.powerCut) }
        next.run()
        #expect(world.disk.checkpoints == 1)
        #expect(world.disk.journalled("/downloads/a.bin") == kept)
    }

    @Test func `bytes received during a checkpoint are durable too while waiting for the network`() {
        let world = World(seed: 7)
        let stage = Stage(world: world)
        stage.serve("a.bin", 40 * .mebi)
        world.disk.setDelay(.milliseconds(500))
        stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(2_600)) { $0.world.set(online: false) }
        stage.after(.seconds(10)) { $0.crash(.powerCut) }
        stage.run()
        #expect(world.disk.checkpoints == 2)
        #expect(world.disk.journalled("/downloads/a.bin")?.count == world.network.taken)
    }

    @Test func `a mirror's validator proves nothing about the first URL to the next run`() {
        let world = World(seed: 6)
        let stage = Stage(world: world)
        let payload = stage.serve("a.bin", 6 * .mebi)
        // Other bytes with the same tag, date and length; they come first, because the first URL is unreachable.
        world.disk.expect(nil, at: "/downloads/a.bin")
        world.network["mirror.test"].files["/a.bin"] = SimulatedFile(Payload(seed: 99, length: 6 * .mebi))
        world.network[Stage.host].faults = [0: .dropped]
        let job = Stage.job("a.bin", mirrors: ["mirror.test"])
        stage.start(job)
        stage.whenTaken(3 * .mebi) { $0.crash(.kill) }
        stage.run()
        #expect(world.disk.journalled("/downloads/a.bin")?.isEmpty == false)

        let next = Stage(world: world)
        let id = next.start(job)
        next.run()
        #expect(next.sentences(id).contains { $0.contains("the bytes on disk differ") })
        next.expect(payload, at: "a.bin")
    }

    @Test func `a small file without a journal starts over after a kill`() {
        let world = World(seed: 5)
        let stage = Stage(world: world)
        let payload = stage.serve("a.bin", 900 * .kibi)
        stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(100)) { $0.crash(.kill) }
        stage.run()
        let next = Stage(world: world)
        next.start(Stage.job("a.bin"))
        next.run()
        #expect(next.requests.map(\.range) == [.whole, .whole])
        next.expect(payload, at: "a.bin")
        #expect(world.disk.listing == ["/downloads/a.bin"])
    }
}
