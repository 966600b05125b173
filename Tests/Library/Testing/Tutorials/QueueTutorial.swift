import Pawl
import PawlTesting
import Testing

// The code of the tutorial "A queue with a database", Tutorial.md of the catalogue of Pawl.

/// A download manager.
struct FilmQueue {
    let films: DownloadManager

    init(folder: String, _ configuration: DownloadManager.Configuration = .init()) async throws(PawlError) {
        films = try await DownloadManager(root: folder, configuration)
    }

    func add(_ url: String, title: String) async throws(PawlError) -> Download {
        var request = DownloadRequest(url, options: films.options)
        request.options.taskDescription = title
        request.options.fileName = title + ".mp4"
        request.group = "films"
        return try await films.add(request)
    }

    func rows() async throws(PawlError) -> [String] {
        try await films.downloads().map { film in
            let title = film.taskDescription ?? film.source
            let percent = film.percent.map { "\(Int($0)) %" } ?? "size unknown"
            return "\(title): \(film.state), \(percent)"
        }
    }

    func watch(_ events: DownloadEvents, _ tell: (String) -> Void) async {
        for await event in events {
            switch event.kind {
            case .finished(let file): tell("complete: \(file.path)")
            case .failed(let error): tell("failed: \(error)")
            case .missed(let count): tell("\(count) events were too fast: read the rows again")
            default: break
            }
        }
    }

    func start(now id: Download.ID) async throws(PawlError) {
        try await films.start(now: id)
    }

    func pauseAll() async throws(PawlError) {
        try await films.pause(group: "films")
    }

    func path(of id: Download.ID) async throws(PawlError) -> String? {
        guard case .finished(let path) = try await films.location(of: id) else { return nil }
        return path
    }
}

@Suite struct QueueTutorial {
    private let film = makeContent(3_000_000)

    private func queue(_ origin: StubOrigin, in folder: Scratch) async throws -> FilmQueue {
        var configuration = DownloadManager.Configuration()
        configuration.transport = origin.transport
        configuration.options.connections = 1
        return try await FilmQueue(folder: folder.path, configuration)
    }

    @Test func `films are where they were after a relaunch`() async throws {
        let (folder, gate) = (try Scratch(), StubGate())
        let stuck = StubOrigin { [film] _ in .ok(film).held(after: 1_000_000, until: gate) }
        let first = try await queue(stuck, in: folder)
        let download = try await first.add("https://example.org/1.mp4", title: "One")
        for await snapshot in download.updates where snapshot.written >= 1_000_000 { break }
        #expect(try await first.rows() == ["One: transferring, 33 %"])
        #expect(try await first.path(of: download.id) == nil)
        await first.films.shutDown()

        let origin = StubOrigin { [film] _ in .ok(film) }
        let second = try await queue(origin, in: folder)
        let again = try #require(try await second.films.download(withID: download.id))
        #expect(try await again.file.length == 3_000_000)
        #expect(try await second.path(of: download.id)?.hasSuffix("/One.mp4") == true)
        #expect(origin.requests.map { $0.value(of: "Range") } == ["bytes=1000000-2999999"])
        await second.films.shutDown()
    }

    @Test func `a group is paused, and a film started at once`() async throws {
        let (folder, gate) = (try Scratch(), StubGate())
        let origin = StubOrigin { [film] request in .ok(film).held(after: 1_000_000, until: gate) }
        let queue = try await queue(origin, in: folder)
        let download = try await queue.add("https://example.org/1.mp4", title: "One")
        await gate.reached()
        try await queue.pauseAll()
        for await snapshot in download.updates where [.paused, .waiting].contains(snapshot.state) { break }
        gate.open()
        let events = queue.films.events
        let told = Task { await tell(queue, events) }
        try await queue.start(now: download.id)
        #expect(try await download.file.path.hasSuffix("/One.mp4"))
        await queue.films.shutDown()
        #expect(await told.value.contains { $0.hasPrefix("complete: ") })
    }

    private func tell(_ queue: FilmQueue, _ events: DownloadEvents) async -> [String] {
        var lines: [String] = []
        await queue.watch(events) { lines.append($0) }
        return lines
    }
}
