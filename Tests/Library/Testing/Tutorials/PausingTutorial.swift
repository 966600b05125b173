import Pawl
import PawlSession
import PawlTesting
import Testing

// The code of the tutorial "Pause and resume", Pausing.md of the catalogue of Pawl.

/// A film with one button.
struct FilmRow {
    let downloader: Downloader
    let download: Download

    init(_ url: String, _ downloader: Downloader) throws(PawlError) {
        self.downloader = downloader
        download = try downloader.add(url)
    }

    var button: String {
        switch download.snapshot.toggle {
        case .download: "Download"
        case .pause: "Pause"
        case .continue: "Continue"
        case .done: "Play"
        }
    }

    func press() { download.toggle() }
}

/// The same with resume data, as code for `URLSession` does it.
actor FilmTask {
    private let session: DownloadSession
    private var task: DownloadTask
    private(set) var resumeData: [UInt8]?

    init(_ url: String, _ session: DownloadSession) {
        self.session = session
        task = session.downloadTask(with: url)
        task.resume()
    }

    func pause() async {
        resumeData = await task.cancelByProducingResumeData()
    }

    func resume() {
        guard let resumeData else { return }
        task = session.downloadTask(withResumeData: resumeData)
        task.resume()
    }
}

/// What an app on an Apple system has stored: resume data, and the file with the bytes so far.
func continueFromApple(
    _ resumeData: [UInt8], partialsIn folder: String, _ downloader: Downloader
) async throws -> DownloadedFile {
    let data = try DownloadResumeData(resumeData)
    let download = try downloader.add(data, partialFolder: folder)
    download.resume()
    return try await download.file
}

@Suite struct PausingTutorial {
    private let film = makeContent(3_000_000)
    private let url = "https://example.org/film.mp4"

    /// The first request is held after a third.
    private func origin(_ gate: StubGate) -> StubOrigin {
        StubOrigin { [film] request in
            request.number == 1 ? .ok(film).held(after: 1_000_000, until: gate) : .ok(film)
        }
    }

    @Test func `one button pauses and goes on`() async throws {
        let (folder, gate) = (try Scratch(), StubGate())
        let origin = origin(gate)
        let row = try FilmRow(url, downloader(origin, in: folder) { $0.connections = 1 })
        #expect(row.button == "Download")
        row.press()
        await gate.reached()
        #expect(row.button == "Pause")
        row.press()
        for await snapshot in row.download.updates where snapshot.state == .paused { break }
        #expect(row.button == "Continue")
        row.press()
        #expect(try await row.download.file.length == 3_000_000)
        #expect(row.button == "Play")
        #expect(origin.requests.last?.value(of: "Range") == "bytes=1000000-2999999")
    }

    @Test func `a task goes on from its resume data`() async throws {
        let (folder, gate) = (try Scratch(), StubGate())
        let origin = origin(gate)
        var configuration = DownloadSessionConfiguration.default
        (configuration.stateFolder, configuration.transport) = (folder.path, origin.transport)
        let delegate = Receiver()
        let session = DownloadSession(configuration: configuration, delegate: delegate)
        let task = FilmTask(url, session)
        await gate.reached()
        await task.pause()
        #expect(await task.resumeData != nil)
        await task.resume()
        var lengths: [Int64] = []
        for await length in delegate.finished.stream { lengths.append(length) }
        #expect(lengths == [3_000_000])
        #expect(origin.requests.last?.value(of: "Range") == "bytes=1000000-")
        session.invalidateAndCancel()
    }

    @Test func `an Apple app's download is continued`() async throws {
        let folder = try Scratch()
        let partials = try Scratch()
        try partials.write(Array(film[..<1_000_000]), to: "CFNetworkDownload_1.tmp")
        var data = DownloadResumeData(.init(url: url), received: 1_000_000, partialName: "CFNetworkDownload_1.tmp")
        data.entityTag = StubResponse.ok(film).headers["ETag"]
        let origin = StubOrigin { [film] _ in .ok(film) }
        let file = try await continueFromApple(
            data.bytes, partialsIn: partials.path, downloader(origin, in: folder) { $0.connections = 1 })
        #expect(file.received == 2_000_000)
        #expect(try folder.bytes(of: "film.mp4") == film)
    }
}

/// Tells the lengths of finished files.
private final class Receiver: DownloadSessionDelegate {
    let finished = AsyncStream<Int64>.makeStream()

    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String) {
        finished.continuation.yield(downloadTask.countOfBytesReceived)
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        // The cancelled task has resume data; the other one ends the test.
        if error == nil { finished.continuation.finish() }
    }
}
