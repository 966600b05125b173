import Glibc
import PawlBase

extension StreamTarget {
    /// Standard output, a character device, a named pipe or an open descriptor at that path, also through a symbolic
    /// link; `nil` for anything else.
    package init?(at path: String) {
        if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) {
            self = .standardOutput
            return
        }
        // The descriptor may be a file, which must not be replaced: another program opened it.
        if path == "/dev/stderr" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/") {
            self = .path(path)
            return
        }
        var found = stat()
        guard unsafe stat(path, &found) == 0, [S_IFCHR, S_IFIFO].contains(found.st_mode & S_IFMT) else { return nil }
        self = .path(path)
    }
}
