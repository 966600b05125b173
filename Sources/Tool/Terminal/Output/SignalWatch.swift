import Glibc
import Pawl
import PawlSystem
import Synchronization

/// Receives signals on a dedicated thread, so that no code runs in a signal handler.
///
/// Begin it before any other thread: threads inherit the mask that reserves the signals for this one.
package enum SignalWatch {
    private struct State: Sendable {
        var onSignal: @Sendable (Int32) -> Void
        var cursor = CursorGuard()
        /// How often the process was requested to end.
        var requests = 0
    }

    /// `nil` before the first thread listens.
    private static let state = Mutex<State?>(nil)

    /// Until ``start(hasDisplay:cursor:onSignal:)``, a signal ends the process with exit code 7 and this sentence.
    ///
    /// For commands that may wait before they have anything to stop: for input, a server or the service.
    static func begin(_ sentence: String) {
        guard state.withLock(\.self) == nil else { return }
        state.withLock { $0 = State { number in leave(after: number, sentence) } }
        listen(for: endings)
    }

    /// - Parameters:
    ///   - hasDisplay: also receive signals for resizing, stopping and continuing.
    ///   - cursor: restored before an immediate exit.
    ///   - onSignal: called on the signal thread.
    package static func start(hasDisplay: Bool, cursor: CursorGuard, onSignal: @escaping @Sendable (Int32) -> Void) {
        _ = signal(SIGPIPE, SIG_IGN)
        let isListening = state.withLock { state in
            defer { state = State(onSignal: onSignal, cursor: cursor) }
            return state != nil
        }
        if !isListening { listen(for: endings) }
        guard hasDisplay else { return }
        listen(for: [SIGWINCH, SIGCONT] + (isIgnored(SIGTSTP) ? [] : [SIGTSTP]))
    }

    /// The signals that request an end; under nohup, a closed terminal must not.
    private static var endings: [Int32] { [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return handler == ignoring
    }

    private static func listen(for numbers: [Int32]) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        let watched = set
        let thread = SystemThread("pawl-signals", blocksSignals: true) {
            while true {
                var set = watched
                var number: Int32 = 0
                if unsafe sigwait(&set, &number) == 0 { hear(number) }
            }
        }
        guard let thread else {
            // Signals have their usual effects.
            _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
            return
        }
        thread.detach()
    }

    private static func hear(_ number: Int32) {
        let isEnding = [SIGINT, SIGTERM, SIGHUP].contains(number)
        let known = state.withLock { state in
            if isEnding { state?.requests += 1 }
            return state
        }
        guard let known else { return }
        // Second request: the data on disk is consistent at any time, so exit immediately.
        if isEnding, known.requests > 1 {
            TerminalMode.restore()
            known.cursor.show()
            _exit(Int32(PawlError.Code.unfinished.rawValue))
        }
        known.onSignal(number)
    }

    private static func leave(after number: Int32, _ sentence: String) -> Never {
        TerminalMode.restore()
        var errors = OutputFile(descriptor: STDERR_FILENO)
        // After the terminal's ^C, or a progress bar.
        if isatty(STDERR_FILENO) == 1 { errors.append("\n") }
        errors.appendLine("pawl: \(sentence)")
        errors.flush()
        _exit(Int32(PawlError.Code.unfinished.rawValue))
    }
}
