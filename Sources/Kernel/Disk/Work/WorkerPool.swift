import PawlSystem

/// A few threads for blocking work: syncing and hashing.
///
/// They start with the first job and end with the pool.
package final class WorkerPool: Sendable {
    package typealias Job = @Sendable () -> Void
    private let core: Core

    package init(threads: Int) { core = Core(limit: threads) }
    deinit { core.stop() }

    package func submit(_ job: @escaping Job) { core.submit(job) }

    /// Waits until no job is waiting or running, and everything that the jobs retained is released.
    package func rest() { core.rest() }
}

/// The threads' shared state; it outlives the pool until the last job is done.
private final class Core: Sendable {
    private struct State {
        var jobs: [WorkerPool.Job] = []
        var next = 0
        var threads = 0
        var busy = 0
        var isStopped = false
        /// Opened when no job is left.
        var resting: [Latch] = []

        mutating func takeJob() -> WorkerPool.Job? {
            guard next < jobs.count else { return nil }
            let job = jobs[next]
            next += 1
            if next == jobs.count || next >= 1024 {
                jobs.removeFirst(next)
                next = 0
            }
            busy += 1
            return job
        }

        /// Ends a job; returns the latches to open.
        mutating func finishJob() -> [Latch] {
            busy -= 1
            guard next == jobs.count && busy == 0 else { return [] }
            defer { resting = [] }
            return resting
        }
    }

    private let limit: Int
    private let state = Monitor(State())

    init(limit: Int) { self.limit = limit }

    func submit(_ job: @escaping WorkerPool.Job) {
        let wantsThread = state.with(waking: .one) { state in
            state.jobs.append(job)
            // A thread that was woken and has not run yet is not busy, so the jobs are compared.
            let wantsThread = state.jobs.count - state.next > state.threads - state.busy && state.threads < limit
            if wantsThread { state.threads += 1 }
            return wantsThread
        }
        if wantsThread && !start() { runWithoutThread() }
    }

    func stop() { state.with { $0.isStopped = true } }

    func rest() {
        let latch = Latch()
        let isResting = state.with(waking: .none) { state in
            let isResting = state.next == state.jobs.count && state.busy == 0
            if !isResting { state.resting.append(latch) }
            return isResting
        }
        if !isResting { latch.pass() }
    }

    private func start() -> Bool {
        // The jobs need little stack.
        let thread = SystemThread("pawl-disk", stackSize: 256 * 1024, blocksSignals: true) { self.runJobs(waits: true) }
        thread?.detach()
        return thread != nil
    }

    /// Runs the jobs here when no thread could be started and there is no other.
    private func runWithoutThread() {
        let isAlone = state.with(waking: .none) { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isAlone { runJobs(waits: false) }
    }

    private func runJobs(waits: Bool) {
        while runJob(waits: waits) {
            let resting = state.with(waking: .none) { $0.finishJob() }
            for latch in resting { latch.open() }
        }
    }

    /// Runs and releases the next job; `false` when the pool has stopped and none is left, or there is none and
    /// `waits` is false.
    private func runJob(waits: Bool) -> Bool {
        let next: WorkerPool.Job?? = state.wait(until: nil) { state in
            if let job = state.takeJob() { return .some(job) }
            return waits && !state.isStopped ? nil : .some(nil)
        }
        guard let job = next ?? nil else { return false }
        job()
        return true
    }
}
