import Glibc

/// Tells systemd how the service is (sd_notify(3)); says nothing when somebody else started it.
struct Supervisor: Sendable {
    private let path: String?
    /// Whether it wants to hear now and then that all is well (WatchdogSec in systemd.service(5)).
    private let wantsBeats: Bool

    var isThere: Bool { path != nil }

    /// Call it before any other thread is started: it takes the variables out, which concern no child.
    init() {
        path = ServicePlace.variable("NOTIFY_SOCKET")
        wantsBeats = ServicePlace.variable("WATCHDOG_USEC") != nil
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { _ = unsafe unsetenv(name) }
    }

    /// All is well.
    func beat() { if wantsBeats { tell("WATCHDOG=1") } }

    func tell(_ state: String) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // @ stands for the byte 0, with which the names begin that are no files.
        var name = Array(path.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return }
        defer { close(file) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(state.utf8)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { start in
                _ = unsafe sendto(file, bytes, bytes.count, Int32(MSG_NOSIGNAL), start, size)
            }
        }
    }
}
