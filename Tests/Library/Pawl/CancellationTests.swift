import Glibc
import Pawl
import PawlSystem
import PawlTestKit
import Testing

/// Cancelling the task that waits stops the transfer; a handle's wait is only a wait.
@Suite struct CancellationTests {
    private let payload = Payload(seed: 611, length: 3_000_000)

    /// Only the test ends a stall.
    private func options(in folder: TemporaryFolder) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder.path
        options.connections = 1
        options.timeout = .seconds(3600)
        return options
    }

    @Test func `content for memory is no longer transferred`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload) { $0.cut = .stall(after: 2_000_000) }
        let downloader = Downloader()
        let options = options(in: folder)
        let task = Task { try await downloader.data(from: url, options: options) }
        await origin.holds("/f")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(origin.waitUntilQuiet("/f"))
        #expect(origin.log.of("/f").map(\.end) == [.peerClosed])
        await downloader.shutDown()
    }

    @Test func `content for memory beside a queue is no longer transferred`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, _) = bench.serveStalling("/f", seed: 612)
        let options = options(in: bench.root)
        let task = Task { try await manager.data(from: url, options: options) }
        await bench.origin.holds("/f")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.origin.waitUntilQuiet("/f"))
        #expect(bench.origin.log.of("/f").map(\.end) == [.peerClosed])
        // A task that is cancelled already requests nothing.
        let late = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await manager.data(from: url, options: options)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(bench.origin.log.of("/f").count == 1)
        await manager.shutDown()
    }

    @Test func `a file keeps what was received, and the next call requests the rest`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        // More than the two sockets' buffers hold: when the origin has sent it, the client has read some of it.
        let payload = Payload(seed: 613, length: 48_000_000)
        let url = origin.serve("/f", payload) { $0.cut = .stall(after: 40_000_000) }
        let downloader = Downloader()
        let options = options(in: folder)
        let task = Task { try await downloader.download(url, to: "g.bin", options: options) }
        await origin.holds("/f")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(origin.waitUntilQuiet("/f"))
        #expect(folder.names == ["g.bin.part", "g.bin.pawl"])
        origin.adjust("/f") { $0.cut = nil }
        let file = try await downloader.download(url, to: "g.bin", options: options)
        #expect(file.path == "\(folder.path)/g.bin")
        #expect(folder.difference("g.bin", from: payload) == nil)
        let second = try #require(origin.log.of("/f").last)
        #expect(second.bodyStart > 0)
        await downloader.shutDown()
    }

    @Test func `a file that is replaced keeps its permissions`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let path = folder.path("f")
        var options = options(in: folder)
        options.existingFile = .overwrite
        let downloader = Downloader()
        for mode in [0o600, 0o640, 0o755] as [mode_t] {
            try FileSystem.write([1], to: path)
            unsafe chmod(path, mode)
            _ = try await downloader.download(url, options: options)
            var status = stat()
            unsafe stat(path, &status)
            #expect(status.st_mode & 0o777 == mode)
            #expect(folder.difference("f", from: payload) == nil)
        }
        await downloader.shutDown()
    }

    @Test(arguments: [("a/b.bin", "a/b.bin"), ("b.bin", "b.bin")]) func `a path names folder and file`(
        path: String, expected: String
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let downloader = Downloader()
        let relative = try await downloader.download(url, to: path, options: options(in: folder))
        #expect(relative.path == "\(folder.path)/\(expected)")
        let absolute = try await downloader.download(url, to: "\(folder.path)/absolute/\(path)")
        #expect(absolute.path == "\(folder.path)/absolute/\(expected)")
        let error = await #expect(throws: PawlError.self) { try await downloader.download(url, to: "\(folder.path)/") }
        #expect(error?.code == .badOption)
        await downloader.shutDown()
    }

    /// A running download of `/f` that has received a part and stalls.
    private struct Stalled {
        let origin: OriginServer
        let folder: TemporaryFolder
        let downloader = Downloader()
        let download: Download

        init(_ payload: Payload, _ options: (TemporaryFolder) -> DownloadOptions) async throws {
            origin = try OriginServer()
            folder = try TemporaryFolder()
            let url = origin.serve("/f", payload) { $0.cut = .stall(after: 2_000_000) }
            download = try downloader.add(url, options: options(folder))
            download.resume()
            await origin.holds("/f")
        }
    }

    @Test func `the wait of a handle ends alone`() async throws {
        let stalled = try await Stalled(payload) { options(in: $0) }
        defer { stalled.origin.stop() }
        let download = stalled.download
        let task = Task { try await download.file }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        stalled.origin.release("/f")
        #expect(try await download.file.length == payload.length)
        await stalled.downloader.shutDown()
    }

    @Test func `a download that somebody removes is no cancelled task`() async throws {
        let stalled = try await Stalled(payload) { options(in: $0) }
        defer { stalled.origin.stop() }
        let download = stalled.download
        let task = Task { try await download.file }
        try await download.remove()
        let error = await #expect(throws: PawlError.self) { try await task.value }
        #expect(error?.code == .unfinished)
        await stalled.downloader.shutDown()
    }
}

extension OriginServer {
    /// Waits on a thread of its own until an exchange of `path` is held: the tasks to wait for need the others.
    func holds(_ path: String) async {
        let isHeld = await withCheckedContinuation { continuation in
            SystemThread.detached { continuation.resume(returning: self.wait(held: 1, of: path)) }
        }
        #expect(isHeld, "no response for \(path) is held")
    }
}
