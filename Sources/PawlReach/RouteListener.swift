import Glibc

/// What the thread owns and does.
final class RouteListener: Sendable {
    private let socket: NetlinkSocket
    private let stop: StopSignal
    private let told: ToldAnswer
    private let handler: @Sendable (Bool) -> Void

    init(
        socket: consuming NetlinkSocket,
        stop: StopSignal,
        told: ToldAnswer,
        handler: @escaping @Sendable (Bool) -> Void
    ) {
        self.socket = socket
        self.stop = stop
        self.told = told
        self.handler = handler
    }

    func run() {
        // Also what changed between the last answer that was given and the subscription.
        tellChange()
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        while waitForNews(), drain(&buffer) {
            tellChange()
            // A flapping link or a routing daemon must not keep this thread busy: news of the next moments is
            // answered by one reading. The stop signal ends the rest.
            if stop.wait(milliseconds: Self.rest) { return }
        }
        // Without the stop signal only a broken subscription leads here: nobody may go on waiting for its news.
        if !stop.isGiven, told.value == false {
            told.value = true
            handler(true)
        }
    }

    private static let rest: CInt = 50

    /// Asks anew and tells the handler when the answer is another one.
    private func tellChange() {
        let answer = RouteQuery.isOnline()
        guard answer != told.value, !stop.isGiven else { return }
        told.value = answer
        handler(answer)
    }

    /// `false` when it is time to end.
    private func waitForNews() -> Bool {
        let readable = Int16(POLLIN)
        var waits = [
            pollfd(fd: stop.descriptor, events: readable, revents: 0),
            pollfd(fd: socket.descriptor, events: readable, revents: 0),
        ]
        while true {
            let ready = unsafe poll(&waits, nfds_t(waits.count), -1)
            if ready > 0 { return waits[0].revents == 0 }
            guard ready < 0, errno == EINTR else { return false }
        }
    }

    /// Takes all news that is there: what it says is not looked at, since the answer is read afterwards, whole.
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
