#if Queue
package import Pawl
import PawlBase
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
                facts.move(to: facts.response?.url)
                facts.response?.expectedContentLength = facts.expected
                facts.response?.suggestedFilename = name
            }
            return facts.completion != nil
        }
        if offset > 0, !hasCompletion, task.facts.withLock({ $0.isAlive }) {
            tellReceiver(task) { delegate in
                delegate.urlSession(
                    self, downloadTask: task, didResumeAtOffset: offset,
                    expectedTotalBytes: total ?? DownloadTask.unknownSize)
            }
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
        tellReceiver(task) { delegate in
            delegate.urlSession(
                self, downloadTask: task, didWriteData: progress.new, totalBytesWritten: progress.written,
                totalBytesExpectedToWrite: progress.expected)
        }
    }

    func loaded(_ task: DownloadTask, _ segments: DownloadSnapshot.Segments) {
        let isTold = task.facts.withLock { facts in
            guard facts.isAlive, facts.segments != segments else { return false }
            facts.segments = segments
            return true
        }
        guard isTold else { return }
        tellReceiver(task) { $0.urlSession(self, assetDownloadTask: task, didLoad: segments) }
    }

    /// The file is complete: reports it.
    ///
    /// With its record it is then removed, if the program has not moved it; where nobody can be told, both stay for a session with
    /// a delegate.
    func finish(_ task: DownloadTask, _ location: String, _ response: DownloadResponse?) {
        let acceptsFile = task.facts.withLock { facts in
            facts.hasResponse = true
            return facts.acceptsFile
        }
        // A task cancelled without resume data is removed, however far it came.
        guard acceptsFile else { return }
        let (others, received) = task.facts.withLock { ($0.others, $0.received) }
        // What is joined by another program may have fewer bytes than its tracks.
        let length = max(
            ([location] + others).reduce(0) { $0 + SessionFolders.length(of: $1) },
            task.streamOptions == nil ? 0 : received)
        wrote(task, length, length)
        let name = location.pathParts().last.map { String($0) }
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
            tellMetrics(task)
            call {
                task.facts.withLock { $0.delegate = nil }
                completion(location, reported, nil)
            }
            retire(task)
        } else if receiver(of: task) != nil {
            tellReceiver(task) { $0.urlSession(self, downloadTask: task, didFinishDownloadingTo: location) }
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

    /// The response with another status than success is the content.
    private func finish(_ task: DownloadTask, with response: DownloadResponse, _ body: [UInt8]) -> Bool {
        let name = SessionFolders.fileName(for: response, task.originalRequest?.url ?? "")
        guard let path = folders.write(body, to: name, in: task.folder) else { return false }
        task.facts.withLock { facts in
            facts.hasResponse = true
            facts.move(to: response.url)
        }
        finish(task, path, response)
        // Also where nobody was told: a later session requests the response again.
        folders.remove(path)
        return true
    }

    /// What was measured of requests that ended.
    func collected(_ task: DownloadTask, _ metrics: [TransferMetrics]) {
        task.facts.withLock { $0.metrics.append(metrics) }
    }

    /// Reports what was measured.
    private func tellMetrics(_ task: DownloadTask) {
        let (metrics, start) = task.facts.withLock { ($0.metrics.list, $0.firstResume) }
        guard !metrics.isEmpty, let request = task.facts.withLock({ _ in task.originalRequest }) else { return }
        let now = SessionFolders.now
        let collected = DownloadTaskMetrics(
            transactionMetrics: metrics.map { DownloadTaskTransactionMetrics($0, of: request) },
            taskInterval: min(start ?? now, now)...now)
        notify(task) { $0.urlSession(self, task: task, didFinishCollecting: collected) }
    }

    /// The download waits for a network.
    func waitsForNetwork(_ task: DownloadTask) {
        guard task.facts.withLock({ $0.state == .running }) else { return }
        if configuration.waitsForConnectivity {
            notify(task) { $0.urlSession(self, taskIsWaitingForConnectivity: task) }
        } else {
            stop(task, .offline(task))
        }
    }

    /// Ends a task that runs with this error, and keeps what it received for its resume data.
    func stop(_ task: DownloadTask, _ error: PawlError) {
        work.yield { manager in
            guard let manager, task.facts.withLock({ $0.isAlive }) else { return }
            let error = await self.resumable(error, task, manager)
            manager.perform { self.complete(task, error) }
        }
    }

    /// The download failed; a cancelled task reports the cancellation.
    func failed(_ task: DownloadTask, _ error: PawlError) {
        if let decided = task.facts.withLock({ $0.decided }) { return stop(task, decided) }
        // The response of a redirect that may not be followed is not the result: its status is not the failure.
        if !configuration.failsOnErrorStatus, let response = error.response, let body = error.responseBody,
            error.status == response.status, finish(task, with: response, body)
        {
            return
        }
        if let response = error.response, response.status > 0 {
            task.facts.withLock { $0.response = SessionResponse(response) }
        }
        stop(task, error)
    }

    /// The task ended: reports it once and removes its files.
    package func complete(_ task: DownloadTask, _ error: PawlError?) {
        let error = failure(error, of: task)
        guard end(task, error) else { return }
        tellMetrics(task)
        let (completion, response) = task.facts.withLock { ($0.completion, $0.response) }
        if let completion {
            call {
                task.facts.withLock { $0.delegate = nil }
                completion(nil, response, error)
            }
        } else {
            notify(task) { delegate in
                let error = error.map { delegate.urlSession(self, errorFor: $0) }
                delegate.urlSession(self, task: task, didCompleteWithError: error)
            }
        }
        retire(task)
    }

    private func failure(_ error: PawlError?, of task: DownloadTask) -> PawlError? {
        var error = error
        error?.failingURL = task.presentRequest?.url
        return error
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
        if let producing { call { producing(nil) } }
        task.changed()
        return isFirst
    }

    private func retire(_ task: DownloadTask) {
        task.facts.withLock { ($0.completion, $0.delegate) = (nil, nil) }
        let id = task.facts.withLock { $0.id }
        let isHeard = work.yield { manager in
            // A failed removal leaves files behind; the task has ended in any case.
            if let manager, let id { _ = try? await manager.remove(id) }
            self.folders.dropFolder(task.folder)
            if let partial = task.partial { self.folders.forget(partial) }
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
#endif
