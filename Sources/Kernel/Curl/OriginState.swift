import CCurl
import Glibc
import PawlBase

/// The state kept for one origin under one set of settings: its cookies.
///
/// Nothing crosses to another origin.
@safe final class OriginState {
    struct Key: Hashable {
        var settings: SettingsID
        var origin: Origin
        var carriesSecrets: Bool

        init(_ request: TransferRequest) {
            settings = request.settings.id
            origin = request.address.origin
            carriesSecrets = request.carriesSecrets
        }
    }

    let share: UnsafeMutableRawPointer
    /// Whether `remember` was called: then libcurl sends the requests to this origin, since it matches cookies.
    private(set) var holdsCookies = false
    /// The transport's request count at the last use.
    var lastUse: UInt64 = 0
    /// Receives the cookies at the end: those that were loaded, and those that there are.
    private let onEnd: CookieReceiver?
    private var loaded: [String] = []

    /// Loads the settings' cookie file when the request may carry secrets.
    init(for request: TransferRequest, onEnd: CookieReceiver?) throws(TransferFault) {
        try CurlLibrary.start()
        guard let share = unsafe pawl_share_init() else { throw .outOfMemory }
        unsafe self.share = share
        self.onEnd = onEnd
        // One loop thread uses the share, so it needs no lock functions.
        _ = unsafe pawl_share_set_data(share, CURL_LOCK_DATA_COOKIE)
        guard request.carriesSecrets, let file = request.settings.values.cookieFile else { return }
        try load(file)
    }

    deinit {
        if let onEnd { onEnd(loaded, cookies) }
        _ = unsafe pawl_share_cleanup(share)
    }

    /// The cookies as lines of the Netscape format.
    private var cookies: [String] {
        guard let easy = unsafe pawl_easy_init() else { return [] }
        defer { unsafe pawl_easy_cleanup(easy) }
        _ = unsafe pawl_easy_set_pointer(easy, CURLOPT_SHARE, share)
        let list = unsafe pawl_easy_get_cookies(easy)
        defer { unsafe pawl_list_free(list) }
        var lines: [String] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let data = unsafe entry.pointee.data { lines.append(unsafe String(cString: data)) }
            unsafe next = unsafe entry.pointee.next
        }
        return lines
    }

    /// Stores the Set-Cookie fields of a response from this origin.
    func remember(_ cookies: [String], from address: WebAddress) {
        guard let easy = unsafe pawl_easy_init() else { return }
        defer { unsafe pawl_easy_cleanup(easy) }
        _ = unsafe pawl_easy_set_pointer(easy, CURLOPT_SHARE, share)
        for cookie in cookies {
            guard let line = Self.line(for: cookie, from: address) else { continue }
            _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIELIST, line)
        }
        holdsCookies = true
    }

    /// The cookie in the form in which libcurl stores those of its own responses: a cookie that is deleted has to match
    /// the stored one in host, path, and in whether it is host-only.
    private static func line(for field: String, from address: WebAddress) -> String? {
        guard let cookie = SetCookie(parsing: field), cookie.maySet(from: address.host) else { return nil }
        let slash = address.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? address.path.startIndex
        // RFC 6265 §5.1.4.
        let path = cookie.path ?? (slash == address.path.startIndex ? "/" : String(address.path[..<slash]))
        let hasOwnDomain = cookie.domain == nil
        // libcurl does not know the field's origin here: the domain was checked above.
        guard hasOwnDomain else {
            let end = field.utf8.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
            return "Set-Cookie: \(field[..<end]); Path=\(path)\(field[end...])"
        }
        let columns = [
            address.host, "FALSE", path, cookie.isSecure ? "TRUE" : "FALSE", "\(end(of: cookie))", cookie.name,
            cookie.value,
        ]
        return columns.joined(separator: "\t")
    }

    /// The expiry in seconds since 1970; 0 for a session cookie.
    private static func end(of cookie: SetCookie) -> Int64 {
        if let age = cookie.maximumAge {
            guard age > 0 else { return 1 }
            return Int64(time(nil)).addingReportingOverflow(min(age, 400 * 86_400)).partialValue
        }
        guard let date = cookie.expires.map({ unsafe pawl_date($0) }), date >= 0 else { return 0 }
        return max(1, Int64(date))
    }

    private func load(_ file: String) throws(TransferFault) {
        guard CurlLibrary.isReadable(file) else {
            throw TransferFault(.other, LocalizableMessage("fault-cookie-file", "cannot read the cookie file \(file)"))
        }
        guard let easy = unsafe pawl_easy_init() else { throw TransferFault.outOfMemory }
        defer { unsafe pawl_easy_cleanup(easy) }
        _ = unsafe pawl_easy_set_pointer(easy, CURLOPT_SHARE, share)
        _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIEFILE, file)
        // RELOAD reads the file now and once; COOKIEFILE on each handle would read it for each request.
        _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIELIST, "RELOAD")
        if onEnd != nil { loaded = cookies }
    }
}
