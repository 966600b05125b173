public import Pawl

/// Hears of a session's tasks, with the methods of `URLSessionDownloadDelegate` in their order.
///
/// All calls come one after another on one thread of the session. For each task: `didResumeAtOffset` when bytes from before
/// are continued, `didWriteData` any number of times, `didFinishDownloadingTo`, `didCompleteWithError`; one that fails
/// goes without `didFinishDownloadingTo`. A task with a completion handler calls that alone. Every method does nothing
/// unless it is written.
public protocol DownloadSessionDelegate: AnyObject, Sendable {
    /// Bytes have come; `totalBytesExpectedToWrite` is −1 while the size is unknown.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// The content is continued from an offset.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )

    /// The file is whole.
    ///
    /// It may be moved away before this returns; otherwise it is removed.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: String
    )

    /// The task is over; `error` is `nil` when it finished.
    ///
    /// After a kill it may come again for a task whose program had not returned from it.
    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?)

    /// A background session that was made again has told everything that happened before.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession)

    /// The session is over, by wish or because it could not be opened; nothing comes after this.
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
