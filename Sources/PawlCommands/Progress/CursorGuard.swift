import Glibc
import Synchronization

/// Knows whether the cursor of the terminal on standard error is hidden, and puts it back from any thread.
package final class CursorGuard: Sendable {
    private let isHidden = Atomic(false)

    package init() {}

    /// The code that hides the cursor when it is not hidden yet, else nothing.
    package func hidingCode() -> String {
        isHidden.exchange(true, ordering: .relaxed) ? "" : "\u{1B}[?25l"
    }

    /// Makes the cursor visible on a line of its own, at once and past every buffer.
    package func show() {
        guard isHidden.exchange(false, ordering: .relaxed) else { return }
        var code: [UInt8] = Array("\u{1B}[?25h\r\n".utf8)
        _ = unsafe write(STDERR_FILENO, &code, code.count)
    }

    /// The code that makes the cursor visible again when it is hidden, else nothing.
    package func showingCode() -> String {
        isHidden.exchange(false, ordering: .relaxed) ? "\u{1B}[?25h" : ""
    }
}
