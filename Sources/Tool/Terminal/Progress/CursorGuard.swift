import Glibc
import Synchronization

/// Tracks whether the cursor of the terminal on standard error is hidden, and restores it from any thread.
package final class CursorGuard: Sendable {
    private let isHidden = Atomic(false)

    package init() {}

    /// The code that hides the cursor; empty if it is hidden already.
    package func hidingCode() -> String { isHidden.exchange(true, ordering: .relaxed) ? "" : "\u{1B}[?25l" }

    /// Makes the cursor visible on a new line, immediately and unbuffered.
    package func show() {
        guard isHidden.exchange(false, ordering: .relaxed) else { return }
        var code: [UInt8] = Array("\u{1B}[?25h\r\n".utf8)
        _ = unsafe write(STDERR_FILENO, &code, code.count)
    }

    /// The code that makes the cursor visible; empty if it is not hidden.
    package func showingCode() -> String { isHidden.exchange(false, ordering: .relaxed) ? "\u{1B}[?25h" : "" }
}
