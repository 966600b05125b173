import PawlBase
import PawlSystem

// Connections that are established without libcurl.
extension HTTP1Client {
    /// Returns `false` if libcurl has to connect.
    ///
    /// `addresses` are those of the host, in the order in which they are tried.
    func connect(_ exchange: HTTP1Exchange, to addresses: ArraySlice<String>, at now: Instant) -> Bool {
        guard let attempt = PlainConnection(for: exchange, to: addresses, now: now) else { return false }
        let id = nextID()
        guard poller.watch(attempt.socket, for: .changes, key: id.rawValue, of: source) else {
            attempt.close()
            return false
        }
        if attempt.isEstablished {
            adopt(HTTP1Socket(attempt.socket, nil, to: exchange.connectionKey, id: id), for: exchange)
        } else {
            exchange.attempt = id
            attempts[id] = attempt
            firstDeadline = min(firstDeadline ?? attempt.deadline, attempt.deadline)
        }
        return true
    }

    /// Handles an event of a connection that is being established.
    func settle(_ id: HTTP1ConnectionID, _ change: PollEvent) {
        guard change.canWrite || change.hasPeerClosed, let attempt = endAttempt(id) else { return }
        guard attempt.hasSucceeded else {
            attempt.close()
            if connect(attempt.exchange, to: attempt.alternatives, at: clock.now) { return }
            // libcurl tries again, and reports why it fails.
            return connectWithCurl(attempt.exchange)
        }
        let exchange = attempt.exchange
        adopt(HTTP1Socket(attempt.socket, nil, to: exchange.connectionKey, id: id), for: exchange)
    }

    /// Ends an attempt whose request was cancelled.
    func cancelAttempt(of exchange: HTTP1Exchange) { if let id = exchange.attempt { endAttempt(id)?.close() } }

    /// Ends the attempts that take too long.
    func endLateAttempts() {
        guard let first = firstDeadline else { return }
        let now = clock.now
        guard first <= now else { return }
        for id in attempts.filter({ $0.value.deadline <= now }).keys {
            guard let attempt = endAttempt(id) else { continue }
            attempt.close()
            guard attempt.alternatives.isEmpty else {
                connectWithCurl(attempt.exchange)
                continue
            }
            let timeout = attempt.exchange.settings.values.connectTimeout
            let cause = LocalizableMessage.noConnection(within: timeout)
            fail(attempt.exchange, TransferFault(.connectTimeout, cause))
        }
        firstDeadline = attempts.values.lazy.map(\.deadline).min()
    }

    private func endAttempt(_ id: HTTP1ConnectionID) -> PlainConnection? {
        guard let attempt = attempts.removeValue(forKey: id) else { return nil }
        attempt.exchange.attempt = nil
        if attempts.isEmpty { firstDeadline = nil }
        return attempt
    }
}
