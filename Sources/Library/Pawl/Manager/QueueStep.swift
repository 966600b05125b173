package import PawlBase
import PawlQueue

/// One step of the queue: commands or queries that no other call interrupts, carried out on the queue's thread.
///
/// A step is over when its changes are written and the removals that it began are complete. It must not be used
/// outside of its closure.
package final class QueueStep {
    let keeper: QueueKeeper
    /// The write, and the removals that are not complete.
    private var unfinished = 1
    private var failure: Failure?
    fileprivate var completion: ((Failure?) -> Void)?

    fileprivate init(_ keeper: QueueKeeper) { self.keeper = keeper }

    fileprivate func finishOne(_ failure: Failure?) {
        if self.failure == nil { self.failure = failure }
        unfinished -= 1
        if unfinished == 0 { complete() }
    }

    /// After a failed write the removals wait until one succeeds, which may be never.
    fileprivate func written(_ failure: Failure?) {
        finishOne(failure)
        if failure != nil { complete() }
    }

    private func complete() {
        completion?(failure)
        completion = nil
    }

    /// Adds a new download, or resumes the known one of the same URL.
    package func add(_ request: DownloadRequest) throws(Failure) -> Download.ID {
        Download.ID(rawValue: try add(AddOrder(request, settingsCache: keeper.settingsCache)).id.rawValue)
    }

    func add(_ order: AddOrder) throws(Failure) -> QueueRecord {
        let record = try keeper.add(order)
        keeper.perform(keeper.machine.startNext())
        return record
    }

    /// The current state of a download.
    package func snapshot(of id: Download.ID) throws(Failure) -> DownloadSnapshot? {
        try keeper.record(QueueID(id)).map { keeper.snapshot($0) }
    }

    /// The location of a download's file.
    package func location(of id: Download.ID) throws(Failure) -> DownloadLocation {
        keeper.location(try keeper.record(QueueID(id)))
    }

    /// As ``DownloadManager/pause(_:keepingSlot:)``.
    package func pause(_ id: Download.ID, keepingSlot: Bool = false) -> Bool {
        keeper.pause(QueueID(id), keepsSlot: keepingSlot)
    }

    /// As ``DownloadManager/resume(_:)``.
    package func resume(_ id: Download.ID) throws(Failure) -> Bool { try keeper.resume(QueueID(id)) }

    /// As ``DownloadManager/startOver(_:)``.
    package func startOver(_ id: Download.ID) throws(Failure) -> Bool { try keeper.startOver(QueueID(id)) }

    /// As ``DownloadManager/start(now:)``.
    package func start(now id: Download.ID) throws(Failure) -> Bool { try keeper.force(QueueID(id)) }

    /// As ``DownloadManager/rename(_:to:)``.
    package func rename(_ id: Download.ID, to name: String) throws(Failure) -> Bool {
        try keeper.rename(QueueID(id), to: name)
    }

    /// As ``DownloadManager/relocate(_:toFolder:)``.
    package func relocate(_ id: Download.ID, toFolder folder: String) throws(Failure) -> Bool {
        try keeper.relocate(QueueID(id), to: folder)
    }

    /// As ``DownloadManager/limit(_:to:)``.
    package func limit(_ id: Download.ID, to bytesPerSecond: Int64?) throws(Failure) -> Bool {
        try keeper.limit(QueueID(id), to: bytesPerSecond)
    }

    /// As ``DownloadManager/replaceURL(of:with:)``; without `usingOwnersSecrets` the download no longer uses the
    /// secrets of the machine's owner, as a URL from an untrusted client requires.
    package func replaceURL(
        of id: Download.ID, with source: String, usingOwnersSecrets: Bool = true
    ) throws(Failure) -> Bool {
        _ = try WebAddress.parse(source)
        // Before any request to the new URL.
        if !usingOwnersSecrets, var options = try details(of: id)?.options, options.usesOwnersSecrets {
            options.usesOwnersSecrets = false
            _ = try change(options: options, of: id)
        }
        return try keeper.replace(QueueID(id), with: source)
    }

    /// As ``DownloadManager/move(_:to:)``.
    package func move(_ id: Download.ID, to place: DownloadManager.Position) -> Int? {
        let target: QueueTarget =
            switch place {
            case .index(let index): .index(index)
            case .offset(let offset): .offset(offset)
            case .fromEnd(let offset): .fromEnd(offset)
            }
        guard let (index, actions) = keeper.machine.move(QueueID(id), to: target) else { return nil }
        keeper.perform(actions)
        keeper.notify(QueueID(id), .changed)
        // Positions of other downloads may have changed.
        for case .place(let other, _) in actions where other != QueueID(id) { keeper.notify(other, .changed) }
        return index
    }

    /// As ``DownloadManager/change(priority:of:)``.
    package func change(priority: Int, of id: Download.ID) throws(Failure) -> Bool {
        try keeper.change(priority: priority, of: QueueID(id))
    }

    /// As ``DownloadManager/change(group:of:)``; an empty name stands for none.
    package func change(group: String, of id: Download.ID) throws(Failure) -> Bool {
        try keeper.change(group: group, of: QueueID(id))
    }

    /// Sets the text that belongs to a download.
    package func change(taskDescription: String?, of id: Download.ID) {
        keeper.edit(QueueID(id)) { $0.taskDescription = taskDescription }
        keeper.notify(QueueID(id), .changed)
    }

    /// As ``DownloadManager/change(options:of:)``.
    package func change(options: DownloadOptions, of id: Download.ID) throws(Failure) -> Bool {
        guard let record = try keeper.record(QueueID(id)), record.state != .removed, record.state != .finished else {
            return false
        }
        try keeper.change(record, to: options)
        return true
    }

    /// As ``DownloadManager/forget(_:)``.
    package func forget(_ id: Download.ID) throws(Failure) {
        if let record = try keeper.record(QueueID(id)) { keeper.forget(record) }
    }

    /// As ``DownloadManager/remove(_:keepingFile:keepingHistory:keepingPartial:)``; the step ends when the files
    /// are removed.
    package func remove(
        _ id: Download.ID, keepingFile: Bool = false, keepingHistory: Bool = false, keepingPartial: Bool = false
    ) throws(Failure) -> Bool {
        let id = QueueID(id)
        guard let record = try keeper.record(id), record.state != .removed || keeper.isLeaving(id) else { return false }
        var removal = Removal(keepsFile: keepingFile, keepsHistory: keepingHistory, keepsPartial: keepingPartial)
        removal.isFinished = record.state == .finished
        unfinished += 1
        keeper.remove(record, removal) { result in
            if case .failure(let failure) = result { self.finishOne(failure) } else { self.finishOne(nil) }
        }
        return true
    }
}

extension WorkThread<QueueKeeper> {
    /// As ``QueueThread/step(changes:_:completion:)``.
    func step<Value: Sendable, Problem: Error>(
        changes: Bool = true, _ body: @escaping @Sendable (QueueStep) throws(Problem) -> Value,
        completion: @escaping @Sendable (Result<Result<Value, Problem>, Failure>) -> Void
    ) {
        let isHeard = post { keeper in
            guard !keeper.hasEnded else { return completion(.failure(.closed)) }
            let step = QueueStep(keeper)
            let unwritten = keeper.changed.count + keeper.erased.count
            let fresh = keeper.freshCount
            let result = Result { () throws(Problem) in try body(step) }
            assert(changes || keeper.changed.count + keeper.erased.count <= unwritten, "a query has changed the queue")
            // Also of a command that found nothing to change: what it found may itself be unwritten, and a kill would undo
            // what the command has confirmed.
            let needsWrite = changes && keeper.hasUnwritten
            let adds = keeper.freshCount > fresh
            step.completion = { failure in
                // A failure of `body` is reported before one of the write.
                if needsWrite, let failure, case .success = result {
                    return completion(.failure(failure.unstored(adding: adds)))
                }
                completion(.success(result))
            }
            keeper.completions.append { step.written($0) }
        }
        if !isHeard { completion(.failure(.closed)) }
    }

    /// As ``QueueThread/step(changes:_:completion:)``, and throws its failure.
    func step<Value: Sendable, Problem: Error>(
        changes: Bool = true, _ body: @escaping @Sendable (QueueStep) throws(Problem) -> Value
    ) async throws(PawlError) -> Result<Value, Problem> {
        let result: Result<Result<Value, Problem>, Failure> = await withCheckedContinuation { continuation in
            step(changes: changes, body) { continuation.resume(returning: $0) }
        }
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }
}
