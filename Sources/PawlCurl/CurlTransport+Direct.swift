import CCurl
import Glibc
import PawlCore
import PawlEngine

// Where our own HTTP meets libcurl: one wait for both, and the connections that libcurl makes for it.
extension CurlTransport {
    func startDirect(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool {
        guard let direct, !hasCookies(for: request) else { return false }
        return direct.start(request, as: id, sink: sink)
    }

    func cancelDirect(_ id: TransferID) -> Bool {
        guard let exchange = direct?.cancel(id) else { return false }
        guard let dial = dials.values.first(where: { $0.exchange === exchange }) else { return true }
        remove(dial)
        return true
    }

    func resumeDirect(_ id: TransferID) -> Bool { direct?.resume(id) ?? false }

    var directDeadline: Moment? { direct?.deadline }

    /// Sends what was started and lets paused transfers go on.
    ///
    /// Returns whether something is to be done without waiting.
    func beginDirect() -> Bool {
        guard let direct else { return false }
        let failures = direct.sendWaiting().count { !dial($0, for: direct) }
        let hasResumed = direct.deliverResumed()
        return hasResumed || direct.isBusy || failures > 0
    }

    func waitDirect(milliseconds: Int32) {
        guard let direct else {
            _ = unsafe pawl_multi_poll(multi.raw, -1, milliseconds)
            return
        }
        guard multi.busy > 0 else { return direct.poller.wait(milliseconds: milliseconds) }
        _ = unsafe pawl_multi_poll(multi.raw, direct.poller.descriptor, milliseconds)
        direct.poller.wait(milliseconds: 0)
    }

    func workDirect() {
        direct?.work()
    }

    /// Gives up all connections that are being made.
    func hangUp() {
        for dial in dials.values { remove(dial) }
    }

    // MARK: connecting

    /// `false`: the sink was told that there is no connection.
    private func dial(_ exchange: DirectExchange, for direct: DirectHTTP) -> Bool {
        do throws(TransferFault) {
            var request = exchange.request
            request.connection = .separate
            guard let dial = Dial(for: exchange, try pool.profile(for: request), sessions) else {
                throw TransferFault(.other, "no memory for a connection")
            }
            if let refusal = dial.easy.refusal { throw TransferFault(refusal: refusal) }
            multi.add(dial.easy)
            dials[unsafe UInt(bitPattern: dial.easy.raw)] = dial
            return true
        } catch {
            direct.fail(exchange, error)
            return false
        }
    }

    private func remove(_ dial: Dial) {
        guard dials.removeValue(forKey: unsafe UInt(bitPattern: dial.easy.raw)) != nil else { return }
        multi.remove(dial.easy)
    }

    /// Takes a connection over, or tells why there is none; `false` when the handle is no dial.
    func endDial(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) -> Bool {
        guard let direct, let dial = dials[UInt(bitPattern: handle)] else { return false }
        let exchange = dial.exchange
        guard code == CURLE_OK else {
            let fault = dial.fault(code)
            remove(dial)
            direct.fail(exchange, fault)
            return true
        }
        guard let (socket, secure) = dial.takeConnection(in: multi) else {
            let reason = unsafe String(cString: strerror(errno))
            remove(dial)
            direct.fail(exchange, TransferFault(.other, "cannot take a connection over: \(reason)"))
            return true
        }
        if secure == nil {
            remove(dial)
        } else {
            dials[UInt(bitPattern: handle)] = nil
            multi.rest(dial.easy)
        }
        direct.connected(exchange, socket, secure)
        return true
    }
}
