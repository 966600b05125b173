#if Queue
public import Pawl

/// Receives events of a session's tasks, with the methods of `URLSessionDownloadDelegate` in their order.
///
/// All calls are made one at a time on one thread of the session. For each task: `didResumeAtOffset` when
/// earlier bytes are continued, `didWriteData` any number of times, `didFinishDownloadingTo`,
/// `didFinishCollecting`, `didCompleteWithError`; a failed one skips `didFinishDownloadingTo`. For a task with a
/// completion handler, that is called instead of `didFinishDownloadingTo`, `didWriteData` and
/// `didCompleteWithError`. Only `didFinishDownloadingTo` is required: a file that nobody takes would be lost.
///
/// Here a file's location is a path. The library `PawlFoundation` has `URLDownloadSessionDelegate`, whose
/// methods have the signatures of `URLSessionDownloadDelegate`.
public protocol DownloadSessionDelegate: DownloadTaskDelegate {
    /// Data was written; `totalBytesExpectedToWrite` is −1 while the size is unknown.
    func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// The transfer was resumed at an offset.
    func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)

    /// Segments of a stream were joined to what is on disk; `didWriteData` follows with the bytes.
    ///
    /// Only for tasks that `makeAssetDownloadTask` of the session has made.
    func urlSession(
        _ session: DownloadSession, assetDownloadTask: DownloadTask, didLoad segments: DownloadSnapshot.Segments)

    /// The file is complete.
    ///
    /// It is removed after this returns, unless it was moved. Of a stream, move ``DownloadTask/otherLocations`` first: the file
    /// at `location` stands for all, and is reported again if the program was killed before it was moved.
    func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String)
}

extension DownloadSessionDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession, downloadTask: DownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: DownloadSession, assetDownloadTask: DownloadTask, didLoad segments: DownloadSnapshot.Segments
    ) {}
}
#endif
