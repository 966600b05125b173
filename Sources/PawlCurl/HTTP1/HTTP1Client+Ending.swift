import PawlCore
import PawlEngine

extension HTTP1Client {
    /// Ends a transfer whose body is complete by its framing.
    ///
    /// The connection is not clean when more was received.
    func finish(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, isClean: Bool) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if isClean, connection.reader.canCarryAnother { keep(connection) } else { drop(connection) }
        notify(exchange, exchange.drainable == nil ? .complete : .stopped)
    }

    /// Ends the transfer before its body does.
    func end(_ exchange: HTTP1Exchange, _ end: TransferEnd) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if let connection = exchange.connection { drop(connection) }
        // The end of an unwanted body is not reported.
        notify(exchange, exchange.drainable == nil ? end : .stopped)
    }

    func fail(_ exchange: HTTP1Exchange, _ fault: TransferFault) { end(exchange, .failed(fault)) }

    /// Informs the sink early: it need not wait for a body that it does not want.
    func goOnDraining(_ exchange: HTTP1Exchange) {
        drain(exchange)
        notify(exchange, .stopped)
    }

    private func notify(_ exchange: HTTP1Exchange, _ end: TransferEnd) {
        guard let sink = exchange.sink else { return }
        exchanges[exchange.id] = nil
        exchange.detach()
        sink.transferEnded(exchange.id, end)
    }

    /// Handles a sink that wants no body.
    ///
    /// A short body is read and discarded: the connection can be reused, above all for the next hop of a redirect.
    func drain(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) {
        guard connection.reader.keepsConnection else { return end(exchange, .stopped) }
        switch connection.reader.body {
        case .none: break
        case .length(let left): guard left <= Exchange.longestDrain else { return end(exchange, .stopped) }
        case .chunked: break
        case .untilClose: return end(exchange, .stopped)
        }
        exchange.drainable = Exchange.longestDrain
    }

    /// Handles a connection that the peer has closed.
    func closed(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) {
        switch connection.reader.close() {
        case .complete: finish(exchange, connection, isClean: false)
        case .truncated(let fault): fail(exchange, fault)
        case .withoutResponse:
            guard !retryIfReused(exchange, connection) else { return }
            let text = "the server closed the connection without a response"
            fail(exchange, TransferFault(.connectionLost, text))
        }
    }

    /// Handles bytes that are no valid response.
    func refuse(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, _ fault: TransferFault) {
        // On a reused connection they may be the rest of the previous response.
        if !exchange.hasHead, retryIfReused(exchange, connection) { return }
        fail(exchange, fault)
    }

    /// Handles a failed read.
    func lost(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, _ fault: TransferFault) {
        if connection.reader.isUntouched, retryIfReused(exchange, connection) { return }
        fail(exchange, fault)
    }

    /// A server may close an idle connection just when a request is on its way (RFC 9112 §9.3.1).
    private func retryIfReused(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) -> Bool {
        guard connection.turns > 1, !exchange.isRetry, exchange.sink != nil else { return false }
        drop(connection)
        retry(exchange)
        return true
    }
}
