#if Queue
import Pawl
import PawlBase
import PawlJournal
import Synchronization

// New tasks, and how they come into the queue.
extension DownloadSession {
    func makeTask(
        _ request: SessionRequest?, _ resumeData: [UInt8]?, _ completion: DownloadTask.Completion?,
        of stream: StreamOptions? = nil
    ) -> DownloadTask {
        let data = resumeData.map { bytes in Result { () throws(PawlError) in try DownloadResumeData(bytes) } }
        let requested = request ?? SessionRequest(url: (try? data?.get())?.url ?? "")
        let partial = (try? data?.get())?.partialName.flatMap { SessionFolders.isOwnPartial($0) ? $0 : nil }
        let earlier = partial.flatMap { folders.remembered($0) }
        // The URL in the resume data was changed after it had been used.
        let isChanged = earlier.map { !$0.request.url.hasSameBytes(as: requested.url) } ?? false
        let remembered = isChanged ? nil : earlier
        // In one step: an earlier run's tasks may be restored at any moment.
        let (task, isKnown, end) = book.withLock { book -> (DownloadTask, Bool, End?) in
            if let known = partial.flatMap({ book.living($0, requested.url, completion) }) { return (known, true, nil) }
            var note =
                remembered.flatMap { book.tasks[$0.number] == nil ? $0 : nil }
                ?? TaskNote(
                    number: book.numbers.next(), folder: SessionFolders.random, request: requested, description: nil)
            let isUsed = isChanged || book.tasks.values.contains { $0.partial == partial }
            note.partial = isUsed ? nil : partial
            note.stream = note.stream ?? stream
            let task = DownloadTask(note, session: self, completion: completion)
            if book.end == nil { book.tasks[note.number] = task }
            return (task, false, book.end)
        }
        if isKnown { return task }
        task.facts.withLock { $0.unusedData = resumeData }
        if let end {
            refuse(task, completion, end)
            return task
        }
        if remembered == nil { folders.remember(task.note) }
        if let refusal = requested.refusal(adding: configuration.httpAdditionalHeaders) {
            // It is reported when the task is resumed, as every other failure is.
            task.facts.withLock { $0.refusal = refusal }
        } else {
            work.yield { manager in
                guard let manager else { return }
                manager.perform { self.notify(task) { $0.urlSession(self, didCreateTask: task) } }
                // The task that the resume data was used for before a kill was restored meanwhile.
                guard task.facts.withLock({ $0.id }) == nil else { return }
                if let data { self.prepare(task, data, manager) } else { await self.admit(task, nil, to: manager) }
            }
        }
        return task
    }

    /// Ends a task of a session that accepts none.
    ///
    /// Its handler is called at once. Its delegate is called when it is resumed or cancelled: only then does the program
    /// know the task.
    private func refuse(_ task: DownloadTask, _ completion: DownloadTask.Completion?, _ end: End) {
        let error = end.error(for: task)
        task.facts.withLock { facts in
            (facts.state, facts.error, facts.completion) = (.completed, error, nil)
            facts.isUnreported = completion == nil
        }
        guard let completion else { return }
        Task(executorPreference: Self.executor) { self.call { completion(nil, nil, error) } }
    }

    /// Reports the end of a refused task, once.
    ///
    /// An invalidated session reports nothing of later tasks; the delegate of such a task is called.
    func reportRefused(_ task: DownloadTask) {
        let error = task.facts.withLock { facts -> PawlError? in
            defer { facts.isUnreported = false }
            return facts.isUnreported ? facts.error : nil
        }
        // At once: the session may be invalidated before the call is made.
        guard let error, let receiver = task.delegate ?? (hasFailed ? delegate : nil) else { return }
        Task(executorPreference: Self.executor) {
            self.call {
                receiver.urlSession(self, task: task, didCompleteWithError: receiver.urlSession(self, errorFor: error))
            }
            task.facts.withLock { $0.delegate = nil }
        }
    }

    /// It could not be opened, and the program has not invalidated it.
    private var hasFailed: Bool { if case .failed = book.withLock({ $0.end }) { true } else { false } }

    /// The content of resume data, whose bytes are where the queue expects them.
    private struct Prepared {
        var content: DownloadResumeData
        /// The part file of this library's own resume data, and where it is now.
        var own: (name: String, part: AdoptedPart?)?
    }

    /// Brings the bytes of resume data to where the queue expects them, and admits the task then.
    ///
    /// A file of another file system or another program is copied, for which no other task waits.
    private func prepare(
        _ task: DownloadTask, _ data: Result<DownloadResumeData, PawlError>, _ manager: DownloadManager
    ) {
        task.facts.withLock { $0.isPreparing = true }
        Task(executorPreference: Self.executor) {
            let prepared: Result<Prepared, PawlError>
            do throws(PawlError) { prepared = .success(try await self.prepared(task, try data.get(), manager)) } catch {
                prepared = .failure(error)
            }
            // The session lives: the task has not ended.
            self.work.yield { _ in
                task.facts.withLock { $0.isPreparing = false }
                await self.admit(task, prepared, to: manager)
            }
        }
    }

    private func prepared(
        _ task: DownloadTask, _ content: DownloadResumeData, _ manager: DownloadManager
    ) async throws(PawlError) -> Prepared {
        let request = queueRequest(task)
        guard let name = content.partialName, SessionFolders.isOwnPartial(name) else {
            let folder = configuration.partialFolder ?? folders.partials
            _ = try await manager.takeOver(content, partialFolder: folder, isGiven: false, for: request)
            return Prepared(content: content)
        }
        // Only the first of two tasks from the same data gets the file.
        let isFirst = book.withLock { $0.moving.insert(Bytewise(name)).inserted }
        guard isFirst, folders.takePartial(name) else {
            if isFirst { stopMoving(name) }
            if folders.hasTakenOver(task.folder) { return Prepared(content: content) }
            task.facts.withLock { $0.unusedData = nil }
            throw .session("resume", content.url, because: "its resume data was used already, or its part file is gone")
        }
        do throws(PawlError) {
            let part = try await manager.takeOver(content, partialFolder: folders.root, isGiven: true, for: request)
            return Prepared(content: content, own: (name, part))
        } catch {
            folders.returnPartial(name, nil, in: task.folder)
            stopMoving(name)
            throw error
        }
    }

    private func stopMoving(_ name: String) { book.withLock { _ = $0.moving.remove(Bytewise(name)) } }

    /// Adds a new task to the queue, where it waits to be resumed.
    private func admit(
        _ task: DownloadTask, _ prepared: Result<Prepared, PawlError>?, to manager: DownloadManager
    ) async {
        do throws(PawlError) {
            let id = try await download(prepared?.get(), task, manager).id
            task.facts.withLock { ($0.id, $0.unusedData) = (id, nil) }
            book.withLock { $0.identifiers[id] = task.taskIdentifier }
            // The description may have been set meanwhile.
            try await manager.change(taskDescription: task.note.text, of: id)
        } catch { task.facts.withLock { $0.refusal = error } }
        await follow(task, manager)
    }

    private func download(
        _ prepared: Prepared?, _ task: DownloadTask, _ manager: DownloadManager
    ) async throws(PawlError) -> Download {
        let request = queueRequest(task)
        guard let prepared else { return try await manager.add(request) }
        defer { if let own = prepared.own { stopMoving(own.name) } }
        do throws(PawlError) {
            let download = try await manager.add(prepared.content, as: request)
            if let own = prepared.own { folders.dropPartial(own.name) }
            return download
        } catch {
            if let own = prepared.own { folders.returnPartial(own.name, own.part, in: task.folder) }
            throw error
        }
    }

    private func queueRequest(_ task: DownloadTask) -> DownloadRequest {
        let note = task.note
        var fields = note.request.allHTTPHeaderFields
        for (name, value) in configuration.httpAdditionalHeaders
        where !fields.keys.contains(where: { $0.lowercased() == name.lowercased() }) { fields[name] = value }
        var request = DownloadRequest(note.request.url)
        request.options = configuration.options
        request.options.fileName = nil
        request.options.headers += fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        request.options.folder = note.folder
        request.options.connections = note.stream == nil ? 1 : nil
        request.stream = note.stream
        request.options.retries = configuration.retries
        request.options.timeout = Duration(
            clampingSeconds: note.request.timeoutInterval ?? configuration.timeoutIntervalForRequest)
        request.options.taskDescription = note.text
        request.priority = task.queuePriority
        request.start = .paused
        request.allowsDuplicate = true
        return request
    }
}
#endif
