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
