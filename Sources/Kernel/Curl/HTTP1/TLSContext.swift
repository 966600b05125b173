import CCurl
import CTLS
import PawlHTTP

/// The OpenSSL settings that libcurl has no option for.
enum TLSContext {
    /// Four records of the usual size.
    private static let readAhead = 4 * (16 * 1024 + 256)

    /// Whether libcurl's TLS library is the one that this process is linked with.
    static var isReachable: Bool { CurlLibrary.isUsable && isShared }

    private static let isShared: Bool = {
        guard let info = unsafe pawl_version(), let used = unsafe info.pointee.ssl_version,
            let reached = unsafe pawl_tls_version()
        else { return false }
        return unsafe String(cString: used) == "OpenSSL/\(unsafe String(cString: reached))"
    }()

    /// libcurl's callback for the contexts of HTTP.
    static let prepare: curl_ssl_ctx_callback = { _, context, _ in
        guard let context = unsafe context else { return CURLE_OK }
        // Without this, a truncated body without a length would pass for a complete one.
        unsafe pawl_tls_require_close_notify(context)
        unsafe CipherOrder.preferShortKeys(in: context)
        return CURLE_OK
    }

    /// The same for connections that `TLSConnection` reads, which handles bytes that were read ahead.
    static let prepareReadAhead: curl_ssl_ctx_callback = { easy, context, extra in
        guard let context = unsafe context else { return CURLE_OK }
        unsafe pawl_tls_read_ahead(context, TLSContext.readAhead)
        unsafe pawl_tls_let_writes_move(context)
        unsafe pawl_tls_take_tickets(context)
        return unsafe TLSContext.prepare(easy, context, extra)
    }
}
