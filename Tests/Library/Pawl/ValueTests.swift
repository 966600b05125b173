import Foundation
import Pawl
import PawlTestKit
import Synchronization
import Testing

/// Values as data and as texts, and what observers receive.
@Suite struct ValueTests {
    private func copy<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func `options are the same after they were stored`() throws {
        var options = DownloadOptions()
        #expect(try copy(options) == options)
        options.folder = "f"
        options.headers = ["A: b", "C: d"]
        options.password = "p"
        options.retries = 0
        options.verifiesPeer = false
        options.naming = .hash
        options.mirrors = ["http://m.example/"]
        options.attributes = ["a": "b"]
        options.taskDescription = "t"
        options.pinnedPublicKeys = ["sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
        #expect(try copy(options) == options)
        let later = #"{"retries":["7"],"of a later version":{"a":1},"timeout":["no number"]}"#
        var expected = DownloadOptions()
        expected.retries = 7
        #expect(try JSONDecoder().decode(DownloadOptions.self, from: Data(later.utf8)) == expected)
    }

    @Test func `snapshots, events and errors are the same after they were stored`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/f", Payload(seed: 821, length: 1000)) { $0.instead = .status(404) }
        let events = manager.events
        let download = try await manager.add(bench.request(url) { $0.options.retries = 0 })
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.status == 404)
        let snapshot = download.snapshot
        // The response of an error is not stored.
        #expect("\(try copy(snapshot))" == "\(snapshot)")
        #expect(try copy(try #require(error)).description == error?.description)
        for try await event in events {
            let same = try copy(event)
            #expect("\(same)" == "\(event)" && same.id == event.id)
            if case .failed = event.kind { break }
        }
        await manager.shutDown()
    }

    @Test func `durations are stored as seconds`() throws {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "https://h/f")
        (snapshot.retryIn, snapshot.timeLeft) = (.milliseconds(2500), nil)
        let text = String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self)
        #expect(text.contains(#""retryIn":2.5"#) && !text.contains("timeLeft"))
        #expect(try copy(snapshot) == snapshot)
        let file = DownloadedFile(path: "f", length: 1, duration: .milliseconds(250))
        let event = DownloadEvent(id: Download.ID(rawValue: 1), kind: .finished(file))
        #expect(String(decoding: try JSONEncoder().encode(event), as: UTF8.self).contains(#""duration":0.25"#))
        // No program crashes for what it stored.
        let wrong = Data(text.replacing("2.5", with: "1e300").utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(DownloadSnapshot.self, from: wrong) }
    }

    @Test(arguments: [(0, "0 s"), (0.2, "1 s"), (60, "1 min 00 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")])
    func `durations are readable`(seconds: Double, text: String) {
        #expect(ByteText.duration(.seconds(seconds)) == text)
    }

    @Test func `sizes and speeds are readable`() {
        #expect(ByteText.size(1023) == "1023 B" && ByteText.size(1536) == "1.50 KiB")
        #expect(ByteText.speed(3 << 20) == "3.00 MiB/s" && ByteText.size(-1) == "0 B")
        #expect(ByteText.duration(.seconds(-1)) == "0 s" && ByteText.duration(.seconds(1e18)).hasSuffix(" h"))
    }

    @Test func `content in memory has no file in a log`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", Payload(seed: 823, length: 1000))
        let entries = Mutex<[DownloadLogEntry]>([])
        var configuration = Downloader.Configuration()
        configuration.observers.log = { entry in entries.withLock { $0.append(entry) } }
        let downloader = Downloader(configuration)
        _ = try await downloader.data(from: url)
        for try await _ in try downloader.body(of: url) {}
        await downloader.shutDown()
        let log = entries.withLock { $0 }
        let ends = log.filter { $0.metadata["seconds"] != nil }
        #expect(ends.map(\.message) == ["finished in memory", "finished in memory"])
        #expect(ends.allSatisfy { $0.metadata["file"] == nil && $0.metadata["bytes"] == "1000" })
        #expect(log.allSatisfy { $0.metadata["file"] != "" && !$0.message.hasSuffix(" ") })
    }

    @Test func `observers receive the start, the retry and the end, and no secret`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", Payload(seed: 822, length: 1000))
        origin.vary("/f") { facts, behaviour in if facts.ordinal == 0 { behaviour.instead = .status(503) } }
        let entries = Mutex<[DownloadLogEntry]>([])
        let samples = Mutex<[DownloadMetric]>([])
        var configuration = Downloader.Configuration()
        configuration.observers.log = { entry in entries.withLock { $0.append(entry) } }
        configuration.observers.metric = { sample in samples.withLock { $0.append(sample) } }
        let downloader = Downloader(configuration)
        var options = DownloadOptions()
        options.folder = folder.path
        options.retryDelay = .milliseconds(10)
        _ = try await downloader.download(url + "?secret=xyzzy", options: options)
        await downloader.shutDown()
        let log = entries.withLock { $0 }
        #expect(log.filter { $0.level != .debug }.map(\.level) == [.warning, .info, .info])
        #expect(log.contains { $0.metadata["status"] == "503" && $0.metadata["download"] != nil })
        #expect(!"\(log)".contains("xyzzy"))
        let names = samples.withLock { $0 }.map(\.name)
        #expect(
            names == [
                "pawl.downloads.retried", "pawl.downloads.started", "pawl.downloads.finished", "pawl.bytes.received",
                "pawl.download.duration",
            ])
    }
}
