import Glibc
import Pawl
import PawlSession
import PawlSystem
import PawlTestKit

/// An origin and a folder for sessions, and a delegate that records its calls.
final class SessionBench: Sendable {
    let origin: OriginServer
    let folder: TemporaryFolder

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit { origin.stop() }

    func configuration(_ identifier: String? = nil, slots: Int = 3) -> DownloadSessionConfiguration {
        var configuration = identifier.map { DownloadSessionConfiguration.background(withIdentifier: $0) } ?? .default
        configuration.stateFolder = folder.path("state")
        configuration.maximumConcurrentDownloads = slots
        configuration.retries = 1
        return configuration
    }

    func session(_ notes: Notes? = nil, identifier: String? = nil, slots: Int = 3) -> DownloadSession {
        DownloadSession(configuration: configuration(identifier, slots: slots), delegate: notes)
    }

    /// Content that stalls in the middle until it is released.
    func serveStalling(_ path: String, seed: UInt64, length: Int64 = 3_000_000) -> (url: String, payload: Payload) {
        let payload = Payload(seed: seed, length: length)
        return (origin.serve(path, payload) { $0.cut = .stall(from: length - 1_000_000) }, payload)
    }

    /// No transfer of the path is active any more.
    func quiet(_ path: String) async { await aside { _ = self.origin.waitUntilQuiet(path) } }

    /// Waits until the files in the tasks' folders are like that.
    func wait(atMost limit: Duration = .patience, until condition: ([String]) -> Bool) {
        let end = ContinuousClock.now + limit
        let state = folder.path("state")
        while ContinuousClock.now < end {
            let tasks = FileSystem.names(in: state).flatMap { root in
                FileSystem.names(in: "\(state)/\(root)").filter { $0 != ".pawl" }.map { "\(state)/\(root)/\($0)" }
            }
            if condition(tasks.flatMap { FileSystem.names(in: $0) }) { return }
            sched_yield()
        }
    }

    /// The remains of tasks in the state folder.
    var leftovers: [String] {
        FileSystem.names(in: folder.path("state")).flatMap { name in
            FileSystem.names(in: folder.path("state/\(name)")).filter { $0 != ".pawl" }
        }
    }
}

final class Notes: DownloadSessionDelegate {
    private let lines = Monitor<[String]>([])
    private let figures = Monitor<[(new: Int64, written: Int64, expected: Int64)]>([])
    private let moved: String?

    init(moving path: String? = nil) { moved = path }

    var all: [String] { lines.read { $0 } }
    var writes: [(new: Int64, written: Int64, expected: Int64)] { figures.read { $0 } }

    /// Waits for a line with that prefix.
    @discardableResult func until(_ text: String, times count: Int = 1) async -> Bool {
        await aside { self.lines.wait { $0.count { $0.hasPrefix(text) } >= count ? true : nil } ?? false }
    }

    /// Waits until that many bytes were reported.
    @discardableResult func until(bytes: Int64) async -> Bool {
        await aside { self.figures.wait { ($0.last?.written ?? 0) >= bytes ? true : nil } ?? false }
    }

    private func note(_ line: String) { lines.with { $0.append(line) } }

    func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        figures.with { $0.append((bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)) }
        note("write")
    }

    func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("resume \(fileOffset > 0) \(expectedTotalBytes)") }

    func urlSession(
        _ session: DownloadSession, assetDownloadTask: DownloadTask, didLoad segments: DownloadSnapshot.Segments
    ) { note("loaded \(segments.done) of \(segments.total)") }

    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String) {
        if let moved { try? FileSystem.move(location, to: moved) }
        let response = downloadTask.response
        note("finish \(response?.statusCode ?? 0) \(response?.suggestedFilename ?? "nil")")
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
        note("complete \(error?.code.rawValue ?? 0) \(task.state)")
    }

    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {
        note("over \(error?.code.rawValue ?? 0)")
    }
}

/// Waits on a dedicated thread: sessions need those that tests would block.
func aside<Value: Sendable>(_ wait: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in SystemThread.detached { continuation.resume(returning: wait()) } }
}
