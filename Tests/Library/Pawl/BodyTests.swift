import Foundation
import Pawl
import PawlBase
import PawlJournal
import PawlSystem
import PawlTestKit
import Testing

/// Bytes as they arrive.
@Suite struct BodyTests {
    private func options() -> DownloadOptions {
        var options = DownloadOptions()
        options.timeout = .seconds(3600)
        options.retryDelay = .milliseconds(10)
        return options
    }

    private func all(of body: DownloadBody) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in body {
            #expect(!chunk.isEmpty)
            bytes += chunk
        }
        return bytes
    }

    @Test(arguments: [0, 1, 3_000_000]) func `every byte once, in order, also after a lost connection`(
        length: Int
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let payload = Payload(seed: 801, length: Int64(length))
        let url = origin.serve("/f", payload)
        origin.vary("/f") { facts, behaviour in
            if facts.ordinal == 0, length > 1 { behaviour.cut = .reset(after: 1_000_000) }
        }
        let downloader = Downloader()
        let body = try downloader.body(of: url, options: options())
        #expect(try await all(of: body) == payload.bytes)
        #expect(body.position?.offset == payload.length)
        #expect(origin.log.of("/f").count == (length > 1 ? 2 : 1))
        await downloader.shutDown()
    }

    @Test func `no more is read than the program takes, and leaving the loop ends the transfer`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        // Far more than the buffers of both sockets and of the stream.
        let payload = Payload(seed: 802, length: 200_000_000)
        let url = origin.serve("/f", payload)
        let downloader = Downloader()
        let body = try downloader.body(of: url, options: options())
        for try await chunk in body {
            #expect(chunk == Array(payload.bytes(in: .init(0, Int64(chunk.count)))))
            break
        }
        #expect(origin.waitUntilQuiet("/f"))
        let record = try #require(origin.log.of("/f").first)
        #expect(record.end == .peerClosed)
        #expect(record.bodySent < payload.length / 2)
        await downloader.shutDown()
    }

    /// Repeated, as the engine's report of the removal may come before or after.
    @Test(arguments: 0..<20) func `leaving the loop ends every wait for the download, and there is no second iteration`(
        _: Int
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", Payload(seed: 802, length: 20_000_000))
        let downloader = Downloader()
        let body = try downloader.body(of: url, options: options())
        let file = Task { try await body.download.file }
        for try await _ in body { break }
        await #expect(throws: PawlError.self) { try await file.value }
        for await _ in body.download.updates {}
        #expect(body.download.snapshot.state == .removed)
        let error = await #expect(throws: PawlError.self) { for try await _ in body {} }
        #expect(error?.code == .unfinished)
        #expect(origin.log.of("/f").count == 1)
        await downloader.shutDown()
    }

    @Test func `cancelling the task ends the iteration and the transfer`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", Payload(seed: 803, length: 3_000_000)) { $0.cut = .stall(after: 2_000_000) }
        let downloader = Downloader()
        let body = try downloader.body(of: url, options: options())
        let task = Task { try await all(of: body) }
        await origin.holds("/f")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(origin.waitUntilQuiet("/f"))
        await downloader.shutDown()
    }

    @Test(arguments: [Behaviour.Validators.strong, .lastModifiedOnly, .none])
    func `a stored position continues in another downloader, and refuses other content`(
        validators: Behaviour.Validators
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let payload = Payload(seed: 804, length: 3_000_000)
        let url = origin.serve("/f", payload) { $0.validators = validators }
        let first = Downloader()
        let body = try first.body(of: url, options: options())
        var bytes: [UInt8] = []
        for try await chunk in body {
            bytes += chunk
            if bytes.count > 500_000 { break }
        }
        await first.shutDown()
        let stored = try JSONEncoder().encode(try #require(body.position))
        let position = try JSONDecoder().decode(DownloadBody.Position.self, from: stored)
        #expect(position.offset == Int64(bytes.count))
        let second = Downloader()
        bytes += try await all(of: try second.body(resuming: position, options: options()))
        #expect(bytes == payload.bytes)
        #expect(origin.log.of("/f").last?.request.header("Range") != nil)
        _ = origin.serve("/f", Payload(seed: 805, length: 3_000_000)) { $0.validators = validators }
        let other = try second.body(resuming: position, options: options())
        let error = await #expect(throws: PawlError.self) { try await all(of: other) }
        #expect(error?.code == .cannotResume)
        await second.shutDown()
    }

    @Test func `a failure is thrown by the iteration`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", Payload(seed: 806, length: 10)) { $0.instead = .status(404) }
        let downloader = Downloader()
        let body = try downloader.body(of: url, options: options())
        let error = await #expect(throws: PawlError.self) { try await all(of: body) }
        #expect(error?.status == 404)
        await downloader.shutDown()
    }

    @Test(arguments: ["{}", #"{"offset":-1,"facts":"","tail":""}"#, #"{"offset":5,"facts":"AAAA","tail":""}"#])
    func `what is no position is refused`(text: String) {
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(DownloadBody.Position.self, from: Data(text.utf8))
        }
    }

    @Test func `a manager's stream is resumed, asks the hooks, and is in no queue`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 821, length: 3_000_000)
        let url = bench.origin.serve("/f", payload)
        bench.origin.vary("/f") { facts, behaviour in if facts.ordinal == 0 { behaviour.cut = .reset(after: 1_000_000) }
        }
        var configuration = DownloadManager.Configuration()
        configuration.hooks.adaptRequest = { request in
            var request = request
            request.set("Authorization", to: "Bearer 1")
            return request
        }
        let manager = try await bench.open(configuration)
        let body = try manager.body(of: url, options: options())
        #expect(bench.origin.log.of("/f").isEmpty)
        #expect(try await all(of: body) == payload.bytes)
        let position = try #require(body.position)
        #expect(position.offset == payload.length)
        #expect(try await all(of: try manager.body(resuming: position, options: options())).isEmpty)
        let seen = bench.origin.log.of("/f").map(\.request)
        #expect(seen.count >= 2 && seen.allSatisfy { $0.header("Authorization") == "Bearer 1" })
        #expect(try await manager.downloads().isEmpty)
        #expect(bench.root.names.filter { !$0.hasPrefix(".") }.isEmpty)
        await manager.shutDown()
    }

    @Test func `a manager's stream ends when it is left, cancelled, or its manager is shut down`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 822, length: 200_000_000)
        let url = bench.origin.serve("/f", payload)
        let stalled = bench.origin.serve("/s", payload) { $0.cut = .stall(after: 1000) }
        let manager = try await bench.open()
        for try await chunk in try manager.body(of: url, options: options()) {
            #expect(chunk == Array(payload.bytes(in: .init(0, Int64(chunk.count)))))
            break
        }
        #expect(bench.origin.waitUntilQuiet("/f"))
        #expect(bench.origin.log.of("/f").allSatisfy { $0.bodySent < payload.length })

        let options = options()
        let waiting = Task { for try await _ in try manager.body(of: stalled, options: options) {} }
        await heldAt(bench.origin, "/s")
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(bench.origin.waitUntilQuiet("/s"))

        let last = Task { for try await _ in try manager.body(of: stalled, options: options) {} }
        await heldAt(bench.origin, "/s")
        await manager.shutDown()
        let error = await #expect(throws: PawlError.self) { try await last.value }
        #expect(error?.code == .unfinished)
        let late = try manager.body(of: url, options: options)
        let refused = await #expect(throws: PawlError.self) { for try await _ in late {} }
        #expect(refused?.code == .unfinished)
    }

    private func heldAt(_ origin: OriginServer, _ path: String) async {
        await withCheckedContinuation { continuation in
            SystemThread.detached {
                origin.wait(held: 1, of: path)
                continuation.resume()
            }
        }
    }
}
