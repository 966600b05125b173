import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

/// Downloads whose pieces have digests of their own.
@Suite struct PieceDownloadTests {
    private static let length: Int64 = 2 * .mebi
    private static let pieceLength: Int64 = 256 * .kibi
    private static let content = Payload(seed: 77, length: length)
    private static let bytes = content.bytes(in: ByteRange(0, length))

    private static let hashes: PieceHashes? = {
        let starts = stride(from: 0, to: Int(length), by: Int(pieceLength))
        let digests = starts.map { MessageDigest5.digest(Array(bytes[$0..<$0 + Int(pieceLength)])) }
        return PieceHashes(.md5, length: pieceLength, digests: digests)
    }()

    /// The content with a wrong byte in each of these pieces.
    private static func damaged(_ pieces: [Int]) -> Payload {
        var wrong = bytes
        for piece in pieces { wrong[piece * Int(pieceLength) + 99] ^= 1 }
        return Payload(wrong)
    }

    private static func serve(
        _ stage: Stage, _ payload: Payload, at host: String = Stage.host,
        _ change: (inout SimulatedFile) -> Void = { _ in }
    ) {
        var file = SimulatedFile(payload)
        change(&file)
        stage.world.network[host].files["/a.bin"] = file
    }

    private static func job(_ mirrors: String..., lanes: Int = 1) -> Job {
        let sources = [Stage.address("a.bin")] + mirrors.map { Stage.address("a.bin", host: $0) }
        return Stage.job("a.bin") { job in
            job.plan = DownloadPlan(sources: sources)
            job.plan.ramp = .fixed(lanes)
            job.plan.pieces = hashes
            job.plan.retry = RetryPolicy(retries: 3, delay: .milliseconds(100))
        }
    }

    @Test(arguments: [1, 2, 4]) func `bad pieces come from another source, and a source of two is left out`(lanes: Int)
    {
        let stage = Stage()
        Self.serve(stage, Self.damaged([0, 1, 2, 5, 7]))
        Self.serve(stage, Self.content, at: "mirror.test") { $0.entityTag = EntityTag(opaque: "m", isWeak: true) }
        let id = stage.start(Self.job("mirror.test", lanes: lanes))
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        stage.expect(Self.content, at: "a.bin")
        #expect(stage.sentences(id).contains { $0.contains("left out") && $0.contains(Stage.host) })
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
        #expect(stage.world.network.taken <= 2 * Self.length)
    }

    @Test func `bad pieces stay the failure when the other source fails too`() {
        let stage = Stage()
        Self.serve(stage, Self.damaged([0, 1, 2, 5, 7]))
        let id = stage.start(Self.job("missing.test", lanes: 2))
        stage.run()
        let failure = stage.failure(id)
        #expect(failure?.code == .checksumMismatch, "\(stage.sentences(id))")
        #expect(failure?.description.contains("another source failed: ") == true, "\(stage.sentences(id))")
        #expect(!stage.world.disk.listing.contains("/downloads/a.bin"))
    }

    @Test func `a bad node behind the only source costs only its pieces`() {
        let stage = Stage(seed: 5)
        Self.serve(stage, Self.content) { file in
            file.badNode = SimulatedFile.BadNode(payload: Self.damaged([1, 3, 6]), odds: 0.3)
        }
        let id = stage.start(Self.job(lanes: 2))
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        stage.expect(Self.content, at: "a.bin")
        #expect(stage.world.network.taken <= Self.length + 12 * Self.pieceLength)
    }

    @Test func `a piece that stays bad fails with code 32, and the good ones stay`() {
        let stage = Stage()
        Self.serve(stage, Self.damaged([3]))
        let id = stage.start(Self.job(lanes: 2))
        stage.run()
        #expect(stage.failure(id)?.code == .checksumMismatch)
        let kept = stage.world.disk.journalled("/downloads/a.bin")
        #expect(kept?.isEmpty == false)
        #expect(kept?.intersects(ByteRange(3 * Self.pieceLength, 4 * Self.pieceLength)) == false)
    }

    @Test(arguments: [FakeDisk.Crash.kill, .powerCut]) func `after a crash the pieces on disk are checked again`(
        crash: FakeDisk.Crash
    ) {
        let first = Stage()
        Self.serve(first, Self.damaged([0, 1, 2, 3]))
        first.start(Self.job())
        first.whenTaken(5 * Self.pieceLength) { $0.crash(crash) }
        first.run()
        let kept = first.world.disk.journalled("/downloads/a.bin") ?? ByteRangeSet()
        let hasBad = (0..<4).contains { piece in
            kept.contains(ByteRange(Int64(piece) * Self.pieceLength, Int64(piece + 1) * Self.pieceLength))
        }
        let second = Stage(world: first.world)
        Self.serve(second, Self.content)
        let id = second.start(Self.job())
        second.run()
        #expect(second.phases(id).last == .finished, "\(second.sentences(id))")
        second.expect(Self.content, at: "a.bin")
        #expect(second.sentences(id).contains { $0.contains("on disk is wrong") } == hasBad)
    }

    @Test(arguments: [length + pieceLength, length - pieceLength, 1000])
    func `content of another length than the pieces is refused with code 32`(_ length: Int64) {
        let stage = Stage()
        Self.serve(stage, Payload(seed: 78, length: length))
        let id = stage.start(Self.job())
        stage.run()
        #expect(stage.failure(id)?.code == .checksumMismatch, "\(stage.sentences(id))")
        #expect(!stage.world.disk.listing.contains("/downloads/a.bin"))
    }

    @Test func `content of another length is fetched again from a source that has the right one`() {
        let stage = Stage()
        Self.serve(stage, Payload(seed: 78, length: 1000))
        Self.serve(stage, Self.content, at: "mirror.test")
        let id = stage.start(Self.job("mirror.test"))
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        stage.expect(Self.content, at: "a.bin")
    }

    @Test func `a coded body is refused where only pieces prove the content`() {
        let stage = Stage()
        Self.serve(stage, Self.content) { $0.coded = Payload(seed: 79, length: 1000) }
        let id = stage.start(Self.job())
        stage.run()
        #expect(stage.failure(id)?.code == .checksumMismatch, "\(stage.sentences(id))")
    }

    @Test(arguments: [true, false])
    func `the pieces of a finished file that is continued are checked, and its bytes stay`(_ isRight: Bool) {
        let stage = Stage()
        Self.serve(stage, Self.content)
        var begun = Array(Self.bytes[..<Int(5 * Self.pieceLength)])
        // Not where samples are compared.
        if !isRight { begun[Int(Self.pieceLength) + 99] ^= 1 }
        stage.world.disk.put(FakeDisk.Finished(begun), at: "/downloads/a.bin")
        var job = Self.job()
        job.ifExists = .resume
        let id = stage.start(job)
        stage.run()
        if isRight {
            #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
            stage.expect(Self.content, at: "a.bin")
        } else {
            #expect(stage.failure(id)?.code == .checksumMismatch, "\(stage.sentences(id))")
            #expect(stage.world.disk.finished("/downloads/a.bin")?.bytes == begun)
        }
    }

    @Test func `a paused download checks its pieces when it continues`() {
        let stage = Stage()
        Self.serve(stage, Self.content)
        let id = stage.start(Self.job())
        stage.whenTaken(3 * Self.pieceLength) { $0.scheduler.pause(id) }
        stage.after(.seconds(30)) { $0.scheduler.resume(id) }
        stage.run()
        #expect(stage.phases(id).last == .finished)
        stage.expect(Self.content, at: "a.bin")
        #expect(stage.world.network.taken <= Self.length + 2 * Self.pieceLength, "no overlap was compared")
    }

    // MARK: servers without ranges

    private static let path = "/downloads/a.bin"

    /// A part file of the first bytes with wrong ones at `places`, left by a killed process.
    private static func damagedPart(_ places: [Int64], of count: Int64 = 5 * pieceLength, tag: EntityTag?) -> Stage {
        let first = Stage()
        serve(first, content) {
            $0.ranges = .ignored
            $0.entityTag = tag
        }
        first.start(job())
        first.whenTaken(count) { $0.crash(.kill) }
        first.run()
        for place in places { #expect(first.world.disk.damage(path, at: UInt64(place))) }
        return first
    }

    @Test(arguments: [EntityTag(opaque: "v", isWeak: false), EntityTag(opaque: "v", isWeak: true), nil])
    func `a wrong byte on disk costs only its piece where the server has no ranges`(tag: EntityTag?) {
        let first = Self.damagedPart([2 * Self.pieceLength + 5], tag: tag)
        let second = Stage(world: first.world)
        let id = second.start(Self.job())
        second.run()
        #expect(second.phases(id).last == .finished, "\(second.sentences(id))")
        second.expect(Self.content, at: "a.bin")
        #expect(second.sentences(id).contains { $0.contains("on disk is wrong") })
        #expect(!second.sentences(id).contains { $0.contains("started over") })
    }

    /// A part file of content that is a few bytes shorter than that of the pieces, and whose last piece is wrong.
    private static func shorterPart(_ payload: Payload) -> Stage {
        let first = Stage()
        serve(first, payload) { $0.ranges = .ignored }
        first.start(job())
        first.whenTaken(5 * pieceLength) { $0.crash(.kill) }
        first.run()
        return first
    }

    @Test func `good pieces of a file of another length are not discarded for the whole, which is requested once`() {
        let first = Self.shorterPart(Payload(Array(Self.bytes.dropLast(5))))
        let second = Stage(world: first.world)
        Self.serve(second, Self.content) { $0.ranges = .ignored }
        let before = second.world.network.taken
        let id = second.start(Self.job())
        second.run()
        #expect(second.failure(id)?.code == .cannotResume, "\(second.sentences(id))")
        #expect(second.world.network.taken - before <= 2 * Self.length)
    }

    @Test func `wrong pieces of a file of another length are replaced by the whole`() {
        let first = Self.shorterPart(Payload(seed: 78, length: Self.length - 5))
        let second = Stage(world: first.world)
        Self.serve(second, Self.content) { $0.ranges = .ignored }
        let id = second.start(Self.job())
        second.run()
        #expect(second.phases(id).last == .finished, "\(second.sentences(id))")
        second.expect(Self.content, at: "a.bin")
    }

    @Test func `good pieces stay on disk when the whole is sent again and breaks`() {
        let first = Self.damagedPart([3 * Self.pieceLength + 5], tag: nil)
        first.world.network[Stage.host].always = .reset(after: Self.pieceLength)
        let second = Stage(world: first.world)
        let id = second.start(Self.job())
        second.run()
        #expect(second.failure(id)?.code == .network)
        let kept = second.world.disk.journalled(Self.path)
        #expect(kept?.contains(ByteRange(0, 3 * Self.pieceLength)) == true)
    }

    @Test func `a wrong byte in the first piece starts over and finishes`() {
        let first = Self.damagedPart([5], tag: EntityTag(opaque: "v", isWeak: false))
        let second = Stage(world: first.world)
        let id = second.start(Self.job())
        second.run()
        #expect(second.phases(id).last == .finished, "\(second.sentences(id))")
        second.expect(Self.content, at: "a.bin")
    }

    @Test func `a server without ranges that sends other bytes than verified pieces fails with code 32`() {
        let first = Self.damagedPart([], tag: nil)
        Self.serve(first, Self.damaged([0, 1])) { $0.ranges = .ignored }
        let second = Stage(world: first.world)
        let id = second.start(Self.job())
        second.run()
        #expect(second.failure(id)?.code == .checksumMismatch, "\(second.sentences(id))")
        #expect(second.world.disk.journalled(Self.path)?.contains(ByteRange(0, 2 * Self.pieceLength)) == true)
    }

    @Test func `a bad piece of a server without ranges is in the whole that is requested again`() {
        let stage = Stage(seed: 3)
        Self.serve(stage, Self.content) { file in
            file.ranges = .ignored
            file.badNode = SimulatedFile.BadNode(payload: Self.damaged([5]), odds: 0.5)
        }
        let id = stage.start(Self.job())
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        stage.expect(Self.content, at: "a.bin")
    }

    @Test(arguments: [SimulatedFile.Ranges.ignored, .overlong(50), .refused])
    func `a source without ranges is used after all when the other one sends wrong pieces`(ranges: SimulatedFile.Ranges)
    {
        let stage = Stage(seed: 9)
        Self.serve(stage, Self.damaged([0, 3, 6]))
        Self.serve(stage, Self.content, at: "mirror.test") { $0.ranges = ranges }
        let id = stage.start(Self.job("mirror.test", lanes: 2))
        stage.run()
        #expect(stage.phases(id).last == .finished, "\(stage.sentences(id))")
        stage.expect(Self.content, at: "a.bin")
        #expect(stage.sentences(id).contains { $0.contains("wrong pieces") && $0.contains(Stage.host) })
    }

    @Test func `a whole without a length is compared with verified pieces`() {
        let first = Self.damagedPart([3 * Self.pieceLength + 5], tag: nil)
        first.world.network.change(Stage.host, "/a.bin") { $0.statesLength = false }
        let second = Stage(world: first.world)
        let id = second.start(Self.job())
        second.run()
        #expect(second.phases(id).last == .finished, "\(second.sentences(id))")
        second.expect(Self.content, at: "a.bin")
        #expect(!second.sentences(id).contains { $0.contains("started over") })
    }
}
