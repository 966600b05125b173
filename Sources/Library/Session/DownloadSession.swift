#if Queue
public import Pawl
import PawlBase
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
        /// The partial files of this library's resume data whose bytes are being moved for a new task.
        var moving: Set<Bytewise<String>> = []
        /// Why no task is accepted any more.
        var end: End?
        /// Its invalidity was reported to the delegate.
        var isOver = false
        /// It is invalidated, and holds its identifier until it is closed.
        var isClosing = false
        /// Seconds since 1970 when the tasks' times are looked at.
        var nextLook: Double?

        /// The living task that the resume data of this partial file was used for, unless the URL in it was changed
        /// since.
        func living(_ partial: String, _ url: String, _ completion: DownloadTask.Completion?) -> DownloadTask? {
            let owner = tasks.values.first { $0.partial.hasSameBytes(as: partial) }
            guard let task = owner, task.note.request.url.hasSameBytes(as: url) else { return nil }
            return task.facts.withLock { facts in
                // A file cannot be given to two handlers.
                guard facts.isAlive, facts.completion == nil || completion == nil else { return nil }
                facts.completion = facts.completion ?? completion
                return task
            }
        }
    }

    /// Why a session accepts no tasks.
    enum End {
        case invalidated
        /// It could not be opened.
        case failed(PawlError)

        func error(for task: DownloadTask) -> PawlError {
            let url = task.plainRequest.url
            var error = PawlError.session("start", url, because: "its session was invalidated")
            if case .failed(let reason) = self { error = reason }
            error.failingURL = url
            // It is as good as before.
            error.downloadTaskResumeData = task.facts.withLock { $0.unusedData }
            return error
        }
    }

    /// `nil` if the session could not be opened.
    typealias Work = @Sendable (DownloadManager?) async -> Void

    /// The configuration; later changes have no effect.
    public let configuration: DownloadSessionConfiguration
    /// The delegate, which the session retains until it is invalidated; one that could not be opened keeps it until the
    /// program invalidates it, for the tasks that are still made.
    public var delegate: (any DownloadTaskDelegate)? { delegates.withLock { $0 } }
    private let delegates: Mutex<(any DownloadTaskDelegate)?>
    /// A text of the caller's own, for logs.
    public var sessionDescription: String? {
        get { description.withLock { $0 } }
        set { description.withLock { $0 = newValue } }
    }
    private let description = Mutex<String?>(nil)
    /// Calls the delegate and completion handlers, and returns when the call has returned.
    private let caller: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    /// The caller's own value for ``caller``, such as an operation queue.
    package let callerValue: (any Sendable)?
    let folders: SessionFolders
    let book: Mutex<Book>
    let work: AsyncStream<Work>.Continuation
    /// While the session is open.
    let queue = Mutex<DownloadManager?>(nil)
    static let executor = ThreadExecutor("pawl-session")
    /// The place in the order in which sessions are made.
    let turn = DownloadSession.closing.takeTurn()

    /// Creates a session; a background session continues from the state of the previous one of its
    /// identifier.
    ///
    /// Without a ``DownloadSessionDelegate`` only tasks with a completion handler, or with a delegate of that kind
    /// of their own, can run: finished files are given to one of them. What finished earlier stays until a session
    /// with such a delegate is created.
    ///
    /// The delegate receives the events of its tasks since then, in order. When the folder cannot be used, or
    /// another process has the identifier, the delegate receives `didBecomeInvalidWithError`, and every task
    /// fails with the reason, those that are made later when they are resumed.
    public convenience init(configuration: DownloadSessionConfiguration, delegate: (any DownloadTaskDelegate)? = nil) {
        self.init(configuration: configuration, delegate: delegate, caller: nil, callerValue: nil)
    }

    /// Creates a session that makes its calls through `caller`, which returns when the call has returned.
    package init(
        configuration: DownloadSessionConfiguration, delegate: (any DownloadTaskDelegate)?,
        caller: (@Sendable (@escaping @Sendable () -> Void) -> Void)?, callerValue: (any Sendable)?
    ) {
        self.configuration = configuration
        self.caller = caller
        self.callerValue = callerValue
        delegates = Mutex(delegate)
        folders = SessionFolders(configuration)
        var book = Book()
        if let session = folders.session, !configuration.stateFolder.isEmpty { book.numbers = TaskNumbers(of: session) }
        self.book = Mutex(book)
        let (stream, work) = AsyncStream<Work>.makeStream()
        self.work = work
        Task(executorPreference: Self.executor) { await self.run(stream) }
    }

    /// Creates a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with url: String) -> DownloadTask { downloadTask(with: SessionRequest(url: url)) }

    /// Creates a task; nothing runs before ``DownloadTask/resume()``.
    public func downloadTask(with request: SessionRequest) -> DownloadTask { makeTask(request, nil, nil) }

    /// Creates a task for a stream (HLS or DASH), whose segments become one file; nothing runs before
    /// ``DownloadTask/resume()``.
    ///
    /// It is what `AVAssetDownloadURLSession` has a task for. `url` is that of a playlist or an MPD. The file is reported as
    /// that of any task is, once, and ``DownloadTask/otherLocations`` has further ones. A task of a background session goes on
    /// behind the last segment that is on disk, whatever ended the program. It has no resume data, and an error status is
    /// always a failure. If the response is no playlist, the URL is downloaded as a file.
    public func makeAssetDownloadTask(with url: String, options: StreamOptions = StreamOptions()) -> DownloadTask {
        makeAssetDownloadTask(with: SessionRequest(url: url), options: options)
    }

    /// Creates a task for a stream, with header fields, which are sent to the playlist's origin only.
    public func makeAssetDownloadTask(
        with request: SessionRequest, options: StreamOptions = StreamOptions()
    ) -> DownloadTask { makeTask(request, nil, nil, of: options) }

    /// Creates a task that calls the closure at its end instead of the delegate.
    ///
    /// The file is removed after the closure returns, unless it was moved. The closure does not survive the
    /// process: after a kill the delegate is called for the task.
    public func downloadTask(
        with url: String, completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask { makeTask(SessionRequest(url: url), nil, completionHandler) }

    /// Creates a task with header fields and a closure.
    public func downloadTask(
        with request: SessionRequest,
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask { makeTask(request, nil, completionHandler) }

    /// Creates a task from resume data.
    ///
    /// Resume data can be used once: while its task lives, also after a relaunch, that task is returned for the
    /// same data, in the state that it has; a task of another session, or one made after its end, fails with code
    /// 8. A task that is cancelled or fails before its first response has resume data again, and one that cannot be
    /// started leaves the data valid. Resume data of Apple's
    /// `NSURLSession` is accepted; its part file is looked up in
    /// ``DownloadSessionConfiguration/partialFolder``.
    public func downloadTask(withResumeData resumeData: [UInt8]) -> DownloadTask { makeTask(nil, resumeData, nil) }

    /// Creates a task from resume data that calls the closure at its end.
    public func downloadTask(
        withResumeData resumeData: [UInt8],
        completionHandler: @escaping @Sendable (String?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask { makeTask(nil, resumeData, completionHandler) }

    /// The unfinished tasks, including those of an earlier run of the program.
    public var allTasks: [DownloadTask] {
        get async {
            await withCheckedContinuation { continuation in
                // It waits for no call of the delegate, which may wait for it.
                let isHeard = work.yield { _ in continuation.resume(returning: self.unfinished) }
                if case .terminated = isHeard { continuation.resume(returning: unfinished) }
            }
        }
    }

    /// Calls the closure with the unfinished tasks, in the order of the delegate's calls: a task whose end was reported
    /// is not among them.
    public func getAllTasks(completionHandler: @escaping @Sendable ([DownloadTask]) -> Void) {
        let isHeard = work.yield { manager in
            let list: @Sendable () -> Void = { self.call { completionHandler(self.unfinished) } }
            if let manager { manager.perform(list) } else { list() }
        }
        // On the caller's thread, which may be that of the delegate.
        if case .terminated = isHeard { completionHandler(unfinished) }
    }

    private var unfinished: [DownloadTask] {
        let tasks = book.withLock { Array($0.tasks.values) }
        return tasks.filter { $0.state != .completed }.sorted { $0.taskIdentifier < $1.taskIdentifier }
    }

    /// Calls the closure with the unfinished tasks: no data tasks, no upload tasks, and the download tasks.
    public func getTasksWithCompletionHandler(
        _ completionHandler: @escaping @Sendable ([DownloadTask], [DownloadTask], [DownloadTask]) -> Void
    ) { getAllTasks { completionHandler([], [], $0) } }

    /// The unfinished tasks: no data tasks, no upload tasks, and the download tasks.
    public var tasks: ([DownloadTask], [DownloadTask], [DownloadTask]) { get async { await ([], [], allTasks) } }

    /// Calls the closure; a session stores no cookies, credentials or cache that could be removed.
    public func reset(completionHandler: @escaping @Sendable () -> Void) { getAllTasks { _ in completionHandler() } }

    /// A session stores no cookies, credentials or cache that could be removed.
    public func reset() async { _ = await allTasks }

    /// Calls the closure; what a session stores is on disk already.
    public func flush(completionHandler: @escaping @Sendable () -> Void) { reset(completionHandler: completionHandler) }

    /// What a session stores is on disk already.
    public func flush() async { await reset() }

    /// Cancels all tasks and invalidates the session.
    public func invalidateAndCancel() {
        refuseTasks()
        work.yield { _ in
            for task in self.book.withLock({ Array($0.tasks.values) }) { task.cancel() }
            self.endWhenIdle()
        }
    }

    /// Invalidates the session when its tasks have ended; tasks made from now on end at once with an error.
    public func finishTasksAndInvalidate() {
        refuseTasks()
        work.yield { _ in self.endWhenIdle() }
    }

    /// Tasks made from now on end at once.
    private func refuseTasks() {
        let isOver = book.withLock { book in
            if book.end == nil {
                book.isClosing = true
                if let path = folders.session?.path { Self.closing.begin(path, turn) }
            }
            book.end = .invalidated
            return book.isOver
        }
        if isOver { dropDelegate() }
    }
}

extension DownloadSession {
    /// Makes a call of the delegate or of a completion handler.
    func call(_ body: @escaping @Sendable () -> Void) { if let caller { caller(body) } else { body() } }

    /// Calls the task's delegate, else the session's.
    func notify(_ task: DownloadTask, _ body: @escaping @Sendable (any DownloadTaskDelegate) -> Void) {
        guard let delegate = task.delegate ?? delegate else { return }
        call { body(delegate) }
    }

    /// Calls the receiver of the task's files.
    func tellReceiver(_ task: DownloadTask, _ body: @escaping @Sendable (any DownloadSessionDelegate) -> Void) {
        guard let receiver = receiver(of: task) else { return }
        call { body(receiver) }
    }

    func receiver(of task: DownloadTask) -> (any DownloadSessionDelegate)? {
        task.delegate as? any DownloadSessionDelegate ?? delegate as? any DownloadSessionDelegate
    }

    /// The session's delegate, if the other one is that of a task.
    package func delegate(behind other: any DownloadTaskDelegate) -> (any DownloadTaskDelegate)? {
        delegate.flatMap { $0 === other ? nil : $0 }
    }

    /// The last call was made.
    func dropDelegate() { delegates.withLock { $0 = nil } }
}
#endif
