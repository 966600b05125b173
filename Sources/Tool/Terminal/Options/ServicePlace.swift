import Glibc
package import PawlBase
import PawlSystem

/// The service's root and socket, from options and environment variables.
package enum ServicePlace {
    /// The download root: the given one, else `$PAWL_ROOT`, else `~/Downloads`.
    package static func root(_ given: String?) throws(Failure) -> String {
        if let given = given ?? Environment.value("PAWL_ROOT") { return absolute(given) }
        return try home(for: "--root") + "/Downloads"
    }

    /// The Unix socket: the given one, else `$PAWL_SOCKET`, else the user's default.
    package static func socket(_ given: String?) throws(Failure) -> String {
        if let given = given ?? Environment.value("PAWL_SOCKET") { return absolute(given) }
        return try usualSocket()
    }

    /// Whether no option and no variable names the socket.
    package static func isUsual(_ given: String?) -> Bool { given == nil && Environment.value("PAWL_SOCKET") == nil }

    /// The socket when none is given; it depends on the session that the process is in.
    package static func usualSocket() throws(Failure) -> String {
        if let folder = Environment.runtime, unsafe access(folder, W_OK) == 0 {
            return absolute(folder + "/pawl.socket")
        }
        return try home(for: "--socket") + "/.local/state/pawl/socket"
    }

    /// A program's path; a name without a slash is left to be searched in PATH.
    package static func program(_ name: String) -> String { name.contains("/") ? absolute(name) : name }

    /// The path relative to the working directory made absolute, without a trailing slash.
    package static func absolute(_ path: String) -> String {
        var path = path
        if !path.isAbsolutePath {
            let folder = unsafe getcwd(nil, 0)
            defer { unsafe free(folder) }
            path = (unsafe folder.map { unsafe String(cString: $0) } ?? "") + "/" + path
        }
        return "/" + path.pathParts().filter { $0 != "." }.joined(separator: "/")
    }

    package static func home(for option: String) throws(Failure) -> String {
        if let home = Environment.home { return absolute(home) }
        throw Failure(
            .badOption, "cannot find", at: "the home folder", because: "HOME is not set to an absolute path",
            remedy: "pass \(option)")
    }
}
