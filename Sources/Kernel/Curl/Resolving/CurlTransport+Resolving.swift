import PawlBase
import PawlSystem

/// A request that waits for the addresses of its host.
struct PendingLookup {
    enum Receiver {
        case connection(HTTP1Exchange)
        case exchange(Exchange)
    }

    var receiver: Receiver
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
    var lines: HeaderLines {
        let list = texts.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        return HeaderLines(["+\(host):\(port):\(list)"])
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
        /// The receiver will be continued.
        case pending
    }

    func target(
        of request: TransferRequest, _ settings: ConnectionSettings?, for receiver: PendingLookup.Receiver
    ) -> Target {
        guard let query = settings?.query(for: request.address) else { return .known(nil) }
        let (hostResults, wake) = (hostResults, poller.wake)
        let reply = resolver.ask(query) { waiter, result in
            hostResults.post((waiter, result))
            wake()
        }
        switch reply {
        case .known(let result): return target(of: request, query, result)
        case .waiting(let waiter):
            let now = clock.now
            let deadline = now + request.settings.values.lookupTimeout
            lookups[waiter] = PendingLookup(receiver: receiver, query: query, start: now, deadline: deadline)
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
            let request = lookup.request
            let target = request.map { self.target(of: $0, lookup.query, result) } ?? .known(nil)
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
        let time = LookupTime(start: lookup.start, end: now)
        switch lookup.receiver {
        case .connection(let exchange):
            guard let http1, exchange.sink != nil else { return false }
            exchange.lookup = time
            return !connect(exchange, to: target, for: http1)
        case .exchange(let exchange):
            exchange.lookup = time
            return join(exchange, to: target)
        }
    }

    private func withdraw(_ waiter: HostCache.Waiter, _ lookup: PendingLookup) {
        lookups[waiter] = nil
        resolver.withdraw(waiter, from: lookup.query)
    }

    /// Nothing waits for the host of a connection that is no longer needed.
    func cancelLookup(for exchange: HTTP1Exchange) {
        for (waiter, lookup) in lookups {
            guard case .connection(let waiting) = lookup.receiver, waiting === exchange else { continue }
            return withdraw(waiter, lookup)
        }
    }

    func cancelLookups() { for (waiter, lookup) in lookups { withdraw(waiter, lookup) } }
}

extension PendingLookup {
    /// The request; `nil` when it was cancelled.
    fileprivate var request: TransferRequest? {
        switch receiver {
        case .connection(let exchange): exchange.request
        case .exchange(let exchange): exchange.request
        }
    }
}

extension TransferSettings.Values {
    /// How long a request waits for the lookup of its host.
    ///
    /// Where requests go to many hosts, their owner looks them up before, and also the targets of redirects that take longer.
    fileprivate var lookupTimeout: Interval {
        usesManyHosts ? min(connectTimeout, HostCache.silence * 2) : connectTimeout
    }
}

extension ConnectionSettings {
    /// The lookup that a connection to the address needs; `nil` where libcurl connects to something else, or knows the address.
    fileprivate func query(for address: WebAddress) -> HostQuery? { usesProxy ? nil : values.query(for: address) }
}
