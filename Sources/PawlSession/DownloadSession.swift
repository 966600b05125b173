public import Pawl
import Synchronization

/// Downloads with the interface of `URLSession`; <doc:Porting> lists the differences.
///
/// ```swift
/// let session = DownloadSession(configuration: .background(withIdentifier: "films"), delegate: delegate)
/// let task = session.downloadTask(with: "https://example.org/film.mp4")
/// task.taskDescription = "film"
/// task.resume()
/// ```
///
/// URLs and paths are strings. Each file is downloaded over one connection, so that resume data covers
/// everything received. A session retains its delegate and itself until it is invalidated.
public final class DownloadSession: Sendable {
    struct Book {
        var tasks: [Int: DownloadTask] = [:]
        /// Task identifiers by the queue's.
        var identifiers: [Download.ID: Int] = [:]
        var numbers = TaskNumbers()
        var isInvalid = false
    }

    /// `nil` if the session could not be opened.
    typealias Work = @Sendable (DownloadManager?) async -> Void

    /// The configuration; later changes have no effect.
    public let configuration: DownloadSessionConfiguration
    let delegate: (any DownloadSessionDelegate)?
    let folders: SessionFolders
    let book: Mutex<Book>
    let work: AsyncStream<Work>.Continuation
    private static let executor = ThreadExecutor("pawl-session")

    /// Creates a session; a background session continues from the state of the previous one of its
    /// identifier.
    ///
    /// Without a delegate only tasks with a completion handler can run: finished files are given to one of the
    /// two. What finished earlier stays until a session with a delegate is created.
    ///
    /// The delegate receives the events of its tasks since then, in order. When the folder cannot be used, or
    /// another process has the identifier, the delegate receives `didBecomeInvalidWithError`, and every task
    /// fails with the reason.
    public init(
        configuration: DownloadSessionConfiguration,
        delegate: (any DownloadSessionDelegate)? = nil
    ) {
        self.configuration = configuration
        self.delegate = delegate
        folders = SessionFolders(configuration)
        var book = Book()
        if let session = folders.session { book.numbers = TaskNumbers(of: session) }
        self.book = Mutex(book)
        let (stream, work) = AsyncStream<Work>.makeStream()
        self.work = work
        Task(executorPreference: Self.executor) { await self.run(stream) }
    }

    /// Creates a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with url: String) -> DownloadTask {
        downloadTask(with: SessionRequest(url: url))
    }

    /// Creates a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with request: SessionRequest) -> DownloadTask { makeTask(request, nil, nil) }

    /// Creates a task that calls the closure at its end instead of the delegate.
    ///
    /// The file is removed after the closure returns, unless it was moved. The closure does not survive the
    /// process: after a kill the delegate is called for the task.
    public func downloadTask(
        with url: String,
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(SessionRequest(url: url), nil, completionHandler)
    }

    /// Creates a task with header fields and a closure.
    public func downloadTask(
        with request: SessionRequest,
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(request, nil, completionHandler)
    }

    /// Creates a task from resume data.
    ///
    /// Resume data can be used once: a second task with the same data fails. Resume data of Apple's
    /// `NSURLSession` is accepted; its part file is looked up in
    /// ``DownloadSessionConfiguration/partialFolder``.
    public func downloadTask(withResumeData resumeData: [UInt8]) -> DownloadTask {
        makeTask(nil, resumeData, nil)
    }

    /// Creates a task from resume data that calls the closure at its end.
    public func downloadTask(
        withResumeData resumeData: [UInt8],
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        makeTask(nil, resumeData, completionHandler)
    }

    /// The unfinished tasks, including those of an earlier run of the program.
    public var allTasks: [DownloadTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    /// Calls the closure with the unfinished tasks.
    public func getAllTasks(completionHandler: @escaping @Sendable ([DownloadTask]) -> Void) {
        let finish: @Sendable () -> Void = {
            let tasks = self.book.withLock { Array($0.tasks.values) }
            completionHandler(
                tasks.filter { $0.state != .completed }.sorted { $0.taskIdentifier < $1.taskIdentifier }
            )
        }
        if case .terminated = work.yield({ _ in finish() }) { finish() }
    }

    /// Cancels all tasks and invalidates the session.
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

    /// Invalidates the session when its tasks have ended; it accepts no new ones.
    public func finishTasksAndInvalidate() {
        work.yield { _ in
            self.book.withLock { $0.isInvalid = true }
            self.endWhenIdle()
        }
    }
}
