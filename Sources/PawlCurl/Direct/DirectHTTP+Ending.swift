#if os(Linux)
import PawlCore
import PawlEngine

extension DirectHTTP {
    /// The body is complete by its own framing.
    ///
    /// Not clean: more came than that.
    func finish(_ exchange: DirectExchange, _ connection: DirectConnection, isClean: Bool) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if isClean, connection.keeps { keep(connection) } else { drop(connection) }
        tell(exchange, exchange.drainable == nil ? .complete : .stopped)
    }

    /// The transfer ends before its body does.
    func end(_ exchange: DirectExchange, _ end: TransferEnd) {
        if exchange.drainable != nil { endDraining(of: exchange) }
        if let connection = exchange.connection { drop(connection) }
        tell(exchange, end)
    }

    func fail(_ exchange: DirectExchange, _ fault: TransferFault) { end(exchange, .failed(fault)) }

    /// The sink need not wait for what nobody wants.
    func goOnDraining(_ exchange: DirectExchange) {
        drain(exchange)
        tell(exchange, .stopped)
    }

    private func tell(_ exchange: DirectExchange, _ end: TransferEnd) {
        guard let sink = exchange.sink else { return }
        exchanges[exchange.id] = nil
        exchange.detach()
        sink.transferEnded(exchange.id, end)
    }

    /// The sink wants no body.
    ///
    /// A short one is read for nobody: its connection stays useful, for the next hop of a redirect above all.
    func drain(_ exchange: DirectExchange, _ connection: DirectConnection) {
        guard connection.keeps else { return end(exchange, .stopped) }
        switch connection.body {
        case .none: break
        case .length(let left): guard left <= Exchange.longestDrain else { return end(exchange, .stopped) }
        case .chunked: break
        case .untilClose: return end(exchange, .stopped)
        }
        exchange.drainable = Exchange.longestDrain
    }

    /// The peer has closed the connection.
    func closed(_ exchange: DirectExchange, _ connection: DirectConnection) {
        guard exchange.hasHead else {
            guard connection.head.isEmpty else {
                let text = "the connection was closed in the head of the answer"
                return fail(exchange, TransferFault(.truncated, text))
            }
            guard !retryIfReused(exchange, connection) else { return }
            let text = "the server closed the connection without an answer"
            return fail(exchange, TransferFault(.connectionLost, text))
        }
        switch connection.body {
        case .untilClose: finish(exchange, connection, isClean: false)
        case .none: finish(exchange, connection, isClean: false)
        case .length(let left):
            let text = "the connection was closed with \(left) bytes still to come"
            fail(exchange, TransferFault(.truncated, text))
        case .chunked:
            fail(exchange, TransferFault(.truncated, "the connection was closed before the last chunk"))
        }
    }

    /// Reading failed.
    func lost(_ exchange: DirectExchange, _ connection: DirectConnection, _ fault: TransferFault) {
        if !exchange.hasHead, connection.head.isEmpty, retryIfReused(exchange, connection) { return }
        fail(exchange, fault)
    }

    /// A server may close a kept connection just when a request is on its way (RFC 9112 §9.3.1).
    private func retryIfReused(_ exchange: DirectExchange, _ connection: DirectConnection) -> Bool {
        guard connection.turns > 1, !exchange.isRetry, exchange.sink != nil else { return false }
        drop(connection)
        retry(exchange)
        return true
    }
}

#endif
