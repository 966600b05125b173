#if Queue
import Pawl
import PawlBase
import Synchronization

// Restores the state of an earlier session of the identifier.
extension DownloadSession {
    /// Finds its tasks, delivers missed events, and continues running tasks.
    func restore(_ manager: DownloadManager) async throws(PawlError) {
        guard folders.session != nil else { return }
        let waiting = try await tasks(.waiting, .turn, manager)
        let paused = try await tasks(.paused, .turn, manager)
        // Without a delegate they wait for the next session that has one.
        var over = delegate is any DownloadSessionDelegate ? try await overTasks(manager) : []
        var again: [Found] = []
        for (task, snapshot) in waiting + paused + over {
            let stored = try await manager.response(of: snapshot.id)
            let response = stored.map { SessionResponse($0) }
            // The record is older than what is on disk.
            let hasEnded = snapshot.state == .finished || snapshot.state == .failed
            let received = hasEnded ? snapshot.written : await received(snapshot, manager)
            if isResponse(stored, snapshot) { again.append((task, snapshot)) }
            task.facts.withLock { facts in
                facts.id = snapshot.id
                facts.isRestored = true
                facts.received = received
                facts.segments = snapshot.segments
                facts.expected = snapshot.total ?? DownloadTask.unknownSize
                facts.response = response
                facts.response?.expectedContentLength = facts.expected
                facts.priority = Float(snapshot.priority + 50) / 100
            }
        }
        over.removeAll { found in again.contains { $0.task === found.task } }
        for (task, _) in waiting + again {
            // The program may have cancelled it meanwhile: it got it through its resume data.
            task.facts.withLock { if $0.state == .suspended { $0.state = .running } }
        }
        for (task, snapshot) in over {
            task.facts.withLock { $0.state = .running }
            let location = try await location(of: task, snapshot.id, manager)
            var error = snapshot.error
            if let failure = error { error = await resumable(failure, task, manager) }
            manager.perform { [error] in self.notify(task, location, error) }
        }
        if !over.isEmpty {
            manager.perform {
                guard let delegate = self.delegate else { return }
                self.call { delegate.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
            }
        }
        // Its own state decides, with the time at which it may start.
        for (task, _) in waiting + again { stateChanged(task) }
    }

    /// Whether the task ended with a response that is its content, which only its request can deliver.
    private func isResponse(_ response: DownloadResponse?, _ snapshot: DownloadSnapshot) -> Bool {
        guard !configuration.failsOnErrorStatus, snapshot.state == .failed, let response else { return false }
        return ![0, 200, 206].contains(response.status) && snapshot.written == 0
    }

    /// The bytes on disk of a task that does not run.
    private func received(_ snapshot: DownloadSnapshot, _ manager: DownloadManager) async -> Int64 {
        guard case .part(_, _, let data) = try? await manager.received(of: snapshot.id) else { return snapshot.written }
        return max(snapshot.written, data.received)
    }

    /// Where the file of a task is that has ended.
    private func location(
        of task: DownloadTask, _ id: Download.ID, _ manager: DownloadManager
    ) async throws(PawlError) -> DownloadLocation {
        let location = try await manager.location(of: id)
        guard task.streamOptions != nil else { return location }
        let others = try await manager.furtherFiles(of: id)
        task.facts.withLock { $0.others = others }
        // Further files may have been moved before the program was killed.
        return try await manager.ownFile(of: id).map { .finished(path: $0.path) } ?? location
    }

    private typealias Found = (task: DownloadTask, snapshot: DownloadSnapshot)

    private func overTasks(_ manager: DownloadManager) async throws(PawlError) -> [Found] {
        let filter = DownloadFilter([.finished, .failed])
        return note(try await manager.downloads(matching: filter, by: .ended(newestFirst: false)))
    }

    private func tasks(
        _ standing: DownloadFilter.Standing, _ ordering: DownloadOrdering, _ manager: DownloadManager
    ) async throws(PawlError) -> [Found] {
        note(try await manager.downloads(matching: DownloadFilter([standing]), by: ordering))
    }

    /// Registers the tasks.
    private func note(_ snapshots: [DownloadSnapshot]) -> [Found] {
        snapshots.compactMap { snapshot in
            guard var note = snapshot.taskDescription.flatMap(TaskNote.init) else { return nil }
            return book.withLock { book in
                if let task = book.tasks[note.number], task.folder.hasSameBytes(as: note.folder) {
                    // Resume data of an earlier run of the program was used for it.
                    task.facts.withLock { facts in
                        facts.description = facts.description ?? note.description
                        facts.begin = facts.begin ?? note.begin
                        facts.firstResume = note.firstResume
                    }
                    book.identifiers[snapshot.id] = note.number
                    return (task, snapshot)
                }
                // Only if the file of numbers was lost.
                if book.tasks[note.number] != nil { note.number = book.numbers.next() }
                let task = DownloadTask(note, session: self)
                book.tasks[note.number] = task
                book.identifiers[snapshot.id] = note.number
                book.numbers.restore(note.number)
                return (task, snapshot)
            }
        }
    }

    private func notify(_ task: DownloadTask, _ location: DownloadLocation, _ error: PawlError?) {
        switch location {
        case .finished(let path): finish(task, path, nil)
        // The program had moved the file, and ended before it returned from the last call.
        case .missing, .unknown: complete(task, nil)
        case .unfinished: complete(task, error)
        }
    }
}
#endif
