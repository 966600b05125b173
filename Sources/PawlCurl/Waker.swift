import CCurl
import Synchronization

/// Wakes a multi handle from any thread, and does nothing once that handle is gone.
final class Waker: Sendable {
    /// The address of the multi handle, 0 when it is gone.
    private let multi: Mutex<UInt>

    init(_ handle: UnsafeMutableRawPointer) {
        multi = Mutex(UInt(bitPattern: handle))
    }

    func wake() {
        multi.withLock { address in
            // The lock is held so that the handle cannot be freed meanwhile; curl_multi_wakeup only writes to a pipe.
            guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
            _ = unsafe curl_multi_wakeup(handle)
        }
    }

    func disarm() {
        multi.withLock { $0 = 0 }
    }
}
