import PawlCore
import PawlEngine

extension DownloadManager {
    /// Adds a download of `source`, or lets the known one of that address go on.
    ///
    /// The known one takes over what `options` say otherwise than by default: headers, credentials, limits, retries,
    /// proxies and the like; one that runs starts again for that. Another folder, name or ``DownloadOptions/range`` is
    /// another file, and makes a download of its own. A ``DownloadOptions/checksum`` or
    /// ``DownloadOptions/expectedLength`` other than the known one's is refused, and so is one that comes when the file is
    /// finished. A known download that has finished stays as it is while its file is there. Throws ``PawlError`` with code 28 when
    /// the address or an option cannot be used; only `http`, `https`, `ftp`, `ftps` and `sftp` can.
    public func add(
        _ source: String,
        options: DownloadOptions = DownloadOptions(),
        start: DownloadRequest.Start = .enqueued
    ) async throws(PawlError) -> Download {
        var request = DownloadRequest(source)
        request.options = options
        request.start = start
        return try await add(request)
    }

    /// Adds one download, see ``add(_:options:start:)``.
    ///
    /// `completion`, when given, is called once at its end, on the delegate's thread, and the delegate is not called for
    /// this download. It lives as long as the process: after a restart the delegate hears of it.
    public func add(
        _ request: DownloadRequest,
        completion: (@Sendable (Result<DownloadedFile, PawlError>) -> Void)? = nil
    ) async throws(PawlError) -> Download {
        let order: AddOrder
        do throws(Failure) { order = try AddOrder(request, settingsCache: settingsCache) } catch {
            throw PawlError(error)
        }
        let download = try await ask { keeper throws(Failure) in
            let record = try keeper.add(order)
            if let completion {
                keeper.broadcaster.dispatcher.expect(Download.ID(rawValue: record.id.rawValue), completion)
            }
            keeper.perform(keeper.machine.startNext())
            return keeper.handle(record)
        }
        guard let download else { throw .gone(request.source, because: "its manager was shut down") }
        return download
    }

    /// Adds many downloads in one transaction, in this order.
    ///
    /// Answers for each with its name or with why it was refused; one that is refused keeps none of the others out.
    public func add(_ requests: [DownloadRequest]) async throws(PawlError) -> [Result<Download.ID, PawlError>]
    {
        let orders = requests.map { request in
            Result { () throws(Failure) in try AddOrder(request, settingsCache: settingsCache) }
        }
        return try await ask { keeper throws(Failure) in
            var answers: [Result<Download.ID, PawlError>] = []
            for order in orders {
                do throws(Failure) {
                    let record = try keeper.add(try order.get())
                    answers.append(.success(Download.ID(rawValue: record.id.rawValue)))
                } catch {
                    answers.append(.failure(PawlError(error)))
                }
            }
            keeper.perform(keeper.machine.startNext())
            return answers
        }
    }

    /// Fetches small content into memory, beside the queue.
    ///
    /// As ``Downloader/data(from:maximumSize:options:)``: content of more than `maximumSize` bytes ends with
    /// ``PawlError/Code/tooLarge``.
    public func data(
        from source: String,
        maximumSize: Int = 16 << 20,
        options: DownloadOptions = DownloadOptions()
    ) async throws(PawlError) -> [UInt8] {
        let memory = MemoryDisk(limit: Int64(maximumSize))
        let options = try options.forMemory()
        var job: Job
        do throws(Failure) {
            job = try Job(source: source, options: options, settingsCache: settingsCache)
        } catch {
            throw PawlError(error)
        }
        job.disk = memory
        let errand = job
        let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
            let isHeard = thread.post { keeper in
                keeper.fetch(errand) { continuation.resume(returning: $0) }
            }
            if !isHeard { continuation.resume(returning: .failure(.closed)) }
        }
        if case .failure(let failure) = result { throw PawlError(failure) }
        return memory.bytes
    }
}

// Content for memory: the engine runs it at once, and no queue knows of it.
extension QueueKeeper {
    func fetch(_ job: Job, _ completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        guard closing.isEmpty else { return completion(.failure(.closed)) }
        let (id, _) = engine.add(job)
        memoryDownloads[id] = completion
        engine.resume(id)
    }

    func memoryDownloadEnded(_ report: EngineEvent) {
        let result: Result<Void, Failure>? =
            switch report.notice {
            case .finished: .success(())
            case .failed(let failure): .failure(failure)
            // Nobody but a shutdown pauses it.
            case .phase(.paused): .failure(.closed)
            case .phase, .started, .notice, .retrying: nil
            }
        guard let result, let completion = memoryDownloads.removeValue(forKey: report.id) else { return }
        engine.forget(report.id)
        completion(result)
    }
}
