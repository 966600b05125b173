import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Events of a download` {
    @Test func `a small file is reported in order and ends with its path`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 100 * .kibi)
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(
            stage.updates(id) == [
                .phase(.probing), .started(total: 100 * .kibi, resumedAt: 0), .phase(.transferring),
                .phase(.publishing), .phase(.finished), .finished(length: 100 * .kibi, wasThere: false),
            ])
        #expect(stage.reports.last?.path == "/downloads/a.bin")
        #expect(stage.reports.last?.name == "a.bin")
        #expect(stage.reports.last?.received == 100 * .kibi)
        stage.expect(payload, at: "a.bin")
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
        #expect(stage.world.disk.finished("/downloads/a.bin")?.modified == UnixTime(seconds: 1_700_000_000))
    }

    @Test func `A3 nothing runs before an explicit start`() {
        let stage = Stage()
        stage.serve("a.bin", 1000)
        let (id, box) = stage.scheduler.add(Stage.job("a.bin"))
        stage.run()
        #expect(stage.requests.isEmpty)
        #expect(stage.updates(id).isEmpty)
        #expect(box.reading.phase == .waiting)
    }

    @Test func `a retry is reported with its cause and its delay, and the count restarts with progress`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi)
        for number in 0..<5 { stage.world.network[Stage.host].faults[number] = .reset(after: 500_000) }
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 1, delay: .seconds(2)) })
        stage.run()
        stage.expect(payload, at: "a.bin")
        #expect(stage.retries(id).count == 5, "each brought bytes, so none used up the one retry")
        #expect(stage.retries(id).allSatisfy { .seconds(1.5) <= $0 && $0 <= .seconds(2.5) })
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") == 0)
    }

    @Test func `retries without progress are counted and then it fails with the code`() throws {
        let stage = Stage()
        stage.serve("a.bin", 3 * .mebi)
        stage.world.network[Stage.host].always = .dropped
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 3) })
        stage.run()
        #expect(stage.requests.count == 4)
        #expect(stage.retries(id).count == 3)
        let failure = try #require(stage.failure(id))
        #expect(failure.code == .network)
        #expect(failure.place == "http://files.test/a.bin")
        #expect(stage.updates(id).last == .failed(failure))
        #expect(stage.phases(id).last == .failed)
        #expect(stage.world.disk.listing.isEmpty)
    }

    @Test(arguments: [(404, Failure.Code.notFound), (403, .authorization), (410, .notFound), (418, .badResponse)])
    func `a final status fails at once with its code`(status: Int, code: Failure.Code) {
        let stage = Stage()
        stage.serve("a.bin", 1000) { $0.status = status }
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.requests.count == 1)
        #expect(stage.failure(id)?.code == code)
        #expect(stage.updates(id).count == 3)
        #expect(stage.world.disk.listing.isEmpty, "C6 its body never reaches a file")
    }

    @Test func `a failed download is restarted by the user and may finish then`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 1000)
        stage.world.network[Stage.host].faults[0] = .status(404)
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(5)) { $0.scheduler.resume(id) }
        stage.run()
        #expect(stage.phases(id) == [.probing, .failed, .probing, .transferring, .publishing, .finished])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `C3 a finished download that is resumed fetches nothing`() {
        let stage = Stage()
        stage.serve("a.bin", 1000)
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.seconds(5)) { $0.scheduler.resume(id) }
        stage.after(.seconds(6)) { $0.scheduler.pause(id) }
        stage.run()
        #expect(stage.requests.count == 1)
        #expect(stage.phases(id).last == .finished)
    }

    @Test func `E6 starting a running download changes nothing`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 4 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.after(.milliseconds(300)) { $0.scheduler.resume(id) }
        stage.run()
        #expect(stage.requests.count == 1)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `D6 the progress sample shows speed while bytes come and 0 on a stall`() {
        let stage = Stage()
        stage.serve("a.bin", 20 * .mebi)
        stage.world.network[Stage.host].faults[0] = .stalled(after: 8 * .mebi)
        let (id, box) = stage.scheduler.add(Stage.job("a.bin"))
        stage.scheduler.resume(id)
        stage.after(.milliseconds(1_900)) { _ in
            #expect(abs(box.reading.speed - 4 * .mebi) < 400_000)
            #expect(box.reading.connections == 1)
            #expect(box.reading.total == 20 * .mebi)
        }
        stage.after(.seconds(6)) { _ in
            #expect(box.reading.speed == 0)
            #expect(box.reading.smoothed > 0)
            #expect(box.reading.written == 8 * .mebi)
        }
        stage.run()
        #expect(box.reading.phase == .finished)
    }

    @Test func `E5 an unknown length downloads to the end`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 3 * .mebi) { $0.statesLength = false }
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.updates(id).contains(.started(total: nil, resumedAt: 0)))
        #expect(stage.updates(id).last == .finished(length: 3 * .mebi, wasThere: false))
        stage.expect(payload, at: "a.bin")
    }

    @Test(arguments: [0, 1]) func `files of no byte and of one byte are complete`(length: Int64) {
        let stage = Stage()
        let payload = stage.serve("a.bin", length)
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.updates(id).last == .finished(length: length, wasThere: false))
        stage.expect(payload, at: "a.bin")
    }
}
