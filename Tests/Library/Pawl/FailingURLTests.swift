import Pawl
import PawlSystem
import PawlTestKit
import Testing

/// Errors have the URL whose request failed, for programs; no text shows it.
@Suite struct FailingURLTests {
    private func options(_ folder: String) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder
        options.retries = 0
        return options
    }

    @Test func `an error has the URL whose request failed, redirects followed, which no text shows`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.redirect("/old", to: "/gone?signed=12")
        let retried = Monitor<[PawlError]>([])
        let downloader = Downloader { event in
            if case .retry(let error, _) = event.kind { retried.with { $0.append(error) } }
        }
        var options = options(folder.path)
        let failed = await #expect(throws: PawlError.self) { try await downloader.download(url, options: options) }
        #expect(failed?.failingURL == origin.url("/gone?signed=12"))
        #expect(failed.map { "\($0)".contains("signed=12") } == false)
        let content = await #expect(throws: PawlError.self) { try await downloader.data(from: url, options: options) }
        #expect(content?.failingURL == origin.url("/gone?signed=12"))
        let mismatch = origin.serve("/f", Payload(seed: 640, length: 1000)) + "?key=1"
        options.checksum = "md5=00000000000000000000000000000000"
        let wrong = await #expect(throws: PawlError.self) { try await downloader.download(mismatch, options: options) }
        #expect(wrong?.code == .checksumMismatch && wrong?.failingURL == mismatch)
        options.checksum = nil
        (options.retries, options.retryDelay) = (1, .milliseconds(10))
        let busy = origin.serve("/busy", Payload([])) { $0.instead = .status(503) }
        await #expect(throws: PawlError.self) { try await downloader.download(busy, options: options) }
        #expect(retried.read { $0.map(\.failingURL) } == [busy])
        let refused = #expect(throws: PawlError.self) { try downloader.add("gopher://127.0.0.1/f?key=1") }
        #expect(refused?.failingURL == "gopher://127.0.0.1/f?key=1")
        await downloader.shutDown()
    }

    @Test func `the last mirror's URL is that of the error`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let downloader = Downloader()
        var options = options(folder.path)
        options.mirrors = [origin.url("/mirror?key=1")]
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(origin.url("/first"), options: options)
        }
        #expect(error?.failingURL == origin.url("/mirror?key=1"))
        await downloader.shutDown()
    }

    @Test func `a queue's error has the URL too, after a restart the one that was added`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.redirect("/old", to: "/gone?key=2") + "?key=1"
        let download = try await manager.add(bench.request(url))
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.failingURL == bench.origin.url("/gone?key=2"))
        await manager.shutDown()
        let again = try await bench.open()
        let known = try #require(try await again.download(ofURL: url))
        #expect(known.snapshot.error?.failingURL == url)
        await #expect(throws: PawlError.self) { try await known.file }
        await again.shutDown()
    }
}
