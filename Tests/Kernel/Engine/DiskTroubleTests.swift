import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlTestKit
import Testing

@Suite struct `Disk failures` {
    private let full = Failure(.diskFull, "cannot write", at: "/downloads", because: "no room is left")
    private let broken = Failure(.inputOutput, "cannot write", at: "/downloads", because: "it is broken")

    /// The events after the end event: only a new start may follow.
    private func expectCleanEnd(_ stage: Stage, _ id: DownloadID, _ code: Failure.Code) {
        #expect(stage.failure(id)?.code == code)
        #expect(stage.updates(id).last?.isEnd == true, "\(stage.updates(id))")
        #expect(stage.updates(id).count { $0.isEnd } == 1)
        #expect(stage.phases(id).last == .failed)
    }

    @Test func `a full disk ends with code 9 and every byte kept, and continues when there is space`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 6 * .mebi)
        stage.world.disk.troubles.room = 3 * .mebi
        stage.world.disk.troubles.reservesRoom = false
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(20)) { stage in
            expectCleanEnd(stage, id, .diskFull)
            let kept = stage.world.disk.journalled("/downloads/a.bin")?.count ?? 0
            #expect(kept > 2 * .mebi && kept <= 3 * .mebi)
            #expect(kept == stage.world.disk.written("/downloads/a.bin").count)
            stage.world.disk.troubles.room = nil
            stage.scheduler.resume(id)
        }
        stage.run()
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a lack of space for the whole file is reported before a byte is written`() {
        let stage = Stage()
        stage.serve("a.bin", 6 * .mebi)
        stage.world.disk.troubles.room = 3 * .mebi
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        expectCleanEnd(stage, id, .diskFull)
        #expect(stage.world.network.taken == 0)
        #expect(stage.world.disk.listing.isEmpty)
        #expect(!stage.phases(id).contains(.transferring))
    }

    @Test func `a journal that cannot be created ends the download`() {
        let stage = Stage()
        stage.serve("a.bin", 6 * .mebi)
        stage.world.disk.troubles.journal = broken
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        expectCleanEnd(stage, id, .inputOutput)
        #expect(stage.requests.count == 1)
    }

    @Test func `a name that cannot be claimed ends the download before its body`() {
        let stage = Stage()
        stage.serve("a.bin", 6 * .mebi)
        stage.world.disk.troubles.claim = Failure(.cannotMakeFolder, "cannot make", at: "/d", because: "no")
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        expectCleanEnd(stage, id, .cannotMakeFolder)
        #expect(stage.world.network.taken == 0)
    }

    @Test(arguments: [1, 4]) func `a write that fails stops every lane with the reason`(lanes: Int) {
        let stage = Stage()
        stage.serve("a.bin", 20 * .mebi)
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(lanes) })
        stage.whenTaken(8 * .mebi) { [broken] in $0.world.disk.troubles.write = broken }
        stage.run()
        expectCleanEnd(stage, id, .inputOutput)
        let kept = stage.world.disk.journalled("/downloads/a.bin")
        #expect(kept == stage.world.disk.written("/downloads/a.bin"))
        #expect((kept?.count ?? 0) > 7 * .mebi)
    }

    @Test func `a checkpoint that fails stops the download, and what no sync covered is not trusted again`() {
        let stage = Stage()
        stage.serve("a.bin", 40 * .mebi)
        stage.world.disk.setDelay(.milliseconds(130))
        stage.world.disk.troubles.checkpoint = broken
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        expectCleanEnd(stage, id, .inputOutput)
        #expect(!stage.world.disk.written("/downloads/a.bin").isEmpty)
        #expect(stage.world.disk.journalled("/downloads/a.bin")?.isEmpty == true)
    }

    @Test func `a read that fails while bytes are compared loses none that were written`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 20 * .mebi)
        stage.world.network["mirror.test"].files["/a.bin"] = SimulatedFile(payload)
        stage.world.disk.troubles.read = broken
        let job = Stage.job("a.bin", mirrors: ["mirror.test"]) { $0.plan.ramp = .fixed(3) }
        let id = stage.start(job)
        stage.run()
        expectCleanEnd(stage, id, .inputOutput)
        let written = stage.world.disk.written("/downloads/a.bin")
        #expect(!written.isEmpty && stage.world.disk.journalled("/downloads/a.bin") == written)
    }

    @Test func `a complete part file without a validator is compared, not fetched again`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi) { file in
            file.entityTag = nil
            file.lastModified = nil
        }
        stage.world.disk.troubles.publish = Failure(.renameFailed, "cannot rename", at: "/d", because: "no")
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(10)) { stage in
            stage.world.disk.troubles.publish = nil
            stage.scheduler.resume(id)
        }
        stage.run()
        let last = ByteRange(3 * .mebi - DownloadMachine.overlap, 3 * .mebi)
        #expect(stage.requests.map(\.range) == [.whole, .closed(last)])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `A9 a move that fails is no success, and the next try needs no network`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi)
        stage.world.disk.troubles.publish = Failure(.renameFailed, "cannot rename", at: "/d", because: "no")
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(10)) { stage in
            expectCleanEnd(stage, id, .renameFailed)
            #expect(stage.world.disk.listing == ["/downloads/a.bin.part+journal"])
            stage.world.disk.troubles.publish = nil
            stage.scheduler.resume(id)
        }
        stage.run()
        #expect(stage.requests.count == 1)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D10 the slot is free while the file moves, and a failed move waits for its turn again`() {
        let stage = Stage(jobs: 1)
        let payload = stage.serve("a.bin", 3 * .mebi)
        stage.serve("bb.bin", 3 * .mebi)
        stage.world.disk.setDelay(.milliseconds(300))
        stage.world.disk.troubles.publish = Failure(.renameFailed, "cannot rename", at: "/d", because: "no")
        let first = stage.start(Stage.job("a.bin"))
        let second = stage.start(Stage.job("bb.bin"))
        stage.onReport { stage, report in
            guard case .failed = report.update else { return }
            #expect(report.id == first)
            #expect(stage.phases(second) == [.probing, .transferring], "it runs already")
            stage.world.disk.troubles.publish = nil
            stage.scheduler.resume(first)
        }
        stage.run()
        #expect(stage.phases(first) == [.probing, .transferring, .publishing, .failed, .publishing, .finished])
        #expect(stage.phases(second).last == .finished)
        #expect(stage.requests.count == 2)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a checksum mismatch keeps the part file and is reported`() {
        let stage = Stage()
        stage.serve("a.bin", 2 * .mebi)
        stage.world.disk.setDelay(.milliseconds(50))
        let wrong = Checksum(algorithm: .md5, digest: [UInt8](repeating: 1, count: 16))
        let id = stage.start(Stage.job("a.bin") { $0.plan.checksums = [wrong] })
        stage.run()
        expectCleanEnd(stage, id, .checksumMismatch)
        #expect(stage.phases(id) == [.probing, .transferring, .verifying, .failed])
        #expect(stage.world.disk.finished("/downloads/a.bin") == nil)
    }

    @Test func `a journal that fails after the download did still lets the part file go`() {
        let stage = Stage()
        stage.serve("a.bin", 6 * .mebi)
        stage.world.disk.setDelay(.milliseconds(50))
        let wrong = Checksum(algorithm: .md5, digest: [UInt8](repeating: 1, count: 16))
        let id = stage.start(Stage.job("a.bin") { $0.plan.checksums = [wrong] })
        stage.onReport { [broken] stage, report in
            guard case .phase(.verifying) = report.update else { return }
            stage.world.disk.troubles.journal = broken
        }
        stage.run()
        expectCleanEnd(stage, id, .checksumMismatch)
        #expect(stage.world.disk.openPartials == 0)
    }

    @Test func `pauses wait for a move in progress`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 500 * .kibi)
        stage.world.disk.setDelay(.seconds(5))
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(2)) { stage in
            #expect(stage.phases(id).last == .publishing)
            stage.scheduler.pause(id)
            stage.shutDown()
        }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `A9 an existing file is never lost`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 1 * .mebi)
        stage.world.disk.put(FakeDisk.Finished([1, 2, 3]), at: "/downloads/a.bin")
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.world.disk.finished("/downloads/a.bin")?.bytes == [1, 2, 3])
        #expect(stage.reports.last { $0.id == id }?.path == "/downloads/a (1).bin")
        stage.expect(payload, at: "a (1).bin")
    }

    @Test func `a file that appears while its namesake is downloaded is not overwritten`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi)
        stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { $0.world.disk.put(FakeDisk.Finished([1, 2, 3]), at: "/downloads/a.bin") }
        stage.run()
        #expect(stage.world.disk.finished("/downloads/a.bin")?.bytes == [1, 2, 3])
        stage.expect(payload, at: "a (1).bin")
    }

    @Test func `skip, fail and overwrite work as documented`() {
        for (policy, phase) in [(IfExists.skip, DownloadState.finished), (.fail, .failed), (.overwrite, .finished)] {
            let stage = Stage()
            let payload = stage.serve("a.bin", 1 * .mebi)
            stage.world.disk.put(FakeDisk.Finished([1, 2, 3]), at: "/downloads/a.bin")
            let id = stage.start(Stage.job("a.bin") { $0.ifExists = policy })
            stage.run()
            #expect(stage.phases(id).last == phase)
            if policy == .overwrite {
                stage.expect(payload, at: "a.bin")
            } else {
                #expect(stage.world.disk.finished("/downloads/a.bin")?.bytes == [1, 2, 3])
                #expect(stage.world.network.taken == 0)
            }
        }
    }

    @Test func `a finished file is continued if its bytes agree, and restored if they do not`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 2 * .mebi)
        let other = Payload(seed: 1234, length: 1 * .mebi)
        stage.serve("bb.bin", 2 * .mebi)
        let begun = payload.bytes(in: ByteRange(0, 1 * .mebi))
        stage.world.disk.put(FakeDisk.Finished(begun), at: "/downloads/a.bin")
        stage.world.disk.put(FakeDisk.Finished(other.bytes), at: "/downloads/bb.bin")
        let good = stage.start(Stage.job("a.bin") { $0.ifExists = .resume })
        let bad = stage.start(Stage.job("bb.bin") { $0.ifExists = .resume })
        stage.run()
        #expect(stage.phases(good).last == .finished)
        stage.expect(payload, at: "a.bin")
        #expect(stage.failure(bad)?.code == .cannotResume)
        #expect(stage.world.disk.finished("/downloads/bb.bin")?.bytes == other.bytes)
        #expect(stage.world.disk.listing == ["/downloads/a.bin", "/downloads/bb.bin"])
    }
}
