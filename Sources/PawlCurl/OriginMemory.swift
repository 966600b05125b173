import CCurl
import PawlCore
import PawlEngine

/// What is remembered of one origin under one set of settings: its cookies, and how it lets us in.
///
/// Nothing crosses to another origin.
@safe
final class OriginMemory {
    struct Key: Hashable {
        var settings: ObjectIdentifier
        var origin: Origin
        var carriesSecrets: Bool

        init(_ request: TransferRequest) {
            settings = ObjectIdentifier(request.settings)
            origin = request.address.origin
            carriesSecrets = request.carriesSecrets
        }
    }

    let share: UnsafeMutableRawPointer
    /// The key holds the identity of the settings, so they must not go away before it.
    private let settings: TransferSettings
    /// Whether the server takes basic credentials and offers nothing better: then they go along at once, which
    /// saves a round trip for each file.
    var takesBasic = false
    /// Whether `remember` was called: then the requests to this origin are libcurl's, which knows when a cookie fits.
    private(set) var holdsCookies = false
    /// When it was last used, in requests of the transport.
    var lastUse: UInt64 = 0

    /// Makes one and reads the settings' cookie file into it when the request may carry secrets.
    init(for request: TransferRequest) throws(TransferFault) {
        guard let share = unsafe curl_share_init() else {
            throw TransferFault(.other, "no memory for cookies")
        }
        unsafe self.share = share
        settings = request.settings
        // One loop thread uses the share, so it needs no lock functions.
        _ = unsafe pawl_share_set_data(share, CURL_LOCK_DATA_COOKIE)
        guard request.carriesSecrets, let file = settings.values.cookieFile else { return }
        try load(file)
    }

    deinit { _ = unsafe curl_share_cleanup(share) }

    /// Takes the values of Set-Cookie fields of an answer from this origin.
    func remember(_ cookies: [String], from address: WebAddress) {
        guard let easy = unsafe curl_easy_init() else { return }
        defer { unsafe curl_easy_cleanup(easy) }
        _ = unsafe pawl_easy_set_pointer(easy, CURLOPT_SHARE, share)
        // libcurl is not told where these lines come from, so they say themselves what follows from that when they
        // do not say otherwise (RFC 6265 §5.1.4): of two equal attributes the later one counts.
        let folder = address.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { address.path[..<$0] } ?? ""
        for cookie in cookies {
            let end = cookie.utf8.firstIndex(of: UInt8(ascii: ";")) ?? cookie.endIndex
            let path = folder.isEmpty ? "/" : folder
            let line = "Set-Cookie: \(cookie[..<end]); Path=\(path)\(cookie[end...])"
            _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIELIST, line)
        }
        holdsCookies = true
    }

    private func load(_ file: String) throws(TransferFault) {
        guard CurlLibrary.isReadable(file) else {
            throw TransferFault(.other, "cannot read the cookie file \(file)")
        }
        guard let easy = unsafe curl_easy_init() else { throw TransferFault(.other, "no memory for cookies") }
        defer { unsafe curl_easy_cleanup(easy) }
        _ = unsafe pawl_easy_set_pointer(easy, CURLOPT_SHARE, share)
        _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIEFILE, file)
        // RELOAD reads the file now and once; a COOKIEFILE on each handle would read it at each request.
        _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIELIST, "RELOAD")
    }
}
