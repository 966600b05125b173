import CPawlSystem
import Glibc
package import PawlBase

/// The kernel's clocks.
package struct SystemClock: Clock {
    package init() {}

    package var now: Instant {
        let reading = read(CLOCK_MONOTONIC)
        return Instant(nanoseconds: Int64(reading.tv_sec) * 1_000_000_000 + Int64(reading.tv_nsec))
    }

    package var wallTime: UnixTime { UnixTime(seconds: Int64(read(CLOCK_REALTIME).tv_sec)) }

    package var nanosecondsSince1970: Int64 {
        let reading = read(CLOCK_REALTIME)
        return Int64(reading.tv_sec) * 1_000_000_000 + Int64(reading.tv_nsec)
    }

    private func read(_ clock: clockid_t) -> timespec {
        var reading = timespec()
        let result = unsafe clock_gettime(clock, &reading)
        precondition(result == 0, "the kernel has no clock \(clock)")
        return reading
    }
}

/// The charsets of the C library.
package enum SystemCharsets {
    /// Bytes of a charset as UTF-8; `nil` where the C library does not know it, as without its modules, or where they are not
    /// of it.
    @Sendable package static func utf8(_ bytes: [UInt8], _ charset: String) -> [UInt8]? {
        // No character has more than four bytes, and some charsets have two characters in one byte.
        var result = [UInt8](repeating: 0, count: bytes.count * 8 + 16)
        let length = unsafe bytes.withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { room in
                unsafe pawl_to_utf8(charset, source.baseAddress, source.count, room.baseAddress, room.count)
            }
        }
        return length < 0 ? nil : Array(result.prefix(Int(length)))
    }
}

/// The memory of a process that runs for weeks.
package enum SystemMemory {
    /// Makes the allocator return freed memory to the system soon; before any other thread is started.
    ///
    /// Otherwise each of several arenas keeps as much memory as it ever used at once.
    package static func keepSmall() { pawl_keep_memory_small() }

    /// Returns to the system what is free between blocks in use.
    package static func trim() { pawl_trim_memory() }
}
