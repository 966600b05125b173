public import Pawl

/// Receives events of a session's tasks, with the methods of `URLSessionDownloadDelegate` in their order.
///
/// All calls are made one at a time on one thread of the session. For each task: `didResumeAtOffset` when
/// earlier bytes are continued, `didWriteData` any number of times, `didFinishDownloadingTo`,
/// `didCompleteWithError`; a failed one skips `didFinishDownloadingTo`. A task with a completion handler
/// calls only that. Only `didFinishDownloadingTo` is required: a file that nobody takes would be lost.
///
/// Here a file's location is a path. The library `PawlFoundation` has `URLDownloadSessionDelegate`, whose
/// methods have the signatures of `URLSessionDownloadDelegate`.
public protocol DownloadSessionDelegate: AnyObject, Sendable {
    /// Data was written; `totalBytesExpectedToWrite` is −1 while the size is unknown.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// The transfer was resumed at an offset.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )

    /// The file is complete.
    ///
    /// It is removed after this returns, unless it was moved.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: String
    )

    /// The task ended; `error` is `nil` if it finished.
    ///
    /// It is a `PawlError`. After a kill it may be repeated for a task if the program was killed during this
    /// call.
    func urlSession(
        _ session: DownloadSession,
        task: DownloadTask,
        didCompleteWithError error: (any Error)?
    )

    /// The same with the error's type; implement one of the two.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?)

    /// A recreated background session has delivered all earlier events.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession)

    /// The session was invalidated, or could not be opened; no calls follow.
    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?)

    /// The same with the error's type; implement one of the two.
    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?)
}

extension DownloadSessionDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {}
    /// Calls the method with a `PawlError`.
    public func urlSession(
        _ session: DownloadSession,
        task: DownloadTask,
        didCompleteWithError error: (any Error)?
    ) {
        let error = error as? PawlError
        urlSession(session, task: task, didCompleteWithError: error)
    }
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession,
        task: DownloadTask,
        didCompleteWithError error: PawlError?
    ) {}
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) {}
    /// Calls the method with a `PawlError`.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?) {
        let error = error as? PawlError
        urlSession(session, didBecomeInvalidWithError: error)
    }
    /// Does nothing.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {}
}
