import CCurl
import Glibc
import PawlBase
import PawlSystem

// Where the HTTP/1.1 client meets libcurl: the connections that libcurl makes for the client.
extension CurlTransport {
    func startHTTP1(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool {
        guard let http1, !hasCookies(for: request) else { return false }
        return http1.start(request, as: id, sink: sink)
    }

    func cancelHTTP1(_ id: TransferID) -> Bool {
        guard let exchange = http1?.cancel(id) else { return false }
        guard let connector = connectors.values.first(where: { $0.exchange === exchange }) else {
            cancelLookup(for: exchange)
            return true
        }
        remove(connector)
        return true
    }

    func resumeHTTP1(_ id: TransferID) -> Bool { http1?.resume(id) ?? false }

    /// Sends the requests that were started and resumes paused transfers.
    ///
    /// Returns whether there is work to do without waiting.
    func beginHTTP1() -> Bool {
        guard let http1 else { return false }
        let failures = http1.sendWaiting().count { exchange in
            let target = target(of: exchange.request, exchange.settings, for: .connection(exchange))
            return !connect(exchange, to: target, for: http1)
        }
        let hasResumed = http1.deliverResumed()
        return hasResumed || http1.isBusy || failures > 0
    }

    /// Cancels all connections that are being established.
    func hangUp() { for connector in connectors.values { remove(connector) } }

    // MARK: connecting

    /// Returns `false` when the sink was informed that there is no connection.
    func connect(_ exchange: HTTP1Exchange, to target: Target, for http1: HTTP1Client) -> Bool {
        do throws(TransferFault) {
            let addresses: HostAddresses?
            switch target {
            case .known(let found): addresses = found
            case .failed(let fault): throw fault
            case .pending: return true
            }
            let host = exchange.request.address.host
            let texts = addresses?.texts ?? HostQuery(host).loopback ?? [host]
            if http1.connect(exchange, to: texts[...], at: clock.now) { return true }
            let connector = try CurlConnector(for: exchange, addresses, sessions)
            if let refusal = connector.easy.refusal { throw TransferFault(refusal: refusal) }
            try multi.add(connector.easy)
            connectors[unsafe UInt(bitPattern: connector.easy.raw)] = connector
            return true
        } catch {
            http1.fail(exchange, error)
            return false
        }
    }

    private func remove(_ connector: CurlConnector) {
        guard connectors.removeValue(forKey: unsafe UInt(bitPattern: connector.easy.raw)) != nil else { return }
        multi.remove(connector.easy)
    }

    /// Takes over a finished connection or reports why there is none; `false` when the handle is no connector's.
    func endConnecting(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) -> Bool {
        guard let http1, let connector = connectors[UInt(bitPattern: handle)] else { return false }
        let exchange = connector.exchange
        guard code == CURLE_OK else {
            let fault = connector.fault(code)
            let refusal = connector.easy.tunnelRefusal
            remove(connector)
            guard let refusal, var head = ResponseHead(parsing: refusal) else {
                http1.fail(exchange, fault)
                return true
            }
            head.lines = refusal
            http1.end(exchange, with: head)
            return true
        }
        connector.measure()
        guard let (socket, secure) = connector.takeConnection(in: multi) else {
            let fault = TransferFault("cannot take over a connection", .last)
            remove(connector)
            http1.fail(exchange, fault)
            return true
        }
        if secure == nil {
            remove(connector)
        } else {
            connectors[UInt(bitPattern: handle)] = nil
            multi.rest(connector.easy)
        }
        http1.connected(exchange, socket, secure)
        return true
    }
}
