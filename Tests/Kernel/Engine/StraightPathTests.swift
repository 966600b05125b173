import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// Small files in a folder whose files get their names at once.
@Suite struct `Small files without a machine` {
    private func stage() -> Stage {
        let stage = Stage()
        stage.world.disk.set(isVolatile: true)
        return stage
    }

    @Test func `a small file is reported as every other one`() {
        let stage = stage()
        let payload = stage.serve("a.bin", 40 * .kibi)
        let id = stage.start(Stage.job("a.bin") { $0.isMeasured = true })
        stage.run()
        #expect(stage.world.disk.counts.wholeFiles == 1)
        #expect(
            stage.updates(id) == [
                .phase(.probing), .started(total: 40 * .kibi, resumedAt: 0), .phase(.transferring),
                .phase(.publishing), .phase(.finished), .finished(length: 40 * .kibi, wasThere: false),
            ])
        stage.expect(payload, at: "a.bin")
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
        #expect(stage.world.disk.finished("/downloads/a.bin")?.modified == UnixTime(seconds: 1_700_000_000))
        let started = stage.reports.first { if case .started = $0.update { true } else { false } }
        #expect(started?.name == "a.bin" && started?.received == 0 && started?.head?.status == 200)
        let end = stage.reports.last
        #expect(
            end?.path == "/downloads/a.bin" && end?.received == 40 * .kibi && end?.source == "http://files.test/a.bin")
        #expect(end?.stamp == stage.world.disk.stamp(of: "a.bin", in: "/downloads"))
        #expect(end?.transfers.map(\.received) == [40 * .kibi])
    }

    @Test(arguments: [true, false]) func `its digest is compared`(isRight: Bool) {
        let stage = stage()
        let payload = stage.serve("a.bin", 40 * .kibi)
        let digest = isRight ? MessageDigest5.digest(payload.bytes) : [UInt8](repeating: 1, count: 16)
        let id = stage.start(
            Stage.job("a.bin") { $0.plan.checksums = [Checksum(algorithm: .md5, digest: digest)] })
        stage.run()
        #expect(stage.world.disk.counts.wholeFiles == (isRight ? 1 : 0))
        #expect(stage.failure(id)?.code == (isRight ? nil : .checksumMismatch))
        #expect(stage.reports.last?.verification?.level == (isRight ? .given : nil))
        #expect(stage.phases(id).contains(.verifying))
    }

    @Test func `another status, a redirect and a body that is cut are a machine's, over the same requests`() {
        let stage = stage()
        stage.serve("gone.bin", 1000) { $0.status = 404 }
        let payload = stage.serve("cut.bin", 40 * .kibi)
        stage.world.network[Stage.host].faults[1] = .reset(after: 10_000)
        let gone = stage.start(Stage.job("gone.bin"))
        let cut = stage.start(Stage.job("cut.bin"))
        stage.run()
        #expect(stage.failure(gone)?.code == .notFound)
        #expect(stage.retries(cut).count == 1)
        stage.expect(payload, at: "cut.bin")
        #expect(stage.requests.count == 3)
        #expect(stage.world.network.takenTwice(Stage.host, "/cut.bin") == 0, "what had arrived was kept")
    }

    @Test func `a name that was taken meanwhile gets a number`() {
        let stage = stage()
        let payload = stage.serve("a.bin", 40 * .kibi)
        stage.world.disk.put(FakeDisk.Finished([7]), at: Stage.path("a.bin"))
        stage.start(Stage.job("a.bin"))
        stage.world.disk.expect(nil, at: Stage.path("a.bin"))
        stage.run()
        #expect(stage.world.disk.counts.wholeFiles == 0)
        #expect(stage.world.disk.finished(Stage.path("a.bin"))?.bytes == [7])
        stage.expect(payload, at: "a (1).bin")
        #expect(stage.requests.count == 1)
    }

    @Test func `a disk that fails at the last moment is a machine's`() {
        let stage = stage()
        stage.serve("a.bin", 40 * .kibi)
        stage.world.disk.troubles.publish = Failure(
            .inputOutput, "cannot publish", at: "a.bin", because: "it is broken")
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.failure(id)?.code == .inputOutput)
        #expect(stage.requests.count == 1)
    }

    @Test func `a pause keeps what has arrived`() {
        let stage = stage()
        let payload = stage.serve("a.bin", 900 * .kibi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(300_000) { $0.scheduler.pause(id) }
        stage.after(.seconds(5)) { $0.scheduler.resume(id) }
        stage.run()
        #expect(stage.phases(id).contains(.paused))
        stage.expect(payload, at: "a.bin")
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
        #expect(stage.requests.count == 2)
    }

    @Test func `a look, a limit and a removal while it arrives find a download like every other`() {
        let stage = stage()
        stage.serve("a.bin", 900 * .kibi)
        stage.serve("b.bin", 900 * .kibi)
        let first = stage.start(Stage.job("a.bin"))
        let second = stage.start(Stage.job("b.bin"))
        let seen = Mutex<Inspection?>(nil)
        stage.whenTaken(200_000) { stage in
            stage.engine.look(at: first) { found in seen.withLock { $0 = found } }
            stage.engine.limit(first, to: 1 << 20)
            stage.scheduler.remove(second)
        }
        stage.run()
        #expect(seen.withLock { $0 }?.total == 900 * .kibi)
        #expect(stage.updates(first).last == .finished(length: 900 * .kibi, wasThere: false))
        #expect(stage.phases(second).last == .removed)
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
    }

    @Test func `a file that takes long gets its part file`() {
        let stage = stage()
        stage.serve("a.bin", 900 * .kibi)
        stage.world.network[Stage.host].rate = 1_000_000
        let part = Mutex<[String]>([])
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(400)) { stage in part.withLock { $0 = stage.world.disk.listing } }
        stage.run()
        #expect(part.withLock { $0 } == ["/downloads/a.bin.part"])
        #expect(stage.updates(id).last == .finished(length: 900 * .kibi, wasThere: false))
    }

    @Test(arguments: [true, false]) func `another address has to prove itself, on both paths`(isStraight: Bool) {
        let stage = Stage()
        stage.world.disk.set(isVolatile: isStraight)
        let payload = stage.serve("a.bin", 900 * .kibi)
        stage.serve("b.bin", 900 * .kibi, seed: 99)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(200_000) { $0.engine.replaceSource(id, with: Stage.address("b.bin")) }
        stage.world.disk.expect(payload, at: Stage.path("a.bin"))
        stage.run()
        #expect(stage.requests.map(\.address.path).contains("/b.bin"))
        #expect(stage.failure(id) != nil, "it has other content")
        #expect(stage.world.disk.finished(Stage.path("a.bin")) == nil)
        #expect(!stage.world.disk.written(Stage.path("a.bin")).isEmpty, "what had arrived is kept")
    }

    @Test func `no more than two mebibytes are collected at once, and again when they are written`() {
        let stage = stage()
        stage.world.network[Stage.host].rate = 100 << 20
        let payloads = (0..<3).map { stage.serve("\($0).bin", 900 * .kibi) }
        for number in 0..<3 { stage.start(Stage.job("\(number).bin")) }
        stage.after(.seconds(1)) { stage in
            #expect(stage.world.disk.counts.wholeFiles == 2)
            for number in 3..<5 {
                stage.serve("\(number).bin", 900 * .kibi)
                stage.start(Stage.job("\(number).bin"))
            }
        }
        stage.run()
        #expect(stage.world.disk.counts.wholeFiles == 4)
        for number in 0..<3 { stage.expect(payloads[number], at: "\(number).bin") }
    }
}
