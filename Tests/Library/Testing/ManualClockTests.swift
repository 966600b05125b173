import Pawl
import PawlTesting
import Testing

/// Waits of minutes, in no time.
@Suite struct ManualClockTests {
    private let url = "https://videos.example/film.mp4"

    /// The snapshots until one of them is what is waited for.
    private func until(_ download: Download, _ isWanted: (DownloadSnapshot) -> Bool) async -> DownloadSnapshot? {
        for await snapshot in download.updates where isWanted(snapshot) { return snapshot }
        return nil
    }

    @Test func `Retry-After is waited for, and no longer`() async throws {
        let folder = try Scratch()
        let clock = ManualClock()
        let origin = StubOrigin(["/film.mp4": [.status(503, headers: ["Retry-After": "60"]), .ok([1, 2, 3])]])
        let downloads = downloader(origin, in: folder, clock: clock)
        let download = try downloads.add(url)
        download.resume()
        let waiting = try #require(await until(download) { $0.retryIn != nil })
        #expect(waiting.retry?.reason == "503")
        await clock.advance(by: .seconds(58))
        #expect(origin.requests.count == 1)
        await clock.advance(by: .seconds(10))
        #expect(try await download.file.length == 3)
        #expect(origin.requests.count == 2)
        #expect(clock.elapsed == .seconds(68))
    }

    @Test func `a stalled connection is replaced after a while, and not at once`() async throws {
        let folder = try Scratch()
        let clock = ManualClock()
        let gate = StubGate()
        let bytes = makeContent(500_000)
        let origin = StubOrigin([
            "/film.mp4": [.ok(bytes).held(after: 400_000, until: gate), .ok(bytes)]
        ])
        let downloads = downloader(origin, in: folder, clock: clock) { $0.connections = 1 }
        let download = try downloads.add(url)
        download.resume()
        await gate.reached()
        await clock.advance(by: .seconds(5))
        #expect(origin.requests.count == 1)
        await clock.advance(by: .seconds(70))
        #expect(try await download.file.length == 500_000)
        #expect(try folder.bytes(of: "film.mp4") == bytes)
    }

    @Test func `a slow response takes the time of the clock`() async throws {
        let folder = try Scratch()
        let clock = ManualClock()
        let origin = StubOrigin(["/film.mp4": [.ok(makeContent(1_000_000)).slow(bytesPerSecond: 10_000)]])
        let downloads = downloader(origin, in: folder, clock: clock) { $0.connections = 1 }
        let download = try downloads.add(url)
        download.resume()
        _ = await until(download) { $0.total != nil }
        await clock.advance(by: .seconds(50))
        let half = download.snapshot
        #expect((480_000...510_000).contains(half.written))
        #expect((9_000...11_000).contains(half.smoothedSpeed))
        await clock.advance(by: .seconds(51))
        #expect(try await download.file.length == 1_000_000)
    }
}
