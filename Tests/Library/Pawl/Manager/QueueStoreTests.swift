import Glibc
import Pawl
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue
import PawlTestKit
import Testing

/// The stored state of the queue, and when it is written.
@Suite struct QueueStoreTests {
    @Test func `D12 a queue in its own folder resumes after it was closed`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let payload = Payload(seed: 1, length: 400_000)
        var request = DownloadRequest(origin.serve("/f", payload) + "?signature=secret")
        request.options.folder = "a/b"
        request.options.headers = ["X-Note: one\\two", "Cookie: a=b"]
        request.options.taskDescription = "lesson 4\nand more"
        request.options.checksum = nil
        request.start = .paused
        request.group = "films"
        request.priority = 3
        let manager = try await DownloadManager(root: folder.path)
        let id = try await manager.add(request).id
        let second = await #expect(throws: PawlError.self) { try await DownloadManager(root: folder.path) }
        #expect(second?.code == .alreadyDownloading)
        await manager.shutDown()

        let again = try await DownloadManager(root: folder.path)
        #expect(try await again.ids(withPrefix: String(id.description.prefix(6))) == [id])
        let download = try #require(try await again.download(withID: id))
        let snapshot = download.snapshot
        #expect(snapshot.taskDescription == "lesson 4\nand more")
        #expect(snapshot.group == "films")
        #expect(snapshot.priority == 3)
        #expect(snapshot.folder == "a/b")
        #expect(!snapshot.source.contains("secret"))
        try await again.resume(id)
        #expect(try await download.file.path == folder.path("a/b/f"))
        let requested = try #require(origin.ended("/f").last).request
        #expect(requested.header("X-Note") == "one\\two")
        #expect(requested.target.contains("signature=secret"))
        await again.shutDown()
    }

    @Test func `D13 a folder outside the root is refused`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        for folder in ["/tmp", "..", "a/../../b"] {
            let request = bench.request("http://127.0.0.1:9/f") { $0.options.folder = folder }
            let error = await #expect(throws: PawlError.self) { try await manager.add(request) }
            #expect(error?.code == .badOption)
        }
        await manager.shutDown()
    }

    @Test func `D18 a kill between the rename and the record leaves one file, recognized as finished`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 2, length: 400_000)
        let url = bench.origin.serve("/f", payload)
        try FileSystem.write(payload.bytes, to: bench.root.path("f"))
        var record = QueueRecord(id: QueueID(rawValue: 77), sources: [url], addedAt: UnixTime(seconds: 1))
        record.name = "f"
        record.written = payload.length
        record.total = payload.length
        try bench.store.apply([.put(record), .value("publishing", String(77, radix: 16))])
        let manager = try await bench.open()
        let download = try #require(try await manager.download(withID: Download.ID(rawValue: 77)))
        #expect(try await download.file.path == bench.root.path("f"))
        #expect(bench.root.names == ["f"])
        #expect(bench.origin.log.of("/f").isEmpty, "nothing was fetched again")
        await manager.shutDown()
    }

    @Test func `a finished file keeps its record when a kill interrupts its renaming`() async throws {
        let bench = try ManagerBench()
        try FileSystem.write([1, 2, 3], to: bench.root.path("new name"))
        var record = QueueRecord(
            id: QueueID(rawValue: 77), sources: ["http://127.0.0.1:9/f"], addedAt: UnixTime(seconds: 1))
        (record.name, record.state, record.written, record.total) = ("f", .finished, 3, 3)
        let intent = "\(String(77, radix: 16)) new name"
        try bench.store.apply([.put(record), .value("renaming", intent)])
        let manager = try await bench.open()
        let download = try #require(try await manager.download(withID: Download.ID(rawValue: 77)))
        #expect(try await download.file.path == bench.root.path("new name"))
        #expect(bench.store.value("renaming") == nil)
        await manager.shutDown()
    }

    @Test func `D14 a removal that a kill interrupted is completed at the next start`() async throws {
        let bench = try ManagerBench()
        try FileSystem.write([1, 2, 3], to: bench.root.path("f"))
        var record = QueueRecord(id: QueueID(rawValue: 77), sources: ["http://h/f"], addedAt: UnixTime(seconds: 1))
        record.name = "f"
        record.state = .removed
        try bench.store.apply([.put(record), .value("removing", "000000000000004d fde\n")])
        let manager = try await bench.open()
        #expect(try await manager.downloads().isEmpty)
        #expect(bench.root.names.isEmpty)
        #expect(bench.store.all.isEmpty)
        await manager.shutDown()
    }

    /// The files that a kill leaves of a removed download whose name was not stored yet.
    enum Leftover: CaseIterable {
        case unmarkedJournal
        case partAlone
        case partAndJournal
        case journalAlone
        case journalOfFinished

        func make(in folder: String, source: String) throws -> (name: String?, removal: String) {
            let facts = JournalFacts(sources: [source], representation: Representation(total: 9), name: "f")
            let selection = Claim(folder: folder, name: "f", ifExists: .rename, facts: facts)
            let disk = Ports.system { _ in }.disk
            guard case .fresh(let partial) = try disk.claim(selection, adopts: { _ in false }) else {
                throw Failure(.fileExists, "cannot claim", at: folder, because: "something is there")
            }
            if self != .partAlone { try partial.beginJournal(facts, done: ByteRangeSet()) }
            switch self {
            case .unmarkedJournal:
                try FileSystem.write([], to: "\(folder)/f.pawl")
                return (nil, "ude")
            case .partAlone, .partAndJournal: return (nil, "ude")
            case .journalAlone:
                FileSystem.remove("\(folder)/f.part")
                return ("f", "ude")
            case .journalOfFinished:
                #expect(unsafe rename("\(folder)/f.part", "\(folder)/f") == 0)
                return ("f", "fde")
            }
        }
    }

    @Test(arguments: Leftover.allCases)
    func `D14 a removal that a kill interrupted leaves nothing, whatever the kill left`(
        _ leftover: Leftover
    ) async throws {
        let bench = try ManagerBench()
        let source = "http://h/f"
        let (name, removal) = try leftover.make(in: bench.root.path, source: source)
        #expect(!bench.root.names.isEmpty)
        var record = QueueRecord(id: QueueID(rawValue: 77), sources: [source], addedAt: UnixTime(seconds: 1))
        record.name = name
        record.state = .removed
        try bench.store.apply([.put(record), .value("removing", "000000000000004d \(removal)\n")])
        let manager = try await bench.open()
        #expect(bench.root.names.isEmpty)
        #expect(bench.store.all.isEmpty)
        await manager.shutDown()
    }

    @Test func `D18 nothing of a new download is on disk before the queue knows it`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 4, length: 400_000)
        let url = bench.origin.serve("/f", payload)
        let manager = try await bench.open()
        bench.store.fail(with: Failure(.diskFull, "cannot save to", at: "the queue", because: "no room"))
        let request = bench.request(url) { $0.options.fileName = "f" }
        let error = await #expect(throws: PawlError.self) { try await manager.add(request) }
        #expect(error?.code == .diskFull)
        // The engine executes commands in order: by now it would have created the part file.
        #expect(try await manager.data(from: url).count == Int(payload.length))
        #expect(bench.root.names.isEmpty)
        bench.store.fail(with: nil)
        #expect(try await manager.downloads().isEmpty, "what could not be stored was not added")
        let download = try await manager.add(request)
        _ = try await download.file
        #expect(bench.root.difference("f", from: payload) == nil)
        #expect(bench.origin.log.of("/f").count == 2)
        await manager.shutDown()
    }

    @Test func `a store that cannot be written reports it, and no call succeeds`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let events = manager.events
        bench.store.fail(with: Failure(.diskFull, "cannot save to", at: "the queue", because: "no room"))
        let request = bench.request("http://127.0.0.1:9/f") { $0.start = .paused }
        let error = await #expect(throws: PawlError.self) { try await manager.add(request) }
        #expect(error?.code == .diskFull)
        #expect(error?.remedy.hasPrefix("nothing was added") == true)
        var isTold = false
        for await event in events {
            if case .notice(let text) = event.kind, text.description.contains("no room") {
                isTold = true
                break
            }
        }
        #expect(isTold)
        let batch = await #expect(throws: PawlError.self) {
            try await manager.add([request, bench.request("http://127.0.0.1:9/g")])
        }
        #expect(batch?.code == .diskFull)
        bench.store.fail(with: nil)
        #expect(try await manager.downloads().isEmpty, "what was refused is not added later")
        #expect(bench.store.all.isEmpty)
        await manager.shutDown()
    }

    @Test func `an add that cannot be stored leaves the queue as it was, whatever it was to begin with`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open(bench.slots(1))
        let (url, payload) = bench.serveStalling("/f", seed: 6)
        let running = try await manager.add(bench.request(url))
        await bench.origin.holds("/f")
        bench.store.fail(with: Failure(.diskFull, "cannot save to", at: "the queue", because: "no room"))
        // With a name that is free again afterwards; ahead of the one that runs; and one that waits.
        for start in [DownloadRequest.Start.now, .enqueued, .paused] {
            let request = bench.request(bench.origin.serve("/\(start)", Payload(seed: 7, length: 1000))) {
                $0.start = start
            }
            let error = await #expect(throws: PawlError.self) { try await manager.add(request) }
            #expect(error?.code == .diskFull)
        }
        bench.store.fail(with: nil)
        #expect(try await manager.downloads().map(\.id) == [running.id])
        bench.origin.adjust("/f") { $0.cut = nil }
        bench.origin.release("/f")
        #expect(try await running.file.length == payload.length)
        for start in [DownloadRequest.Start.now, .enqueued, .paused] {
            #expect(bench.origin.log.of("/\(start)").isEmpty)
        }
        await manager.shutDown()
    }

    @Test func `a repeated command succeeds only when the first one is stored`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let waiting = try await manager.add(bench.request("http://127.0.0.1:9/f") { $0.start = .paused })
        let request = bench.request("http://127.0.0.1:9/g") { $0.start = .paused }
        bench.store.fail(with: Failure(.diskFull, "cannot save to", at: "the queue", because: "no room"))
        for _ in 0..<2 {
            let added = await #expect(throws: PawlError.self) { try await manager.add(request) }
            #expect(added?.code == .diskFull)
            let removed = await #expect(throws: PawlError.self) { try await manager.remove(waiting.id) }
            #expect(removed?.code == .diskFull)
            let paused = await #expect(throws: PawlError.self) { try await manager.pause(waiting.id) }
            #expect(paused?.code == .diskFull)
            let all = await #expect(throws: PawlError.self) { try await manager.pauseAll() }
            #expect(all?.code == .diskFull)
        }
        bench.store.fail(with: nil)
        _ = try await manager.add(request)
        #expect(try await manager.downloads().count == 1)
        await manager.shutDown()
    }

    @Test func `a store that cannot be written can be read, also after a change was refused`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await manager.add(bench.request("http://127.0.0.1:9/f") { $0.start = .paused })
        bench.store.fail(with: Failure(.diskFull, "cannot save to", at: "the queue", because: "no room"))
        let error = await #expect(throws: PawlError.self) { _ = try await manager.change(priority: 7, of: download.id) }
        #expect(error?.code == .diskFull)
        #expect(try await manager.downloads().map(\.id) == [download.id])
        #expect(try await manager.download(withID: download.id) === download)
        #expect(try await manager.snapshot(of: download.id)?.priority == 7)
        #expect(try await manager.details(of: [download.id]).count == 1)
        #expect(try await manager.counts().waiting == 1)
        #expect(try await manager.totals(matching: DownloadFilter([.paused])).count == 1)
        _ = try await manager.limits()
        await manager.shutDown()
    }

    @Test func `a download with options that only version 0.1.0 accepted still starts`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 5, length: 400_000)
        var record = QueueRecord(
            id: QueueID(rawValue: 77), sources: [bench.origin.serve("/f", payload)], addedAt: UnixTime(seconds: 1))
        record.options = "redirects -1\nrate -1\nheader X-Note : one\nheader  X-More: two\n"
        try bench.store.apply([.put(record)])
        let manager = try await bench.open()
        let download = try #require(try await manager.download(withID: Download.ID(rawValue: 77)))
        _ = try await download.file
        #expect(bench.root.difference("f", from: payload) == nil)
        let requested = try #require(bench.origin.ended("/f").last).request
        #expect(requested.header("X-Note") == "one" && requested.header("X-More") == "two")
        await manager.shutDown()
    }

    @Test func `after a restart an error still has its parts, and its cause can be translated`() async throws {
        let bench = try ManagerBench()
        let url = bench.origin.serve("/f", Payload(seed: 4, length: 1000)) { $0.instead = .status(404) }
        let first = try await bench.open()
        let download = try await first.add(bench.request(url))
        let error = try #require(await #expect(throws: PawlError.self) { _ = try await download.file })
        #expect(error.cause == .httpStatus(404) && !error.remedy.isEmpty)
        await first.shutDown()

        let second = try await bench.open()
        let stored = try #require(try await second.snapshot(of: download.id)?.error)
        #expect(stored.code == error.code && stored.description == error.description)
        #expect(stored.what == error.what && stored.place == error.place && stored.why == error.why)
        #expect(stored.remedy == error.remedy && stored.cause == error.cause)

        bench.origin.adjust("/f") { $0.instead = nil }
        try await second.resume(download.id)
        _ = try await second.download(withID: download.id)?.file
        #expect(try await second.snapshot(of: download.id)?.error == nil)
        await second.shutDown()
        #expect(!bench.store.all.contains { $0.options.contains("failure ") })
    }

    @Test(arguments: [
        "", #"failure {"code":3,"what":"a","place":"b","why":"c"}"#, "failure {",
        #"failure {"code":1,"what":"cannot fetch","place":"http://h/f","why":"gone"}"#,
    ]) func `an error without parts of its own is the whole sentence`(options: String) async throws {
        let bench = try ManagerBench()
        let sentence = "cannot fetch http://h/f: gone"
        var record = QueueRecord(id: QueueID(rawValue: 77), sources: ["http://h/f"], addedAt: UnixTime(seconds: 1))
        record.state = .failed
        record.errorCode = Int(Failure.Code.notFound.rawValue)
        record.error = sentence
        record.options = options
        try bench.store.apply([.put(record)])
        let manager = try await bench.open()
        let error = try #require(try await manager.snapshot(of: Download.ID(rawValue: 77))?.error)
        #expect(error.code == .notFound && error.description == sentence)
        #expect(error.what.isEmpty && error.cause == nil)
        await manager.shutDown()
    }

    @Test func `C3 a known download whose file is gone is fetched again`() async throws {
        let bench = try ManagerBench()
        let payload = Payload(seed: 3, length: 400_000)
        let url = bench.origin.serve("/f", payload)
        let manager = try await bench.open()
        let first = try await manager.add(bench.request(url))
        let path = try await first.file.path
        FileSystem.remove(path)
        let second = try await manager.add(bench.request(url))
        #expect(second.id == first.id)
        #expect(try await second.file.path == path)
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }
}
