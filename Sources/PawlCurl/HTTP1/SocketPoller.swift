import CCurl
import CPawlSystem
import Glibc

/// One epoll instance, edge-triggered: the sockets of the HTTP/1.1 client, and a wakeup that other threads signal.
@safe
final class SocketPoller {
    /// An event of one socket.
    struct Change {
        var key: UInt64
        var canRead: Bool
        var canWrite: Bool
        var hasPeerClosed: Bool
    }

    /// The epoll descriptor, for another poll: readable when there is an event.
    let descriptor: Int32
    let wakeup: Int32
    private let ready: UnsafeMutablePointer<pawl_ready>
    private var count = 0

    private static let bellKey: UInt64 = 0
    private static let capacity = 64

    init?() {
        descriptor = pawl_poller_make()
        wakeup = pawl_bell_make()
        unsafe ready = .allocate(capacity: Self.capacity)
        guard descriptor >= 0, wakeup >= 0, pawl_poller_add_bell(descriptor, wakeup, Self.bellKey) == 0 else {
            return nil
        }
    }

    deinit {
        close(wakeup)
        close(descriptor)
        unsafe ready.deallocate()
    }

    /// `key` is not 0.
    func add(_ socket: Int32, key: UInt64) -> Bool {
        pawl_poller_add_socket(descriptor, socket, key) == 0
    }

    /// Waits for events; −1 waits without a timeout.
    func wait(milliseconds: Int32) {
        count = max(0, Int(unsafe pawl_poller_wait(descriptor, ready, milliseconds)))
    }

    /// Passes each event of the last `wait` to `body`, once.
    func takeChanges(_ body: (Change) -> Void) {
        let taken = count
        count = 0
        for index in 0..<taken {
            let (key, events) = unsafe (ready[index].key, ready[index].events)
            guard key != Self.bellKey else {
                var rings: UInt64 = 0
                _ = unsafe read(wakeup, &rings, MemoryLayout<UInt64>.size)
                continue
            }
            body(
                Change(
                    key: key,
                    canRead: events & UInt32(PAWL_READY_TO_READ) != 0,
                    canWrite: events & UInt32(PAWL_READY_TO_WRITE) != 0,
                    hasPeerClosed: events & UInt32(PAWL_PEER_CLOSED) != 0
                )
            )
        }
    }
}
