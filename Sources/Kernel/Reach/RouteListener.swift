import Glibc
import PawlSystem

/// The state and the work of the watching thread.
final class RouteListener: Sendable {
    private let socket: NetlinkSocket
    private let stop: StopSignal
    private let reported: ReportedState
    private let handler: @Sendable (Bool) -> Void

    init(
        socket: consuming NetlinkSocket, stop: StopSignal, reported: ReportedState,
        handler: @escaping @Sendable (Bool) -> Void
    ) {
        self.socket = socket
        self.stop = stop
        self.reported = reported
        self.handler = handler
    }

    func run() {
        // Covers a change between the last reported state and the subscription.
        reportChange()
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        while waitForNotification(), drain(&buffer) {
            reportChange()
            // A flapping link or a routing daemon must not keep this thread busy: the notifications of the next moments
            // are covered by one query. The stop signal ends the wait.
            if stop.wait(milliseconds: Self.rest) { return }
        }
        // Without the stop signal only a broken subscription leads here: no caller may keep waiting for a notification.
        if !stop.isGiven, reported.value == false {
            reported.value = true
            handler(true)
        }
    }

    private static let rest: CInt = 50

    /// Queries the kernel and calls the handler when the state has changed.
    private func reportChange() {
        let current = RouteQuery.isOnline()
        guard current != reported.value, !stop.isGiven else { return }
        reported.value = current
        handler(current)
    }

    /// Returns `false` when the thread should end.
    private func waitForNotification() -> Bool {
        let readable = Int16(POLLIN)
        var waits = [
            pollfd(fd: stop.descriptor, events: readable, revents: 0),
            pollfd(fd: socket.descriptor, events: readable, revents: 0),
        ]
        return retrying { unsafe poll(&waits, nfds_t(waits.count), -1) } > 0 && waits[0].revents == 0
    }

    /// Discards all pending notifications: their content is not needed, since the whole state is queried afterwards.
    ///
    /// An overflow therefore loses nothing.
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
