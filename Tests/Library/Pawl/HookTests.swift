import Pawl
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// The decisions of a program, over real connections.
@Suite struct HookTests {
    private let payload = Payload(seed: 701, length: 300_000)

    /// What hooks saw, and a call that never returns.
    private final class Notes: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }

        /// Returns only when its task is cancelled.
        func hang() async {
            add("hangs")
            for await _ in AsyncStream<Void>(Void.self, { _ in }) {}
            add("cancelled")
        }
    }

    private struct NoToken: Error {}

    private func options(_ folder: TemporaryFolder) -> DownloadOptions {
        var options = DownloadOptions()
        options.folder = folder.path
        options.connections = 1
        options.timeout = .seconds(3600)
        options.retryDelay = .milliseconds(10)
        return options
    }

    private func downloader(_ set: (inout DownloadHooks) -> Void) -> Downloader {
        var configuration = Downloader.Configuration()
        set(&configuration.hooks)
        return Downloader(configuration)
    }

    @Test func `an adapted request has its fields and query, also after a redirect, and keeps its file's name`()
        async throws
    {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = origin.serve("/f.bin", payload)
        let url = origin.redirect("/old", to: "/f.bin")
        let notes = Notes()
        let downloader = downloader {
            $0.adaptRequest = { request in
                notes.add("\(request.redirects) \(request.range ?? "whole")")
                var request = request
                request.url += "?signed=\(request.redirects)"
                request.set("Authorization", to: "Bearer \(request.redirects)")
                request.set("User-Agent", to: "mine")
                return request
            }
        }
        let file = try await downloader.download(url, options: options(folder))
        #expect(file.path == folder.path("f.bin"))
        #expect(folder.difference("f.bin", from: payload) == nil)
        #expect(notes.all == ["0 whole", "1 whole"])
        let sent = ["/old", "/f.bin"].flatMap { origin.log.of($0) }.map(\.request)
        #expect(sent.map(\.target) == ["/old?signed=0", "/f.bin?signed=1"])
        #expect(sent.map { $0.header("authorization") } == ["Bearer 0", "Bearer 1"])
        #expect(sent.map { $0.headers.count { $0.name.lowercased() == "user-agent" } } == [1, 1])
        #expect(sent.map { $0.header("user-agent") } == ["mine", "mine"])
        await downloader.shutDown()
    }

    @Test func `a request that the program cannot make is a final failure with the program's error`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let downloader = downloader { $0.adaptRequest = { _ in throw NoToken() } }
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options(folder))
        }
        #expect(error?.code == .rejected && error?.underlying is NoToken)
        #expect(origin.log.of("/f").isEmpty && folder.names.isEmpty)
        await downloader.shutDown()
    }

    @Test(arguments: ["Range", "host", "Accept-Encoding", "Bad Name", "A\r\nB", "Content-Length"])
    func `fields that would change what a response means are refused`(name: String) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        let downloader = downloader {
            $0.adaptRequest = { request in
                var request = request
                request.set(name, to: "x")
                return request
            }
        }
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options(folder))
        }
        #expect(error?.code == .rejected)
        #expect(origin.log.of("/f").isEmpty)
        await downloader.shutDown()
    }

    @Test(arguments: [Behaviour.Login.basic(user: "u", password: "p"), .digest(user: "u", password: "p")])
    func `a login that the program gives after a 401 is used for the rest of the download`(
        login: Behaviour.Login
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload) { $0.login = login }
        let notes = Notes()
        let downloader = downloader {
            $0.authenticate = { challenge in
                notes.add("\(challenge.previousFailures) \(challenge.realm ?? "") \(challenge.host)")
                return .credentials(user: "u", password: challenge.previousFailures == 0 ? "wrong" : "p")
            }
        }
        var options = options(folder)
        options.connections = nil
        _ = try await downloader.download(url, options: options)
        #expect(folder.difference("f", from: payload) == nil)
        #expect(notes.all.prefix(2) == ["0 the ratchet 127.0.0.1", "1 the ratchet 127.0.0.1"])
        await downloader.shutDown()
    }

    @Test func `a token replaces the refused field of the options, and a cancel is a failure with its status`()
        async throws
    {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        origin.vary("/f") { facts, behaviour in
            if facts.request.header("Authorization") != "Bearer new" { behaviour.instead = .status(401) }
        }
        var options = options(folder)
        options.headers = ["Authorization: Bearer old"]
        var hooks = DownloadHooks()
        hooks.authenticate = { _ in .authorization("Bearer new") }
        let downloader = Downloader()
        _ = try await downloader.download(url, to: "a", options: options, hooks: hooks)
        #expect(folder.difference("a", from: payload) == nil)
        let fields = origin.log.of("/f").map { $0.request.headers.filter { $0.name == "Authorization" }.map(\.value) }
        #expect(fields == [["Bearer old"], ["Bearer new"]])
        hooks.authenticate = { _ in .cancel }
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, to: "b", options: options, hooks: hooks)
        }
        #expect(error?.code == .authorization && error?.status == 401)
        await downloader.shutDown()
    }

    @Test func `a redirect is stopped, or leads elsewhere`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = origin.serve("/f", payload)
        let target = origin.serve("/g", Payload(seed: 702, length: 5))
        let url = origin.redirect("/old", to: "/f")
        var hooks = DownloadHooks()
        hooks.redirect = { $0.to.hasSuffix("/f") && $0.response.status == 302 ? .stop : .follow }
        let downloader = Downloader()
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options(folder), hooks: hooks)
        }
        #expect(error?.code == .badResponse && error?.status == 302)
        #expect(origin.log.of("/f").isEmpty && folder.names.isEmpty)
        hooks.redirect = { _ in .followTo(target) }
        let file = try await downloader.download(url, options: options(folder), hooks: hooks)
        #expect(file.length == 5)
        await downloader.shutDown()
    }

    @Test func `fields of a redirect are sent to its target only, at each attempt`() async throws {
        let origin = try OriginServer()
        let other = try OriginServer()
        defer {
            origin.stop()
            other.stop()
        }
        let folder = try TemporaryFolder()
        let end = other.serve("/g", payload)
        let target = other.redirect("/f", to: end)
        other.vary("/f") { facts, behaviour in if facts.ordinal == 0 { behaviour.instead = .status(503) } }
        let url = origin.redirect("/old", to: target)
        var hooks = DownloadHooks()
        hooks.redirect = {
            $0.to.hasSuffix("/f") ? .followTo($0.to, headers: [.init(name: "X-Key", value: "right")]) : .follow
        }
        var options = options(folder)
        options.headers = ["X-Key: left"]
        let downloader = Downloader()
        let file = try await downloader.download(url, options: options, hooks: hooks)
        #expect(file.length == payload.length)
        #expect(origin.log.of("/old").first?.request.header("X-Key") == "left")
        let sent = other.log.of("/f").map { $0.request.header("X-Key") }
        #expect(sent.count == 2 && sent.allSatisfy { $0 == "right" }, "\(sent)")
        #expect(other.log.of("/g").allSatisfy { $0.request.header("X-Key") == nil })

        for name in ["Range", "host", "Bad Name"] {
            hooks.redirect = { .followTo($0.to, headers: [.init(name: name, value: "1")]) }
            let error = await #expect(throws: PawlError.self) {
                try await downloader.download(url, options: options, hooks: hooks)
            }
            #expect(error?.code == .badOption)
        }
        await downloader.shutDown()
    }

    @Test func `a cancelled response leaves no file, and a partial as it was`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let long = Payload(seed: 703, length: 48_000_000)
        let url = origin.serve("/f", long) { $0.cut = .stall(after: 40_000_000) }
        let downloader = Downloader()
        let first = try downloader.add(url, options: options(folder))
        first.resume()
        await origin.holds("/f")
        first.pause()
        for await snapshot in first.updates where snapshot.state == .paused { break }
        let before = try #require(FileSystem.contents(folder.path("f.part")))
        origin.adjust("/f") { $0.cut = nil }
        var hooks = DownloadHooks()
        let notes = Notes()
        hooks.validateResponse = {
            notes.add("\($0.response.status) \($0.length ?? -1) \($0.resumedAt > 0)")
            return .cancel(reason: "not today")
        }
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options(folder), hooks: hooks)
        }
        #expect(error?.code == .rejected && error?.why == "not today")
        #expect(notes.all == ["206 48000000 true"])
        #expect(folder.names == ["f.part", "f.pawl"])
        #expect(FileSystem.contents(folder.path("f.part")) == before)
        // Without the hook it continues.
        let file = try await downloader.download(url, options: options(folder))
        #expect(file.received < long.length)
        #expect(folder.difference("f", from: long) == nil)
        let error2 = await #expect(throws: PawlError.self) {
            try await downloader.download(url, to: "other", options: options(folder), hooks: hooks)
        }
        #expect(error2?.code == .rejected)
        #expect(folder.names == ["f"])
        await downloader.shutDown()
    }

    @Test(arguments: [0, 1, 70_001], [Behaviour.Framing.length, .chunked, .untilClose])
    func `an allowed response is complete, however short, and one for memory has no file`(
        length: Int, framing: Behaviour.Framing
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let content = Payload(seed: 704, length: Int64(length))
        let url = origin.serve("/f", content) { $0.framing = framing }
        let downloader = downloader {
            $0.validateResponse = { response in
                await Task.yield()
                return response.response.status == 200 ? .allow : .cancel()
            }
        }
        _ = try await downloader.download(url, options: options(folder))
        #expect(folder.difference("f", from: content) == nil)
        var hooks = DownloadHooks()
        hooks.validateResponse = { _ in .intoMemory(maximumSize: 100_000) }
        for name in ["g", nil] {
            var options = options(folder)
            options.fileName = name
            options.naming = .hash
            let file = try await downloader.download(url, options: options, hooks: hooks)
            #expect(file.content == content.bytes && file.path.isEmpty)
        }
        #expect(folder.names == ["f"])
        await downloader.shutDown()
    }

    @Test func `content for memory is limited, and its checksum is verified`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        var hooks = DownloadHooks()
        hooks.validateResponse = { _ in .intoMemory(maximumSize: 299_999) }
        let downloader = Downloader()
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: options(folder), hooks: hooks)
        }
        #expect(error?.code == .tooLarge)
        hooks.validateResponse = { _ in .intoMemory(maximumSize: 300_000) }
        var checked = options(folder)
        checked.checksum = "md5=00000000000000000000000000000000"
        let wrong = await #expect(throws: PawlError.self) {
            try await downloader.download(url, options: checked, hooks: hooks)
        }
        #expect(wrong?.code == .checksumMismatch)
        #expect(folder.names.isEmpty)
        await downloader.shutDown()
    }

    @Test func `a 404 is tried again as often as the program wants, and a 503 not at all`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        origin.vary("/f") { facts, behaviour in if facts.ordinal < 3 { behaviour.instead = .status(404) } }
        let notes = Notes()
        var hooks = DownloadHooks()
        hooks.retry = { failed in
            notes.add("\(failed.attempt) \(failed.error.status ?? 0) \(failed.wouldRetryAfter == nil)")
            return .retry(after: .zero)
        }
        let downloader = Downloader()
        _ = try await downloader.download(url, options: options(folder), hooks: hooks)
        #expect(notes.all == ["1 404 true", "2 404 true", "3 404 true"])
        _ = origin.serve("/busy", payload) { $0.instead = .status(503, retryAfter: "7") }
        hooks.retry = { $0.wouldRetryAfter == nil ? .useDefault : .fail }
        let error = await #expect(throws: PawlError.self) {
            try await downloader.download(origin.url("/busy"), options: options(folder), hooks: hooks)
        }
        #expect(error?.code == .overloaded && error?.status == 503 && error?.retryAfter == .seconds(7))
        #expect(origin.log.of("/busy").count == 1)
        await downloader.shutDown()
    }

    /// The closures that can hang.
    enum Hook: String, CaseIterable, Sendable { case adapt, authenticate, redirect, validate, retry }

    private func hanging(at place: Hook, _ notes: Notes) -> DownloadHooks {
        var hooks = DownloadHooks()
        switch place {
        case .adapt:
            hooks.adaptRequest = { request in
                await notes.hang()
                return request
            }
        case .authenticate:
            hooks.authenticate = { _ in
                await notes.hang()
                return .useDefault
            }
        case .redirect:
            hooks.redirect = { _ in
                await notes.hang()
                return .follow
            }
        case .validate:
            hooks.validateResponse = { _ in
                await notes.hang()
                return .allow
            }
        case .retry:
            hooks.retry = { _ in
                await notes.hang()
                return .useDefault
            }
        }
        return hooks
    }

    private func serve(_ place: Hook, on origin: OriginServer) -> String {
        switch place {
        case .adapt, .validate: origin.serve("/f", payload)
        case .authenticate: origin.serve("/f", payload) { $0.instead = .status(401) }
        case .redirect: origin.redirect("/f", to: "/g")
        case .retry: origin.serve("/f", payload) { $0.instead = .status(500) }
        }
    }

    @Test(arguments: Hook.allCases) func `a closure that never returns holds neither pause nor cancel nor shutdown`(
        place: Hook
    ) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = serve(place, on: origin)
        let notes = Notes()
        let hooks = hanging(at: place, notes)
        let downloader = Downloader()
        let paused = try downloader.add(url, options: options(folder), hooks: hooks)
        paused.resume()
        while notes.all.isEmpty { await Task.yield() }
        paused.pause()
        for await snapshot in paused.updates where snapshot.state == .paused { break }
        while notes.all.count < 2 { await Task.yield() }
        let task = Task { try await downloader.download(url, options: options(folder), hooks: hooks) }
        while notes.all.count < 3 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let last = try downloader.add(url, options: options(folder), hooks: hooks)
        last.resume()
        while notes.all.count(where: { $0 == "hangs" }) < 3 { await Task.yield() }
        await downloader.shutDown()
        #expect(folder.names.isEmpty)
        while notes.all.count < 6 { await Task.yield() }
        #expect(notes.all.filter { $0 == "cancelled" }.count == 3)
    }

    @Test func `a manager asks with its downloads' identifiers`() async throws {
        let bench = try ManagerBench()
        let notes = Notes()
        var configuration = DownloadManager.Configuration()
        configuration.hooks.validateResponse = { response in
            notes.add(response.download.description)
            return .allow
        }
        let manager = try await bench.open(configuration)
        let url = bench.origin.serve("/f", payload)
        let download = try await manager.add(url)
        _ = try await download.file
        _ = try await manager.data(from: url)
        #expect(notes.all == [download.id.description, "0000000000000000"])
        await manager.shutDown()
    }
}
