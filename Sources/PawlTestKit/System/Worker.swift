import Glibc

/// A thread that runs one closure.
package final class Worker: Sendable {
    private let thread: pthread_t

    package init(_ body: @escaping @Sendable () -> Void) {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            box
        )
        precondition(code == 0, "no thread: error \(code)")
        self.thread = thread
    }

    /// Waits for the end of the closure.
    ///
    /// Call it once.
    package func join() {
        pthread_join(thread, nil)
    }
}

extension Worker {
    /// Runs `body` on a detached thread.
    package static func detached(_ body: @escaping @Sendable () -> Void) {
        pthread_detach(Worker(body).thread)
    }
}
