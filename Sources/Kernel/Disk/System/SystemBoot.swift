import CPawlSystem
import Glibc
import PawlJournal

/// The kernel's identifier of the current boot.
enum SystemBoot {
    /// `nil` when the kernel does not report it: then no page cache is trusted.
    package static let identity: BootIdentity? = {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard unsafe pawl_boot_identity(&bytes) == 0 else { return nil }
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        return BootIdentity(high: word(bytes[0..<8]), low: word(bytes[8..<16]))
    }()
}

/// The clock of file timestamps.
enum SystemTime {
    /// Nanoseconds since 1970.
    package static var now: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(clamping: now.tv_sec) &* 1_000_000_000 &+ Int64(clamping: now.tv_nsec)
    }
}
