import Pawl
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// The receivers of events, and their order.
@Suite struct EventTests {
    private let payload = Payload(seed: 990, length: 3_000_000)

    private final class Notes: DownloadDelegate {
        private let lines = Monitor<[String]>([])
        let moved: String?

        init(moving folder: String? = nil) { moved = folder }

        var all: [String] { lines.read { $0 } }
        func untilComplete(_ count: Int = 1) {
            let isComplete = lines.wait { $0.count { $0.hasPrefix("complete") } >= count ? true : nil }
            #expect(isComplete == true, "\(all)")
        }

        func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?) {
            lines.with { $0.append("write") }
        }

        func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?) {
            if let moved { try? FileSystem.move(location, to: moved) }
            let cookies = response?.value(of: "set-cookie") ?? "nil"
            let shown = response?.fields.filter { $0.name == "Set-Cookie" }.map(\.description) ?? []
            lines.with { $0.append("finish \(response?.status ?? 0) \(cookies) \(Set(shown))") }
        }

        func download(_ id: Download.ID, didComplete error: PawlError?) {
            lines.with { $0.append("complete \(error?.code.rawValue ?? 0)") }
        }
    }

    @Test func `B3 the delegate receives didWrite, didFinish with the headers, didComplete, and may move the file`()
        async throws
    {
        let bench = try ManagerBench()
        let delegate = Notes(moving: bench.root.path("moved"))
        let manager = try await bench.open(delegate: delegate)
        let url = bench.origin.serve("/f", payload) {
            $0.add(header: "Set-Cookie: id=1")
            $0.add(header: "Set-Cookie: id=2")
        }
        let id = try await manager.add(bench.request(url)).id
        delegate.untilComplete()
        let lines = delegate.all
        #expect(Set(lines.dropLast(2)) == ["write"], "\(lines)")
        #expect(Array(lines.suffix(2)) == [#"finish 200 id=1, id=2 ["Set-Cookie: …"]"#, "complete 0"], "\(lines)")
        #expect(bench.root.names == ["moved"])
        #expect(try await manager.location(of: id) == .missing(path: bench.root.path("f")))
        await manager.shutDown()
    }

    @Test func `B3 a failure is reported by didComplete alone`() async throws {
        let bench = try ManagerBench()
        let delegate = Notes()
        let manager = try await bench.open(delegate: delegate)
        let download = try await manager.add(bench.request(bench.origin.url("/missing")))
        delegate.untilComplete()
        #expect(delegate.all == ["complete 3"])
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .notFound)
        #expect(download.snapshot.toggle == .download)
        await manager.shutDown()
    }

    @Test func `B2 a closure wins over the delegate`() async throws {
        let bench = try ManagerBench()
        let delegate = Notes()
        let manager = try await bench.open(delegate: delegate)
        let heard = Monitor<[String]>([])
        let first = try await manager.add(bench.request(bench.origin.serve("/f", payload))) { result in
            heard.with { $0.append((try? result.get().path) ?? "failed") }
        }
        _ = try await first.file
        _ = try await manager.add(bench.request(bench.origin.serve("/g", payload))).file
        delegate.untilComplete()
        #expect(heard.wait { $0.isEmpty ? nil : $0 } == [bench.root.path("f")])
        #expect(delegate.all.count { $0.hasPrefix("finish") } == 1)
        #expect(delegate.all.last == "complete 0")
        await manager.shutDown()
    }

    @Test func `a closure is called at the end of a removed download`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let heard = Monitor<[String]>([])
        var request = bench.request(bench.origin.url("/f"))
        request.start = .paused
        let download = try await manager.add(request) { result in
            guard case .failure(let error) = result else { return heard.with { $0.append("finished") } }
            heard.with { $0.append(error.description) }
        }
        try await manager.remove(download.id)
        await manager.shutDown()
        let words = try #require(heard.wait { $0.first })
        #expect(words.contains("/f") && words.contains("it was removed"), "\(words)")
        #expect(heard.read { $0 }.count == 1)
    }

    @Test func `D17 every change of state is an event, in order`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let events = manager.events
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        _ = try await download.file
        try await manager.rename(download.id, to: "g")
        try await manager.remove(download.id)
        await manager.shutDown()
        var heard: [String] = []
        for await event in events {
            #expect(event.id == download.id)
            switch event.kind {
            case .state(let state): heard.append(state.rawValue)
            case .added: heard.append("+")
            case .changed: heard.append("changed")
            case .started(let name, let total, let resumedAt):
                heard.append("started \(name) \(total ?? -1) \(resumedAt)")
            case .finished(let file): heard.append("file \(file.length)")
            case .notice, .retry, .failed, .queueChanged, .missed: heard.append("?")
            }
        }
        #expect(
            heard == [
                "+", "probing", "started f 3000000 0", "transferring", "publishing", "finished", "file 3000000",
                "changed", "removed",
            ])
    }

    @Test(arguments: [false, true]) func `that a damaged queue was replaced is told to the first who listens`(
        isTaken: Bool
    ) async throws {
        let root = try TemporaryFolder()
        await (try await DownloadManager(root: root.path)).shutDown()
        try FileSystem.write([UInt8](repeating: 7, count: 5000), to: root.path(".pawl/queue.db"))
        let manager = try await DownloadManager(root: root.path)
        let taken = isTaken ? try await manager.takeNotices() : []
        let (events, later) = (manager.events, manager.events)
        await manager.shutDown()
        var heard: [String] = []
        for await event in events { if case .notice(let notice) = event.kind { heard.append(notice.description) } }
        #expect((taken + heard).count { $0.contains("was damaged") } == 1 && heard.isEmpty == isTaken)
        for await event in later { Issue.record("\(event) was told twice") }
    }

    @Test func `a record that is deleted is told`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var ids: [Download.ID] = []
        for name in ["/f", "/g"] {
            let download = try await manager.add(bench.request(bench.origin.serve(name, payload)))
            _ = try await download.file
            ids.append(download.id)
        }
        let events = manager.events
        try await manager.forget(ids[0])
        try await manager.forgetAll()
        await manager.shutDown()
        var heard: [Download.ID] = []
        for await event in events { if case .changed = event.kind { heard.append(event.id) } }
        #expect(heard == ids)
    }

    /// Each command twice: the second changes nothing.
    @Test func `what belongs to no download is told when it changes`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let events = manager.events
        let rule = try FolderRule("name:*.iso", folder: "images")
        let commands: [QueueCommand] = [
            .slots(5), .totalLimit(400_000), .pauseGroup("g"), .resumeGroup("g"), .timetable("else pause"),
            .timetable(nil),
            .rules([rule]),
        ]
        for command in commands { for _ in 0..<2 { try await manager.perform(command) } }
        await manager.shutDown()
        var heard = 0
        for await event in events {
            guard case .queueChanged = event.kind else { continue }
            #expect(event.id == .ofQueue)
            heard += 1
        }
        #expect(heard == commands.count)
    }

    @Test func `a slow listener is notified of the number of events it missed`() async throws {
        let bench = try ManagerBench()
        var configuration = DownloadManager.Configuration()
        configuration.eventBuffer = 4
        let manager = try await bench.open(configuration)
        let events = manager.events
        let requests = (0..<10).map { number in bench.request("http://127.0.0.1:9/\(number)") { $0.start = .paused } }
        _ = try await manager.add(requests)
        var iterator = events.makeAsyncIterator()
        var heard = 0
        for _ in 0..<4 { if case .added = try #require(await iterator.next()).kind { heard += 1 } }
        #expect(heard == 4)
        guard case .missed(let count) = try #require(await iterator.next()).kind else {
            Issue.record("lost events were not reported")
            return
        }
        #expect(count == 6)
        await manager.shutDown()
        #expect(await iterator.next() == nil)
    }

    @Test func `updates give the latest value and end with the download`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(from: 2_000_000) }
        let download = try await manager.add(bench.request(url))
        var written: [Int64] = []
        for await snapshot in download.updates {
            written.append(snapshot.written)
            if snapshot.written == 2_000_000 { bench.origin.release("/f") }
        }
        #expect(written == written.sorted())
        #expect(written.last == payload.length)
        #expect(download.snapshot.state == .finished)
        await manager.shutDown()
    }

    @Test func `a wait that is cancelled ends`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let download = try await manager.add(bench.request("http://127.0.0.1:9/f") { $0.start = .paused })
        let wait = Task { try await download.file }
        let listening = Task {
            for await _ in download.updates {}
            return true
        }
        wait.cancel()
        listening.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        #expect(await listening.value)
        await manager.shutDown()
    }

    @Test func `B7 one button starts, pauses, resumes and is done`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/f", payload) { $0.cut = .stall(from: 2_000_000) }
        let download = try await manager.add(bench.request(url) { $0.start = .paused })
        #expect(download.snapshot.toggle == .download)
        download.toggle()
        await download.reaches(bytes: 2_000_000)
        #expect(download.snapshot.toggle == .pause)
        download.toggle()
        await download.reaches(.paused)
        #expect(download.snapshot.toggle == .continue)
        bench.origin.adjust("/f") { $0.cut = nil }
        download.toggle()
        _ = try await download.file
        #expect(download.snapshot.toggle == .done)
        #expect(!download.snapshot.toggle.isEnabled)
        await manager.shutDown()
    }

    @Test func `B1 content is loaded into memory beside the queue`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let url = bench.origin.serve("/small", payload)
        #expect(try await manager.data(from: url) == payload.bytes)
        let error = await #expect(throws: PawlError.self) { try await manager.data(from: url, maximumSize: 1000) }
        #expect(error?.code == .tooLarge)
        #expect(try await manager.downloads().isEmpty)
        #expect(bench.store.all.isEmpty)
        await manager.shutDown()
    }
}
