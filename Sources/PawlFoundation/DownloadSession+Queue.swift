public import Foundation
public import PawlSession

extension DownloadSession {
    /// Creates a session whose delegate is called on an operation queue, for example the main queue.
    ///
    /// Each call waits until the previous one has returned. A file is removed only after
    /// `didFinishDownloadingTo` has returned. Without a queue the calls are made on a thread of the session.
    public convenience init(
        configuration: DownloadSessionConfiguration,
        delegate: any DownloadSessionDelegate,
        delegateQueue: OperationQueue?
    ) {
        let delegate = delegateQueue.map { QueuedDelegate(delegate, on: $0) } ?? delegate
        self.init(configuration: configuration, delegate: delegate)
    }
}

/// Calls a delegate on an operation queue.
private final class QueuedDelegate: DownloadSessionDelegate {
    private let delegate: any DownloadSessionDelegate
    private let queue: OperationQueue

    init(_ delegate: any DownloadSessionDelegate, on queue: OperationQueue) {
        self.delegate = delegate
        self.queue = queue
    }

    private func call(_ call: @escaping @Sendable () -> Void) {
        queue.addOperations([BlockOperation(block: call)], waitUntilFinished: true)
    }

    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        call { [delegate] in
            delegate.urlSession(
                session,
                downloadTask: downloadTask,
                didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite
            )
        }
    }

    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        call { [delegate] in
            delegate.urlSession(
                session,
                downloadTask: downloadTask,
                didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes
            )
        }
    }

    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: String
    ) {
        call { [delegate] in
            delegate.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        }
    }

    func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: (any Error)?)
    {
        call { [delegate] in delegate.urlSession(session, task: task, didCompleteWithError: error) }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: DownloadSession) {
        call { [delegate] in delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session) }
    }

    func urlSession(_ session: DownloadSession, didBecomeInvalidWithError error: (any Error)?) {
        call { [delegate] in delegate.urlSession(session, didBecomeInvalidWithError: error) }
    }
}
