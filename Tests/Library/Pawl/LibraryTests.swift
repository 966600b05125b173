import Pawl
import PawlSystem
import PawlTestKit
import Testing

/// The view of a Swift program; the same guarantees are tested through the command line elsewhere.
@Suite struct LibraryTests {
    private let payload = Payload(seed: 501, length: 3_000_000)
    /// So long that the kernel's buffers hold less than what comes before the stall: the file has begun.
    private let long = Payload(seed: 503, length: 90_000_000)
    private let stall: Int64 = 80_000_000

    private func options(_ folder: TemporaryFolder) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder.path
        options.timeout = .seconds(5)
        options.retryDelay = .milliseconds(10)
        return options
    }

    @Test func `a folder with a NUL byte is refused, not cut there`() throws {
        let downloader = Downloader()
        defer { downloader.shutDownAndWait() }
        let folder = try TemporaryFolder()
        var options = options(folder)
        options.folder += "/a\0b"
        let error = #expect(throws: PawlError.self) { try downloader.add("http://127.0.0.1:1/f", options: options) }
        #expect(error?.code.rawValue == 28)
        #expect(folder.names.isEmpty)
    }

    @Test func `A3 nothing runs before resume, and a description is returned`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let downloader = Downloader()
        var options = options(folder)
        options.taskDescription = "lesson 4"
        let download = try downloader.add(url, options: options)
        #expect(download.snapshot.state == .waiting)
        #expect(download.snapshot.percent == nil)
        #expect(origin.log.of("/f").isEmpty)
        download.resume()
        let file = try await download.file
        #expect(file.length == payload.length)
        #expect(folder.difference("f", from: payload) == nil)
        #expect(download.snapshot.taskDescription == "lesson 4")
        #expect(download.snapshot.percent == 100)
        await downloader.shutDown()
    }

    @Test func `A6 progress is written × 100 ÷ total, and unknown is no number`() throws {
        var snapshot = try Downloader().add("http://127.0.0.1/f").snapshot
        snapshot.total = 800
        snapshot.written = 100
        #expect(snapshot.percent == 12.5)
        snapshot.written = 900
        #expect(snapshot.percent == 100)
        snapshot.total = nil
        #expect(snapshot.percent == nil)
        snapshot.total = 0
        snapshot.written = 0
        #expect(snapshot.percent == 100)
    }

    @Test func `B1 small content is loaded into memory`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let downloader = Downloader()
        let content = Payload(seed: 502, length: 70_001)
        let bytes = try await downloader.data(from: origin.serve("/small", content))
        #expect(bytes == content.bytes)
        let nothing = try await downloader.data(from: origin.serve("/empty", Payload([])))
        #expect(nothing.isEmpty)
        await downloader.shutDown()
    }

    @Test(arguments: [Behaviour.Framing.length, .chunked]) func `B1 content beyond the limit is refused with its code`(
        framing: Behaviour.Framing
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/big", payload) { $0.framing = framing }
        let downloader = Downloader()
        let error = await #expect(throws: PawlError.self) {
            try await downloader.data(from: url, maximumSize: 1_000_000)
        }
        #expect(error?.code == .tooLarge)
        await downloader.shutDown()
    }

    @Test func `B1 content in memory survives a cut connection`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", payload) { $0.cut = .reset(after: 1_000_000) }
        origin.vary("/f") { facts, behaviour in if facts.ordinal > 0 { behaviour.cut = nil } }
        let downloader = Downloader()
        var options = DownloadOptions()
        options.retryDelay = .milliseconds(10)
        let bytes = try await downloader.data(from: url, options: options)
        #expect(bytes == payload.bytes)
        await downloader.shutDown()
    }

    @Test func `E6 starting twice is one download, and remove deletes file and part file`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let downloader = Downloader()
        let download = try downloader.add(url, options: options(folder))
        download.resume()
        download.resume()
        _ = try await download.file
        download.resume()
        #expect(origin.ended("/f").count == 1)
        try await download.remove()
        #expect(folder.names.isEmpty)
        await downloader.shutDown()
    }

    @Test func `E6 A9 remove in the middle leaves nothing of this download and everything of others`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        try FileSystem.write(Array("mine".utf8), to: folder.path("f"))
        let url = origin.serve("/f", long) { $0.cut = .stall(after: stall) }
        let downloader = Downloader()
        let download = try downloader.add(url, options: options(folder))
        download.resume()
        origin.wait(bytes: stall, of: "/f")
        try await download.remove()
        #expect(folder.names == ["f"])
        #expect(FileSystem.contents(folder.path("f")) == Array("mine".utf8))
        await downloader.shutDown()
    }

    @Test func `A5 pause keeps the received bytes and resume requests only the rest`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", long) { $0.cut = .stall(after: stall) }
        let paused = Monitor(false)
        let downloader = Downloader { event in if case .state(.paused) = event.kind { paused.with { $0 = true } } }
        var options = options(folder)
        options.connections = 1
        let download = try downloader.add(url, options: options)
        download.resume()
        origin.wait(bytes: stall, of: "/f")
        download.pause()
        #expect(paused.wait { $0 ? true : nil } == true)
        let kept = download.snapshot.written
        #expect(folder.names == ["f.part", "f.pawl"])
        origin.adjust("/f") { $0.cut = nil }
        download.resume()
        _ = try await download.file
        #expect(folder.difference("f", from: long) == nil)
        #expect(folder.names == ["f"])
        let last = try #require(origin.ended("/f").last)
        #expect(last.range == .from(kept, last: Int64(long.length) - 1))
        await downloader.shutDown()
    }

    @Test func `an invalid URL or option is refused with code 28 before anything runs`() throws {
        let downloader = Downloader()
        for bad in ["gopher://x/", "http://", "https://h:99999/", "nonsense"] {
            let error = #expect(throws: PawlError.self) { try downloader.add(bad) }
            #expect(error?.code == .badOption)
        }
        var options = DownloadOptions()
        for timeout in [Duration.zero, .seconds(-1), .seconds(86_401), .seconds(1e18)] {
            options.timeout = timeout
            #expect(throws: PawlError.self) { try downloader.add("http://127.0.0.1/", options: options) }
        }
        downloader.shutDownAndWait()
    }

    @Test func `a downloader without references pauses running downloads`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", long) { $0.cut = .stall(after: stall) }
        let paused = Monitor(false)
        do {
            let downloader = Downloader { event in if case .state(.paused) = event.kind { paused.with { $0 = true } } }
            try downloader.add(url, options: options(folder)).resume()
            origin.wait(bytes: stall, of: "/f")
        }
        #expect(paused.wait { $0 ? true : nil } == true)
        #expect(folder.names == ["f.part", "f.pawl"])
    }
}
