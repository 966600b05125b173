import CCurl
import Glibc
import PawlCore
import PawlEngine

#if os(Linux)
// Where plain HTTP meets libcurl: one wait for both, and libcurl's connections for plain HTTP.
extension CurlTransport {
    func startPlain(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool {
        guard let plain, !hasCookies(for: request) else { return false }
        return plain.start(request, as: id, sink: sink)
    }

    func cancelPlain(_ id: TransferID) -> Bool {
        guard let exchange = plain?.cancel(id) else { return false }
        guard let dial = dials.values.first(where: { $0.exchange === exchange }) else { return true }
        if isInside { abandonedDials.append(dial) } else { remove(dial) }
        return true
    }

    func resumePlain(_ id: TransferID) -> Bool { plain?.resume(id) ?? false }

    var plainDeadline: Moment? { plain?.deadline }

    /// Sends what was started and lets paused transfers go on.
    ///
    /// Returns whether something is to be done without waiting.
    func beginPlain() -> Bool {
        guard let plain else { return false }
        let failures = plain.sendWaiting().filter { !dial($0) }
        for exchange in failures {
            plain.fail(exchange, TransferFault(.other, "no memory for a connection"))
        }
        let hasResumed = plain.deliverResumed()
        return hasResumed || plain.isBusy || !failures.isEmpty
    }

    func waitPlain(milliseconds: Int32) {
        guard let plain else {
            _ = unsafe pawl_multi_poll(multi, -1, milliseconds)
            return
        }
        guard joined > 0 else { return plain.poller.wait(milliseconds: milliseconds) }
        _ = unsafe pawl_multi_poll(multi, plain.poller.descriptor, milliseconds)
        plain.poller.wait(milliseconds: 0)
    }

    func workPlain() {
        plain?.work()
    }

    /// Gives up all connections that are being made.
    func hangUp() {
        for dial in dials.values { remove(dial) }
    }

    // MARK: connecting

    private func dial(_ exchange: PlainExchange) -> Bool {
        guard let dial = Dial(for: exchange) else { return false }
        let code = unsafe curl_multi_add_handle(multi, dial.easy.raw)
        precondition(code == CURLM_OK, "curl_multi_add_handle: \(code)")
        joined += 1
        dials[unsafe UInt(bitPattern: dial.easy.raw)] = dial
        return true
    }

    private func remove(_ dial: Dial) {
        guard dials.removeValue(forKey: unsafe UInt(bitPattern: dial.easy.raw)) != nil else { return }
        joined -= 1
        isInside = true
        _ = unsafe curl_multi_remove_handle(multi, dial.easy.raw)
        isInside = false
    }

    /// Removes what was cancelled inside a callback of libcurl's.
    func removeAbandonedDials() {
        while let dial = abandonedDials.popLast() { remove(dial) }
    }

    /// Takes a connection over, or tells why there is none; `false` when the handle is no dial.
    func endDial(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) -> Bool {
        guard let plain, let dial = dials[UInt(bitPattern: handle)] else { return false }
        let exchange = dial.exchange
        guard code == CURLE_OK else {
            let fault = dial.fault(code)
            remove(dial)
            plain.fail(exchange, fault)
            return true
        }
        let socket = dial.takeSocket()
        let error = errno
        remove(dial)
        guard exchange.sink != nil else {
            if let socket { close(socket) }
            return true
        }
        if socket.map({ plain.connected(exchange, $0) }) ?? false { return true }
        let reason = unsafe String(cString: strerror(error))
        plain.fail(exchange, TransferFault(.other, "cannot take a connection over: \(reason)"))
        return true
    }
}

#else
extension CurlTransport {
    func startPlain(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool { false }
    func cancelPlain(_ id: TransferID) -> Bool { false }
    func resumePlain(_ id: TransferID) -> Bool { false }
    var plainDeadline: Moment? { nil }
    func beginPlain() -> Bool { false }
    func workPlain() {}
    func hangUp() {}
    func removeAbandonedDials() {}
    func endDial(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) -> Bool { false }

    func waitPlain(milliseconds: Int32) {
        _ = unsafe pawl_multi_poll(multi, -1, milliseconds)
    }
}

#endif
