import PawlBase

// Which connection carries a request, as in `HTTP1Client`.
extension FakeTransport {
    /// Sends the started requests, on kept connections where there are any.
    func sendWaiting() {
        guard !waiting.isEmpty || !waitingForHandshake.isEmpty else { return }
        let batch = waitingForHandshake + waiting
        waitingForHandshake = []
        waiting = []
        for exchange in batch where !exchange.isOver && exchange.failure == nil { place(exchange) }
    }

    private func place(_ exchange: SimulatedExchange) {
        while true {
            switch pool.place(exchange.connectionKey, isRetry: exchange.isRetry, at: now) {
            case .reuse(let id):
                guard let connection = connection(id) else { continue }
                let found = sabotage == .keepsLeftovers ? .nothing : connection.probe()
                if connection.machine.probed(found) { return send(exchange, on: connection) }
                network.note(found == .end ? "closed connections found by probing" : "leftovers found by probing")
                drop(connection)
            case .discard(let id): if let connection = connection(id) { drop(connection) }
            case .connect: return connect(exchange)
            case .wait:
                waitingForHandshake.append(exchange)
                return
            }
        }
    }

    private func connection(_ id: HTTP1ConnectionID) -> SimulatedConnection? { connections.first { $0.id == id } }

    /// Opens a connection, if the server and the network allow it.
    private func connect(_ exchange: SimulatedExchange) {
        if let fault = connectFault(exchange) {
            (exchange.failure, exchange.ownDue) = (fault, now + exchange.wait)
            return
        }
        lastID += 1
        let connection = SimulatedConnection(
            HTTP1ConnectionID(rawValue: lastID), to: exchange.connectionKey, host: exchange.request.address.host,
            dice: network.makeDice(), outages: network.outages)
        connections.append(connection)
        send(exchange, on: connection)
    }

    func connectFault(_ exchange: SimulatedExchange) -> TransferFault? {
        if exchange.isRetry, !network.isUp {
            return TransferFault(.unreachable, foreign: "no route to \(exchange.request.address.host)")
        }
        guard case .failed(let fault) = exchange.fare, fault.kind != .connectionLost else { return nil }
        return fault
    }

    private func send(_ exchange: SimulatedExchange, on connection: SimulatedConnection) {
        check(exchange, on: connection)
        connection.hasResponded = false
        connection.exchange = exchange
        exchange.connection = connection
        exchange.sendings += 1
        connection.requests += 1
        connection.machine.begin(length: exchange.length, isRetry: exchange.isRetry)
        connection.machine.sent(exchange.length)
        accept(exchange, on: connection)
    }

    /// Keeps a connection whose response is complete for the next request to its origin.
    func keep(_ connection: SimulatedConnection) {
        connection.release()
        network.note("connections kept")
        guard let oldest = pool.keep(connection.id, for: connection.connectionKey, at: now) else { return }
        if let oldest = connections.first(where: { $0.id == oldest }) { drop(oldest) }
    }

    /// Closes a connection.
    func drop(_ connection: SimulatedConnection) {
        connection.release()
        connections.removeAll { $0 === connection }
        connection.close()
    }

    /// Closes an idle connection that the peer has closed or on which it sent unrequested bytes.
    func examine(_ connection: SimulatedConnection) {
        guard sabotage != .keepsLeftovers else { return }
        let found = connection.probe()
        guard !connection.machine.probed(found) else { return }
        network.note(found == .end ? "idle connections closed by the server" : "leftovers on idle connections")
        pool.remove(connection.id)
        drop(connection)
    }

    /// Stops draining where it takes too long.
    func endDraining() {
        let now = now
        for connection in draining {
            if let text = Law.drained(connection.drained, until: connection.machine.deadline, now: now) {
                network.violate(.drain, text)
            }
            if sabotage != .drainsForever, connection.machine.isLate(at: now) {
                network.note("drains given up")
                drop(connection)
            }
        }
        draining.removeAll(where: \.machine.isClosed)
    }

    /// Checks that a request may be sent on a connection, by what its server has done.
    private func check(_ exchange: SimulatedExchange, on connection: SimulatedConnection) {
        if let text = Law.sendings(exchange.sendings + 1) { network.violate(.resend, "#\(exchange.number) \(text)") }
        guard connection.requests > 0 else { return }
        network.note("connections reused")
        let text = Law.reuse(
            isFree: connection.exchange == nil && connection.writer == nil, found: connection.probe(),
            spoilt: connection.isSpoilt)
        if let text { network.violate(.reuse, "#\(exchange.number) \(text)") }
    }
}
