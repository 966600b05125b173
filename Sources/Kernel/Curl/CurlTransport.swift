import CCurl
package import PawlBase
import PawlHTTP

/// Fetches over FTP and SFTP with libcurl's multi interface, on the sockets that libcurl registers with the loop's poller.
///
/// Sinks are only ever called from within `begin` and `work`, never from `start`, `cancel` or `resume`: inside one of
/// libcurl's callbacks, where its functions must not be called, those only note the work to be done.
@safe package final class CurlTransport: Transport {
    let multi: MultiHandle
    let poller: any Poller
    package let clock: any Clock

    /// The transfers that have a receiver.
    var transfers: [TransferID: Exchange] = [:]
    /// Prepared exchanges that are not yet in the multi handle.
    var pendingAdd: [Exchange] = []
    /// Requests that are impossible, and whose sinks are still to be informed.
    private var refusals: [(id: TransferID, fault: TransferFault, sink: any TransferSink)] = []
    private var resuming: [TransferID] = []
    /// Exchanges cancelled inside a callback, to be removed from the multi handle after it.
    private var pendingRemoval: [Exchange] = []
    /// The transfer whose end is being worked out; `nil` again when a sink cancels it.
    private var ending: TransferID?
    private let pool = EasyHandlePool()

    var resolver = HostResolver.shared
    let hostResults = Mailbox<(HostCache.Waiter, HostResult)>()
    /// The requests that wait for the addresses of their hosts, and when the first of them fails.
    var lookups: [HostCache.Waiter: PendingLookup] = [:]
    var lookupDeadline: Instant?

    package init(clock: any Clock, poller: any Poller) {
        multi = MultiHandle(on: poller, clock: clock)
        self.clock = clock
        self.poller = poller
    }

    deinit {
        cancelLookups()
        for exchange in transfers.values { exchange.detach() }
        for exchange in Array(transfers.values) + pendingRemoval where exchange.isJoined {
            leave(exchange)
        }
        // libcurl requires the easy handles to be removed before the multi handle.
        transfers = [:]
        pendingAdd = []
        pendingRemoval = []
        pool.empty()
    }

    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        do throws(TransferFault) {
            let exchange = try pool.exchange(for: request, as: id, sink: sink)
            transfers[id] = exchange
            pendingAdd.append(exchange)
        } catch { refusals.append((id, error, sink)) }
    }

    package func cancel(_ id: TransferID) {
        if ending == id { ending = nil }
        refusals.removeAll { $0.id == id }
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

    package func resume(_ id: TransferID) { if transfers[id] != nil { resuming.append(id) } }

    package func begin() -> Instant? {
        precondition(!multi.isInside, "begin is not called from a sink")
        let hasProceeded = takeResults()
        let hasRefused = deliverRefusals()
        let hasTold = joinAll() || hasProceeded || hasRefused
        if resumeAll() || hasTold { return .past }
        return [multi.deadline, lookupDeadline].compactMap(\.self).min()
    }

    package func work() {
        precondition(!multi.isInside, "work is not called from a sink")
        multi.advance()
        guard multi.busy > 0 else { return }
        removePending()
        deliverEnds()
    }

    package func closeIdle() {}
}

// MARK: - The steps of a round

extension CurlTransport {
    /// Informs the sinks of the requests that are impossible.
    ///
    /// Returns whether there were any.
    private func deliverRefusals() -> Bool {
        guard !refusals.isEmpty else { return false }
        while !refusals.isEmpty {
            let refusal = refusals.removeFirst()
            refusal.sink.transferEnded(refusal.id, .failed(refusal.fault))
        }
        return true
    }

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
        return target(of: request, for: exchange)
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
            leave(exchange)
            pool.takeBack(exchange)
            return
        }
        let id = exchange.id
        transfers[id] = nil
        ending = id
        let end = exchange.conclude(code)
        leave(exchange)
        guard ending == id else { return pool.takeBack(exchange) }
        ending = nil
        if exchange.looksForFolder(after: end) {
            transfers[id] = exchange
            pendingAdd.append(exchange)
            return
        }
        pool.takeBack(exchange)
        sink.transferEnded(id, end)
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
