#if Queue
package import PawlBase
import PawlCore
import PawlDisk
import PawlEngine
import PawlJournal
import PawlQueue
import Synchronization

extension DownloadManager {
    /// Adds a download of `source`, or resumes the known one of that URL.
    ///
    /// The known one adopts the `options` that differ from the default: headers, credentials, limits,
    /// retries, proxies and so on; a running one restarts for that. A different folder, name or
    /// ``DownloadOptions/range`` means another file and adds a separate download. A
    /// ``DownloadOptions/checksum`` or ``DownloadOptions/expectedLength`` that differs from the known one's
    /// is refused, and so is one for a finished file. A known download that has finished is left unchanged
    /// while its file exists. Throws ``PawlError`` with code 28 when the URL or an option is invalid; the
    /// schemes are `http`, `https`, `ftp`, `ftps`, `sftp` and `s3`.
    public func add(
        _ source: String, options: DownloadOptions? = nil, start: DownloadRequest.Start = .enqueued
    ) async throws(PawlError) -> Download {
        var request = DownloadRequest(source, options: options)
        request.start = start
        return try await add(request)
    }

    /// Adds one download, see ``add(_:options:start:)``.
    ///
    /// `completion`, if given, is called once at its end, on the delegate's thread, instead of the delegate's
    /// methods. It does not survive a restart: then the delegate is called.
    public func add(
        _ request: DownloadRequest, completion: (@Sendable (Result<DownloadedFile, PawlError>) -> Void)? = nil
    ) async throws(PawlError) -> Download {
        let order: AddOrder
        do throws(Failure) { order = try AddOrder(request, defaults: options, settingsCache: settingsCache) } catch {
            throw PawlError(error, of: request.source)
        }
        let download = try await step { step throws(Failure) -> Download? in
            guard case .added(let record) = try step.perform(.add(order)) else { return nil }
            if let completion {
                let id = Download.ID(rawValue: record.id.rawValue)
                step.keeper.broadcaster.dispatcher.expect(id, completion)
            }
            return step.keeper.handle(record)
        }
        guard let download else { throw .gone(request.source, "cannot add", because: "its manager was shut down") }
        return download
    }

    /// Adds many downloads in one transaction, in this order.
    ///
    /// Returns an identifier or the reason of the refusal for each; a refused request does not affect the
    /// others.
    public func add(_ requests: [DownloadRequest]) async throws(PawlError) -> [Result<Download.ID, PawlError>] {
        try await addAll(requests.map { .success($0) }).map { $0.map(\.id) }
    }

    /// The result of one request among several.
    package struct Added: Sendable {
        package var id: Download.ID
        /// The known download of the URL, which has finished and whose file is there: nothing is requested.
        package var isFinished: Bool
        /// The queue had a download of the URL: it is resumed, and nothing was added.
        package var isKnown: Bool
        /// It waits until it is resumed or started.
        package var isPaused: Bool
    }

    /// Adds as ``add(_:)-swift.method``, and says which requests met a finished download.
    ///
    /// A request that was refused before keeps its reason.
    package func addAll(
        _ requests: [Result<DownloadRequest, Failure>]
    ) async throws(PawlError) -> [Result<Added, PawlError>] {
        let orders = requests.map { request in
            Result { () throws(Failure) in
                try AddOrder(try request.get(), defaults: options, settingsCache: settingsCache)
            }
        }
        return try await step { step throws(Failure) in
            let keeper = step.keeper
            var results: [Result<Added, PawlError>] = []
            for order in orders {
                do throws(Failure) {
                    let (record, isKnown) = try keeper.addOrResume(try order.get())
                    let id = Download.ID(rawValue: record.id.rawValue)
                    let isFinished = record.state == .finished
                    results.append(
                        .success(
                            Added(id: id, isFinished: isFinished, isKnown: isKnown, isPaused: record.state == .paused)))
                } catch { results.append(.failure(PawlError(error))) }
            }
            keeper.perform(keeper.machine.startNext())
            return results
        }
    }

    /// Downloads small content into memory, outside the queue.
    ///
    /// As ``content(from:maximumSize:options:hooks:)``, the bytes alone.
    public func data(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) async throws -> [UInt8] {
        try await content(from: source, maximumSize: maximumSize, options: options, hooks: hooks).bytes
    }

    /// Downloads small content into memory, with the response that it came by, outside the queue.
    ///
    /// As ``Downloader/content(from:maximumSize:options:hooks:)``: content of more than `maximumSize` bytes fails with
    /// ``PawlError/Code/tooLarge``, and cancelling the task that waits stops the transfer and throws `CancellationError`.
    public func content(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) async throws -> DownloadedContent {
        let memory = MemorySink(limit: Int64(maximumSize), digests: ContentDigest.digests)
        let job = try passingJob(source, options ?? self.options, to: memory.destination)
        let fetch = MemoryFetch()
        let result: Result<DownloadedFile, PawlError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isHeard = thread.post { keeper in
                    keeper.run(fetch, job, hooks) { continuation.resume(returning: $0) }
                }
                if !isHeard { continuation.resume(returning: .failure(PawlError(.closed))) }
            }
        } onCancel: {
            thread.post { $0.cancel(fetch) }
        }
        do throws(PawlError) { return DownloadedContent(memory.bytes, of: try result.get()) } catch {
            // Only the handler above cancels it.
            if error.code == .unfinished, Task.isCancelled { throw CancellationError() }
            throw error
        }
    }

    /// A job outside the queue, whose content leaves nothing in the root.
    func passingJob(_ source: String, _ options: DownloadOptions, to destination: Destination) throws(PawlError) -> Job
    {
        do throws(Failure) {
            var job = try Job(source: source, options: options, settingsCache: settingsCache)
            job.deliver(to: destination)
            return job
        } catch { throw PawlError(error, of: source) }
    }
}

// Content for memory and streams: the engine runs it at once, and no queue knows of it.
extension QueueKeeper {
    /// `owner`: the stream that it is a part of, which the program is asked and told about in its place.
    func run(
        _ fetch: MemoryFetch, _ job: Job, _ hooks: DownloadHooks?, for owner: DownloadID? = nil,
        onStart: (ProgressCell) -> Void = { _ in },
        _ completion: @escaping @Sendable (Result<DownloadedFile, PawlError>) -> Void
    ) {
        guard closing.isEmpty else { return completion(.failure(PawlError(.closed))) }
        var job = job
        let record = owner.flatMap { ids[$0] }
        let asked = Download.ID(rawValue: record?.rawValue ?? 0)
        job.use(hooks ?? self.hooks, of: asked)
        addCertificateJudge(to: &job, of: asked)
        job.isMeasured = isMeasured && record != nil
        let (id, progress) = engine.add(job)
        let isCancelled = fetch.state.withLock { state in
            // The cancellation may have come first.
            if case .cancelled = state { return true }
            state = .running(id)
            return false
        }
        guard !isCancelled else {
            engine.forget(id)
            return completion(.failure(PawlError(.cancelled)))
        }
        onStart(progress)
        memoryDownloads[id] = MemoryDownload(owner: record, completion: completion)
        engine.start(id)
    }

    func cancel(_ fetch: MemoryFetch) {
        let before = fetch.state.withLock { state in
            defer { state = .cancelled }
            return state
        }
        guard case .running(let id) = before, let found = memoryDownloads.removeValue(forKey: id) else { return }
        engine.remove(id)
        found.completion(.failure(PawlError(.cancelled)))
    }

    func heardFromMemory(_ report: EngineEvent) {
        if let owner = memoryDownloads[report.id]?.owner {
            if !report.transfers.isEmpty { collect(report.transfers, of: owner) }
            if case .phase(.waitingForNetwork) = report.update, runs[owner]?.isOffline == false {
                runs[owner]?.isOffline = true
                waitsForNetwork(owner)
            }
            if case .started = report.update { runs[owner]?.isOffline = false }
        }
        let result: Result<DownloadedFile, PawlError>? =
            switch report.kind {
            case .finished(let file): .success(file)
            case .failed(let error): .failure(error)
            // Nobody but a shutdown pauses it.
            case .state(.paused): .failure(PawlError(.closed))
            case .state, .started, .notice, .retry, .added, .changed, .queueChanged, .missed: nil
            }
        guard let result, let found = memoryDownloads.removeValue(forKey: report.id) else { return }
        engine.forget(report.id)
        found.completion(result)
    }
}

/// What the engine downloads for another than the queue.
struct MemoryDownload {
    /// The stream that it is a part of.
    let owner: QueueID?
    let completion: @Sendable (Result<DownloadedFile, PawlError>) -> Void
}

/// One run of ``DownloadManager/data(from:maximumSize:options:hooks:)`` or ``DownloadManager/body(of:options:hooks:)``.
final class MemoryFetch: Sendable {
    enum State {
        case waiting
        case running(DownloadID)
        case cancelled
    }

    let state = Mutex(State.waiting)
}

extension Failure {
    static let cancelled = Failure(.unfinished, "cannot finish", at: "the download", because: "it was cancelled")
}
#endif
