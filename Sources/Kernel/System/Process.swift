package import Glibc

/// A process by its number and the time of its start: the number alone is used again.
package struct ProcessIdentity: Hashable, Sendable {
    package let number: pid_t
    /// In clock ticks since the machine was started (proc_pid_stat(5)); 0 if it is not known.
    package let start: UInt64

    package init(number: pid_t, start: UInt64) {
        self.number = number
        self.start = start
    }

    package static var own: ProcessIdentity {
        ProcessIdentity(number: getpid(), start: fields(of: getpid())?.start ?? 0)
    }

    /// Whether this process, and not another one with its number, is running.
    package var isRunning: Bool {
        guard number > 0, kill(number, 0) == 0 || errno == EPERM else { return false }
        guard let fields = ProcessIdentity.fields(of: number) else { return true }
        // A zombie has ended.
        return fields.state != "Z" && (start == 0 || fields.start == start)
    }

    /// Whether a signal has stopped it (SIGSTOP, SIGTSTP), until SIGCONT.
    package var isStopped: Bool { isRunning && ProcessIdentity.fields(of: number)?.state == "T" }

    /// `nil` where the system does not say.
    private static func fields(of process: pid_t) -> (state: String, start: UInt64)? {
        let bytes = (try? AtomicFile.read("/proc/\(process)/stat", atMost: 4096)) ?? nil
        // The name before may contain anything, also a parenthesis.
        guard let bytes, let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[end...].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 20, let start = UInt64(fields[20]) else { return nil }
        return (fields[1], start)
    }
}

/// The environment of the process: variables, and the user's folders as they name them.
///
/// An empty variable is a missing one. A folder's relative path is ignored, as the XDG Base Directory Specification requires:
/// it would be another folder in each working directory.
package enum Environment {
    package static func value(_ name: String) -> String? {
        // Passed to `getenv` itself, the name would be copied into an array for each request.
        unsafe name.withCString { name in
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
            return unsafe String(cString: value)
        }
    }

    private static func folder(_ name: String) -> String? { absolute(value(name)) }

    static func absolute(_ path: String?) -> String? { path?.utf8.first == UInt8(ascii: "/") ? path : nil }

    /// `$HOME`.
    package static var home: String? { folder("HOME") }
    /// `$XDG_STATE_HOME`, else `~/.local/state`.
    package static var state: String? { folder("XDG_STATE_HOME") ?? home.map { "\($0)/.local/state" } }
    /// Pawl's own state.
    package static var pawlState: String? { state.map { "\($0)/pawl" } }
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    package static var configuration: String? { folder("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" } }
    /// `$XDG_RUNTIME_DIR`.
    package static var runtime: String? { folder("XDG_RUNTIME_DIR") }
    /// `$TMPDIR`, else `/tmp`.
    package static var temporary: String { folder("TMPDIR") ?? "/tmp" }
}
