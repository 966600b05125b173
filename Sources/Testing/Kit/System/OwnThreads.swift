import PawlSystem

/// Runs each piece of a task on a new thread, for tests that wait for processes and servers.
///
/// Of the threads that all tasks share there are as many as processors, and a waiting test holds one of them.
package final class OwnThreads: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        SystemThread.detached("test") { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
