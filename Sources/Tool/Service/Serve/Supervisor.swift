import Glibc
import PawlSystem

/// Notifies systemd of the service's state (sd_notify(3)); does nothing without systemd.
package struct Supervisor: Sendable {
    private let path: String?
    /// Whether systemd expects keep-alive messages (WatchdogSec in systemd.service(5)).
    private let wantsBeats: Bool

    package var isThere: Bool { path != nil }

    /// Call it before any other thread is started: it unsets the variables, which child processes must not inherit.
    package init() {
        path = Environment.value("NOTIFY_SOCKET")
        wantsBeats = Environment.value("WATCHDOG_USEC") != nil
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { _ = unsafe unsetenv(name) }
    }

    /// Sends a keep-alive message.
    ///
    /// It never waits for a supervisor that does not read: the watchdog's thread sends it, and has to go on watching.
    package func beat() { if wantsBeats { notify("WATCHDOG=1", waits: false) } }

    package func notify(_ state: String) { notify(state, waits: true) }

    private func notify(_ state: String, waits: Bool) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading @ stands for the byte 0 of an abstract socket address (unix(7)).
        var name = Array(path.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return }
        defer { close(file) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(state.utf8)
        let flags = Int32(waits ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { start in
                _ = unsafe sendto(file, bytes, bytes.count, flags, start, size)
            }
        }
    }
}
