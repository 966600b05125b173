import Pawl
import PawlTesting
import Testing

/// Limits that a program changes while downloads run.
@Suite struct ChangingLimitsTests {
    @Test func `a rate limit changes for running downloads`() async throws {
        let folder = try Scratch()
        let clock = ManualClock()
        let origin = StubOrigin { _ in .ok(makeContent(1_000_000)) }
        let downloads = downloader(origin, in: folder, clock: clock) { $0.connections = 1 }
        #expect(downloads.rateLimit == nil)
        downloads.rateLimit = 10_000
        #expect(downloads.rateLimit == 10_000)
        let download = try downloads.add("https://videos.example/film.mp4")
        download.resume()
        for await snapshot in download.updates where snapshot.total != nil { break }
        await clock.advance(by: .seconds(10))
        #expect(!download.snapshot.state.isFinal && download.snapshot.written < 500_000)
        downloads.rateLimit = nil
        #expect(try await download.file.length == 1_000_000)
        #expect(clock.elapsed == .seconds(10))
    }

    @Test func `more and fewer downloads run at once when the number changes`() async throws {
        let folder = try Scratch()
        let gates = (0..<2).map { _ in StubGate() }
        let origin = StubOrigin([
            "/0": [.ok(makeContent(1_000)).held(after: 500, until: gates[0])],
            "/1": [.ok(makeContent(1_000)).held(after: 500, until: gates[1]), .ok(makeContent(1_000))],
        ])
        let downloads = downloader(origin, in: folder, clock: ManualClock())
        downloads.maximumConcurrentDownloads = 0
        #expect(downloads.maximumConcurrentDownloads == 1, "at least one")
        let both = try (0..<2).map { try downloads.add("https://videos.example/\($0)") }
        for download in both { download.resume() }
        await gates[0].reached()
        #expect(origin.requests.map(\.path) == ["/0"])
        downloads.maximumConcurrentDownloads = 2
        await gates[1].reached()
        downloads.maximumConcurrentDownloads = 1
        for await snapshot in both[1].updates where snapshot.state == .preempted { break }
        gates[0].open()
        for download in both { #expect(try await download.file.length == 1_000) }
    }
}
