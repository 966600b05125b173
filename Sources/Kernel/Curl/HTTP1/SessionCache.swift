import CCurl

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
