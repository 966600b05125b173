import Glibc

/// The capabilities and size of the terminal on standard error.
package struct TerminalState: Sendable, Hashable {
    /// Whether escape codes may be written: the terminal supports them and `NO_COLOR` is not set.
    package var takesCodes: Bool
    /// Whether non-ASCII characters may be written.
    package var takesUnicode: Bool

    /// Derives the capabilities from environment variables.
    package init(isTerminal: Bool, environment: (String) -> String?) {
        let kind = environment("TERM") ?? ""
        // https://no-color.org: set and not empty.
        let isPlain = !(environment("NO_COLOR") ?? "").isEmpty
        takesCodes = isTerminal && !isPlain && kind != "" && kind != "dumb"
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased().filter { $0 != "-" }
        takesUnicode = encoding.contains("utf8")
    }

    /// Standard error of this process.
    package static func standardError() -> TerminalState {
        TerminalState(isTerminal: isatty(STDERR_FILENO) == 1, environment: environmentVariable)
    }

    /// The current numbers of columns and rows.
    package static func size() -> (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether this process may draw: not while it is a background job of a shell.
    package static func isInForeground() -> Bool { tcgetpgrp(STDERR_FILENO) == getpgrp() }
}

/// The value of an environment variable.
func environmentVariable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
