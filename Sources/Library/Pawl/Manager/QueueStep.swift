#if Queue
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

    fileprivate func complete() {
        completion?(failure)
        completion = nil
    }

    /// Carries out a command; the step of a removal ends when the files are removed.
    @discardableResult package func perform(_ command: QueueCommand) throws(Failure) -> QueueCommand.Outcome {
        let outcome = try keeper.carryOut(command)
        if case .remove(let id, _) = command, outcome.isChange {
            unfinished += 1
            keeper.removalCompletions[QueueID(id), default: []].append { result in
                if case .failure(let failure) = result { self.finishOne(failure) } else { self.finishOne(nil) }
            }
        }
        return outcome
    }

    /// Adds a new download, or resumes the known one of the same URL.
    package func add(_ request: DownloadRequest) throws(Failure) -> Download.ID {
        let order = try AddOrder(request, defaults: keeper.options, settingsCache: keeper.settingsCache)
        guard case .added(let record) = try perform(.add(order)) else { preconditionFailure("it adds a record") }
        return Download.ID(rawValue: record.id.rawValue)
    }

    /// The current state of a download.
    package func snapshot(of id: Download.ID) throws(Failure) -> DownloadSnapshot? {
        try keeper.record(QueueID(id)).map { keeper.snapshot($0) }
    }

    /// The handle of a download, the same for all callers.
    package func handle(of id: Download.ID) throws(Failure) -> Download? {
        try keeper.record(QueueID(id)).flatMap { keeper.handle($0) }
    }

    /// What belongs to no single download.
    package var facts: QueueFacts { keeper.facts }

    /// The location of a download's file.
    package func location(of id: Download.ID) throws(Failure) -> DownloadLocation {
        keeper.location(try keeper.record(QueueID(id)))
    }
}

extension WorkMailbox<QueueKeeper> {
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
                // A failure of `body` is reported before one of the write or of a removal.
                if let failure, case .success = result { return completion(.failure(failure)) }
                completion(.success(result))
            }
            keeper.completions.append { failure in
                step.finishOne(needsWrite ? failure?.unstored(adding: adds) : nil)
                // The removals wait until a write succeeds, which may be never.
                if failure != nil { step.complete() }
            }
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
#endif
