import CCurl
import Glibc
import Synchronization

/// Wakes a transport from any thread; does nothing once the transport is gone.
final class Waker: Sendable {
    private enum Target {
        /// The address of a multi handle.
        case multi(UInt)
        /// A descriptor of eventfd(2).
        case wakeup(Int32)
    }

    private let target: Mutex<Target?>

    init(_ handle: UnsafeMutableRawPointer) {
        target = Mutex(.multi(UInt(bitPattern: handle)))
    }

    init(wakeup: Int32) { target = Mutex(.wakeup(wakeup)) }

    func wake() {
        // The lock is held so that the target is not freed meanwhile; neither way of waking blocks.
        target.withLock { target in
            switch target {
            case .multi(let address):
                guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
                _ = unsafe curl_multi_wakeup(handle)
            case .wakeup(let descriptor):
                var one: UInt64 = 1
                _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
            case nil: break
            }
        }
    }

    func disarm() {
        target.withLock { $0 = nil }
    }
}
