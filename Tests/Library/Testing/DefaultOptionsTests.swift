import Pawl
import PawlTesting
import Testing

/// Every way to add a download takes the options of its owner's configuration where none are given.
@Suite struct DefaultOptionsTests {
    private static let content = makeContent(300_000)
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
    private static let url = "https://h.example/a"

    struct Way<Owner: Sendable>: CustomTestStringConvertible, Sendable {
        let name: String
        let use: @Sendable (Owner) async throws -> Void
        var testDescription: String { name }

        init(_ name: String, _ use: @escaping @Sendable (Owner) async throws -> Void) {
            self.name = name
            self.use = use
        }
    }

    /// All of its requests have the field of the default options.
    private func check(_ use: (StubOrigin, DownloadOptions) async throws -> Void) async throws {
        let origin = StubOrigin { request in
            switch request.path {
            case "/list.m3u8": .ok(Array(Self.playlist.utf8))
            case "/folder/": .ok(Array("<a href=\"a\">a</a>".utf8), headers: ["Content-Type": "text/html"])
            case _: .ok(Self.content)
            }
        }
        let folder = try Scratch()
        var options = DownloadOptions()
        options.folder = folder.path
        options.setHeader("X-Default", to: "yes")
        try await use(origin, options)
        #expect(!origin.requests.isEmpty)
        #expect(origin.requests.allSatisfy { $0.value(of: "X-Default") == "yes" })
    }

    private static func all(_ body: DownloadBody) async throws { for try await _ in body {} }

    static let ways: [Way<Downloader>] = [
        Way("download") { _ = try await $0.download(url) },
        Way("content") { _ = try await $0.content(from: url) },
        Way("data") { _ = try await $0.data(from: url) },
        Way("body") { try await all(try $0.body(of: url)) },
        Way("body of a position") { downloader in
            let body = try downloader.body(of: url)
            for try await _ in body { break }
            let position = try #require(body.position)
            try await all(try downloader.body(resuming: position))
        },
        Way("add") { downloader in
            let download = try downloader.add(url)
            download.resume()
            _ = try await download.file
        },
        Way("addStream") { downloader in
            let download = try downloader.addStream("https://h.example/list.m3u8")
            download.resume()
            // The segment is none, which is found out after it was requested.
            _ = try? await download.file
        },
        Way("add of resume data") { downloader in
            let data = DownloadResumeData(.init(url: url), received: 0, partialName: "CFNetworkDownload_1.tmp")
            let download = try downloader.add(data, partialFolder: downloader.options.folder)
            download.resume()
            _ = try await download.file
        },
    ]

    @Test(arguments: ways) func `a downloader's options`(way: Way<Downloader>) async throws {
        try await check { origin, options in
            var configuration = Downloader.Configuration()
            (configuration.transport, configuration.options) = (origin.transport, options)
            try await way.use(Downloader(configuration))
        }
    }

    static let queued: [Way<DownloadManager>] = [
        Way("add") { _ = try await $0.add(url).file },
        Way("add of a request") { _ = try await $0.add(DownloadRequest(url)).file },
        Way("add of requests") { manager in
            let results = try await manager.add([DownloadRequest(url)])
            _ = try await manager.download(withID: results[0].get())?.file
        },
        Way("add of a request with the manager's options") { manager in
            var request = DownloadRequest(url, options: manager.options)
            request.options.fileName = "b"
            _ = try await manager.add(request).file
        },
        Way("content") { _ = try await $0.content(from: url) },
        Way("data") { _ = try await $0.data(from: url) },
        Way("body") { try await all(try $0.body(of: url)) },
    ]

    @Test(arguments: queued) func `a manager's options`(way: Way<DownloadManager>) async throws {
        try await check { origin, options in
            let folder = try Scratch()
            var configuration = DownloadManager.Configuration()
            (configuration.transport, configuration.options) = (origin.transport, options)
            configuration.options.folder = "."
            let manager = try await DownloadManager(root: folder.path, configuration)
            try await way.use(manager)
            await manager.shutDown()
        }
    }

    @Test func `the options of a collection's configuration`() async throws {
        try await check { origin, options in
            var configuration = Downloader.Configuration()
            (configuration.transport, configuration.options) = (origin.transport, options)
            let collection = try FileCollection("https://h.example/folder/", configuration: configuration)
            let report = try await collection.download(to: options.folder)
            #expect(report.finished == 1 && report.failures.isEmpty)
            #expect(origin.requests(for: "/folder/a").count == 1)
        }
    }

    @Test func `options that are given replace all of the configuration's`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { _ in .ok([1, 2, 3]) }
        var configuration = DownloadManager.Configuration()
        configuration.transport = origin.transport
        configuration.options.folder = "films"
        configuration.options.setHeader("X-Default", to: "yes")
        let manager = try await DownloadManager(root: folder.path, configuration)
        let file = try await manager.add(Self.url).file
        #expect(file.path.hasSuffix("films/a"))
        var request = DownloadRequest("https://h.example/b")
        request.options.fileName = "c"
        let other = try await manager.add(request).file
        #expect(other.path.hasSuffix("/c") && !other.path.contains("films"))
        #expect(origin.requests.map { $0.value(of: "X-Default") } == ["yes", nil])
        await manager.shutDown()
    }
}
