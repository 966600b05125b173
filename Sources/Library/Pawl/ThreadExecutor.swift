import PawlBase
import PawlSystem

/// A dedicated thread for asynchronous work.
///
/// All threads of Swift's shared pool may be blocked by a program's tasks, possibly waiting for this work.
/// Work on this executor must wait with `await` only.
package final class ThreadExecutor: TaskExecutor {
    private let thread = WorkMailbox<EmptyOwner>()

    /// Starts the thread, which is never stopped.
    package init(_ name: String) {
        SystemThread.detached(name, blocksSignals: true) { [thread] in
            thread.run(EmptyOwner(), at: EpollPoller(clock: SystemClock()))
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.post { _ in unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// An owner without state.
private final class EmptyOwner: ThreadBound {
    var deadline: Instant? { nil }
    var hasEnded: Bool { false }
    func settle() {}
}
