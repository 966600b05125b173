import Glibc
import PawlCore
import PawlEngine

/// A value confined to its own thread.
protocol ThreadBound: AnyObject {
    /// How long the thread may sleep when idle; `nil` for an unlimited time.
    var patience: Interval? { get }
    var hasEnded: Bool { get }
    /// Called when the queued work is done.
    func settle()
}

/// A thread that owns a value, and its serial work queue, which any thread may post to.
@safe
final class WorkThread<Owner: ThreadBound>: @unchecked Sendable {  // used with the mutex held
    typealias Work = @Sendable (Owner) -> Void

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: [Work] = []
    private var isOver = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Posts work; `false` when it will not be executed.
    @discardableResult
    func post(_ item: @escaping Work) -> Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        guard !isOver else { return false }
        if work.isEmpty { unsafe pthread_cond_signal(condition) }
        work.append(item)
        return true
    }

    /// Executes posted work until the owner has ended.
    func run(_ owner: Owner) {
        while !owner.hasEnded {
            for item in take(within: owner.patience) { item(owner) }
            owner.settle()
        }
        for item in close() { item(owner) }
        owner.settle()
    }

    private func take(within patience: Interval?) -> [Work] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        if work.isEmpty { wait(patience) }
        defer { work = [] }
        return work
    }

    /// Waits once, with the mutex held; spurious wake-ups do no harm.
    private func wait(_ patience: Interval?) {
        guard let patience else {
            unsafe pthread_cond_wait(condition, mutex)
            return
        }
        // Setting the wall clock back must not extend the wait.
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        var deadline = Self.time(
            Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) + patience.nanoseconds
        )
        unsafe pthread_cond_timedwait(condition, mutex, &deadline)
    }

    private static func time(_ nanoseconds: Int64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    private func close() -> [Work] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        isOver = true
        defer { work = [] }
        return work
    }
}
