import Pawl
import Synchronization

// All of this runs serially on the delegate's thread.
extension DownloadSession {
    func task(_ id: Download.ID) -> DownloadTask? {
        book.withLock { book in book.identifiers[id].flatMap { book.tasks[$0] } }
    }

    func started(_ task: DownloadTask, _ total: Int64?, _ offset: Int64, _ response: DownloadResponse?) {
        let hasCompletion = task.facts.withLock { facts in
            facts.hasResponse = true
            // Reported progress never decreases (B8).
            facts.received = max(facts.received, offset)
            facts.expected = total.map { max($0, facts.received) } ?? DownloadTask.unknownSize
            if let response {
                let name = facts.response?.suggestedFilename
                facts.response = SessionResponse(response)
                facts.response?.expectedContentLength = facts.expected
                facts.response?.suggestedFilename = name
            }
            return facts.completion != nil
        }
        if offset > 0, !hasCompletion, task.facts.withLock({ $0.isAlive }) {
            delegate?.urlSession(
                self,
                downloadTask: task,
                didResumeAtOffset: offset,
                expectedTotalBytes: total ?? DownloadTask.unknownSize
            )
        }
        let early = task.facts.withLock { facts in
            defer { facts.early = nil }
            return facts.early
        }
        if let early { wrote(task, early.written, early.total) }
    }

    func wrote(_ task: DownloadTask, _ written: Int64, _ total: Int64?) {
        let progress = task.facts.withLock { facts -> (new: Int64, written: Int64, expected: Int64)? in
            guard facts.hasResponse else {
                facts.early = (written, total)
                return nil
            }
            guard facts.isAlive, written > facts.received else { return nil }
            let before = facts.received
            facts.received = written
            facts.expected = total.map { max($0, written) } ?? DownloadTask.unknownSize
            return facts.completion == nil ? (written - before, written, facts.expected) : nil
        }
        task.changed()
        guard let progress else { return }
        delegate?.urlSession(
            self,
            downloadTask: task,
            didWriteData: progress.new,
            totalBytesWritten: progress.written,
            totalBytesExpectedToWrite: progress.expected
        )
    }

    /// The file is complete: reports it, and removes it unless it was moved.
    func finish(_ task: DownloadTask, _ location: String, _ response: DownloadResponse?) {
        let isAlive = task.facts.withLock { facts in
            facts.hasResponse = true
            return facts.isAlive
        }
        // A cancelled task is removed, however far it came.
        guard isAlive else { return }
        let length = SessionFolders.length(of: location)
        wrote(task, length, length)
        let name = location.split(separator: "/").last.map { String($0) }
        let (completion, reported) = task.facts.withLock { facts in
            (facts.received, facts.expected) = (length, length)
            // No request was made in this run if the file was complete before it.
            var reported = response.map { SessionResponse($0) } ?? facts.response ?? SessionResponse()
            reported.expectedContentLength = length
            reported.suggestedFilename = name
            facts.response = reported
            return (facts.completion, facts.response)
        }
        if let completion {
            guard end(task, nil) else { return }
            completion(location, reported, nil)
            retire(task)
        } else if let delegate {
            delegate.urlSession(self, downloadTask: task, didFinishDownloadingTo: location)
            complete(task, nil)
        } else {
            // A restored task whose completion handler is gone: it waits for a session with a delegate.
            guard end(task, nil) else { return }
            let id = task.facts.withLock { $0.id }
            work.yield { _ in
                self.forget(task, id)
                self.endWhenIdle()
            }
        }
    }

    /// The download failed; a cancelled task reports the cancellation.
    func failed(_ task: DownloadTask, _ error: PawlError) {
        work.yield { manager in
            guard let manager, task.facts.withLock({ $0.isAlive }) else { return }
            let error = await self.resumable(error, task, manager)
            manager.perform { self.complete(task, error) }
        }
    }

    /// The task ended: reports it once and removes its files.
    func complete(_ task: DownloadTask, _ error: PawlError?) {
        guard end(task, error) else { return }
        if let completion = task.facts.withLock({ $0.completion }) {
            completion(nil, task.response, error)
        } else {
            let error: (any Error)? = error
            delegate?.urlSession(self, task: task, didCompleteWithError: error)
        }
        retire(task)
    }

    /// `false` if it had ended already.
    private func end(_ task: DownloadTask, _ error: PawlError?) -> Bool {
        let (isFirst, producing) = task.facts.withLock { facts in
            defer {
                if facts.state != .completed { facts.error = error }
                facts.state = .completed
                facts.producing = nil
            }
            return (facts.state != .completed, facts.producing)
        }
        producing?(nil)
        task.changed()
        return isFirst
    }

    private func retire(_ task: DownloadTask) {
        task.facts.withLock { $0.completion = nil }
        let id = task.facts.withLock { $0.id }
        let isHeard = work.yield { manager in
            // A failed removal leaves files behind; the task has ended in any case.
            if let manager, let id { _ = try? await manager.remove(id) }
            self.folders.dropFolder(task.folder)
            self.forget(task, id)
            self.endWhenIdle()
        }
        if case .terminated = isHeard { forget(task, id) }
    }

    private func forget(_ task: DownloadTask, _ id: Download.ID?) {
        book.withLock { book in
            book.tasks[task.taskIdentifier] = nil
            if let id { book.identifiers[id] = nil }
        }
    }
}
