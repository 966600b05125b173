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
