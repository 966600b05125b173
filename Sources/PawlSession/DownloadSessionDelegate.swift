public import Pawl

/// Receives events of a session's tasks, with the methods of `URLSessionDownloadDelegate` in their order.
///
/// All calls are made one at a time on one thread of the session. For each task: `didResumeAtOffset` when
/// earlier bytes are continued, `didWriteData` any number of times, `didFinishDownloadingTo`,
/// `didCompleteWithError`; a failed one skips `didFinishDownloadingTo`. A task with a completion handler
/// calls only that. All methods are optional.
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
    /// After a kill it may be repeated for a task if the program was killed during this call.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?)

    /// A recreated background session has delivered all earlier events.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession)

    /// The session was invalidated, or could not be opened; no calls follow.
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
    /// Does nothing: the file is removed.
    public func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: String
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession,
        task: DownloadTask,
        didCompleteWithError error: PawlError?
    ) {}
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) {}
    /// Does nothing.
    public func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: PawlError?) {}
}
