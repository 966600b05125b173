import Glibc
import PawlSystem
import Synchronization

/// The capabilities and size of a terminal.
package struct TerminalState: Sendable, Hashable {
    /// Whether codes that move the cursor may be written.
    package var takesCodes: Bool
    /// Whether colours may be written: `NO_COLOR` is not set.
    package var takesColor: Bool
    /// Whether it wraps its lines anew after its width has changed; others cut them off.
    package var reflows: Bool
    /// Whether non-ASCII characters may be written.
    package var takesUnicode: Bool

    /// Derives the capabilities from environment variables.
    package init(isTerminal: Bool, environment: (String) -> String?) {
        let kind = environment("TERM") ?? ""
        // https://no-color.org: set and not empty.
        let isPlain = !(environment("NO_COLOR") ?? "").isEmpty
        takesCodes = isTerminal && kind != "" && kind != "dumb"
        takesColor = takesCodes && !isPlain
        let isScreen = kind.hasPrefix("screen") && (environment("TMUX") ?? "").isEmpty
        let cutsOff = isScreen || kind.hasPrefix("linux") || kind.hasPrefix("rxvt")
        reflows = !cutsOff && (environment("XTERM_VERSION") ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased().filter { $0 != "-" }
        takesUnicode = encoding.contains("utf8")
    }

    /// Standard error of this process.
    package static func standardError() -> TerminalState { state(of: STDERR_FILENO) }

    /// The terminal on a descriptor of this process.
    package static func state(of descriptor: Int32) -> TerminalState {
        TerminalState(isTerminal: isatty(descriptor) == 1, environment: Environment.value)
    }

    /// The current numbers of columns and rows.
    package static func size(of descriptor: Int32 = STDERR_FILENO) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether this process may draw: not while it is a background job of a shell.
    package static func isInForeground() -> Bool { tcgetpgrp(STDERR_FILENO) == getpgrp() }

    /// The text in lines as long as those of the terminal; one line where there is no terminal.
    package static func folded(_ text: String, for descriptor: Int32) -> [String] {
        guard isatty(descriptor) == 1 else { return [text] }
        return TerminalText.folded(text, to: size(of: descriptor).columns - 1)
    }
}

/// Tracks whether the cursor of the terminal on standard error is hidden, and restores it from any thread.
package final class CursorGuard: Sendable {
    private let isHidden = Atomic(false)
    /// Whether the alternate screen is shown for as long as the cursor is hidden.
    private let isFullScreen: Bool

    package init(fullScreen isFullScreen: Bool = false) { self.isFullScreen = isFullScreen }

    /// The code that hides the cursor; empty if it is hidden already.
    package func hidingCode() -> String {
        isHidden.exchange(true, ordering: .relaxed) ? "" : (isFullScreen ? "\u{1B}[?1049h" : "") + "\u{1B}[?25l"
    }

    /// Makes the cursor visible on a new line, immediately and unbuffered.
    package func show() {
        var code = Array(showingCode().utf8)
        guard !code.isEmpty else { return }
        code += Array("\r\n".utf8)
        _ = unsafe write(STDERR_FILENO, &code, code.count)
    }

    /// The code that makes the cursor visible; empty if it is not hidden.
    package func showingCode() -> String {
        isHidden.exchange(false, ordering: .relaxed) ? "\u{1B}[?25h" + (isFullScreen ? "\u{1B}[?1049l" : "") : ""
    }
}
