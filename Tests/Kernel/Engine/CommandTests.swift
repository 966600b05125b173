import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Synchronization
import Testing

@Suite struct `Commands while downloads run` {
    private func atWork(_ stage: Stage, _ ids: [DownloadID]) -> [Bool] {
        ids.map { stage.phases($0).last == .transferring }
    }

    @Test func `D7 D8 D17 fewer slots preempt the newest, which keep their bytes, and more resume them`() {
        let stage = Stage(jobs: 3)
        let names = ["a.bin", "b.bin", "c.bin", "d.bin"]
        let payloads = names.map { stage.serve($0, 9 * .mebi) }
        let ids = names.map { stage.start(Stage.job($0)) }
        stage.whenTaken(3 * .mebi) { $0.scheduler.change(slots: 1) }
        stage.whenTaken(5 * .mebi) { stage in
            #expect(atWork(stage, ids) == [true, false, false, false])
            for id in ids[1...2] { #expect(stage.phases(id) == [.probing, .transferring, .preempted]) }
            stage.scheduler.change(slots: 2)
        }
        stage.whenTaken(7 * .mebi) { stage in
            #expect(stage.phases(ids[1]).last == .transferring, "the older one first")
            #expect(stage.phases(ids[2]).last == .preempted)
        }
        stage.run()
        for (name, payload) in zip(names, payloads) { stage.expect(payload, at: name) }
        #expect(stage.world.network.taken == 36 * .mebi)
    }

    @Test(arguments: [true, false])
    func `D9 one that is preempted and paused at the same time does not resume automatically`(_ pausesFirst: Bool) {
        let stage = Stage(jobs: 2)
        let ids = ["a.bin", "b.bin"].map { name in
            stage.serve(name, 4 * .mebi)
            return stage.start(Stage.job(name))
        }
        stage.whenTaken(2 * .mebi) { stage in
            if pausesFirst { stage.scheduler.pause(ids[1]) }
            stage.scheduler.change(slots: 1)
            if !pausesFirst { stage.scheduler.pause(ids[1]) }
        }
        stage.run()
        #expect(stage.phases(ids[0]).last == .finished)
        #expect(stage.phases(ids[1]).last == .paused)
    }

    @Test func `D14 a running download is removed in one step, with its partial and its slot`() {
        let stage = Stage(jobs: 1)
        let other = stage.serve("b.bin", 2 * .mebi)
        stage.serve("a.bin", 9 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        let next = stage.start(Stage.job("b.bin"))
        stage.whenTaken(3 * .mebi) { $0.scheduler.remove(id) }
        stage.run()
        #expect(stage.phases(id) == [.probing, .transferring, .removed])
        #expect(stage.phases(next).last == .finished)
        #expect(stage.world.disk.listing == ["/downloads/b.bin"])
        stage.expect(other, at: "b.bin")
    }

    @Test func `D14 a waiting one is removed at once and never starts`() {
        let stage = Stage(jobs: 1)
        stage.serve("a.bin", 2 * .mebi)
        stage.serve("b.bin", 2 * .mebi)
        let first = stage.start(Stage.job("a.bin"))
        let second = stage.start(Stage.job("b.bin"))
        stage.after(.milliseconds(50)) { stage in
            stage.scheduler.remove(second)
            stage.scheduler.resume(second)
        }
        stage.run()
        #expect(stage.phases(second) == [.removed])
        #expect(stage.phases(first).last == .finished)
        #expect(stage.requests.count == 1)
    }

    @Test func `an inspection shows lanes and bytes, and none of a download that is not running`() {
        let stage = Stage()
        stage.serve("a.bin", 20 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(3) })
        let seen = Mutex<[Inspection?]>([])
        stage.whenTaken(9 * .mebi) { stage in stage.engine.look(at: id) { look in seen.withLock { $0.append(look) } } }
        stage.after(.seconds(100)) { stage in stage.engine.look(at: id) { look in seen.withLock { $0.append(look) } } }
        stage.run()
        let looks = seen.withLock { $0 }
        #expect(looks.count == 2 && looks.last == .some(nil))
        let look = looks.first ?? nil
        #expect(look?.lanes.count == 3 && look?.total == 20 * .mebi)
        // Each lane may have received one more chunk at the same time.
        let written = look?.written.count ?? 0
        #expect(written >= 9 * .mebi && written <= 9 * .mebi + 3 * 64 * 1024)
        #expect(look?.lanes.allSatisfy { $0.isFlowing && $0.address == Stage.address("a.bin") } ?? false)
    }

    // MARK: limits

    @Test func `a download's own limit changes while it runs, down and up`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 30 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(4 * .mebi) { $0.engine.limit(id, to: 1000) }
        stage.after(.seconds(60)) { stage in
            #expect(stage.world.network.taken < 6 * .mebi)
            stage.setMark()
            stage.engine.limit(id, to: nil)
        }
        stage.after(.seconds(61)) { stage in
            #expect(stage.world.network.taken > stage.mark + 1 * .mebi, "the old limit is not waited out")
        }
        stage.run()
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G4 a host's rate is shared by its downloads, and other hosts have their own`() {
        let stage = Stage(jobs: 4)
        let rate: Int64 = 200 * .kibi
        stage.engine.limit(hosts: HostLimits(rate: rate))
        for name in ["a.bin", "b.bin"] { stage.serve(name, 4 * .mebi) }
        stage.serve("c.bin", 4 * .mebi, host: "other.test")
        var ids = ["a.bin", "b.bin"].map { stage.start(Stage.job($0)) }
        ids.append(
            stage.start(
                Stage.job("c.bin") { $0.plan = DownloadPlan(sources: [Stage.address("c.bin", host: "other.test")]) }))
        stage.after(.seconds(10)) { stage in
            let taken = stage.world.network.taken
            #expect(taken > 2 * 8 * rate && taken < 2 * 13 * rate, "two hosts at their rates: \(taken)")
            stage.engine.limit(hosts: HostLimits())
        }
        stage.run()
        #expect(ids.allSatisfy { stage.phases($0).last == .finished })
        #expect(stage.world.timeline.now < Instant(nanoseconds: 0) + .seconds(30))
    }

    @Test func `G4 the user's connection limit of a host applies to all downloads together`() {
        let stage = Stage(jobs: 4)
        stage.engine.limit(hosts: HostLimits(connections: 3))
        let names = ["a.bin", "b.bin", "c.bin"]
        let payloads = names.map { stage.serve($0, 12 * .mebi) }
        for name in names { stage.start(Stage.job(name) { $0.plan.ramp = .fixed(4) }) }
        stage.run()
        #expect(stage.world.network.peak(Stage.host) == 3)
        for (name, payload) in zip(names, payloads) { stage.expect(payload, at: name) }
    }
}
