#if Queue
import Pawl
import PawlBase
import Synchronization

// Requests to the queue, one at a time.
extension DownloadSession {
    func run(_ stream: AsyncStream<Work>) async {
        do throws(PawlError) {
            try DownloadManager.check(root: configuration.stateFolder)
            SessionFolders.sweep(configuration.stateFolder)
            let claim = try await claim()
            let manager = try await open()
            queue.withLock { $0 = manager }
            try await manager.limit(connectionsPerHost: configuration.httpMaximumConnectionsPerHost)
            // The service runs as many at once.
            if claim != nil {
                try await manager.change(maximumConcurrentDownloads: configuration.maximumConcurrentDownloads)
            }
            try await restore(manager)
            for await item in stream { await item(manager) }
            await close(manager, claim)
        } catch { await fail(with: error, stream) }
    }

    /// Claims the identifier; an invalidated session of this program that still has it is waited for.
    private func claim() async throws(PawlError) -> SessionClaim? {
        guard let session = folders.session else { return nil }
        let limit = ContinuousClock.now + .seconds(configuration.handoverPatience)
        // Those of before come first, also where they wait themselves.
        _ = await hasClosedEarlier(session.path, since: 0, until: limit)
        while true {
            let count = Self.closing.count
            do throws(PawlError) { return try session.claim() } catch {
                guard error.code == .alreadyDownloading,
                    await hasClosedEarlier(session.path, since: count, until: limit)
                else { throw error }
            }
        }
    }

    private func hasClosedEarlier(
        _ path: String, since count: UInt64, until limit: ContinuousClock.Instant
    ) async -> Bool {
        let turn = turn
        let wait = Task(executorPreference: Self.executor) {
            await Self.closing.wait(for: path, before: turn, since: count)
        }
        let timer = Task(executorPreference: Self.executor) {
            try await Task.sleep(until: limit)
            wait.cancel()
        }
        defer { timer.cancel() }
        return await wait.value
    }

    /// Invalidated sessions, by their folders, until they are closed.
    static let closing = ClosingOwners<String>()

    private func hasClosed() {
        let wasClosing = book.withLock { book in
            defer { book.isClosing = false }
            return book.isClosing
        }
        if wasClosing, let path = folders.session?.path { Self.closing.end(path, turn) }
    }

    /// Opens the queue; if the service holds it, waits until it is released.
    private func open() async throws(PawlError) -> DownloadManager {
        var options = DownloadManager.Configuration()
        options.maximumConcurrentDownloads = configuration.maximumConcurrentDownloads
        options.transport = configuration.transport
        // No download may run before its task is restored.
        options.holdsAtStart = true
        // As with NSURLSession, such a task fails.
        options.waitsForDisk = false
        options.keepsResponses = true
        options.isMeasured = true
        options.hooks = hooks
        options.judge = { [weak self] id, question in
            guard let self else { return .usual }
            return await judge(id, question)
        }
        options.endsWithErrorResponses = !configuration.failsOnErrorStatus
        let limit = ContinuousClock.now + .seconds(configuration.handoverPatience)
        while true {
            do throws(PawlError) {
                return try await DownloadManager(root: folders.root, options, delegate: SessionBridge(session: self))
            } catch {
                guard error.code == .alreadyDownloading, let session = folders.session else { throw error }
                guard await session.waitUntilFree(until: limit) else { throw .notLetGo(session.path) }
            }
        }
    }

    /// Waits until all events were delivered; then releases the identifier.
    private func close(_ manager: DownloadManager, _ claim: SessionClaim?) async {
        await withCheckedContinuation { continuation in manager.perform { continuation.resume() } }
        await manager.shutDown()
        claim?.release()
        hasClosed()
        folders.dropPassing()
        invalidated(nil)
    }

    private func invalidated(_ error: PawlError?) {
        queue.withLock { $0 = nil }
        if let delegate {
            let error = error.map { delegate.urlSession(self, errorFor: $0) }
            call { delegate.urlSession(self, didBecomeInvalidWithError: error) }
        }
        // One that could not be opened still has to report the tasks that are made, until the program invalidates it.
        let isLast = book.withLock { book in
            book.isOver = true
            if case .invalidated = book.end { return true }
            return false
        }
        if isLast { dropDelegate() }
    }

    /// Opening failed: every task, also later ones, ends with the reason.
    private func fail(with error: PawlError, _ stream: AsyncStream<Work>) async {
        let tasks = book.withLock { book in
            if book.end == nil { book.end = .failed(error) }
            return Array(book.tasks.values)
        }
        hasClosed()
        work.finish()
        for await item in stream { await item(nil) }
        for task in tasks.sorted(by: { $0.taskIdentifier < $1.taskIdentifier }) {
            complete(task, End.failed(error).error(for: task))
        }
        invalidated(error)
    }

    /// Ends as soon as no task is left.
    func endWhenIdle() { if book.withLock({ $0.end != nil && $0.tasks.isEmpty }) { work.finish() } }

    // MARK: requests of tasks

    func stateChanged(_ task: DownloadTask) { work.yield { if let manager = $0 { await self.follow(task, manager) } } }

    func noteChanged(_ task: DownloadTask) {
        work.yield { manager in
            guard let manager, let id = task.facts.withLock({ $0.id }) else { return }
            try? await manager.change(taskDescription: task.note.text, of: id)
        }
    }

    func priorityChanged(_ task: DownloadTask) {
        work.yield { manager in
            guard let manager, let id = task.facts.withLock({ $0.id }) else { return }
            _ = try? await manager.change(priority: task.queuePriority, of: id)
        }
    }

    /// Starts a task whose time has come.
    private func run(
        _ task: DownloadTask, _ id: Download.ID?, _ refusal: PawlError?, _ manager: DownloadManager
    ) async throws(PawlError) {
        guard let id else {
            if let refusal { throw refusal }
            return
        }
        let isHeard = task.facts.withLock { $0.completion != nil || $0.isRestored } || receiver(of: task) != nil
        guard isHeard else { throw .unheard(task.originalRequest?.url ?? "") }
        guard configuration.timeoutIntervalForResource > 0 else {
            throw .noTime(configuration.timeoutIntervalForResource, task.originalRequest?.url ?? "")
        }
        let now = SessionFolders.now
        if let begin = task.facts.withLock({ $0.begin }), begin > now {
            try await manager.pause(id)
            task.facts.withLock { $0.looksAgain = begin }
            return look(at: begin)
        }
        let (first, isNew) = task.facts.withLock { facts in
            defer { facts.firstResume = facts.firstResume ?? now }
            return (facts.firstResume ?? now, facts.firstResume == nil)
        }
        if isNew { try await manager.change(taskDescription: task.note.text, of: id) }
        watchTime(of: task, since: first)
        // If it failed in the meantime, it is not retried.
        try await manager.resume(unlessEnded: id)
    }

    /// Brings the queue to the task's current state; intermediate requests are skipped.
    func follow(_ task: DownloadTask, _ manager: DownloadManager) async {
        let (state, id, refusal, isPreparing) = task.facts.withLock { ($0.state, $0.id, $0.refusal, $0.isPreparing) }
        // It follows afterwards.
        if isPreparing { return }
        do throws(PawlError) {
            switch state {
            case .running: try await run(task, id, refusal, manager)
            case .suspended: if let id { try await manager.pause(id, keepingSlot: true) }
            case .canceling: await cancel(task, id, manager)
            case .completed: break
            }
        } catch {
            let error = await resumable(error, task, manager)
            manager.perform { self.complete(task, error) }
        }
    }
}

extension PawlError {
    fileprivate static func notLetGo(_ path: String) -> PawlError {
        PawlError(
            Failure(
                .alreadyDownloading, "cannot open the session", at: path,
                because: "the service, or a program with an older version of this library, did not release its queue",
                remedy: "try again; 'pawl stop' ends the service"))
    }

    /// A finished file would be removed without having been seen.
    fileprivate static func unheard(_ url: String) -> PawlError {
        PawlError(
            Failure(
                .badOption, "cannot start", at: Redaction.address(url),
                because: "its session has no delegate and the task no completion handler to receive the file"))
    }

    fileprivate static func noTime(_ seconds: Double, _ url: String) -> PawlError {
        PawlError(
            Failure(
                .badOption, "cannot start", at: Redaction.address(url),
                because: "timeoutIntervalForResource is \(seconds), and must be a number of seconds above 0"))
    }

    static func session(_ what: String, _ url: String, because why: String) -> PawlError {
        PawlError(Failure(.cannotResume, "cannot \(what)", at: Redaction.address(url), because: why))
    }
}
#endif
