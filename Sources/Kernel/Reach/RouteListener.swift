import PawlBase
import PawlSystem
import Synchronization

/// A thread that listens to the kernel's notifications.
final class RouteListener: Sendable {
    private let socket: NetlinkSocket
    private let reported: ReportedState
    private let handler: @Sendable (Bool) -> Void
    /// A message in it ends the thread; none is taken.
    private let stopping = Mailbox<Void>()
    private let thread = Mutex<SystemThread?>(nil)

    private static let rest = Interval.milliseconds(50)

    /// Subscribes and starts the thread; `nil` where the system does not allow it.
    init?(reported: ReportedState, handler: @escaping @Sendable (Bool) -> Void) {
        guard let socket = NetlinkSocket(groups: NetlinkSocket.networkChanges) else { return nil }
        self.socket = socket
        self.reported = reported
        self.handler = handler
        // Queried after the subscription, so that no change falls between the two.
        if reported.value == nil { reported.value = RouteQuery.isOnline() }
        guard let started = SystemThread("pawl-reach", blocksSignals: true, { [self] in run() }) else { return nil }
        thread.withLock { $0 = started }
    }

    /// Stops the thread and waits for it, except on that thread itself.
    func stop() {
        stopping.post(())
        let ending = thread.withLock { thread in
            let ending = thread
            thread = nil
            return ending
        }
        guard let ending else { return }
        if ending.isCurrent { ending.detach() } else { ending.join() }
    }

    private func run() {
        // Covers a change between the last reported state and the subscription.
        reportChange()
        let clock = SystemClock()
        let poller = EpollPoller(clock: clock)
        stopping.attach(wake: poller.wake)
        let source = poller.makeSource()
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        while stopping.isEmpty {
            if poller.watch(socket.descriptor, for: .reading, key: 0, of: source) {
                stopping.wait { poller.wait(until: nil) }
                poller.unwatch(socket.descriptor)
            } else {
                // Without a descriptor for it the kernel is queried from time to time.
                let next = clock.now + .seconds(1)
                stopping.wait { poller.wait(until: next) }
            }
            guard stopping.isEmpty, drain(&buffer) else { break }
            reportChange()
            // A flapping link or a routing daemon must not keep this thread busy: the notifications of the next moments
            // are covered by one query.
            let next = clock.now + Self.rest
            stopping.wait { poller.wait(until: next) }
        }
        // Unless it is to end, only a broken subscription leads here: no caller may keep waiting for a notification.
        if stopping.isEmpty, reported.value == false {
            reported.value = true
            handler(true)
        }
    }

    /// Queries the kernel and calls the handler when the state has changed.
    private func reportChange() {
        let current = RouteQuery.isOnline()
        guard current != reported.value, stopping.isEmpty else { return }
        reported.value = current
        handler(current)
    }

    /// Discards all pending notifications: their content is not needed, since the whole state is queried afterwards.
    ///
    /// An overflow therefore loses nothing. Returns `false` when the subscription is broken.
    private func drain(_ buffer: inout [UInt8]) -> Bool {
        while true {
            switch socket.receive(into: &buffer, waiting: false) {
            case .datagram, .overflow: continue
            case .nothing: return true
            case .failed: return false
            }
        }
    }
}
