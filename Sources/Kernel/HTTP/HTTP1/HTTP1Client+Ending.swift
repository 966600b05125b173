import PawlBase

extension HTTP1Client {
    /// Carries out the end of a request, and of its connection unless that is kept.
    func end(_ connection: HTTP1Socket, _ ending: HTTP1Connection.Ending) {
        let exchange = connection.exchange
        switch ending {
        case .complete(let keeps):
            if keeps { keep(connection) } else { drop(connection) }
            notify(exchange, .complete)
        case .stopped:
            drop(connection)
            notify(exchange, .stopped)
        case .failed(let fault):
            drop(connection)
            // A server that has HTTP/2 only may say so by closing the connection.
            let isUnanswered = fault.kind == .connectionLost && connection.machine.isUnanswered
            if let exchange, fault == .onlyHTTP2 || isUnanswered && exchange.isOfUnknownVersion,
                goesOverHTTP2(exchange)
            {
                return
            }
            notify(exchange, .failed(fault))
        case .retry:
            drop(connection)
            if let exchange { retry(exchange) }
        case .drained(let keeps):
            draining.removeAll { $0 === connection }
            if keeps { keep(connection) } else { drop(connection) }
        }
    }

    /// Ends a transfer that has no connection.
    func fail(_ exchange: HTTP1Exchange, _ fault: TransferFault) { notify(exchange, .failed(fault)) }

    /// Reports a request whose response came without a connection to the server: a proxy refused the tunnel.
    func end(_ exchange: HTTP1Exchange, with head: ResponseHead) {
        guard let sink = exchange.sink else { return }
        let isWanted = sink.transfer(exchange.id, head: head)
        notify(exchange, isWanted ? .complete : .stopped)
    }

    private func notify(_ exchange: HTTP1Exchange?, _ end: TransferEnd) {
        guard let exchange, let sink = exchange.sink else { return }
        exchanges[exchange.id] = nil
        exchange.detach()
        hasEnded = true
        sink.transferEnded(exchange.id, end)
    }

    /// Ends the transfer of a sink that does not want the body; the end of that body is not reported.
    func refuseBody(_ connection: HTTP1Socket) {
        guard connection.machine.wantsNoBody(at: clock.now) else { return end(connection, .stopped) }
        let exchange = connection.exchange
        connection.release()
        draining.append(connection)
        notify(exchange, .stopped)
    }
}
