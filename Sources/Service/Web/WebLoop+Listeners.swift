import PawlBase
import PawlHTTP
import PawlSystem

// Which connections are accepted.
extension WebLoop {
    /// New connections, with their TLS handshakes, would else keep all other clients waiting as long as there are some.
    private static let mostAccepted = 8
    /// While none can be accepted.
    private static let pause = Interval.milliseconds(100)

    /// Begins to report new connections; also after a pause.
    func watchListeners() {
        acceptsAgain = nil
        for (index, each) in listeners.enumerated()
        where !poller.watch(each.listener.descriptor, for: .reading, key: UInt64(index), of: arriving) {
            return pauseAccepting(for: WebLoop.pause)
        }
    }

    private func pauseAccepting(for pause: Interval) {
        acceptsAgain = now + pause
        for each in listeners { poller.unwatch(each.listener.descriptor) }
    }

    /// Listens at a Unix socket, instead of its last one; returns whether it does.
    func listen(atSocket path: String) -> Bool {
        guard let new = try? WebListener(.local(path: path)) else { return false }
        pauseAccepting(for: .zero)
        if let old = listeners.firstIndex(where: { $0.address == new.address }) {
            listeners.remove(at: old).listener.close()
        }
        listeners.append(new)
        return true
    }

    func acceptConnections() {
        if let again = acceptsAgain, again <= now { watchListeners() }
        poller.takeEvents(of: arriving) { event in
            // Its number may be that of another one by now, which has nothing then.
            guard event.key < listeners.count else { return }
            let listener = listeners[Int(event.key)]
            do throws(SystemError) {
                for _ in 0..<WebLoop.mostAccepted {
                    guard let descriptor = try listener.listener.accept() else { return }
                    connected(AcceptedSocket(descriptor, listener.context), at: listener.kind)
                }
            } catch { pauseAccepting(for: WebLoop.pause) }
        }
    }

    private func connected(_ socket: AcceptedSocket, at listener: ListenerKind) {
        lastID += 1
        guard hasRoom(at: listener), poller.watch(socket.descriptor, for: .changes, key: lastID, of: clients) else {
            return
        }
        let connection = WebConnection(
            id: ConnectionID(rawValue: lastID), socket: socket, listener: listener, limits: limits)
        connections[connection.id] = connection
        setTimeout(limits.requestTime, of: connection)
    }

    /// Whether a listener may accept one more; ports cannot use the connections reserved for the Unix socket.
    ///
    /// If all are in use, the oldest unauthenticated connection is closed: a client that holds them all cannot lock
    /// others out.
    private func hasRoom(at listener: ListenerKind) -> Bool {
        if connections.count < limits.connections - (listener == .local ? 0 : limits.reserve) { return true }
        let unauthenticated = connections.values.lazy.filter { !$0.isKnown }
        guard let oldest = unauthenticated.min(by: { $0.id.rawValue < $1.id.rawValue }) else { return false }
        drop(oldest)
        return true
    }
}
