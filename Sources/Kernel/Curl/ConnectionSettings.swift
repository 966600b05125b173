import CCurl
import PawlBase

/// What many requests have in common: the options of an easy handle, and the header fields that the HTTP/1.1 client
/// sends.
///
/// A pooled handle that has the options already gets only URL, range and buffer size for its next request.
final class ConnectionSettings {
    struct Key: Hashable {
        var settings: SettingsID
        var scheme: WebAddress.Scheme
        var carriesSecrets: Bool
        var bypassesCaches: Bool
        var connection: ConnectionUse
        /// The port, where it decides whether the proxy is used.
        var port: UInt16?

        init(_ request: TransferRequest) {
            settings = request.settings.id
            scheme = request.address.scheme
            carriesSecrets = request.carriesSecrets
            bypassesCaches = request.bypassesCaches
            connection = request.connection
            let exceptions = request.settings.values.noProxy ?? EnvironmentProxy.exceptions
            if let exceptions, NoProxyList.namesPorts(exceptions) { port = request.address.port }
        }
    }

    let key: Key
    private let settings: TransferSettings
    /// The header lines in libcurl's form.
    let texts: [String]
    private lazy var lines = HeaderLines(texts.filter { !HeaderLines.isCookie($0) })
    private lazy var overrides: HeaderLines? =
        values.addressOverrides.isEmpty ? nil : HeaderLines(values.addressOverrides.map(\.connectTo))
    /// What the HTTP/1.1 client sends after Host and Range, including the empty line; `nil` when libcurl has to send
    /// such requests.
    private(set) lazy var tail = makeTail()

    /// Whether libcurl connects to a proxy, or may.
    private(set) lazy var usesProxy = values.usesProxy(for: key.scheme)

    var values: TransferSettings.Values { settings.values }

    init(for request: TransferRequest) throws(TransferFault) {
        key = Key(request)
        settings = request.settings
        try RequestText.check(settings.values)
        texts = HeaderLines.joiningCookies(
            try HeaderLines.lines(
                of: settings.values, carriesSecrets: request.carriesSecrets, bypassesCaches: request.bypassesCaches))
    }

    /// Sets the header lines with those of this request alone, which replace others of the same name.
    ///
    /// libcurl adds the cookies that it has to given ones: a request has one Cookie field (RFC 6265 §5.4).
    func applyFields(_ own: [String], to options: EasyHandle) {
        let named = Set(own.map(HeaderLines.name))
        let all = texts.filter { !named.contains(HeaderLines.name(of: $0)) } + own
        let cookies = HeaderLines.joiningCookies(all).first { HeaderLines.isCookie($0) }
        options.set(CURLOPT_COOKIE, cookies.map(HeaderLines.value(of:)))
        guard !own.isEmpty else { return options.set(CURLOPT_HTTPHEADER, lines) }
        options.set(CURLOPT_HTTPHEADER, HeaderLines(all.filter { !HeaderLines.isCookie($0) }))
    }

    /// The default login.
    var usualLogin: Credentials? {
        guard key.scheme == .sftp, key.carriesSecrets else { return nil }
        return CurlLibrary.loginName.map { Credentials(user: $0, password: "") }
    }

    /// Sets the options on a handle that has none.
    func apply(to options: EasyHandle) {
        options.set(CURLOPT_PROTOCOLS_STR, key.scheme.name)
        options.set(CURLOPT_NOSIGNAL, 1)
        // Cancelling must not wait for a name resolution in progress.
        options.set(CURLOPT_QUICK_EXIT, 1)
        options.set(CURLOPT_TCP_KEEPALIVE, 1)
        options.set(CURLOPT_PATH_AS_IS, 1)
        options.set(CURLOPT_FOLLOWLOCATION, 0)
        options.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(values.connectTimeout.nanoseconds / 1_000_000)))
        if values.deniesPrivateAddresses { options.denyPrivateAddresses() }
        // libcurl scans its whole address cache for every request.
        if values.usesManyHosts { options.set(CURLOPT_DNS_CACHE_TIMEOUT, 1) }
        if let overrides { options.override(overrides) }
        if let interface = values.interface { options.set(CURLOPT_INTERFACE, interface) }
        switch values.ipVersion {
        case .any: break
        case .v4: options.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .v6: options.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        applyProxy(options)
        switch key.scheme {
        case .http: applyHTTP(options)
        case .https:
            applyHTTP(options)
            applyTLS(options)
        case .ftp:
            options.set(CURLOPT_FILETIME, 1)
            options.watchReplies()
            options.limitReplies(to: values.connectTimeout)
        case .ftps:
            options.set(CURLOPT_FILETIME, 1)
            options.watchReplies()
            options.limitReplies(to: values.connectTimeout)
            applyTLS(options)
        case .sftp:
            options.set(CURLOPT_FILETIME, 1)
            applySSH(options)
        case .located: preconditionFailure("a request to an address that has no host")
        }
    }

    private func applyHTTP(_ options: EasyHandle) {
        applyFields([], to: options)
        // Enables the cookie engine; the cookies are in the share. (An empty name reads no file.)
        options.set(CURLOPT_COOKIEFILE, "")
        options.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        // Chunked bodies are passed through and decoded here: libcurl does not bound the framing that it discards.
        options.set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
        if !values.userAgent.isEmpty { options.set(CURLOPT_USERAGENT, values.userAgent) }
        if let referer = HeaderLines.referer(of: values, to: key.scheme, whole: key.carriesSecrets) {
            options.set(CURLOPT_REFERER, referer)
        }
        switch key.connection {
        case .shared:
            options.set(CURLOPT_HTTP_VERSION, pawl_http_version_2_over_tls)
            if key.scheme == .https { options.set(CURLOPT_PIPEWAIT, 1) }
        case .separate: options.set(CURLOPT_HTTP_VERSION, pawl_http_version_1_1)
        }
    }

    private func applyTLS(_ options: EasyHandle) {
        options.set(CURLOPT_SSLVERSION, pawl_tls_version_1_2)
        options.set(CURLOPT_SSL_VERIFYPEER, values.verifiesPeer ? 1 : 0)
        options.set(CURLOPT_SSL_VERIFYHOST, values.verifiesPeer ? 2 : 0)
        Authorities(named: values.authorityFile).apply(to: options)
        // libcurl checks it in each handshake, also where certificates are not verified; a proxy has another key.
        if !values.pinnedPublicKeys.isEmpty {
            options.set(CURLOPT_PINNEDPUBLICKEY, values.pinnedPublicKeys.joined(separator: ";"))
        }
        if key.scheme == .https, TLSContext.isReachable { unsafe options.set(contextFunction: TLSContext.prepare) }
        if let accepted = values.acceptedKey { options.set(CURLOPT_PINNEDPUBLICKEY, accepted) }
        // A client certificate identifies the user: it is sent only where other secrets are.
        guard key.carriesSecrets else { return }
        if let certificate = values.certificate { options.set(CURLOPT_SSLCERT, certificate) }
        if let secret = values.key { options.set(CURLOPT_SSLKEY, secret) }
    }

    private func applyProxy(_ options: EasyHandle) {
        options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        let mayUseOwn = values.usesOwnersSecrets && values.proxyLogin == nil
        let proxy = values.proxy ?? (mayUseOwn ? nil : EnvironmentProxy.plain(for: key.scheme))
        if let proxy {
            let isReplaced = values.proxyLogin != nil
            options.set(CURLOPT_PROXY, isReplaced ? ProxyURL.withoutLogin(proxy) ?? proxy : proxy)
            // libcurl would reuse a tunnel for which another request used the login that is omitted here.
            if values.proxy == nil { options.set(CURLOPT_FRESH_CONNECT, 1) }
        }
        if let port = key.port, let hosts = values.noProxy ?? EnvironmentProxy.exceptions {
            options.set(CURLOPT_NOPROXY, NoProxyList.hosts(of: hosts, port: port))
        } else if let hosts = values.noProxy {
            options.set(CURLOPT_NOPROXY, hosts)
        }
        guard values.proxy != "" else { return }
        options.set(CURLOPT_PROXYAUTH, pawl_auth_basic | pawl_auth_digest)
        if let login = values.proxyLogin {
            options.set(CURLOPT_PROXYUSERNAME, login.user)
            options.set(CURLOPT_PROXYPASSWORD, login.password)
        }
        if key.scheme == .https, values.proxy != nil || EnvironmentProxy.isNamed(for: .https) {
            options.watchReplies()
            options.limitReplies(to: values.connectTimeout)
        }
        options.setWhereBuiltIn(CURLOPT_PROXY_SSL_VERIFYPEER, values.verifiesPeer ? 1 : 0)
        options.setWhereBuiltIn(CURLOPT_PROXY_SSL_VERIFYHOST, values.verifiesPeer ? 2 : 0)
        Authorities(named: values.authorityFile).applyToProxy(of: options)
    }

    private func applySSH(_ options: EasyHandle) {
        let folder = CurlLibrary.home.map { $0 + "/.ssh" }
        if values.verifiesPeer {
            // Without a file libcurl would accept any host key; with one, a host that is not in it is rejected.
            options.set(CURLOPT_SSH_KNOWNHOSTS, folder.map { $0 + "/known_hosts" } ?? "/etc/ssh/ssh_known_hosts")
        }
        guard key.carriesSecrets, values.usesOwnersSecrets else {
            // libcurl would reuse a connection for which another request used the user's keys.
            options.set(CURLOPT_FRESH_CONNECT, 1)
            // Without this libssh2 uses the agent, and looks for keys in the home folder itself.
            options.set(CURLOPT_SSH_AUTH_TYPES, pawl_ssh_auth_words)
            if key.carriesSecrets, let file = values.key {
                options.set(CURLOPT_SSH_AUTH_TYPES, pawl_ssh_auth_words | pawl_ssh_auth_key)
                options.set(CURLOPT_SSH_PRIVATE_KEYFILE, file)
            }
            return
        }
        let usual = ["id_ed25519", "id_ecdsa", "id_rsa"]
        let found = folder.flatMap { folder in usual.map { "\(folder)/\($0)" }.first(where: CurlLibrary.isReadable) }
        if let file = values.key ?? found { options.set(CURLOPT_SSH_PRIVATE_KEYFILE, file) }
    }
}

extension AddressOverride {
    /// An entry of CURLOPT_CONNECT_TO: an empty host stands for any.
    fileprivate var connectTo: String {
        let (host, address) = (
            host.contains(":") ? "[\(host)]" : host, address.contains(":") ? "[\(address)]" : address
        )
        return "\(host):\(port):\(address):\(port)"
    }
}

/// The settings of recent requests.
final class ConnectionSettingsCache {
    private static let limit = 64

    private var known: [ConnectionSettings.Key: ConnectionSettings] = [:]
    /// Nearly always the next one too.
    private var last: ConnectionSettings?

    /// Throws when one of the request's settings cannot be sent.
    func settings(for request: TransferRequest) throws(TransferFault) -> ConnectionSettings {
        let key = ConnectionSettings.Key(request)
        if let last, last.key == key { return last }
        if let found = known[key] {
            last = found
            return found
        }
        // Requests retain the settings they use, so removing them all is safe.
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        let settings = try ConnectionSettings(for: request)
        known[key] = settings
        last = settings
        return settings
    }
}

/// The final check of the texts that become part of a request: those from a queue's database or a netrc file pass no
/// check of options.
enum RequestText {
    static func check(_ values: TransferSettings.Values) throws(TransferFault) {
        for (setting, text) in [
            (OptionID.userAgent, values.userAgent), (.referer, values.referer), (.proxy, values.proxy),
            (.noProxy, values.noProxy),
        ] {
            guard let text, !FieldText.isSafe(text) else { continue }
            throw TransferFault(
                .other,
                LocalizableMessage("fault-option-unsendable", "\(setting.title) cannot be sent: \(FieldText.message)"))
        }
        if let login = values.credentials { try check(login) }
    }

    static func check(_ login: Credentials) throws(TransferFault) {
        guard FieldText.isSafe(login.user), FieldText.isSafe(login.password) else {
            throw TransferFault(
                .other,
                LocalizableMessage(
                    "fault-login-unsendable", "the user name or the password cannot be sent: \(FieldText.message)"))
        }
    }
}
