import PawlCore

/// A thread of its own for asynchronous work.
///
/// Swift's shared threads may all be held by a program's tasks that wait for something, and that may be this very work.
/// What runs here waits by `await` alone.
package final class ThreadExecutor: TaskExecutor {
    private let thread = WorkThread<EmptyOwner>()

    /// Starts the thread, which stays.
    package init(_ name: String) {
        BackgroundThread.start(name) { [thread] in thread.run(EmptyOwner()) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.post { _ in unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Nothing is owned by such a thread.
private final class EmptyOwner: ThreadBound {
    var patience: Interval? { nil }
    var hasEnded: Bool { false }
    func settle() {}
}
