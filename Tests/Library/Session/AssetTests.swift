import Glibc
import Pawl
import PawlSession
import PawlSystem
import PawlTestKit
import Testing

/// Tasks for streams: what `AVAssetDownloadURLSession` has, with a program that may be killed.
@Suite struct AssetTests {
    private let bench: SessionBench
    private let segments: [[UInt8]]
    /// Two frames of AAC in ADTS.
    private let sound: [UInt8] = Array(
        [[UInt8]](repeating: [0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7], count: 2).joined())

    init() throws {
        bench = try SessionBench()
        segments = (0..<8).map { number in
            var packets: [UInt8] = []
            for packet in 0..<60 {
                packets += [0x47, 0x40, 0x11, 0x10]
                packets += Payload(seed: UInt64(800 + number * 60 + packet), length: 184).bytes
            }
            return packets
        }
        for (number, bytes) in segments.enumerated() { bench.origin.serve("/v/s\(number).ts", Payload(bytes)) }
    }

    private var whole: Payload { Payload(segments.flatMap { $0 }) }

    private func serve(_ text: String, at path: String) -> String {
        bench.origin.serve(path, Payload(text: text)) { $0.contentType = "application/vnd.apple.mpegurl" }
    }

    private func serve(_ segments: [String], at path: String) -> String {
        serve(
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + segments.map { "#EXTINF:2,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n",
            at: path)
    }

    private func serveShow(at path: String = "/v/show.m3u8") -> String {
        serve(segments.indices.map { "s\($0).ts" }, at: path)
    }

    /// Sound is apart: two files.
    private func serveApart() -> String {
        for number in 0..<2 { bench.origin.serve("/v/a\(number).aac", Payload(sound)) }
        _ = serve(["a0.aac", "a1.aac"], at: "/v/sound.m3u8")
        _ = serveShow(at: "/v/pictures.m3u8")
        return serve(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            pictures.m3u8

            """, at: "/v/show.m3u8")
    }

    private func run(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess(PawlBinary.beside("SessionProgram"), [bench.folder.path("state")] + arguments)
    }

    private func kill(_ program: PawlProcess) async {
        program.send(SIGKILL)
        await aside { _ = program.wait() }
    }

    @Test func `a stream is one task, with segments, bytes and one file`() async throws {
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let task = session.makeAssetDownloadTask(with: serveShow())
        #expect(task.streamOptions == StreamOptions() && task.segments == nil)
        task.resume()
        #expect(await notes.until("complete"))
        #expect(notes.all.suffix(2) == ["finish 200 show.ts", "complete 0 completed"], "\(notes.all)")
        #expect(task.segments == DownloadSnapshot.Segments(done: 8, total: 8))
        #expect(notes.all.contains("loaded 8 of 8"), "\(notes.all)")
        #expect(notes.writes.reduce(0) { $0 + $1.new } == whole.length)
        #expect(task.countOfBytesReceived == whole.length && task.countOfBytesExpectedToReceive == whole.length)
        #expect(bench.folder.difference("moved", from: whole) == nil)
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `A2 a stream goes on behind its last segment after a kill, and is reported once`() async throws {
        let out = try TemporaryFolder()
        bench.origin.adjust("/v/s5.ts") { $0.delay = .untilReleased }
        let first = try run("start", serveShow())
        #expect(await aside { first.line { $0 == "loaded task 0 5 of 8" } } != nil, "\(first.lines) \(first.errors)")
        await kill(first)
        bench.origin.adjust("/v/s5.ts") { $0.delay = .none }
        let second = try run("again", out.path)
        #expect(await aside { second.line { $0.hasPrefix("over") } } == "over 0", "\(second.lines) \(second.errors)")
        await aside { _ = second.wait() }
        #expect(second.lines.contains("found task 0 running"))
        #expect(second.lines.contains("resumed task 0 at \(5 * segments[0].count) of -1"), "\(second.lines)")
        #expect(second.lines.count { $0.hasPrefix("finish task 0") } == 1 && second.lines.contains("complete task 0 0"))
        #expect(out.difference("task 0", from: whole) == nil)
        // The last one is compared with what is on disk.
        #expect((0..<4).allSatisfy { bench.origin.ended("/v/s\($0).ts").count == 1 })
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `A2 what a program was killed over is reported again, with its further files`() async throws {
        let out = try TemporaryFolder()
        let first = try run("hold", serveApart())
        #expect(await aside { first.line { $0.hasPrefix("finish task 0") } } != nil, "\(first.lines) \(first.errors)")
        await kill(first)
        let second = try run("again", out.path)
        #expect(await aside { second.line { $0.hasPrefix("over") } } == "over 0", "\(second.lines) \(second.errors)")
        await aside { _ = second.wait() }
        let total = whole.length + Int64(2 * sound.count)
        #expect(second.lines.contains { $0.hasPrefix("finish task 0 \(total) ") }, "\(second.lines)")
        #expect(out.difference("task 0", from: whole) == nil)
        #expect(out.difference("task 0.en.aac", from: Payload(sound + sound)) == nil)
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `it is suspended and resumed behind its last segment, and cancelled with all its files`() async throws {
        let notes = Notes()
        let session = bench.session(notes, identifier: "films")
        bench.origin.adjust("/v/s5.ts") { $0.delay = .untilReleased }
        let task = session.makeAssetDownloadTask(with: serveShow())
        task.resume()
        #expect(await notes.until("loaded 5 of 8"))
        task.suspend()
        await bench.quiet("/v/s5.ts")
        bench.origin.adjust("/v/s5.ts") { $0.delay = .none }
        bench.origin.adjust("/v/s7.ts") { $0.delay = .untilReleased }
        task.resume()
        #expect(await notes.until("loaded 7 of 8"), "\(notes.all)")
        // The last one is compared with what is on disk.
        #expect((0..<4).allSatisfy { bench.origin.ended("/v/s\($0).ts").count == 1 })
        #expect(await task.cancelByProducingResumeData() == nil)
        #expect(await notes.until("complete 7"))
        session.finishTasksAndInvalidate()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }

    @Test func `the delegate decides about the redirects of segments too`() async throws {
        let notes = RedirectNotes()
        let session = DownloadSession(configuration: bench.configuration(), delegate: notes)
        bench.origin.adjust("/v/s3.ts") { $0.instead = .redirect(to: "/v/s4.ts") }
        let task = session.makeAssetDownloadTask(with: serveShow())
        task.resume()
        #expect(await notes.notes.until("complete"))
        #expect(notes.targets.read { $0 } == [bench.origin.url("/v/s4.ts")])
        #expect(task.error != nil && task.currentRequest?.url == bench.origin.url("/v/show.m3u8"))
        session.invalidateAndCancel()
    }

    @Test func `a segment that cannot be had is the error of its task`() async throws {
        let notes = Notes()
        let session = bench.session(notes)
        bench.origin.adjust("/v/s3.ts") { $0.instead = .status(404) }
        let task = session.makeAssetDownloadTask(with: serveShow())
        task.resume()
        #expect(await notes.until("complete 3"), "\(notes.all)")
        #expect(task.error?.description.contains("s3.ts") == true, "\(String(describing: task.error))")
        var live = StreamOptions()
        live.live = .seconds(10)
        let recording = session.makeAssetDownloadTask(with: serveShow(), options: live)
        recording.resume()
        #expect(await notes.until("complete 28"))
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
        #expect(bench.leftovers.isEmpty, "\(bench.leftovers)")
    }
}

/// A delegate that lets no redirect through.
private final class RedirectNotes: DownloadSessionDelegate {
    let notes = Notes()
    let targets = Monitor<[String]>([])

    func urlSession(
        _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
        newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
    ) {
        targets.with { $0.append(request.url) }
        completionHandler(nil)
    }

    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String) {
        notes.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        notes.urlSession(session, task: task, didCompleteWithError: error)
    }
}
