#if Queue
import Pawl
import PawlBase
import Synchronization

extension DownloadSession {
    /// Removes a cancelled task from the queue, and keeps what it received if resume data was requested.
    func cancel(_ task: DownloadTask, _ id: Download.ID?, _ manager: DownloadManager) async {
        let handler = task.facts.withLock { facts in
            defer { facts.producing = nil }
            return facts.producing
        }
        guard let id else {
            // It was refused, and its resume data is as good as before.
            let unused = task.facts.withLock { $0.unusedData }
            if let handler { call { handler(unused) } }
            return manager.perform { self.complete(task, .cancelled(task)) }
        }
        var error = PawlError.cancelled(task)
        let data = handler == nil ? nil : await resumeData(task, id, manager, outOf: .request)
        // A task that finished at the last moment is reported as finished before it is removed.
        await withCheckedContinuation { continuation in manager.perform { continuation.resume() } }
        if task.state != .completed {
            do throws(PawlError) { try await manager.remove(id) } catch let other { error = other }
        }
        // Only now: after a kill in between the task would be there again, beside the one made from the data.
        error.downloadTaskResumeData = data
        manager.perform { [error] in
            if let handler { self.call { handler(data) } }
            self.complete(task, error)
        }
    }

    /// The error of a failed task, with resume data for a new one.
    func resumable(_ error: PawlError, _ task: DownloadTask, _ manager: DownloadManager) async -> PawlError {
        var error = error
        guard let id = task.facts.withLock({ $0.id }) else {
            error.downloadTaskResumeData = task.facts.withLock { $0.unusedData }
            return error
        }
        error.downloadTaskResumeData = await resumeData(task, id, manager, outOf: .failure)
        return error
    }

    /// Moves the data of a stopping task to where a new one finds it.
    private func resumeData(
        _ task: DownloadTask, _ id: Download.ID, _ manager: DownloadManager, outOf cause: SessionFolders.Cause
    ) async -> [UInt8]? {
        let events = manager.events
        var iterator = events.makeAsyncIterator()
        do throws(PawlError) {
            try await manager.pause(id)
            while true {
                switch try await manager.received(of: id) {
                case .running: guard await iterator.next() != nil else { return nil }
                case .nothing: return nil
                case .part(let path, let journal, let data):
                    guard data.received > 0, let name = folders.keepPartial(path, journal: journal, outOf: cause) else {
                        return nil
                    }
                    return Self.written(data, name, task)
                }
            }
        } catch { return nil }
    }

    private static func written(_ data: DownloadResumeData, _ name: String, _ task: DownloadTask) -> [UInt8] {
        let headers = task.originalRequest?.allHTTPHeaderFields ?? [:]
        var written = DownloadResumeData(
            DownloadResumeData.Request(url: data.url, headers: headers), received: data.received, partialName: name)
        written.entityTag = data.entityTag
        written.serverDate = data.serverDate
        return written.bytes
    }
}

extension PawlError {
    static func cancelled(_ task: DownloadTask) -> PawlError {
        PawlError(
            Failure(
                .unfinished, "cannot finish", at: Redaction.address(task.originalRequest?.url ?? ""),
                because: "it was cancelled"))
    }
}

extension PawlError {
    static func offline(_ task: DownloadTask) -> PawlError {
        PawlError(
            Failure(
                .network, "cannot fetch", at: Redaction.address(task.originalRequest?.url ?? ""),
                because: LocalizableMessage("no-network", "there is no network"), remedy: "try again when there is one")
        )
    }

    static func late(_ task: DownloadTask, after seconds: Double) -> PawlError {
        let text = Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
        return PawlError(
            Failure(
                .timeout, "cannot finish", at: Redaction.address(task.originalRequest?.url ?? ""),
                because: "it took longer than \(text) s"))
    }
}
#endif
