import Pawl
import PawlTestKit
import Testing

/// The server that plays a film while it is downloaded.
@Suite struct PlayerTests {
    @Test func `a player gets the end of a film whose beginning stands still`() async throws {
        let bench = try ExampleBench()
        let film = Payload(seed: 990, length: 20_000_000)
        let url = bench.origin.serve("/film.mp4", film)
        // Whatever connection asks for it, all between the beginning and the end stands still.
        bench.origin.vary("/film.mp4") { facts, behaviour in
            let range = facts.request.header("Range")?.dropFirst("bytes=".count)
            let start = range?.split(separator: "-").first.flatMap { Int($0) } ?? 0
            if start < 19_000_000 { behaviour.cut = .stall(from: 1_000_000) }
        }
        let process = try bench.start("Player", [bench.folder.path, url])
        defer { process.send(9) }
        let address = try #require(process.line { $0.hasPrefix("http://127.0.0.1:") }, "\(process.errors)")
        let player = Downloader()
        var options = DownloadOptions()
        options.range = "-100000"
        #expect(try await player.data(from: address, options: options) == film.bytes(in: .init(19_900_000, 20_000_000)))
        #expect(!process.lines.contains { $0.hasPrefix("saved") })
        bench.origin.vary("/film.mp4") { _, _ in }
        bench.origin.release("/film.mp4")
        #expect(process.line { $0 == "saved \(bench.folder.path("film.mp4"))" } != nil, "\(process.errors)")
        #expect(bench.folder.difference("film.mp4", from: film) == nil)
        #expect(try await player.data(from: address, maximumSize: 30_000_000) == film.bytes)
        await player.shutDown()
    }
}
