import PawlCore
import PawlEngine

extension HTTP1Client {
    /// The body is complete by its own framing.
    ///
    /// Not clean: more came than that.
    func finish(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, isClean: Bool) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if isClean, connection.reader.canCarryAnother { keep(connection) } else { drop(connection) }
        tell(exchange, exchange.drainable == nil ? .complete : .stopped)
    }

    /// The transfer ends before its body does.
    func end(_ exchange: HTTP1Exchange, _ end: TransferEnd) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if let connection = exchange.connection { drop(connection) }
        // Of a page that nobody wants nobody hears how it ended.
        tell(exchange, exchange.drainable == nil ? end : .stopped)
    }

    func fail(_ exchange: HTTP1Exchange, _ fault: TransferFault) { end(exchange, .failed(fault)) }

    /// The sink need not wait for what nobody wants.
    func goOnDraining(_ exchange: HTTP1Exchange) {
        drain(exchange)
        tell(exchange, .stopped)
    }

    private func tell(_ exchange: HTTP1Exchange, _ end: TransferEnd) {
        guard let sink = exchange.sink else { return }
        exchanges[exchange.id] = nil
        exchange.detach()
        sink.transferEnded(exchange.id, end)
    }

    /// The sink wants no body.
    ///
    /// A short one is read for nobody: its connection stays useful, for the next hop of a redirect above all.
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

    /// The peer has closed the connection.
    func closed(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) {
        switch connection.reader.close() {
        case .complete: finish(exchange, connection, isClean: false)
        case .truncated(let fault): fail(exchange, fault)
        case .withoutResponse:
            guard !retryIfReused(exchange, connection) else { return }
            let text = "the server closed the connection without an answer"
            fail(exchange, TransferFault(.connectionLost, text))
        }
    }

    /// What came is no response.
    func refuse(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, _ fault: TransferFault) {
        // On a kept connection it may be what was left of the response before.
        if !exchange.hasHead, retryIfReused(exchange, connection) { return }
        fail(exchange, fault)
    }

    /// Reading failed.
    func lost(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection, _ fault: TransferFault) {
        if connection.reader.isUntouched, retryIfReused(exchange, connection) { return }
        fail(exchange, fault)
    }

    /// A server may close a kept connection just when a request is on its way (RFC 9112 §9.3.1).
    private func retryIfReused(_ exchange: HTTP1Exchange, _ connection: HTTP1Connection) -> Bool {
        guard connection.turns > 1, !exchange.isRetry, exchange.sink != nil else { return false }
        drop(connection)
        retry(exchange)
        return true
    }
}
