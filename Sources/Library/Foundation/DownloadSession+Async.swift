#if Queue
public import Foundation
import Pawl
public import PawlSession
import Synchronization

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension DownloadSession {
    /// Downloads a file into the temporary folder, and returns its location and the response.
    ///
    /// A response such as 404 is returned like any other, with its body as the file, unless the session's
    /// ``DownloadSessionConfiguration/failsOnErrorStatus`` is set. The caller moves or removes the file.
    /// Throws `URLError`. Cancelling the task that waits cancels the download and removes what it received; the error is
    /// then `URLError.cancelled`. `delegate` is that of the task.
    public func download(
        for request: URLRequest, delegate: (any DownloadTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let (url, response): (URL, SessionResponse) = try await download(for: request, delegate: delegate)
        return (url, try response.foundation(request.url))
    }

    /// Downloads a file into the temporary folder, see ``download(for:delegate:)``.
    public func download(from url: URL, delegate: (any DownloadTaskDelegate)? = nil) async throws -> (URL, URLResponse)
    { try await download(for: URLRequest(url: url), delegate: delegate) }

    /// Continues from resume data, see ``download(for:delegate:)``.
    public func download(
        resumeFrom resumeData: Data, delegate: (any DownloadTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let (url, response) = try await downloaded(delegate) { completion in
            let task = self.downloadTask(withResumeData: [UInt8](resumeData), completionHandler: completion)
            return task
        }
        return (url, try response.foundation(nil))
    }

    /// The same with the session's own type of responses.
    @_disfavoredOverload public func download(
        for request: URLRequest, delegate: (any DownloadTaskDelegate)? = nil
    ) async throws -> (URL, SessionResponse) {
        try await downloaded(delegate) { completion in
            self.downloadTask(with: SessionRequest(request), completionHandler: completion)
        }
    }

    /// The same with the session's own type of responses.
    @_disfavoredOverload public func download(
        from url: URL, delegate: (any DownloadTaskDelegate)? = nil
    ) async throws -> (URL, SessionResponse) { try await download(for: URLRequest(url: url), delegate: delegate) }

    private func downloaded(
        _ delegate: (any DownloadTaskDelegate)?,
        _ make: (@escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void) -> DownloadTask
    ) async throws -> (URL, SessionResponse) {
        // A task would use up its resume data.
        guard !Task.isCancelled else { throw URLError(.cancelled) }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("Pawl-\(UUID().uuidString)")
        let running = Mutex<DownloadTask?>(nil)
        let result: Result<SessionResponse, any Error> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let task = make { location, response, error in
                    guard let location else {
                        return continuation.resume(returning: .failure(error?.urlError ?? URLError(.unknown)))
                    }
                    continuation.resume(
                        returning: Result {
                            try FileManager.default.moveItem(atPath: location, toPath: target.path)
                            return response ?? SessionResponse()
                        })
                }
                // Resume data can belong to a task that lives, with a delegate of its own.
                if let delegate { task.delegate = delegate }
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
}

extension SessionResponse {
    fileprivate func foundation(_ url: URL?) throws -> HTTPURLResponse {
        guard let response = httpResponse(for: url) else { throw URLError(.badServerResponse) }
        return response
    }
}
#endif
