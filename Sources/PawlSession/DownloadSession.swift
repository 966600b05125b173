public import Pawl
import Synchronization

/// Downloads in the shape of `URLSession`: code that was written for that ports by changing the names of types.
///
/// ```swift
/// let session = DownloadSession(configuration: .background(withIdentifier: "films"), delegate: delegate)
/// let task = session.downloadTask(with: "https://example.org/film.mp4")
/// task.taskDescription = "film"
/// task.resume()
/// ```
///
/// Addresses and paths are text. Each file comes over one connection, so that resume data can say all of what was
/// received. A session holds its delegate and itself until it is invalidated.
public final class DownloadSession: Sendable {
    struct Book {
        var tasks: [Int: DownloadTask] = [:]
        var numbers: [Download.ID: Int] = [:]
        var lastNumber = 0
        var isInvalid = false
    }

    /// There is no manager when the session could not be opened.
    typealias Work = @Sendable (DownloadManager?) async -> Void

    /// How it works; a change after the session was made would mean nothing.
    public let configuration: DownloadSessionConfiguration
    let delegate: (any DownloadSessionDelegate)?
    let folders: SessionFolders
    let book = Mutex(Book())
    let work: AsyncStream<Work>.Continuation
    private static let executor = ThreadExecutor("pawl-session")

    /// Makes a session; a background session goes on where the last one of its identifier was.
    ///
    /// What happened to its tasks meanwhile is told to the delegate, in order. When the folder cannot be used, or another process
    /// has the identifier, the delegate hears of it by `didBecomeInvalidWithError`, and every task fails with the reason.
    public init(
        configuration: DownloadSessionConfiguration,
        delegate: (any DownloadSessionDelegate)? = nil
    ) {
        self.configuration = configuration
        self.delegate = delegate
        folders = SessionFolders(configuration)
        let (stream, work) = AsyncStream<Work>.makeStream()
        self.work = work
        Task(executorPreference: Self.executor) { await self.run(stream) }
    }

    /// Makes a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with url: String) -> DownloadTask {
        downloadTask(with: SessionRequest(url: url))
    }

    /// Makes a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with request: SessionRequest) -> DownloadTask { makeTask(request, nil, nil) }

    /// Makes a task that calls the closure at its end, and the delegate never.
    ///
    /// The file may be moved away before the closure returns; otherwise it is removed. The closure lives as long as the
    /// process: after a kill the delegate hears of the task.
    public func downloadTask(
        with url: String,
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(SessionRequest(url: url), nil, completionHandler)
    }

    /// The same with header fields.
    public func downloadTask(
        with request: SessionRequest,
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(request, nil, completionHandler)
    }

    /// Makes a task that goes on from what another one left.
    ///
    /// Resume data can be used once: another task of the same data fails. That of Apple's `NSURLSession` is understood; its
    /// partial is looked for in ``DownloadSessionConfiguration/partialFolder``.
    public func downloadTask(withResumeData resumeData: [UInt8]) -> DownloadTask {
        makeTask(nil, resumeData, nil)
    }

    /// Makes a task that goes on from what another one left, and calls the closure at its end.
    public func downloadTask(
        withResumeData resumeData: [UInt8],
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(nil, resumeData, completionHandler)
    }

    /// The tasks that are not over, those of an earlier run of the program too.
    public var allTasks: [DownloadTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    /// Calls the closure with the tasks that are not over.
    public func getAllTasks(completionHandler: @escaping @Sendable ([DownloadTask]) -> Void) {
        let answer: @Sendable () -> Void = {
            let tasks = self.book.withLock { Array($0.tasks.values) }
            completionHandler(
                tasks.filter { $0.state != .completed }.sorted { $0.taskIdentifier < $1.taskIdentifier }
            )
        }
        if case .terminated = work.yield({ _ in answer() }) { answer() }
    }

    /// Cancels every task and ends the session.
    public func invalidateAndCancel() {
        work.yield { _ in
            let tasks = self.book.withLock { book in
                book.isInvalid = true
                return Array(book.tasks.values)
            }
            for task in tasks { task.cancel() }
            self.endWhenIdle()
        }
    }

    /// Ends the session when the tasks that it has are over; it takes no new ones.
    public func finishTasksAndInvalidate() {
        work.yield { _ in
            self.book.withLock { $0.isInvalid = true }
            self.endWhenIdle()
        }
    }
}
