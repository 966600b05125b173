import Glibc
import Pawl

/// Hears signals on a thread of its own, so that no code ever runs inside a signal handler.
///
/// Start it before any other thread: threads inherit the mask that keeps the signals for this one.
package enum SignalWatch {
    /// - Parameters:
    ///   - hasDisplay: also hear of resizing, stopping and continuing.
    ///   - cursor: is put back before the process ends at once.
    ///   - onSignal: called on the signal thread.
    package static func start(
        hasDisplay: Bool,
        cursor: CursorGuard,
        onSignal: @escaping @Sendable (Int32) -> Void
    ) {
        _ = signal(SIGPIPE, SIG_IGN)
        var heard = sigset_t()
        unsafe sigemptyset(&heard)
        for number in [SIGINT, SIGTERM] { unsafe sigaddset(&heard, number) }
        // Under nohup a closed terminal is no reason to stop.
        if !isIgnored(SIGHUP) { unsafe sigaddset(&heard, SIGHUP) }
        if hasDisplay {
            for number in [SIGWINCH, SIGCONT] { unsafe sigaddset(&heard, number) }
            if !isIgnored(SIGTSTP) { unsafe sigaddset(&heard, SIGTSTP) }
        }
        unsafe pthread_sigmask(SIG_BLOCK, &heard, nil)
        Listener(heard: heard, cursor: cursor, onSignal: onSignal).detach()
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return handler == ignoring
    }
}

/// The thread's work.
private final class Listener: Sendable {
    private let heard: sigset_t
    private let cursor: CursorGuard
    private let onSignal: @Sendable (Int32) -> Void

    init(heard: sigset_t, cursor: CursorGuard, onSignal: @escaping @Sendable (Int32) -> Void) {
        self.heard = heard
        self.cursor = cursor
        self.onSignal = onSignal
    }

    func detach() {
        var thread = pthread_t()
        let passed = unsafe Unmanaged.passRetained(self).toOpaque()
        let started = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Listener>.fromOpaque(context).takeRetainedValue().listen()
            },
            passed
        )
        precondition(started == 0, "no thread for signals: error \(started)")
        pthread_detach(thread)
    }

    private func listen() -> Never {
        var wishes = 0
        while true {
            var set = heard
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0 else { continue }
            switch number {
            case SIGINT, SIGTERM, SIGHUP:
                wishes += 1
                // Asked twice: what is on disk is safe at any moment, so there is nothing to wait for.
                if wishes > 1 {
                    cursor.show()
                    _exit(Int32(PawlError.Code.unfinished.rawValue))
                }
            default: break
            }
            onSignal(number)
        }
    }
}
