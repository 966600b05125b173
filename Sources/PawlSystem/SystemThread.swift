import CPawlSystem
import Glibc
import PawlEngine

/// A POSIX thread, which must be joined or detached.
package struct SystemThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread; `nil` when the system refuses one.
    ///
    /// - Parameters:
    ///   - name: shown by `ps` and debuggers, the first 15 bytes of it.
    ///   - stackSize: in bytes; `nil` for the system's default.
    ///   - blocksSignals: whether only other threads receive the process's signals.
    ///   - body: what the thread runs.
    package init?(
        _ name: String,
        stackSize: Int? = nil,
        blocksSignals: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) {
        let context = unsafe Unmanaged.passRetained(Body(name, body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackSize { unsafe pthread_attr_setstacksize(&attributes, stackSize) }
        var before = sigset_t()
        if blocksSignals {
            // The thread inherits the mask that is set while it is created.
            var blocked = Self.processSignals
            unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        }
        defer { if blocksSignals { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) } }
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, &attributes, Body.main, context.toOpaque()) == 0 else {
            unsafe context.release()
            return nil
        }
        self.thread = thread
    }

    /// Starts a thread, for code that cannot continue without it.
    package static func start(
        _ name: String = "pawl-thread",
        blocksSignals: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) -> SystemThread {
        guard let thread = SystemThread(name, blocksSignals: blocksSignals, body) else {
            preconditionFailure("no thread \(name)")
        }
        return thread
    }

    /// Starts a thread that nothing waits for.
    package static func detached(
        _ name: String = "pawl-thread",
        blocksSignals: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) {
        start(name, blocksSignals: blocksSignals, body).detach()
    }

    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Waits for the thread's end; once only.
    package func join() { pthread_join(thread, nil) }

    package func detach() { pthread_detach(thread) }

    /// Every signal but those that a fault raises in the thread itself, which would end the process without a report.
    private static var processSignals: sigset_t {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            unsafe sigdelset(&signals, fault)
        }
        return signals
    }
}

extension SystemThread {
    /// Blocks the calling thread for this long; only for a thread without other work.
    package static func sleep(seconds: Double) {
        var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        var left = timespec()
        while unsafe nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
    }

    /// Blocks the calling thread until `work` returns; for a `main` that is not asynchronous.
    package static func wait<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let result = Monitor<Value?>(nil)
        Task.detached {
            let value = await work()
            result.with { $0 = value }
        }
        while true {
            if let value = result.wait(until: nil, for: { $0 }) { return value }
        }
    }
}

/// The engine's threads, detached.
package struct SystemThreads: Threads {
    package init() {}

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        SystemThread.detached(name, blocksSignals: true, body)
    }
}

/// What a thread runs.
private final class Body {
    private let name: String
    private let run: @Sendable () -> Void

    init(_ name: String, _ run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }

    static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        unsafe pawl_name_thread(body.name)
        body.run()
        return nil
    }
}
