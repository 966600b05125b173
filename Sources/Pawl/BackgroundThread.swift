import Glibc
import PawlCurl
import Synchronization

/// A thread for code that blocks in another library's event loop.
package enum BackgroundThread {
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        SystemThreads().start(name, body)
    }

    /// Blocks the calling thread for this long; only for a thread without other work.
    package static func sleep(seconds: Double) {
        var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        var left = timespec()
        while unsafe nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
    }

    /// Blocks the calling thread until `work` returns; for a `main` that is not asynchronous.
    package static func wait<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let result = Mutex<Value?>(nil)
        let latch = ThreadLatch()
        Task.detached {
            let value = await work()
            result.withLock { $0 = value }
            latch.open()
        }
        while true {
            latch.pass()
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}
