import Glibc
import Pawl
import PawlSystem

/// Receives signals on a dedicated thread, so that no code runs in a signal handler.
///
/// Start it before any other thread: threads inherit the mask that reserves the signals for this one.
package enum SignalWatch {
    /// - Parameters:
    ///   - hasDisplay: also receive signals for resizing, stopping and continuing.
    ///   - cursor: restored before an immediate exit.
    ///   - onSignal: called on the signal thread.
    package static func start(
        hasDisplay: Bool,
        cursor: CursorGuard,
        onSignal: @escaping @Sendable (Int32) -> Void
    ) {
        _ = signal(SIGPIPE, SIG_IGN)
        var watched = sigset_t()
        unsafe sigemptyset(&watched)
        for number in [SIGINT, SIGTERM] { unsafe sigaddset(&watched, number) }
        // Under nohup, a closed terminal must not stop it.
        if !isIgnored(SIGHUP) { unsafe sigaddset(&watched, SIGHUP) }
        if hasDisplay {
            for number in [SIGWINCH, SIGCONT] { unsafe sigaddset(&watched, number) }
            if !isIgnored(SIGTSTP) { unsafe sigaddset(&watched, SIGTSTP) }
        }
        unsafe pthread_sigmask(SIG_BLOCK, &watched, nil)
        let listener = SignalListener(watched: watched, cursor: cursor, onSignal: onSignal)
        SystemThread.detached("pawl-signals") { listener.listen() }
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
private final class SignalListener: Sendable {
    private let watched: sigset_t
    private let cursor: CursorGuard
    private let onSignal: @Sendable (Int32) -> Void

    init(watched: sigset_t, cursor: CursorGuard, onSignal: @escaping @Sendable (Int32) -> Void) {
        self.watched = watched
        self.cursor = cursor
        self.onSignal = onSignal
    }

    func listen() -> Never {
        var requests = 0
        while true {
            var set = watched
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0 else { continue }
            switch number {
            case SIGINT, SIGTERM, SIGHUP:
                requests += 1
                // Second request: the data on disk is consistent at any time, so exit immediately.
                if requests > 1 {
                    cursor.show()
                    _exit(Int32(PawlError.Code.unfinished.rawValue))
                }
            default: break
            }
            onSignal(number)
        }
    }
}
