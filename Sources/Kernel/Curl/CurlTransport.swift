import CCurl
package import PawlBase

/// Fetches with libcurl's multi interface, on the sockets that libcurl registers with the loop's poller.
///
/// Sinks are only ever called from within `begin` and `work`, never from `start`, `cancel` or `resume`: inside one of
/// libcurl's callbacks, where its functions must not be called, those only note the work to be done.
@safe package final class CurlTransport: Transport {
    let multi: MultiHandle
    let poller: any Poller
    package let clock: any Clock
    /// Receives every request and response.
    var trace: (@Sendable (TransferTrace) -> Void)?

    /// The transfers that have a receiver.
    var transfers: [TransferID: Exchange] = [:]
    /// Prepared exchanges that are not yet in the multi handle.
    var pendingAdd: [Exchange] = []
    var refusals: [Refusal] = []
    private var resuming: [TransferID] = []
    /// Exchanges cancelled inside a callback, to be removed from the multi handle after it.
    private var pendingRemoval: [Exchange] = []
    /// Exchanges whose short body is read and discarded until the deadline.
    private var draining: [(exchange: Exchange, deadline: Instant)] = []
    /// The transfer whose end is being worked out; `nil` again when a sink cancels it.
    private var ending: TransferID?
    let pool: EasyHandlePool
    let logins = Logins()
    let preparers: [LocatedScheme: any RequestPreparing]
    /// The client that needs libcurl only to connect.
    let http1: HTTP1Client?
    private(set) lazy var sessions = SessionCache()
    /// The connections that libcurl establishes for `http1`, by the address of their handles.
    var connectors: [UInt: CurlConnector] = [:]

    /// Connections that are made to see certificates, and what waits for the decision about them.
    var checks: [TransferID: CertificateCheck] = [:]
    /// The settings with which requests of a key are sent after their server was judged.
    var accepted: [ConnectionKey: TransferSettings] = [:]
    let decisions = Mailbox<CertificateVerdict>()

    var resolver = HostResolver.shared
    let hostResults = Mailbox<(HostCache.Waiter, HostResult)>()
    /// The requests that wait for the addresses of their hosts, and when the first of them fails.
    var lookups: [HostCache.Waiter: PendingLookup] = [:]
    var lookupDeadline: Instant?

    /// Requests that need at most a connection from libcurl go through `HTTP1Client`, unless `usesHTTP1Client` is `false`.
    package init(
        clock: any Clock, poller: any Poller, usesHTTP1Client: Bool = true, preparers: RequestPreparers = [:],
        onCookies: CookieReceiver? = nil
    ) {
        self.preparers = preparers.mapValues { $0(clock) }
        multi = MultiHandle(on: poller, clock: clock)
        pool = EasyHandlePool(onCookies: onCookies)
        self.clock = clock
        self.poller = poller
        http1 = usesHTTP1Client ? HTTP1Client(clock: clock, poller: poller, settings: pool.settings) : nil
        http1?.onCookies = { [pool] request, cookies in pool.remember(cookies, from: request) }
    }

    deinit {
        hangUp()
        cancelLookups()
        for id in Array(checks.keys) { _ = cancelCheck(id) }
        for exchange in transfers.values { exchange.detach() }
        for exchange in Array(transfers.values) + pendingRemoval + draining.map(\.exchange) where exchange.isJoined {
            leave(exchange)
        }
        // libcurl requires the easy handles to be removed before the multi handle.
        transfers = [:]
        pendingAdd = []
        pendingRemoval = []
        draining = []
        pool.empty()
    }

    package func cancel(_ id: TransferID) {
        if ending == id { ending = nil }
        guard !cancelHTTP1(id), !cancelCheck(id), !cancelRefusal(id) else { return }
        guard let exchange = transfers.removeValue(forKey: id) else { return }
        exchange.detach()
        // An exchange that has not joined yet is handled when its turn to join comes.
        guard exchange.isJoined else { return }
        if multi.isInside {
            pendingRemoval.append(exchange)
        } else {
            leave(exchange)
            pool.takeBack(exchange)
        }
    }

    package func resume(_ id: TransferID) {
        guard !resumeHTTP1(id), transfers[id] != nil else { return }
        resuming.append(id)
    }

    package func begin() -> Instant? {
        precondition(!multi.isInside, "begin is not called from a sink")
        takeDecisions()
        let hasProceeded = takeResults()
        let hasRefused = deliverRefusals()
        let hasTold = joinAll() || hasProceeded || hasRefused
        let hasResumed = resumeAll()
        if beginHTTP1() || hasTold || hasResumed { return .past }
        var due = multi.deadline
        for limit in [http1?.deadline, draining.lazy.map(\.deadline).min(), lookupDeadline] {
            if let limit { due = min(due ?? limit, limit) }
        }
        return due
    }

    package func work() {
        precondition(!multi.isInside, "work is not called from a sink")
        multi.advance()
        if multi.busy > 0 {
            removePending()
            notifyStopped()
            deliverEnds()
            endDraining()
        }
        http1?.work()
    }

    package func closeIdle() { http1?.closeIdle() }

    /// Whether libcurl has to send the cookies of the request's origin.
    func hasCookies(for request: TransferRequest) -> Bool { pool.hasCookies(for: request) }
}

// MARK: - The steps of a round

extension CurlTransport {
    /// Adds the exchanges that were started to the multi handle.
    ///
    /// Returns whether a sink was called.
    private func joinAll() -> Bool {
        var hasTold = false
        while !pendingAdd.isEmpty {
            let batch = pendingAdd
            pendingAdd.removeAll(keepingCapacity: true)
            for exchange in batch where join(exchange, to: target(of: exchange)) { hasTold = true }
        }
        return hasTold
    }

    private func target(of exchange: Exchange) -> Target {
        guard let request = exchange.request else { return .known(nil) }
        return target(of: request, exchange.settings, for: .exchange(exchange))
    }

    /// Adds the exchange to the multi handle once it is known what it connects to.
    ///
    /// Returns whether its sink was called.
    func join(_ exchange: Exchange, to target: Target) -> Bool {
        guard exchange.sink != nil else {
            pool.takeBack(exchange)
            return false
        }
        switch target {
        case .known(let addresses):
            exchange.begin(with: addresses?.lines)
            do throws(TransferFault) {
                try multi.add(exchange.easy)
                exchange.isJoined = true
                return false
            } catch { exchange.verdict = .failed(error) }
        case .failed(let fault): exchange.verdict = .failed(fault)
        case .pending: return false
        }
        finish(exchange, CURLE_OK)
        return true
    }

    /// Resumes paused transfers.
    ///
    /// Returns whether there were any: then a sink may have been called.
    private func resumeAll() -> Bool {
        guard !resuming.isEmpty else { return false }
        let batch = resuming
        resuming.removeAll(keepingCapacity: true)
        for id in batch {
            guard let exchange = transfers[id], exchange.isPaused else { continue }
            exchange.isPaused = false
            let code = multi.call { unsafe pawl_easy_pause(exchange.easy.raw, pawl_pause_nothing) }
            // The write callback ran inside; libcurl does not end the transfer when it returned an error.
            if code != CURLE_OK, exchange.sink != nil, exchange.id == id { finish(exchange, code) }
        }
        removePending()
        return true
    }

    private func removePending() {
        while let exchange = pendingRemoval.popLast() {
            leave(exchange)
            pool.takeBack(exchange)
        }
    }

    private func deliverEnds() {
        while let message = unsafe multi.takeMessage() {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let code = unsafe message.pointee.data.result
            if unsafe endConnecting(message.pointee.easy_handle, code) { continue }
            if unsafe endChecking(message.pointee.easy_handle, code) { continue }
            var context: UnsafeMutableRawPointer?
            _ = unsafe pawl_easy_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            guard let context = unsafe context else { continue }
            unsafe finish(Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue(), code)
        }
    }

    /// Reports the end to the sink, unless it cancels on the way.
    private func finish(_ exchange: Exchange, _ code: CURLcode) {
        exchange.isReusable = exchange.isJoined && code == CURLE_OK
        guard let sink = exchange.sink else {
            // Its body was drained completely.
            draining.removeAll { $0.exchange === exchange }
            leave(exchange)
            pool.takeBack(exchange)
            return
        }
        let id = exchange.id
        transfers[id] = nil
        ending = id
        let end = exchange.conclude(code)
        leave(exchange)
        pool.takeBack(exchange)
        guard ending == id else { return }
        ending = nil
        sink.transferEnded(id, end)
    }

    /// Notifies the sinks that stopped at a header section whose body is drained.
    private func notifyStopped() {
        while let exchange = pool.stopped.exchanges.popLast() {
            guard exchange.isDraining, exchange.isJoined, let sink = exchange.sink else { continue }
            let id = exchange.id
            transfers[id] = nil
            exchange.detach()
            draining.append((exchange, clock.now + HTTP1Limits.drainTime))
            sink.transferEnded(id, .stopped)
        }
    }

    /// Stops draining bodies whose deadline has passed.
    private func endDraining() {
        guard !draining.isEmpty else { return }
        let now = clock.now
        let late = draining.filter { $0.deadline <= now }
        draining.removeAll { $0.deadline <= now }
        for (exchange, _) in late {
            leave(exchange)
            pool.takeBack(exchange)
        }
    }

    /// Frees what 7.88 holds back for a paused transfer, by resuming it without a receiver: otherwise 7.88 never frees
    /// it while other transfers use the connection.
    private func freeHeldBack(_ exchange: Exchange) {
        guard exchange.isPaused, exchange.sink == nil, !multi.isInside else { return }
        exchange.isPaused = false
        _ = multi.call { unsafe pawl_easy_pause(exchange.easy.raw, pawl_pause_nothing) }
    }

    private func leave(_ exchange: Exchange) {
        guard exchange.isJoined else { return }
        exchange.isJoined = false
        freeHeldBack(exchange)
        multi.remove(exchange.easy)
    }
}
