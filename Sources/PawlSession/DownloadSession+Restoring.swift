import Pawl
import Synchronization

// Restores the state of an earlier session of the identifier.
extension DownloadSession {
    /// Finds its tasks, delivers missed events, and continues running tasks.
    func restore(_ manager: DownloadManager) async throws(PawlError) {
        guard folders.session != nil else { return }
        let waiting = try await tasks(.waiting, .turn, manager)
        let paused = try await tasks(.paused, .turn, manager)
        // Without a delegate they wait for the next session that has one.
        let over = delegate == nil ? [] : try await overTasks(manager)
        for (task, snapshot) in waiting + paused + over {
            let response = try await manager.response(of: snapshot.id).map { SessionResponse($0) }
            task.facts.withLock { facts in
                facts.id = snapshot.id
                facts.received = snapshot.written
                facts.expected = snapshot.total ?? DownloadTask.unknownSize
                facts.response = response
                facts.response?.expectedContentLength = facts.expected
                facts.priority = Float(snapshot.priority + 50) / 100
            }
        }
        for (task, _) in waiting { task.facts.withLock { $0.state = .running } }
        for (task, snapshot) in over {
            task.facts.withLock { $0.state = .running }
            let location = try await manager.location(of: snapshot.id)
            var error = snapshot.error
            if let failure = error { error = await resumable(failure, task, manager) }
            manager.perform { [error] in self.notify(task, location, error) }
        }
        if !over.isEmpty {
            manager.perform { self.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
        }
        for (_, snapshot) in waiting { try await manager.resume(snapshot.id) }
    }

    private static let all = 1_000_000

    private typealias Found = (task: DownloadTask, snapshot: DownloadSnapshot)

    private func overTasks(_ manager: DownloadManager) async throws(PawlError) -> [Found] {
        let filter = DownloadFilter([.finished, .failed])
        return note(
            try await manager.downloads(matching: filter, by: .ended(newestFirst: false), limit: Self.all)
        )
    }

    private func tasks(
        _ standing: DownloadFilter.Standing,
        _ ordering: DownloadOrdering,
        _ manager: DownloadManager
    ) async throws(PawlError) -> [Found] {
        note(try await manager.downloads(matching: DownloadFilter([standing]), by: ordering, limit: Self.all))
    }

    /// Registers the tasks.
    private func note(_ snapshots: [DownloadSnapshot]) -> [Found] {
        snapshots.compactMap { snapshot in
            guard var note = snapshot.taskDescription.flatMap(TaskNote.init) else { return nil }
            return book.withLock { book in
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
