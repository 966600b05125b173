#if Queue
import Synchronization

// What tasks wait for: their begin dates, and the ends of their times.
extension DownloadSession {
    /// Ends the task when it takes too long.
    func watchTime(of task: DownloadTask, since first: Double) {
        let limit = configuration.timeoutIntervalForResource
        guard limit.isFinite else { return }
        task.facts.withLock { $0.timeLimit = first + limit }
        look(at: first + limit)
    }

    /// Looks at the tasks at that time, in seconds since 1970, or earlier.
    ///
    /// A timer for each task would outlive the task.
    func look(at time: Double) {
        let isEarlier = book.withLock { book in
            guard book.nextLook.map({ time < $0 }) ?? true else { return false }
            book.nextLook = time
            return true
        }
        guard isEarlier else { return }
        let wait = Duration.seconds(min(max(0, time - SessionFolders.now), 1e9))
        Task(executorPreference: Self.executor) { [weak self] in
            try? await Task.sleep(for: wait)
            self?.look(planned: time)
        }
    }

    private func look(planned time: Double) {
        let tasks = book.withLock { book in
            if book.nextLook == time { book.nextLook = nil }
            return Array(book.tasks.values)
        }
        let now = max(SessionFolders.now, time)
        let next = tasks.compactMap { act(on: $0, now) }.min()
        if let next { look(at: next) }
    }

    /// Does what was to be done by now, and returns when to look again.
    private func act(on task: DownloadTask, _ now: Double) -> Double? {
        let (begins, isLate, next) = task.facts.withLock { facts -> (Bool, Bool, Double?) in
            let begins = facts.looksAgain.map { $0 <= now } ?? false
            let isLate = facts.timeLimit.map { $0 <= now } ?? false
            if begins { facts.looksAgain = nil }
            if isLate { facts.timeLimit = nil }
            return (begins, isLate, [facts.looksAgain, facts.timeLimit].compactMap { $0 }.min())
        }
        if begins { stateChanged(task) }
        if isLate { stop(task, .late(task, after: configuration.timeoutIntervalForResource)) }
        return next
    }
}
#endif
