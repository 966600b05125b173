import Pawl
import PawlTesting
import Synchronization
import Testing

// The code of the tutorial "A file with its progress", Progress.md of the catalogue of Pawl.

struct Saver {
    let downloader: Downloader

    func save(
        _ url: String, to path: String, show: @escaping @Sendable (String) -> Void
    ) async throws -> String {
        let file = try await downloader.download(url, to: path) { snapshot in
            show("\(line(of: snapshot)) at \(snapshot.smoothedSpeedText)")
        }
        return file.path
    }
}

func line(of snapshot: DownloadSnapshot) -> String {
    guard let percent = snapshot.percent else { return "\(snapshot.sizeText), size unknown" }
    let left = snapshot.timeLeftText.map { ", \($0) left" } ?? ""
    return "\(Int(percent)) %\(left)"
}

func message(for error: any Error) -> String {
    switch error {
    case let error as PawlError where error.code == .notFound: "There is no such file."
    case let error as PawlError: error.description
    case is CancellationError: "Stopped; what has come is kept."
    case _: "\(error)"
    }
}

@Suite struct ProgressTutorial {
    @Test func `a film is saved, and its progress shown`() async throws {
        let folder = try Scratch()
        let film = makeContent(3_000_000)
        let origin = StubOrigin(["/film.mp4": [.ok(film).cut(after: 1_000_000), .ok(film)]])
        let lines = Mutex<[String]>([])
        let saver = Saver(downloader: downloader(origin, in: folder))
        let path = try await saver.save("https://example.org/film.mp4", to: "film.mp4") { line in
            lines.withLock { $0.append(line) }
        }
        #expect(path.hasSuffix("/film.mp4"))
        #expect(try folder.bytes(of: "film.mp4") == film)
        #expect(lines.withLock { $0.last }?.hasPrefix("100 %") == true)
    }

    @Test func `what is shown while the size is not known`() {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "https://example.org/film.mp4")
        snapshot.written = 1536
        #expect(line(of: snapshot) == "1.50 KiB, size unknown")
        (snapshot.total, snapshot.timeLeft) = (6144, .seconds(90))
        #expect(line(of: snapshot) == "25 %, 1 min 30 s left")
    }

    @Test func `what is said of an error`() async throws {
        let folder = try Scratch()
        let saver = Saver(downloader: downloader(StubOrigin { _ in .status(404) }, in: folder))
        let error = await #expect(throws: PawlError.self) {
            try await saver.save("https://example.org/a", to: "a") { _ in }
        }
        #expect(message(for: try #require(error)) == "There is no such file.")
        #expect(message(for: CancellationError()) == "Stopped; what has come is kept.")
        #expect(folder.names.isEmpty)
    }

    @Test func `a cancelled task keeps what has come`() async throws {
        let folder = try Scratch()
        let film = makeContent(3_000_000)
        let gate = StubGate()
        let origin = StubOrigin { request in
            request.number == 1 ? .ok(film).held(after: 1_000_000, until: gate) : .ok(film)
        }
        let saver = Saver(downloader: downloader(origin, in: folder) { $0.connections = 1 })
        let task = Task { try await saver.save("https://example.org/film.mp4", to: "film.mp4") { _ in } }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.names == ["film.mp4.part", "film.mp4.pawl"])
        _ = try await saver.save("https://example.org/film.mp4", to: "film.mp4") { _ in }
        #expect(origin.requests.last?.value(of: "Range") == "bytes=1000000-2999999")
    }
}
