import CPawlSystem
import Glibc
package import PawlBase

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
        _ name: String, stackSize: Int? = nil, blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
    ) { self.init(Body(name, blocksSignals: blocksSignals, body), stackSize: stackSize) }

    fileprivate init?(_ body: Body, stackSize: Int? = nil) {
        let blocksSignals = body.blocksSignals
        let context = unsafe Unmanaged.passRetained(body)
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

    /// Runs `body` on a thread that nothing waits for.
    ///
    /// When the system refuses one, the body waits until it allows it, or until another such thread has ended its own.
    package static func detached(
        _ name: String = "pawl-thread", blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
    ) { ThreadBacklog.shared.start(Body(name, blocksSignals: blocksSignals, body)) }

    /// Starts a thread that nothing waits for, or throws code 1: for a program's start, when somebody can be informed.
    package static func launch(
        _ name: String, blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
    ) throws(Failure) {
        guard let thread = SystemThread(name, blocksSignals: blocksSignals, body) else { throw refusal }
        thread.detach()
    }

    /// Throws code 1 while work waits for a thread: for a program's start.
    package static func requireAll() throws(Failure) { if ThreadBacklog.shared.isWaiting { throw refusal } }

    /// Throws code 1 unless so many further threads can be started: for a program's start, since the tasks of the concurrency
    /// runtime wait for a refused one without a word.
    package static func require(_ count: Int) throws(Failure) {
        let over = Latch()
        var threads: [SystemThread] = []
        defer {
            over.open()
            for thread in threads { thread.join() }
        }
        for _ in 0..<count {
            let waiting = SystemThread("pawl-reserve", stackSize: 1 << 16, blocksSignals: true) { over.pass() }
            guard let waiting else { throw refusal }
            threads.append(waiting)
        }
    }

    private static var refusal: Failure {
        Failure(
            .unknown, "cannot start", at: "a thread", because: SystemError(number: EAGAIN).message,
            remedy: "raise the limit of processes and threads: 'ulimit -u', or pids.max of the control group")
    }

    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Waits for the thread's end; once only.
    package func join() { pthread_join(thread, nil) }

    package func detach() { pthread_detach(thread) }

    /// Every signal but those that a fault raises in the thread itself, which would end the process without a report.
    private static var processSignals: sigset_t {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { unsafe sigdelset(&signals, fault) }
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
        while true { if let value = result.wait(until: nil, for: { $0 }) { return value } }
    }
}

/// The engine's threads, detached.
package struct SystemThreads: Threads {
    package init() {}

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        SystemThread.detached(name, blocksSignals: true, body)
    }

    package func launch(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Failure) {
        try SystemThread.launch(name, blocksSignals: true, body)
    }
}

/// What waits for a thread.
package final class ThreadBacklog: Sendable {
    package static let shared = ThreadBacklog()

    private let waiting = Monitor<[Body]>([])
    private let starter: @Sendable (Body) -> Bool

    /// `mayStart`: whether the system allows a thread; for tests.
    init(mayStart: @escaping @Sendable () -> Bool = { true }) {
        starter = { body in
            guard mayStart(), let thread = SystemThread(body) else { return false }
            thread.detach()
            return true
        }
    }

    package var isWaiting: Bool { waiting.read { !$0.isEmpty } }

    /// Starts it, after those that wait already.
    fileprivate func start(_ body: Body) {
        body.backlog = self
        waiting.with(waking: .none) { $0.append(body) }
        retry()
    }

    /// For tests, which make backlogs of their own.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void) { start(Body(name, blocksSignals: true, body)) }

    /// Starts what waits, as far as the system allows it.
    package func retry() {
        var isAgain = false
        while let body = take({ _ in true }) {
            if starter(body) { continue }
            waiting.with(waking: .none) { $0.insert(body, at: 0) }
            // A thread that ended meanwhile has not found it.
            if isAgain { return }
            isAgain = true
        }
    }

    /// The next one for a thread that has ended its body.
    fileprivate func next(after body: Body) -> Body? { take { $0.blocksSignals == body.blocksSignals } }

    private func take(_ isFitting: (Body) -> Bool) -> Body? {
        waiting.with(waking: .none) { waiting in waiting.firstIndex(where: isFitting).map { waiting.remove(at: $0) } }
    }
}

/// What a thread runs.
private final class Body: @unchecked Sendable {  // `backlog` is set before the thread starts.
    let blocksSignals: Bool
    /// Where it looks for another one at its end.
    var backlog: ThreadBacklog?
    private let name: String
    private let run: @Sendable () -> Void

    init(_ name: String, blocksSignals: Bool, _ run: @escaping @Sendable () -> Void) {
        self.name = name
        self.blocksSignals = blocksSignals
        self.run = run
    }

    static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        unsafe pawl_name_thread(body.name)
        body.run()
        var last = body
        while let next = last.backlog?.next(after: last) {
            unsafe pawl_name_thread(next.name)
            next.run()
            last = next
        }
        return nil
    }
}
