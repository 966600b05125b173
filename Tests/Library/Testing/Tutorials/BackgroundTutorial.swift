import Foundation
import Pawl
import PawlSession
import PawlTesting
import Synchronization
import Testing

// The code of the tutorial "Downloads that survive the program", Surviving.md of the catalogue of PawlSession.

/// The films of a program: they go on where they were, whatever ended it.
final class Library: Sendable {
    let session: DownloadSession
    private let keeper: Keeper

    init(folder: String, _ configuration: DownloadSessionConfiguration) {
        keeper = Keeper(folder: folder)
        session = DownloadSession(configuration: configuration, delegate: keeper)
    }

    /// Starts what is not there, and goes on with what was stopped.
    func want(_ urls: [String]) async {
        let tasks = await session.allTasks
        for task in tasks { task.resume() }
        let known = Set(tasks.compactMap(\.taskDescription))
        for url in urls where !known.contains(url) && !keeper.has(url) {
            let task = session.downloadTask(with: url)
            task.taskDescription = url
            task.resume()
        }
    }

    func complete() async {
        session.finishTasksAndInvalidate()
        await keeper.end()
    }
}

/// Puts each file into its place.
final class Keeper: DownloadSessionDelegate {
    let folder: String
    private let isOver = AsyncStream<Void>.makeStream()
    private let log = Mutex<[String]>([])

    init(folder: String) { self.folder = folder }

    func path(of url: String) -> String {
        "\(folder)/\(url.split(separator: "/").last ?? "film")"
    }

    func has(_ url: String) -> Bool { FileManager.default.fileExists(atPath: path(of: url)) }

    func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String
    ) {
        guard let url = downloadTask.taskDescription, downloadTask.response?.statusCode == 200 else { return }
        try? FileManager.default.moveItem(atPath: location, toPath: path(of: url))
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        if let error { log.withLock { $0.append(error.description) } }
    }

    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {
        isOver.continuation.finish()
    }

    func end() async { for await _ in isOver.stream {} }
    var failures: [String] { log.withLock { $0 } }
}

@Suite struct BackgroundTutorial {
    private let film = makeContent(3_000_000)
    private let urls = ["https://example.org/a.mp4", "https://example.org/b.mp4"]

    private func library(_ origin: StubOrigin, in folder: Scratch) -> Library {
        var configuration = DownloadSessionConfiguration.background(withIdentifier: "films")
        configuration.stateFolder = "\(folder.path)/.state"
        configuration.transport = origin.transport
        return Library(folder: folder.path, configuration)
    }

    @Test func `films are complete once, also for a second run`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { [film] request in
            request.number == 1 ? .ok(film).cut(after: 1_000_000) : .ok(film)
        }
        let first = library(origin, in: folder)
        await first.want(urls)
        await first.complete()
        #expect(folder.names == [".state", "a.mp4", "b.mp4"])
        #expect(try folder.bytes(of: "b.mp4") == film)
        let count = origin.requests.count
        let second = library(origin, in: folder)
        await second.want(urls)
        await second.complete()
        #expect(origin.requests.count == count, "nothing is downloaded twice")
    }
}
