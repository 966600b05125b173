import Pawl
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// No wait outlasts the downloader or the manager that could end it.
@Suite struct OwnerEndTests {
    private let payload = Payload(seed: 621, length: 3_000_000)

    private func stalling(
        _ downloader: Downloader, _ origin: OriginServer, _ folder: TemporaryFolder
    ) throws -> Download {
        var options = DownloadOptions()
        options.folder = folder.path
        options.connections = 1
        options.timeout = .seconds(3600)
        let url = origin.serve("/f", payload) { $0.cut = .stall(after: 2_000_000) }
        return try downloader.add(url, options: options)
    }

    private func last(of download: Download) async -> DownloadSnapshot? {
        var last: DownloadSnapshot?
        for await snapshot in download.updates { last = snapshot }
        return last
    }

    @Test func `waits end when a downloader is released`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        func make() throws -> Download {
            let download = try stalling(Downloader(), origin, folder)
            download.resume()
            return download
        }
        let download = try make()
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .unfinished)
        #expect(await last(of: download)?.state != .finished)
    }

    @Test func `waits end when a downloader is shut down`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let downloader = Downloader()
        let download = try stalling(downloader, origin, folder)
        let waiting = try downloader.add("\(origin.serve("/g", payload))")
        download.resume()
        await origin.holds("/f")
        let updates = Task { await last(of: download) }
        let file = Task { try await download.file }
        let data = Task { try await downloader.data(from: origin.serve("/h", payload) { $0.cut = .stall(after: 1) }) }
        await origin.holds("/h")
        await downloader.shutDown()
        #expect(await updates.value?.state == .paused)
        for wait in [file, Task { try await waiting.file }] {
            let error = await #expect(throws: PawlError.self) { try await wait.value }
            #expect(error?.code == .unfinished)
        }
        await #expect(throws: PawlError.self) { try await data.value }
        // The bytes are there for the next one.
        #expect(folder.names == ["f.part", "f.pawl"])
    }

    @Test(arguments: [false, true]) func `waits end when a download is removed, which runs no more`(
        hasRun: Bool
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let events = Monitor<[DownloadState]>([])
        let downloader = Downloader { event in
            if case .state(let state) = event.kind { events.with { $0.append(state) } }
        }
        let download = try stalling(downloader, origin, folder)
        if hasRun {
            download.resume()
            await origin.holds("/f")
        }
        let file = Task { try await download.file }
        let updates = Task { await last(of: download) }
        try await download.remove()
        let error = await #expect(throws: PawlError.self) { try await file.value }
        #expect(error?.code == .unfinished)
        #expect(await updates.value?.state == .removed)
        #expect(events.read { $0.filter { $0 == .removed }.count } == 1)
        let requests = origin.log.of("/f").count
        download.resume()
        try await download.remove()
        #expect(download.snapshot.state == .removed)
        // What was added later has run to its end.
        let other = origin.serve("/g", payload)
        _ = try await downloader.download(other, to: folder.path("g"))
        #expect(origin.log.of("/f").count == requests)
        #expect(folder.names == ["g"])
        #expect(events.read { $0.filter { $0 == .removed }.count } == 1)
        await downloader.shutDown()
    }

    @Test func `nothing is added to a downloader that was shut down`() async throws {
        let downloader = Downloader()
        await downloader.shutDown()
        let error = #expect(throws: PawlError.self) { try downloader.add("http://127.0.0.1/f") }
        #expect(error?.code == .unfinished)
        await #expect(throws: PawlError.self) { try await downloader.data(from: "http://127.0.0.1/f") }
    }

    @Test func `waits end when a manager is shut down or released`() async throws {
        for isShutDown in [true, false] {
            let bench = try ManagerBench()
            let (url, _) = bench.serveStalling("/f", seed: 622)
            let download: Download
            do {
                let manager = try await bench.open()
                download = try await manager.add(bench.request(url))
                await download.reaches(bytes: 1)
                if isShutDown { await manager.shutDown() }
            }
            let error = await #expect(throws: PawlError.self) { try await download.file }
            #expect(error?.code == .unfinished)
            _ = await last(of: download)
        }
    }

    @Test func `a root is opened again right after its manager was released`() async throws {
        let bench = try ManagerBench()
        let (url, payload) = bench.serveStalling("/f", seed: 622)
        func begin() async throws {
            let manager = try await DownloadManager(root: bench.root.path)
            _ = try await manager.add(url)
        }
        for _ in 0..<3 { try await begin() }
        let manager = try await DownloadManager(root: bench.root.path)
        // While it lives, no other one opens it, and those that could not are not waited for.
        for _ in 0..<2 {
            let other = await #expect(throws: PawlError.self) { _ = try await DownloadManager(root: bench.root.path) }
            #expect(other?.code == .alreadyDownloading)
        }
        bench.origin.adjust("/f") { $0.cut = nil }
        let known = try #require(try await manager.download(ofURL: url))
        #expect(try await known.file.length == payload.length)
        await manager.shutDown()
    }

    @Test func `what is asked for while a shutdown reports its end is refused`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (body, other) = (try manager.body(of: "http://127.0.0.1:9/f"), try manager.body(of: "http://127.0.0.1:9/g"))
        let iterator = Monitor<DownloadBody.Iterator?>(nil)
        let download = try await manager.add(bench.request("http://127.0.0.1:9/h") { $0.start = .paused })
        await withCheckedContinuation { continuation in
            manager.queue.shutDown {
                // On the queue's thread, which has not ended.
                iterator.with { $0 = body.makeAsyncIterator() }
                download.resume()
                manager.queue.shutDown { continuation.resume() }
            }
        }
        var first = try #require(iterator.with { $0.take() })
        for next in [
            { try await first.next() },
            {
                for try await chunk in other { return chunk }
                return nil
            },
        ] {
            let error = await #expect(throws: PawlError.self) { _ = try await next() }
            #expect(error?.code == .unfinished)
        }
    }

    @Test func `every call of shutDown returns, also while another one ends the manager`() async throws {
        let bench = try ManagerBench()
        for _ in 0..<50 {
            let manager = try await DownloadManager(root: bench.root.path)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        await manager.shutDown()
                        await manager.shutDown()
                    }
                }
            }
        }
    }
}
