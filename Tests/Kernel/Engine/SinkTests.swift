import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlTestKit
import Testing

/// Downloads whose bytes go in order to something that is no file.
@Suite struct SinkTests {
    private static func claim(_ name: String) -> Claim {
        let facts = JournalFacts(sources: ["http://h.test/a"], representation: Representation(), name: name)
        return Claim(folder: "", name: name, ifExists: .rename, facts: facts)
    }

    @Test func `what the machine may do follows from the destination`() {
        var job = Stage.job("a.bin") {
            $0.plan.ramp = .automatic(maximum: 8)
            $0.plan.pieces = PieceHashes(.md5, length: 9, digests: [[UInt8](repeating: 1, count: 16)])
        }
        let given = job.plan
        job.deliver(to: .folder)
        #expect(job.plan == given && given.pieces != nil)
        for (keepsPart, mayBeginAnew) in [(true, false), (false, true)] {
            var other = job
            let maker = SinkMaker(keepsPart: keepsPart, mayBeginAnew: mayBeginAnew) { _ in .present(path: "") }
            other.deliver(to: .sink(maker))
            #expect(other.plan.ramp == .fixed(1) && other.plan.isInOrder && other.plan.pieces == nil)
            #expect(other.plan.keepsPartial == keepsPart && other.plan.mayBeginAnew == mayBeginAnew)
        }
    }

    @Test func `content in memory is complete after broken connections`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 4 * .mebi) { $0.breaksAfter = 1 * .mebi }
        let memory = MemorySink(limit: payload.length)
        let id = stage.start(
            Stage.job("a.bin") {
                $0.plan.ramp = .automatic(maximum: 8)
                $0.deliver(to: memory.destination)
            })
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        #expect(memory.bytes == payload.bytes(in: ByteRange(0, payload.length)))
        #expect(stage.responses.count > 3 && stage.world.disk.listing.isEmpty)
    }

    @Test func `content that is there is not fetched`() {
        let stage = Stage()
        stage.serve("a.bin", 1 * .mebi)
        let maker = SinkMaker(isBegun: { true }, begin: { _ in .present(path: "/store/b.bin") })
        let id = stage.start(Stage.job("a.bin") { $0.deliver(to: .sink(maker)) })
        stage.run()
        #expect(stage.updates(id).contains(.finished(length: 0, wasThere: true)) && stage.requests.isEmpty)
        #expect(stage.reports.last { $0.id == id }?.path == "/store/b.bin")
        #expect(stage.reports.last { $0.id == id }?.name == "b.bin")
    }

    @Test func `memory takes bytes up to its limit, and each run begins without any`() throws {
        let memory = MemorySink(limit: 8)
        guard case .sink(let maker) = memory.destination, case .fresh(let sink) = try maker.begin(Self.claim("a"))
        else {
            Issue.record("memory is a sink")
            return
        }
        try unsafe ([0, 1, 2, 3, 4, 5] as [UInt8]).withUnsafeBytes { try unsafe sink.write($0) }
        #expect(sink.length == 6 && sink.hasRoom)
        #expect(throws: Failure.self) { try sink.reserve(9) }
        #expect(throws: Failure.self) {
            try unsafe ([6, 7, 8] as [UInt8]).withUnsafeBytes { try unsafe sink.write($0) }
        }
        #expect(memory.bytes == [0, 1, 2, 3, 4, 5])
        sink.finish(length: 4) { _ in }
        #expect(memory.bytes == [0, 1, 2, 3])
        _ = try maker.begin(Self.claim("a"))
        #expect(memory.bytes.isEmpty)
    }
}
