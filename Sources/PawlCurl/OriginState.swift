import CCurl
import Glibc
import PawlCore
import PawlEngine

/// What is remembered of one origin under one set of settings: its cookies.
///
/// Nothing crosses to another origin.
@safe
final class OriginState {
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
        for cookie in cookies {
            guard let line = Self.line(for: cookie, from: address) else { continue }
            _ = unsafe pawl_easy_set_string(easy, CURLOPT_COOKIELIST, line)
        }
        holdsCookies = true
    }

    /// The cookie in a form in which libcurl keeps it as it keeps those that it finds in answers of its own: one that is
    /// taken back has to be equal to the one that was given in host, path, and in whether other hosts share it.
    private static func line(for field: String, from address: WebAddress) -> String? {
        guard let cookie = SetCookie(parsing: field) else { return nil }
        let slash = address.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? address.path.startIndex
        // RFC 6265 §5.1.4.
        let path = cookie.path ?? (slash == address.path.startIndex ? "/" : String(address.path[..<slash]))
        let hasOwnDomain = cookie.domain == nil
        // libcurl is not told here where the field comes from; it checks the domain when it sends the cookie.
        guard hasOwnDomain else {
            let end = field.utf8.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
            return "Set-Cookie: \(field[..<end]); Path=\(path)\(field[end...])"
        }
        let columns = [
            address.host, "FALSE", path, cookie.isSecure ? "TRUE" : "FALSE", "\(end(of: cookie))",
            cookie.name,
            cookie.value,
        ]
        return columns.joined(separator: "\t")
    }

    /// When it is to be forgotten, in seconds since 1970; 0 when with the session.
    private static func end(of cookie: SetCookie) -> Int64 {
        if let age = cookie.maximumAge {
            guard age > 0 else { return 1 }
            return Int64(time(nil)).addingReportingOverflow(min(age, 400 * 86_400)).partialValue
        }
        guard let date = cookie.expires.map({ unsafe curl_getdate($0, nil) }), date >= 0 else { return 0 }
        return max(1, Int64(date))
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
