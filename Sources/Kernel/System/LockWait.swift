import Glibc

/// Takes a lock whose holder may be ending: a process that was killed keeps its locks until the kernel has closed its files.
package enum LockWait {
    private static let attempts = 50
    private static let milliseconds: Int32 = 10

    /// Calls `take` until it returns `true`, for at most half a second; returns whether it did.
    package static func take(_ take: () -> Bool) -> Bool {
        for attempt in 1...attempts {
            if take() { return true }
            if attempt < attempts { _ = poll(nil, 0, milliseconds) }
        }
        return false
    }
}
