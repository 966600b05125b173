import Pawl
import PawlBase
import PawlTestKit
import Testing

/// Streams in a queue: one record, whose run joins segments.
@Suite struct QueuedStreamTests {
    private let show: ShowBench
    private var bench: ManagerBench { show.bench }
    private var segments: [[UInt8]] { show.segments }
    private var whole: Payload { show.whole }
    private var names: [String] { show.names }

    init() throws { show = try ShowBench() }

    private func serve(_ playlist: Payload, at path: String = "/v/show.m3u8") -> String {
        show.serve(playlist, at: path)
    }

    private func serveShow(at path: String = "/v/show.m3u8") -> String { show.serveShow(at: path) }
    private func serveApart() -> String { show.serveApart() }

    private func request(_ url: String, _ stream: StreamOptions? = StreamOptions()) -> DownloadRequest {
        show.request(url, stream)
    }

    private var requests: Int { segments.indices.reduce(0) { $0 + bench.origin.ended("/v/s\($1).ts").count } }

    @Test func `a stream is one download of the queue`() async throws {
        let manager = try await bench.open()
        let download = try await manager.add(request(serveShow()))
        let file = try await download.file
        #expect(file.path == bench.root.path("show.ts") && file.length == Int64(whole.bytes.count))
        #expect(bench.root.difference("show.ts", from: whole) == nil && names == ["show.ts"])
        let snapshot = try #require(try await manager.snapshot(of: download.id))
        #expect(snapshot.state == .finished && snapshot.total == file.length && snapshot.file == .there)
        #expect(snapshot.segments == DownloadSnapshot.Segments(done: 8, total: 8))
        // The same again is the same.
        let again = try await manager.add(request(serveShow()))
        #expect(again.id == download.id)
        // Another quality is another file.
        var worst = StreamOptions()
        worst.quality = "worst"
        #expect(try await manager.add(request(serveShow(), worst)).id != download.id)
        await manager.shutDown()
    }

    @Test func `it is paused, survives the end of its manager, and continues behind its last segment`() async throws {
        bench.origin.adjust("/v/s5.ts") { $0.delay = .untilReleased }
        var manager = try await bench.open()
        let url = serveShow()
        let id = try await manager.add(request(url)).id
        #expect(bench.origin.wait(held: 1, of: "/v/s5.ts"))
        _ = try await manager.pause(id)
        let handle = try #require(try await manager.download(withID: id))
        await handle.reaches(.paused)
        let paused = try #require(try await manager.snapshot(of: id))
        #expect(paused.segments == DownloadSnapshot.Segments(done: 5, total: 8) && paused.name == "show.ts")
        #expect(paused.percent == 62.5 && paused.written == Int64(5 * segments[0].count))
        await manager.shutDown()
        manager = try await bench.open()
        let later = try #require(try await manager.snapshot(of: id))
        #expect(later.state == .paused && later.segments == paused.segments)
        _ = try await manager.resume(id)
        #expect(bench.origin.wait(held: 1, of: "/v/s5.ts"))
        // It runs when the manager is closed, and goes on in the next one.
        await manager.shutDown()
        bench.origin.adjust("/v/s5.ts") { $0.delay = .none }
        manager = try await bench.open()
        let file = try await #require(try await manager.download(withID: id)).file
        #expect(bench.root.difference("show.ts", from: whole) == nil && file.length == Int64(whole.bytes.count))
        #expect(names == ["show.ts"] && bench.origin.ended("/v/s0.ts").count == 1)
        await manager.shutDown()
    }

    @Test func `a response that is a playlist makes a stream of it, and one that is none a file`() async throws {
        let manager = try await bench.open()
        var typed = DownloadRequest(serveShow(at: "/v/play"))
        typed.takeStreams()
        #expect(typed.stream == nil)
        #expect(try await manager.add(typed).file.path == bench.root.path("play.ts"))
        #expect(bench.root.difference("play.ts", from: whole) == nil)
        let titles = Payload(text: "#EXTM3U\n#EXTINF:-1,A song\nhttp://127.0.0.1:1/song.mp3\n")
        var named = DownloadRequest(serve(titles, at: "/v/radio.m3u8"))
        named.takeStreams()
        #expect(named.stream != nil)
        #expect(try await manager.add(named).file.path == bench.root.path("radio.m3u8"))
        #expect(bench.root.difference("radio.m3u8", from: titles) == nil)
        // A file is what a program gets that asks for nothing else.
        #expect(try await manager.add(serveShow()).file.path == bench.root.path("show.m3u8"))
        await manager.shutDown()
    }

    @Test func `no file has its name before all are complete, and all are removed with the download`() async throws {
        let url = serveApart()
        bench.origin.adjust("/v/a1.aac") { $0.instead = .status(404) }
        let manager = try await bench.open()
        let id = try await manager.add(request(url)).id
        let failed = try #require(try await manager.download(withID: id))
        await #expect(throws: PawlError.self) { try await failed.file }
        #expect(
            Set(names)
                == ["show.video.ts.part", "show.video.ts.pawl", "show.audio.en.aac.part", "show.audio.en.aac.pawl"],
            "\(names)")
        bench.origin.adjust("/v/a1.aac") { $0.instead = nil }
        _ = try await manager.resume(id)
        let file = try await failed.file
        #expect(file.others == [bench.root.path("show.audio.en.aac")] && file.path == bench.root.path("show.video.ts"))
        #expect(Set(names) == ["show.video.ts", "show.audio.en.aac"])
        #expect(bench.origin.ended("/v/s0.ts").count == 1)
        try await failed.remove()
        #expect(names.isEmpty, "\(names)")
        await manager.shutDown()
    }

    @Test func `an unfinished one leaves nothing when it is removed`() async throws {
        let url = serveApart()
        bench.origin.adjust("/v/a1.aac") { $0.delay = .untilReleased }
        let manager = try await bench.open()
        let download = try await manager.add(request(url))
        #expect(bench.origin.wait(held: 1, of: "/v/a1.aac"))
        try await download.remove()
        #expect(names.isEmpty, "\(names)")
        #expect(try await manager.snapshot(of: download.id) == nil)
        await manager.shutDown()
    }

    @Test func `recordings are refused`() async throws {
        let manager = try await bench.open()
        var live = StreamOptions()
        live.live = .seconds(10)
        let error = await #expect(throws: PawlError.self) { try await manager.add(request(serveShow(), live)) }
        #expect(error?.code == .badOption)
        await manager.shutDown()
    }
}
