import PawlBase
import PawlHTTP
import PawlSystem

/// A request that waits for the addresses of its host.
struct PendingLookup {
    var exchange: Exchange
    var query: HostQuery
    var start: Instant
    var deadline: Instant
}

/// The addresses of a request's host, in the order in which they are tried.
struct HostAddresses {
    var host: String
    var port: UInt16
    var texts: [String]

    /// As CURLOPT_RESOLVE takes them.
    var lines: CurlList {
        let list = texts.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        return CurlList(["+\(host):\(port):\(list)"])
    }
}

/// When a name was looked up, for a request that is measured.
struct LookupTime {
    var start: Instant
    var end: Instant
}

// Names are looked up before libcurl connects: it gets the addresses, and falls back to its own resolver only where it decides
// itself what it connects to (proxies).
extension CurlTransport {
    /// What a request connects to.
    enum Target {
        /// `nil` where libcurl needs no addresses.
        case known(HostAddresses?)
        case failed(TransferFault)
        /// The exchange will be continued.
        case pending
    }

    func target(of request: TransferRequest, for exchange: Exchange) -> Target {
        let values = request.settings.values
        guard !values.usesProxy(for: request.address.scheme), let query = values.query(for: request.address) else {
            return .known(nil)
        }
        let (hostResults, wake) = (hostResults, poller.wake)
        let reply = resolver.ask(query) { waiter, result in
            hostResults.post((waiter, result))
            wake()
        }
        switch reply {
        case .known(let result): return target(of: request, query, result)
        case .waiting(let waiter):
            let now = clock.now
            // Where requests go to many hosts, their owner looks them up before.
            let limit = values.connectTimeout
            let deadline = now + (values.usesManyHosts ? min(limit, HostCache.silence * 2) : limit)
            lookups[waiter] = PendingLookup(exchange: exchange, query: query, start: now, deadline: deadline)
            lookupDeadline = min(lookupDeadline ?? deadline, deadline)
            return .pending
        }
    }

    private func target(of request: TransferRequest, _ query: HostQuery, _ result: HostResult) -> Target {
        if let fault = result.fault(of: query) { return .failed(fault) }
        guard case .addresses(let found) = result, !found.isEmpty else { return .known(nil) }
        return .known(HostAddresses(host: query.host, port: request.address.port, texts: found))
    }

    /// Continues the requests whose hosts have been looked up, or were not in time.
    ///
    /// Returns whether a sink was called.
    func takeResults() -> Bool {
        guard !lookups.isEmpty else {
            // The last one may have ended before its deadline, which must not end every later wait at once.
            lookupDeadline = nil
            return false
        }
        var hasTold = false
        let now = clock.now
        for (waiter, result) in hostResults.take() {
            guard let lookup = lookups.removeValue(forKey: waiter) else { continue }
            let target = lookup.exchange.request.map { self.target(of: $0, lookup.query, result) } ?? .known(nil)
            if proceed(lookup, to: target, at: now) { hasTold = true }
        }
        guard let due = lookupDeadline, due <= now else { return hasTold }
        for (waiter, lookup) in lookups where lookup.deadline <= now {
            withdraw(waiter, lookup)
            let fault = TransferFault.unresolved(lookup.query.host, within: lookup.deadline - lookup.start)
            if proceed(lookup, to: .failed(fault), at: now) { hasTold = true }
        }
        lookupDeadline = lookups.values.lazy.map(\.deadline).min()
        return hasTold
    }

    /// Returns whether a sink was called.
    private func proceed(_ lookup: PendingLookup, to target: Target, at now: Instant) -> Bool {
        lookup.exchange.lookup = LookupTime(start: lookup.start, end: now)
        return join(lookup.exchange, to: target)
    }

    private func withdraw(_ waiter: HostCache.Waiter, _ lookup: PendingLookup) {
        lookups[waiter] = nil
        resolver.withdraw(waiter, from: lookup.query)
    }

    func cancelLookups() { for (waiter, lookup) in lookups { withdraw(waiter, lookup) } }
}
