import Glibc
import PawlEngine

/// Detached POSIX threads.
package struct SystemThreads: Threads {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    package init() {}

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context
        )
        precondition(result == 0, "no thread \(name): \(result)")
        pthread_detach(thread)
    }
}

/// A latch that one thread waits on until another opens it; it stays open.
@safe
package final class ThreadLatch: Sendable {
    // The semaphore's memory is only touched by the semaphore calls, which may come from any thread.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>  // sem_* calls lock

    package init() {
        unsafe semaphore = .allocate(capacity: 1)
        let result = unsafe sem_init(semaphore, 0, 0)
        precondition(result == 0, "no semaphore")
    }

    deinit {
        _ = unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    package func open() { _ = unsafe sem_post(semaphore) }

    /// Returns when the latch is open.
    package func pass() {
        while unsafe sem_wait(semaphore) != 0 {}
        open()
    }
}
