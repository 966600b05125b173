import Glibc

/// A few threads for blocking work: syncing and hashing.
///
/// They start with the first job and end with the pool.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void
    private let core: Core

    init(threads: Int) { core = Core(limit: threads) }
    deinit { core.stop() }

    func submit(_ job: @escaping Job) { core.submit(job) }

    /// Waits until no job is waiting or running, and everything that the jobs retained is released.
    func rest() { core.rest() }
}

/// The threads' shared state; it outlives the pool until the last job is done.
@safe private final class Core: @unchecked Sendable {  // `lock` guards every variable.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let quiet = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let limit: Int
    private var jobs: [WorkerPool.Job] = []
    private var next = 0
    private var threads = 0
    private var idle = 0
    private var isStopped = false

    init(limit: Int) {
        self.limit = limit
        unsafe pthread_mutex_init(lock, nil)
        unsafe pthread_cond_init(wake, nil)
        unsafe pthread_cond_init(quiet, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(quiet)
        unsafe pthread_cond_destroy(wake)
        unsafe pthread_mutex_destroy(lock)
        unsafe quiet.deallocate()
        unsafe wake.deallocate()
        unsafe lock.deallocate()
    }

    func submit(_ job: @escaping WorkerPool.Job) {
        unsafe pthread_mutex_lock(lock)
        jobs.append(job)
        // A thread that was woken and has not run yet still counts as idle, so the jobs are compared.
        let wantsThread = jobs.count - next > idle && threads < limit
        if wantsThread { threads += 1 }
        unsafe pthread_cond_signal(wake)
        unsafe pthread_mutex_unlock(lock)
        if wantsThread && !start() { runWithoutThread() }
    }

    func stop() {
        unsafe pthread_mutex_lock(lock)
        isStopped = true
        unsafe pthread_cond_broadcast(wake)
        unsafe pthread_mutex_unlock(lock)
    }

    func rest() {
        unsafe pthread_mutex_lock(lock)
        while next < jobs.count || idle < threads { unsafe pthread_cond_wait(quiet, lock) }
        unsafe pthread_mutex_unlock(lock)
    }

    /// Runs the jobs here when no thread could be started and there is no other.
    private func runWithoutThread() {
        unsafe pthread_mutex_lock(lock)
        threads -= 1
        let isAlone = threads == 0
        unsafe pthread_mutex_unlock(lock)
        guard isAlone else { return }
        while let job = takeJob(waits: false) { job() }
    }

    /// The next job; `nil` when the pool has stopped and none is left, or there is none and `waits` is false.
    private func takeJob(waits: Bool) -> WorkerPool.Job? {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while next == jobs.count {
            guard waits && !isStopped else { return nil }
            idle += 1
            if idle == threads { unsafe pthread_cond_broadcast(quiet) }
            unsafe pthread_cond_wait(wake, lock)
            idle -= 1
        }
        let job = jobs[next]
        next += 1
        if next == jobs.count || next >= 1024 {
            jobs.removeFirst(next)
            next = 0
        }
        return job
    }

    private func start() -> Bool {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 256 * 1024)
        defer { unsafe pthread_attr_destroy(&attributes) }
        // Signals are handled by other threads.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, Self.body, context)
        if code != 0 { unsafe Unmanaged<Core>.fromOpaque(context).release() }
        return code == 0
    }

    private func run() {
        while let job = takeJob(waits: true) { job() }
    }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Core>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
