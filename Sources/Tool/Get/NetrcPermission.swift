import Glibc
import PawlSystem
import PawlTerminal
import Synchronization

/// Whether the user's own netrc file may be used.
///
/// Like ftp(1) and aria2: passwords that other users of the machine can read are used only if the file is named.
enum NetrcPermission {
    /// `""` for the user's own netrc file, or `nil` where it is left out; says so once.
    static func usual() -> String? {
        guard let home = Environment.home else { return "" }
        let path = home + "/.netrc"
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return "" }
        if info.st_mode & S_IFMT != S_IFREG {
            warning.note(path, "it is not a regular file; move it away, or give another file with --netrc")
        } else if !isPrivate(mode: info.st_mode) {
            warning.note(path, "other users can read it; run 'chmod 600 \(path)', or give --netrc=\(path)")
        } else if unsafe access(path, R_OK) != 0 {
            warning.note(path, "\(SystemError.last.text); check its permissions, or give another file with --netrc")
        } else {
            return ""
        }
        return nil
    }

    /// Whether neither group nor others can read or write a file of this mode.
    static func isPrivate(mode: mode_t) -> Bool { mode & 0o077 == 0 }

    private static let warning = OnceWarning()
}

private final class OnceWarning: Sendable {
    private let isDone = Atomic(false)

    func note(_ path: String, _ why: String) {
        guard !isDone.exchange(true, ordering: .relaxed) else { return }
        var errors = OutputFile(descriptor: STDERR_FILENO)
        errors.appendLine(TerminalText.harmless("pawl: \(path) is not used: \(why)"))
        errors.flush()
    }
}
