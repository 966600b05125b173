import CCurl
import CPawlSystem
import PawlBase
import PawlSystem

/// Makes libcurl connect and do the TLS handshake.
final class CurlConnector {
    let easy: EasyHandle
    let exchange: HTTP1Exchange
    private let startedAt: Instant?

    init(for exchange: HTTP1Exchange, _ addresses: HostAddresses?, _ sessions: SessionCache?) throws(TransferFault) {
        easy = try EasyHandle()
        self.exchange = exchange
        startedAt = exchange.request.isMeasured ? SystemClock().now : nil
        var address = exchange.request.address
        address.path = "/"
        address.query = nil
        easy.reset()
        exchange.settings.apply(to: easy)
        easy.set(CURLOPT_URL, address.text)
        easy.use(addresses: addresses?.lines)
        easy.set(CURLOPT_CONNECT_ONLY, 1)
        easy.set(CURLOPT_FRESH_CONNECT, 1)
        easy.set(CURLOPT_HTTP_VERSION, pawl_http_version_1_1)
        guard address.scheme == .https else { return }
        unsafe easy.set(contextFunction: TLSContext.prepareReadAhead)
        if let sessions { easy.use(sessions) }
    }

    /// Keeps what libcurl measured with the request.
    func measure() {
        guard let startedAt else { return }
        exchange.timing = TransferTiming()
        exchange.timing.readConnection(of: easy, begun: startedAt, exchange.request)
        exchange.timing.note(exchange.lookup)
    }

    /// Takes ownership of the connection: its socket, and its TLS state.
    func takeConnection(in multi: MultiHandle) -> (socket: Int32, secure: TLSConnection?)? {
        if exchange.request.address.scheme == .https {
            guard let connection = TLSConnection(easy, in: multi, fault: fault) else { return nil }
            return (connection.socket, connection)
        }
        // libcurl closes its own descriptor when the handle is removed.
        guard let socket = easy.socket else { return nil }
        let copy = pawl_duplicate(socket)
        return copy >= 0 ? (copy, nil) : nil
    }

    func fault(_ code: CURLcode) -> TransferFault {
        easy.fault(code, of: exchange.request, isHTTP: true, hasHead: false)
    }
}

/// The TLS sessions that the connections of one transport may resume, each bound to the origin that issued it.
///
/// A resumed handshake needs no certificate and, before TLS 1.3, one round trip instead of two
/// (RFC 5246 §7.3, RFC 5077). libcurl keeps sessions by host, port and all settings of trust.
@safe final class SessionCache {
    let share: UnsafeMutableRawPointer

    init?() {
        guard CurlLibrary.isUsable, let share = unsafe pawl_share_init() else { return nil }
        unsafe self.share = share
        // One loop thread uses the share, so it needs no lock functions.
        _ = unsafe pawl_share_set_data(share, CURL_LOCK_DATA_SSL_SESSION)
    }

    deinit { _ = unsafe pawl_share_cleanup(share) }
}
