import Pawl
import PawlTesting
import Synchronization
import Testing

/// Icons of hosts: code that downloads, as a program has it.
struct Icons {
    let downloads: any Downloading

    func icon(of host: String) async -> [UInt8]? {
        try? await downloads.data(from: "https://\(host)/favicon.ico", maximumSize: 100_000)
    }

    func save(_ host: String, to path: String) async throws -> Int64 {
        try await downloads.download("https://\(host)/favicon.ico", to: path).length
    }
}

/// A downloader that downloads nothing.
struct FakeDownloads: Downloading {
    func download(
        _ source: String, to path: String?, options: DownloadOptions?, hooks: DownloadHooks?,
        progress: (@Sendable (DownloadSnapshot) -> Void)?
    ) async throws -> DownloadedFile {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: source, state: .transferring)
        (snapshot.written, snapshot.total) = (5, 10)
        progress?(snapshot)
        return DownloadedFile(path: path ?? "icon", length: 10)
    }

    func content(
        from source: String, maximumSize: Int, options: DownloadOptions?, hooks: DownloadHooks?
    ) async throws -> DownloadedContent {
        guard source.contains("known") else {
            throw PawlError(.notFound, place: source, why: "the server does not have it", status: 404)
        }
        let fields = [DownloadResponse.Field(name: "Content-Type", value: "image/png")]
        return DownloadedContent(bytes: [1, 2], response: DownloadResponse(url: source, fields: fields))
    }

    func body(of source: String, options: DownloadOptions?, hooks: DownloadHooks?) throws(PawlError) -> DownloadBody {
        DownloadBody(of: source, chunks: [[1, 2], [3]])
    }
}

@Suite struct FakeTests {
    @Test func `code that downloads is tested with a fake`() async throws {
        let icons = Icons(downloads: FakeDownloads())
        #expect(await icons.icon(of: "known.example") == [1, 2])
        #expect(await icons.icon(of: "other.example") == nil)
        #expect(try await icons.save("known.example", to: "a") == 10)
        let content = try await FakeDownloads().content(from: "https://known.example/")
        #expect(content.response?.contentType == "image/png")
    }

    @Test func `a body of given chunks`() async throws {
        let body = try FakeDownloads().body(of: "https://known.example/log")
        var all: [UInt8] = []
        for try await chunk in body { all += chunk }
        #expect(all == [1, 2, 3])
        #expect(body.download.snapshot.state == .finished)
        let broken = DownloadBody(chunks: [[1]], error: PawlError(.network, place: "x", why: "it broke"))
        let error = await #expect(throws: PawlError.self) { for try await _ in broken {} }
        #expect(error?.description == "cannot download x: it broke")
    }

    @Test func `a hook is called with values of a test`() async throws {
        var hooks = DownloadHooks()
        hooks.validateResponse = { $0.response.contentType == "image/png" ? .allow : .cancel() }
        let page = DownloadResponse(
            url: "https://a/", fields: [DownloadResponse.Field(name: "content-type", value: "text/html")])
        let received = ReceivedResponse(download: Download.ID(rawValue: 1), url: "https://a/", response: page)
        #expect(await hooks.validateResponse?(received) == .cancel())
    }

    @Test func `progress of one download, to its end`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin(["/a": [.ok(makeContent(2_000_000)).slow(bytesPerSecond: 4_000_000)]])
        let seen = Mutex<[DownloadSnapshot]>([])
        let file = try await downloader(origin, in: folder).download("http://h.example/a", to: "b") { snapshot in
            seen.withLock { $0.append(snapshot) }
        }
        #expect(file.path.hasSuffix("/b"))
        let snapshots = seen.withLock { $0 }
        #expect(snapshots.last?.state == .finished)
        #expect(snapshots.map(\.written) == snapshots.map(\.written).sorted())
    }
}
