import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Synchronization
import Testing

@Suite struct `Another URL of the same content` {
    private static let fresh = Stage.address("a.bin", host: "new.test")

    /// A download of 8 MiB whose content is at both URLs.
    private func stage(same: Bool = true) -> (Stage, Payload) {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let other = same ? payload : Payload(seed: 4711, length: 8 * .mebi)
        var file = SimulatedFile(other)
        file.entityTag = EntityTag(opaque: "token", isWeak: false)
        stage.world.network["new.test"].files["/a.bin"] = file
        return (stage, payload)
    }

    @Test(arguments: ["running", "paused", "failed", "waiting"]) func `A8 it continues where it is`(state: String) {
        let (stage, payload) = stage()
        if state == "failed" { stage.world.network[Stage.host].faults[1] = .status(404) }
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(3 * .mebi) { stage in
            stage.setMark()
            switch state {
            case "running": stage.engine.replaceSource(id, with: Self.fresh)
            case "failed":
                stage.scheduler.pause(id)
                stage.scheduler.resume(id)
            case "waiting": stage.world.set(online: false)
            default: stage.scheduler.pause(id)
            }
        }
        stage.after(.seconds(20)) { stage in
            if state == "running" { return }
            stage.engine.replaceSource(id, with: Self.fresh)
            stage.world.set(online: true)
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        #expect(stage.requests.last?.address.host == "new.test")
        stage.expect(payload, at: "a.bin")
        let twice = stage.world.network.taken - 8 * .mebi
        #expect(twice > 0 && twice <= 5 * DownloadMachine.overlap, "four places were compared: \(twice)")
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
    }

    @Test(arguments: [true, false])
    func `A8 other content is refused and the bytes stay, and the right URL still continues them`(isPaused: Bool) {
        let (stage, payload) = stage(same: false)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(3 * .mebi) { stage in
            stage.setMark()
            if isPaused { stage.scheduler.pause(id) }
            stage.engine.replaceSource(id, with: Self.fresh)
        }
        stage.after(.seconds(5)) { stage in if isPaused { stage.scheduler.resume(id) } }
        stage.after(.seconds(20)) { stage in
            #expect(stage.failure(id)?.code == .cannotResume)
            #expect(stage.world.disk.journalled("/downloads/a.bin")?.count ?? 0 >= stage.mark)
            stage.engine.replaceSource(id, with: Stage.address("a.bin"))
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `A8 a new URL is requested for an expired one, and the bytes continue`() {
        let (stage, payload) = stage()
        stage.world.network[Stage.host].faults[0] = .reset(after: 3 * .mebi)
        stage.world.network[Stage.host].faults[1] = .status(403)
        let requested = Mutex<[WebAddress]>([])
        let id = stage.start(
            Stage.job("a.bin") { job in
                job.refresh = { old, completion in
                    requested.withLock { $0.append(old) }
                    stage.world.timeline.after(.seconds(2)) { completion(Self.fresh) }
                }
            })
        stage.run()
        #expect(requested.withLock { $0 } == [Stage.address("a.bin")])
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `A8 without another URL it fails as before, and a pause needs no reply`() {
        let (stage, _) = stage()
        stage.serve("b.bin", 1000)
        stage.world.network[Stage.host].always = .status(403)
        let refused = stage.start(Stage.job("a.bin") { $0.refresh = { _, completion in completion(nil) } })
        let silent = stage.start(Stage.job("b.bin") { $0.refresh = { _, _ in } })
        stage.after(.seconds(100)) { $0.scheduler.pause(silent) }
        stage.run()
        #expect(stage.failure(refused)?.code == .authorization)
        #expect(stage.phases(silent).last == .paused)
    }

    @Test func `D5 a part file is not touched while there is no network`() {
        let (stage, payload) = stage()
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(3 * .mebi) { $0.scheduler.pause(id) }
        stage.after(.seconds(5)) { stage in
            stage.setMark()
            stage.world.set(online: false)
            stage.scheduler.resume(id)
        }
        stage.after(.seconds(500)) { stage in
            #expect(stage.phases(id).last == .waitingForNetwork)
            #expect(stage.world.disk.journalled("/downloads/a.bin")?.count == stage.mark)
            #expect(stage.responses.count == 1 && stage.retries(id).isEmpty)
            stage.world.set(online: true)
        }
        stage.run()
        #expect(stage.world.network.taken == 8 * .mebi)
        stage.expect(payload, at: "a.bin")
    }
}
