package import Glibc
import Synchronization

/// The terminal whose mode this program has changed; the former mode is restored from any thread, also by a signal that
/// ends the program.
package enum TerminalMode {
    private static let held = Mutex<(terminal: Int32, former: termios)?>(nil)

    /// Changes the mode, from the former one if it was changed before; `false` if that is no terminal, or refuses.
    package static func change(_ terminal: Int32, _ change: (inout termios) -> Void) -> Bool {
        var mode = termios()
        guard unsafe tcgetattr(terminal, &mode) == 0 else { return false }
        let former = held.withLock { [mode] held in
            if held?.terminal != terminal { held = (terminal, mode) }
            return held?.former ?? mode
        }
        mode = former
        change(&mode)
        return unsafe tcsetattr(terminal, TCSAFLUSH, &mode) == 0
    }

    package static func restore() {
        held.withLock { held in
            guard var last = held else { return }
            unsafe tcsetattr(last.terminal, TCSAFLUSH, &last.former)
            held = nil
        }
    }
}
