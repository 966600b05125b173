import Pawl
import PawlTesting
import Synchronization
import Testing

/// What a program learns of a collection while it is downloaded.
@Suite struct CollectionProgressTests {
    private static let page = Array("<a href=\"large\">large</a><a href=\"small\">small</a>".utf8)

    private func collection(_ origin: StubOrigin, _ clock: ManualClock) throws -> FileCollection {
        var configuration = Downloader.Configuration()
        configuration.transport = origin.transport(clock: clock)
        (configuration.options.retries, configuration.options.connections) = (0, 1)
        return try FileCollection("https://h.example/folder/", configuration: configuration)
    }

    @Test func `the bytes of a running download are part of the progress`() async throws {
        let folder = try Scratch()
        let (gate, clock) = (StubGate(), ManualClock())
        let large = makeContent(3_000_000)
        let origin = StubOrigin { request in
            switch request.path {
            case "/folder/": .ok(Self.page, headers: ["Content-Type": "text/html"])
            case "/folder/large": .ok(large).held(after: 2_000_000, until: gate)
            case "/folder/small": .ok([1, 2, 3])
            case _: .status(404)
            }
        }
        let (seen, arrived) = AsyncStream<Int64>.makeStream()
        let last = Mutex(FileCollection.Progress())
        let collection = try collection(origin, clock)
        let report = Task {
            try await collection.download(to: folder.path) { progress in
                last.withLock { $0 = progress }
                if progress.complete < 2 { arrived.yield(progress.received) }
            }
        }
        await gate.reached()
        await clock.advance(by: .seconds(1))
        for await received in seen where received > 1_000_000 { break }
        gate.open()
        let result = try await report.value
        #expect(result.finished == 2 && result.received == 3_000_003)
        let end = FileCollection.Progress(listed: 2, isListed: true, complete: 2, received: 3_000_003)
        #expect(last.withLock(\.self) == end)
    }

    @Test func `the bytes of a failed download were received all the same`() async throws {
        let folder = try Scratch()
        let large = makeContent(3_000_000)
        let origin = StubOrigin { request in
            switch request.path {
            case "/folder/": .ok(Self.page, headers: ["Content-Type": "text/html"])
            case "/folder/large" where request.number == 1: .ok(large).cut(after: 2_000_000)
            case "/folder/small": .ok([1, 2, 3])
            case _: .status(404)
            }
        }
        let report = try await collection(origin, ManualClock()).download(to: folder.path)
        #expect(report.finished == 1 && report.failures.count == 1)
        #expect(report.failures.first?.failingURL == "https://h.example/folder/large")
        #expect(report.received >= 2_000_003)
    }

    @Test func `what is gone is removed, unless entries may have been left out`() async throws {
        let folder = try Scratch()
        let names = Mutex(["a", "b"])
        let origin = StubOrigin { request in
            guard request.path == "/folder/" else { return .ok(Array(request.path.utf8)) }
            let files = names.withLock(\.self).map {
                "{\"name\":\"\($0)\",\"type\":\"file\",\"mtime\":\"Wed, 04 Feb 2026 10:00:00 GMT\",\"size\":9}"
            }
            return .ok(Array("[\(files.joined(separator: ","))]".utf8), headers: ["Content-Type": "application/json"])
        }
        var options = FileCollection.Options()
        options.removesMissing = true
        var configuration = Downloader.Configuration()
        configuration.transport = origin.transport
        func report() async throws -> FileCollection.Report {
            try await FileCollection("https://h.example/folder/", options: options, configuration: configuration)
                .download(to: folder.path)
        }
        #expect(try await report().finished == 2)
        names.withLock { $0 = ["a"] }
        options.rules = [FileCollection.Rule(isIncluded: false, pattern: "*.tmp")]
        let kept = try await report()
        #expect(kept.removed.isEmpty && kept.notices == ["nothing was removed: a filter or a limit was given"])
        options.rules = []
        let removal = try await report()
        #expect(removal.removed == ["b"], "\(removal)")
        #expect(folder.names.filter { !$0.hasPrefix(".") } == ["a"])
    }
}
