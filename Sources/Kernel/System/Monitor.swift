import Glibc
package import PawlBase

/// A value behind a mutex with a condition variable, for threads that wait until the value changes.
@safe package final class Monitor<State>: @unchecked Sendable {  // `state` is only touched with the mutex held.
    /// Which of the waiting threads a change wakes.
    package enum Waking { case none, one, all }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        unsafe pthread_mutex_init(mutex, nil)
        // Setting the wall clock back must not extend a wait.
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

    /// Reads or changes the state exclusively, then wakes waiting threads.
    package func with<Result>(waking: Waking = .all, _ body: (inout State) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            switch waking {
            case .none: break
            case .one: unsafe pthread_cond_signal(condition)
            case .all: unsafe pthread_cond_broadcast(condition)
            }
            unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Reads the state exclusively and wakes nothing.
    package func read<Result>(_ body: (State) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(state)
    }

    /// Waits until `body` returns a value, called again after each change; `nil` when the deadline, a time of
    /// `SystemClock`, has come without one.
    package func wait<Result>(until deadline: Instant?, for body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if !sleep(until: deadline) { return body(&state) }
        }
    }

    /// Sleeps until a wakeup, with the mutex held; `false` when the deadline has come.
    private func sleep(until deadline: Instant?) -> Bool {
        guard let deadline else { return unsafe pthread_cond_wait(condition, mutex) == 0 }
        // Earlier than the clock's beginning is no valid time: the call would fail at once, again and again.
        guard deadline.nanoseconds >= 0 else { return false }
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        return unsafe pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }
}
