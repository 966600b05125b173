import PawlCore
import PawlEngine

/// The lookups of a transport, which `HostCache` decides on as in `HostResolver`.
struct SimulatedLookups {
    var cache = HostCache()
    var dice: Dice
    /// The requests that wait for a name.
    var waiting:
        [(waiter: HostCache.Waiter, exchange: SimulatedExchange, query: HostQuery, deadline: Instant)] = []
    /// Those under way, with what they will find.
    var running: [(query: HostQuery, result: HostResult, due: Instant)] = []
    var lastWaiter: HostCache.Waiter = 0

    /// When something is due.
    var due: Instant? {
        (running.map(\.due) + waiting.map(\.deadline) + [cache.deadline].compactMap { $0 }).min()
    }
}

// The addresses of a request's host, as in `CurlTransport`.
extension FakeTransport {
    /// Whether the request may connect now; otherwise it waits, or has failed.
    func resolve(_ exchange: SimulatedExchange) -> Bool {
        guard network.hasResolver else { return true }
        let query = HostQuery(exchange.request.address.host)
        lookups.lastWaiter += 1
        let waiter = lookups.lastWaiter
        if let result = lookups.cache.ask(query, for: waiter, at: now) {
            return settle(exchange, query, result)
        }
        let deadline = now + exchange.request.settings.values.connectTimeout
        lookups.waiting.append((waiter, exchange, query, deadline))
        startLookups()
        return false
    }

    private func startLookups() {
        while let query = lookups.cache.next(at: now) {
            let (result, wait) = network.look(up: query.host)
            timeline.note("lookup of \(query.host): \(result) in \(wait)")
            lookups.running.append((query, result, now + wait))
        }
    }

    /// Continues the requests whose names were looked up, or were not in time.
    func endLookups() {
        let now = now
        let ended = lookups.running.filter { $0.due <= now }
        lookups.running.removeAll { $0.due <= now }
        for (query, result, _) in ended {
            guard let end = lookups.cache.ended(query, result, at: now, dice: &lookups.dice) else { continue }
            if sabotage == .losesLookups { continue }
            for waiter in end.waiters {
                guard let index = lookups.waiting.firstIndex(where: { $0.waiter == waiter }) else { continue }
                let exchange = lookups.waiting.remove(at: index).exchange
                if settle(exchange, query, end.result) { connect(exchange) }
            }
        }
        for entry in lookups.waiting where entry.deadline <= now {
            withdraw(entry.exchange)
            fail(
                entry.exchange,
                TransferFault(.connectTimeout, foreign: "\(entry.query.host) was not resolved in time")
            )
        }
        startLookups()
    }

    /// Nothing waits for the host of a request that has ended.
    func withdraw(_ exchange: SimulatedExchange) {
        guard let index = lookups.waiting.firstIndex(where: { $0.exchange === exchange }) else { return }
        let entry = lookups.waiting.remove(at: index)
        lookups.cache.withdraw(entry.waiter, from: entry.query)
    }

    private func settle(_ exchange: SimulatedExchange, _ query: HostQuery, _ result: HostResult) -> Bool {
        switch result {
        case .addresses:
            exchange.isResolved = true
            return true
        case .missing: fail(exchange, TransferFault(.nameMissing, foreign: "\(query.host) does not exist"))
        case .unavailable:
            fail(exchange, TransferFault(.nameResolution, foreign: "\(query.host) was not resolved"))
        }
        return false
    }

    private func fail(_ exchange: SimulatedExchange, _ fault: TransferFault) {
        network.note("requests without an address")
        (exchange.failure, exchange.ownDue) = (fault, now)
    }
}
