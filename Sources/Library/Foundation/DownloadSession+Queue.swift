#if Queue
public import Foundation
public import PawlSession

extension DownloadSession {
    /// Creates a session whose delegate and completion handlers are called on an operation queue, for example the
    /// main queue.
    ///
    /// Each call waits until the previous one has returned. A file is removed only after
    /// `didFinishDownloadingTo` has returned. Without a queue a serial one is made.
    public convenience init(
        configuration: DownloadSessionConfiguration, delegate: (any DownloadTaskDelegate)?,
        delegateQueue: OperationQueue?
    ) {
        let queue = delegateQueue ?? Self.serialQueue()
        self.init(
            configuration: configuration, delegate: delegate,
            caller: { call in
                // A suspended queue is the caller's own decision.
                queue.addOperations([BlockOperation(block: call)], waitUntilFinished: true)
            }, callerValue: queue)
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "Pawl session"
        return queue
    }

    /// The queue on which the delegate and completion handlers are called; `nil` for a session that was created
    /// without this parameter, which calls them on a thread of its own.
    public var delegateQueue: OperationQueue? { callerValue as? OperationQueue }
}
#endif
