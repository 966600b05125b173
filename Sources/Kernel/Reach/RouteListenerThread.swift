import PawlSystem
import Synchronization

/// The thread that listens to the kernel's notifications.
final class RouteListenerThread: Sendable {
    private let stopSignal: StopSignal
    private let thread: Mutex<SystemThread?>

    /// Subscribes and starts the thread; `nil` where the system does not allow it.
    init?(reported: ReportedState, handler: @escaping @Sendable (Bool) -> Void) {
        guard let socket = NetlinkSocket(groups: NetlinkSocket.networkChanges), let stopSignal = StopSignal() else {
            return nil
        }
        // Queried after the subscription, so that no change falls between the two.
        if reported.value == nil { reported.value = RouteQuery.isOnline() }
        let listener = RouteListener(socket: socket, stop: stopSignal, reported: reported, handler: handler)
        guard let started = SystemThread("pawl-reach", blocksSignals: true, { listener.run() }) else { return nil }
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
        if ending.isCurrent { ending.detach() } else { ending.join() }
    }
}
