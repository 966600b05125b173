import Glibc
import Pawl
import PawlQueue
import PawlTestKit
import Testing

/// The queue as a program sees it.
@Suite struct ManagerTests {
    private let payload = Payload(seed: 901, length: 3_000_000)

    @Test func `D12 a download runs to its file and its record shows it`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/film.bin", payload)
        let download = try await manager.add(bench.request(url))
        let file = try await download.file
        #expect(file.path == bench.root.path("film.bin"))
        #expect(bench.root.difference("film.bin", from: payload) == nil)
        let snapshot = try #require(try await manager.snapshot(of: download.id))
        #expect(snapshot.state == .finished)
        #expect(snapshot.written == payload.length)
        #expect(snapshot.total == payload.length)
        #expect(snapshot.name == "film.bin")
        #expect(snapshot.endedAt != nil)
        #expect(try await manager.location(of: download.id) == .finished(path: file.path))
        await manager.shutDown()
    }

    @Test func `D16 a query has four results`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/f", payload)
        #expect(try await manager.location(of: Download.ID(rawValue: 7)) == .unknown)
        #expect(try await manager.location(ofURL: url) == .unknown)
        let download = try await manager.add(bench.request(url) { $0.start = .paused })
        #expect(try await manager.location(of: download.id) == .unfinished)
        #expect(try await manager.location(ofURL: url) == .unfinished)
        try await manager.resume(download.id)
        let path = try await download.file.path
        #expect(try await manager.location(of: download.id) == .finished(path: path))
        #expect(try await manager.location(ofURL: url) == .finished(path: path))
        FileSystem.remove(path)
        #expect(try await manager.location(of: download.id) == .missing(path: path))
        // A folder of that name is not the file.
        unsafe mkdir(path, 0o777)
        #expect(try await manager.location(of: download.id) == .missing(path: path))
        await manager.shutDown()
    }

    @Test func `D11 a known URL continues as the same download, and another scheme is refused`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 902)
        let first = try await manager.add(bench.request(url) { $0.start = .paused })
        let second = try await manager.add(bench.request(url))
        #expect(first.id == second.id)
        #expect(first === second)
        await first.reaches(bytes: 1)
        bench.origin.release("/f")
        _ = try await second.file
        #expect(bench.root.names == ["f"])
        #expect(bench.root.difference("f", from: payload) == nil)
        let requests = bench.origin.ended("/f").count
        _ = try await manager.add(bench.request(url)).file
        #expect(bench.origin.ended("/f").count == requests, "what is there is not fetched again")
        #expect(try await manager.downloads().count == 1)
        for bad in ["gopher://h/f", "file:///etc/passwd", "nonsense"] {
            let error = await #expect(throws: PawlError.self) { try await manager.add(bad) }
            #expect(error?.code == .badOption)
        }
        let results = try await manager.add([
            bench.request(url), bench.request("gopher://h/"),
            bench.request("http://127.0.0.1:9/x") { $0.start = .paused },
        ])
        #expect(results.count == 3)
        #expect(try results[0].get() == first.id)
        #expect(throws: PawlError.self) { try results[1].get() }
        #expect(try results[2].get() != first.id)
        await manager.shutDown()
    }

    @Test func `D7 D8 D9 D10 slots, forced start, preemption and pause`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(1))
        var downloads: [Download] = []
        for index in 0..<3 {
            let payload = Payload(seed: UInt64(910 + index), length: 3_000_000)
            // Every response stalls, also that to a download that resumes.
            let url = bench.origin.serve("/f\(index)", payload) { $0.cut = .stall(after: 500_000) }
            downloads.append(try await manager.add(bench.request(url)))
        }
        await downloads[0].reaches(.transferring)
        #expect(downloads[1].snapshot.state == .waiting)
        #expect(try await manager.start(now: downloads[2].id))
        await downloads[0].reaches(.preempted)
        await downloads[2].reaches(.transferring)
        #expect(try await manager.pause(downloads[2].id))
        await downloads[2].reaches(.paused)
        await downloads[0].reaches(.transferring)
        #expect(downloads[1].snapshot.state == .waiting)
        for index in 0..<3 { bench.origin.adjust("/f\(index)") { $0.cut = nil } }
        bench.origin.release("/f0")
        _ = try await downloads[0].file
        _ = try await downloads[1].file
        #expect(downloads[2].snapshot.state == .paused)
        #expect(try await manager.resume(downloads[2].id))
        _ = try await downloads[2].file
        await manager.shutDown()
    }

    @Test func `D14 remove deletes all files of an unfinished and a finished one`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, _) = bench.serveStalling("/f", seed: 920)
        let running = try await manager.add(bench.request(url))
        await running.reaches(bytes: 2_000_000)
        #expect(bench.root.names.contains("f.part"))
        #expect(try await manager.remove(running.id))
        #expect(bench.root.names.isEmpty)
        #expect(try await manager.remove(running.id) == false)
        #expect(try await manager.location(of: running.id) == .unknown)
        #expect(running.snapshot.state == .removed)
        let error = await #expect(throws: PawlError.self) { try await running.file }
        #expect(error?.code == .unfinished)

        let done = try await manager.add(bench.request(bench.origin.serve("/g", payload)))
        _ = try await done.file
        try await manager.remove(done.id, keepingFile: true)
        #expect(bench.root.names == ["g"])
        #expect(bench.store.all.isEmpty)
        await manager.shutDown()
    }

    @Test func `D15 rename in the queue and on disk`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 930)
        let download = try await manager.add(bench.request(url))
        await download.reaches(bytes: 2_000_000)
        #expect(try await manager.rename(download.id, to: "early.bin"))
        #expect(download.snapshot.name == "f" || download.snapshot.name == "early.bin")
        bench.origin.release("/f")
        #expect(try await download.file.path == bench.root.path("early.bin"))
        #expect(bench.root.difference("early.bin", from: payload) == nil)
        #expect(try await manager.rename(download.id, to: "late.bin"))
        #expect(bench.root.names == ["late.bin"])
        let unnamed = await #expect(throws: PawlError.self) { try await manager.rename(download.id, to: "") }
        #expect(unnamed?.code == .badOption)
        #expect(unnamed?.description.hasSuffix("'': must be one path component of 1 to 255 bytes") == true)
        #expect(bench.root.names == ["late.bin"])
        #expect(try await manager.rename(Download.ID(rawValue: 5), to: "x") == false)
        await #expect(throws: PawlError.self) { try await manager.rename(download.id, to: "a/b") }
        await manager.shutDown()
    }

    @Test func `C5 D13 the queue resumes after a restart, also in a root that has moved`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(1))
        let (first, payload) = bench.serveStalling("/f", seed: 940)
        let second = bench.origin.serve("/g", Payload(seed: 941, length: 100_000))
        let running = try await manager.add(bench.request(first) { $0.options.folder = "films" })
        let waiting = try await manager.add(bench.request(second))
        let paused = try await manager.add(bench.request(second + "2") { $0.start = .paused })
        await running.reaches(bytes: 2_000_000)
        await manager.shutDown()
        #expect(bench.store.all.allSatisfy { !$0.folder.contains(bench.root.path) })
        let moved = try TemporaryFolder()
        try FileSystem.move(bench.root.path("films"), to: moved.path("films"))
        bench.origin.adjust("/f") { $0.cut = nil }
        let again = try await bench.open(bench.slots(1), root: moved.path)
        let known = try #require(try await again.download(withID: running.id))
        #expect(try await known.file.path == moved.path("films/f"))
        #expect(FileSystem.difference(of: moved.path("films/f"), from: payload) == nil)
        #expect(bench.origin.ended("/f").last?.bodyStart ?? 0 > 0, "it was continued")
        _ = try await #require(try await again.download(withID: waiting.id)).file
        #expect(try await again.snapshot(of: paused.id)?.state == .paused)
        await again.shutDown()
    }

    @Test func `waiting downloads are restored as paused if the queue must not resume automatically`() async throws {
        let bench = try ManagerBench()
        let url = bench.origin.serve("/f", payload)
        var configuration = bench.slots(1)
        let (stalling, _) = bench.serveStalling("/s", seed: 950)
        let manager = try await bench.open(configuration)
        _ = try await manager.add(bench.request(stalling))
        let download = try await manager.add(bench.request(url))
        await manager.shutDown()
        configuration.resumesAtStart = false
        let again = try await bench.open(configuration)
        #expect(try await again.snapshot(of: download.id)?.state == .paused)
        #expect(try await again.downloads(matching: DownloadFilter([.paused])).count == 2)
        #expect(bench.origin.log.of("/f").isEmpty)
        #expect(try await again.resume(download.id))
        _ = try await #require(try await again.download(withID: download.id)).file
        await again.shutDown()
        await #expect(throws: PawlError.self) { try await again.downloads() }
    }

    @Test func `A8 another URL of the same content continues the same file`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let payload = Payload(seed: 960, length: 3_000_000)
        let old = bench.origin.serve("/old", payload) { $0.cut = .stall(from: 2_000_000) }
        let new = bench.origin.serve("/new", payload)
        let download = try await manager.add(bench.request(old))
        await download.reaches(bytes: 2_000_000)
        #expect(try await manager.replaceURL(of: download.id, with: new))
        #expect(try await download.file.path == bench.root.path("old"))
        #expect(bench.root.difference("old", from: payload) == nil)
        #expect(bench.origin.ended("/new").last?.bodyStart ?? 0 > 1_000_000, "only the rest was fetched")
        await manager.shutDown()
    }

    @Test func `groups pause and resume together, and have a common progress`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var downloads: [Download] = []
        for index in 0..<2 {
            let (url, _) = bench.serveStalling("/g\(index)", seed: UInt64(970 + index))
            downloads.append(try await manager.add(bench.request(url) { $0.group = "films" }))
        }
        for download in downloads { await download.reaches(bytes: 2_000_000) }
        try await manager.pause(group: "films")
        for download in downloads { await download.reaches(.waiting) }
        let totals = try await manager.totals(matching: DownloadFilter(group: "films"))
        #expect(totals.count == 2)
        #expect(totals.written >= 4_000_000)
        #expect(totals.total == 6_000_000)
        for index in 0..<2 { bench.origin.adjust("/g\(index)") { $0.cut = nil } }
        try await manager.resume(group: "films")
        for download in downloads { _ = try await download.file }
        #expect(try await manager.totals(matching: DownloadFilter(group: "films")).percent == 100)
        await manager.shutDown()
    }

    @Test func `D7 downloads that were all paused at once resume in the order in which they ran and waited`()
        async throws
    {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(2))
        var downloads: [Download] = []
        for index in 0..<5 {
            let (url, _) = bench.serveStalling("/a\(index)", seed: UInt64(981 + index))
            downloads.append(try await manager.add(bench.request(url)))
        }
        for download in downloads[..<2] { await download.reaches(bytes: 2_000_000) }
        try await manager.pauseAll()
        for download in downloads { await download.reaches(.paused) }
        #expect(bench.origin.log.records.allSatisfy { ["/a0", "/a1"].contains($0.request.path) })
        try await manager.resumeAll()
        for download in downloads[..<2] { await download.reaches(.transferring) }
        for download in downloads[2...] { await download.reaches(.waiting) }
        #expect(try await manager.downloads().map(\.id) == downloads.map(\.id))
        await manager.shutDown()
    }

    @Test func `a download changes its group, and pauses in a paused one`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/g", seed: 977)
        let download = try await manager.add(bench.request(url) { $0.group = "films" })
        await download.reaches(bytes: 2_000_000)
        try await manager.pause(group: "later")
        #expect(try await manager.isPaused(group: "later"))
        #expect(try await manager.isPaused(group: "films") == false)
        let groups = try await manager.groups()
        #expect(groups.map(\.name) == ["films", "later"])
        #expect(groups.map(\.isPaused) == [false, true])
        #expect(groups.map(\.count) == [1, 0])
        #expect(try await manager.change(group: "later", of: download.id))
        await download.reaches(.waiting)
        #expect(try await manager.groups().map(\.count) == [1])
        bench.origin.adjust("/g") { $0.cut = nil }
        #expect(try await manager.change(group: nil, of: download.id))
        _ = try await download.file
        #expect(bench.root.difference("g", from: payload) == nil)
        #expect(try await manager.change(group: nil, of: Download.ID(rawValue: 1)) == false)
        await manager.shutDown()
    }

    @Test(arguments: ["", "a\0b"]) func `a root that is no path is refused`(root: String) async throws {
        let error = await #expect(throws: PawlError.self) { _ = try await DownloadManager(root: root) }
        #expect(error?.code == .badOption)
    }
}
