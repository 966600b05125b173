import Glibc
import Synchronization

/// The thread that listens to the kernel's notifications.
final class RouteWatch: Sendable {
    private let stopSignal: StopSignal
    private let thread: Mutex<pthread_t?>

    /// Subscribes and starts the thread; `nil` where the system does not allow it.
    init?(told: ToldAnswer, handler: @escaping @Sendable (Bool) -> Void) {
        guard let socket = NetlinkSocket(groups: NetlinkSocket.networkChanges),
            let stopSignal = StopSignal()
        else { return nil }
        // Queried after the subscription, so that no change falls between the two.
        if told.value == nil { told.value = RouteQuery.isOnline() }
        let listener = RouteListener(socket: socket, stop: stopSignal, told: told, handler: handler)
        guard let started = Self.startThread(listener) else { return nil }
        self.stopSignal = stopSignal
        thread = Mutex(started)
    }

    /// Stops the thread and waits for it, except on that thread itself.
    func stop() {
        stopSignal.give()
        let ending = thread.withLock { thread in
            let ending = thread
            thread = nil
            return ending
        }
        guard let ending else { return }
        if pthread_equal(ending, pthread_self()) != 0 {
            pthread_detach(ending)
        } else {
            pthread_join(ending, nil)
        }
    }

    private static func startThread(_ listener: RouteListener) -> pthread_t? {
        let context = unsafe Unmanaged.passRetained(listener)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<RouteListener>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            unsafe context.toOpaque()
        )
        guard result == 0 else {
            unsafe context.release()
            return nil
        }
        return thread
    }
}
