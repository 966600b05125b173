public import Foundation
public import PawlSession
import Synchronization

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension DownloadSession {
    /// Downloads a file into the temporary folder, and returns its location and the response.
    ///
    /// The caller moves or removes the file. Cancelling the task that waits cancels the download and removes
    /// what it received; the error is then a `PawlError` of the code `unfinished`, which is −999 of
    /// `NSURLErrorDomain`.
    public func download(for request: URLRequest) async throws -> (URL, SessionResponse) {
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Pawl-\(UUID().uuidString)"
        )
        let running = Mutex<DownloadTask?>(nil)
        let result: Result<SessionResponse, any Error> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let task = downloadTask(with: request) { location, response, error in
                    guard let location else {
                        return continuation.resume(returning: .failure(error ?? URLError(.unknown)))
                    }
                    continuation.resume(
                        returning: Result {
                            try FileManager.default.moveItem(at: location, to: target)
                            return response ?? SessionResponse()
                        }
                    )
                }
                running.withLock { $0 = task }
                task.resume()
                // The cancellation may have come before the task was there.
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            running.withLock { $0 }?.cancel()
        }
        return (target, try result.get())
    }

    /// Downloads a file into the temporary folder, see ``download(for:)``.
    public func download(from url: URL) async throws -> (URL, SessionResponse) {
        try await download(for: URLRequest(url: url))
    }
}
