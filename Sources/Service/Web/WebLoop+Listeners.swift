import PawlBase
import PawlHTTP

// Which connections are accepted.
extension WebLoop {
    /// New connections, with their TLS handshakes, would else keep all other clients waiting as long as there are some.
    private static let mostAccepted = 8
    /// While none can be accepted.
    private static let pause = Interval.milliseconds(100)

    /// Begins to report new connections; also after a pause.
    func watchListeners() {
        acceptsAgain = nil
        for index in listeners.indices where !isWatched(index) { return pauseAccepting() }
    }

    private func isWatched(_ index: Int) -> Bool {
        poller.watch(listeners[index].listener.descriptor, for: .reading, key: UInt64(index), of: arriving)
    }

    private func pauseAccepting() {
        acceptsAgain = now + WebLoop.pause
        for each in listeners { poller.unwatch(each.listener.descriptor) }
    }

    /// Listens at a Unix socket, instead of its last one; returns whether it does.
    func listen(atSocket path: String) -> Bool {
        guard let new = try? WebListener(.local(path: path)) else { return false }
        let index = listeners.firstIndex { $0.address == new.address } ?? listeners.endIndex
        if index < listeners.endIndex {
            listeners[index].listener.close()
            listeners[index] = new
        } else {
            listeners.append(new)
        }
        if acceptsAgain == nil, !isWatched(index) { pauseAccepting() }
        return true
    }

    func acceptConnections() {
        if let again = acceptsAgain, again <= now { watchListeners() }
        poller.takeEvents(of: arriving) { event in
            guard event.key < listeners.count else { return }
            accept(at: listeners[Int(event.key)])
        }
    }

    private func accept(at listener: WebListener) {
        for _ in 0..<WebLoop.mostAccepted {
            switch listener.listener.accept() {
            case .connection(let descriptor): connected(AcceptedSocket(descriptor, listener.context), at: listener.kind)
            case .nothing: return
            case .impossible: return pauseAccepting()
            }
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
        if arrivals.count > 2 * limits.connections {
            arrivals = arrivals[oldest...].filter { connections[$0].map { !$0.isKnown } ?? false }
            oldest = 0
        }
        if !connection.isKnown { arrivals.append(connection.id) }
        setTimeout(limits.requestTime, of: connection)
    }

    /// Whether a listener may accept one more; ports cannot use the connections reserved for the Unix socket.
    ///
    /// If all are in use, the oldest unauthenticated connection is closed: a client that holds them all cannot lock
    /// others out.
    private func hasRoom(at listener: ListenerKind) -> Bool {
        if connections.count < limits.connections - (listener == .local ? 0 : limits.reserve) { return true }
        guard let oldest = takeOldestUnauthenticated() else { return false }
        drop(oldest)
        return true
    }

    private func takeOldestUnauthenticated() -> WebConnection? {
        defer {
            if oldest > arrivals.count / 2 {
                arrivals.removeFirst(oldest)
                oldest = 0
            }
        }
        while oldest < arrivals.count {
            oldest += 1
            if let connection = connections[arrivals[oldest - 1]], !connection.isKnown { return connection }
        }
        return nil
    }
}
