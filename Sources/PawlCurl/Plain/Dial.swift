#if os(Linux)
import CCurl
import CPawlSystem
import PawlCore
import PawlEngine

/// Lets libcurl resolve a name and connect, and takes the socket over from it.
final class Dial {
    let easy: EasyHandle
    let exchange: PlainExchange

    init?(for exchange: PlainExchange) {
        guard let easy = EasyHandle() else { return nil }
        self.easy = easy
        self.exchange = exchange
        let values = exchange.request.settings.values
        var address = exchange.request.address
        address.path = "/"
        address.query = nil
        easy.reset()
        easy.set(CURLOPT_URL, address.text)
        easy.set(CURLOPT_CONNECT_ONLY, 1)
        easy.set(CURLOPT_FRESH_CONNECT, 1)
        easy.set(CURLOPT_PROTOCOLS_STR, "http")
        easy.set(CURLOPT_PROXY, "")
        easy.set(CURLOPT_NOSIGNAL, 1)
        // Cancelling must not wait for a name resolution that is under way.
        easy.set(CURLOPT_QUICK_EXIT, 1)
        easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(values.connectTimeout.nanoseconds / 1_000_000)))
    }

    /// A descriptor of the connection that is ours: libcurl closes its own when the handle leaves.
    func takeSocket() -> Int32? {
        var socket = pawl_no_socket
        guard unsafe pawl_easy_get_socket(easy.raw, &socket) == CURLE_OK, socket != pawl_no_socket else {
            return nil
        }
        let copy = pawl_duplicate(socket)
        return copy >= 0 ? copy : nil
    }

    func fault(_ code: CURLcode) -> TransferFault {
        let said = easy.errorText
        let words = FaultWords(
            code: code,
            text: said.isEmpty ? CurlLibrary.text(of: code) : said,
            systemError: Int32(truncatingIfNeeded: easy.number(CURLINFO_OS_ERRNO)),
            reply: 0,
            isHTTP: true,
            hasHead: false
        )
        return TransferFault(words.kind, Secrets.removed(from: words.text, of: exchange.request))
    }
}

#endif
