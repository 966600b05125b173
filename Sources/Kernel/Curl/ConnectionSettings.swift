import CCurl
import PawlBase
import PawlHTTP
import PawlSystem

/// The options of an easy handle that many requests have in common.
///
/// A pooled handle that has them already gets only URL and range for its next request.
final class ConnectionSettings {
    struct Key: Hashable {
        var settings: SettingsID
        var scheme: WebAddress.Scheme
        var carriesSecrets: Bool
        /// The port, where it decides whether the proxy is used.
        var port: UInt16?

        init(_ request: TransferRequest) {
            settings = request.settings.id
            scheme = request.address.scheme
            carriesSecrets = request.carriesSecrets
            let exceptions = request.settings.values.noProxy ?? EnvironmentProxy.exceptions
            if let exceptions, NoProxyList.namesPorts(exceptions) { port = request.address.port }
        }
    }

    let key: Key
    private let settings: TransferSettings
    private lazy var overrides: CurlList? =
        values.addressOverrides.isEmpty ? nil : CurlList(values.addressOverrides.map(\.connectTo))

    private var values: TransferSettings.Values { settings.values }

    init(for request: TransferRequest) throws(TransferFault) {
        key = Key(request)
        settings = request.settings
        try RequestText.check(settings.values)
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
        case .http, .https, .located: preconditionFailure("requests of other transports")
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
        options.setWhereBuiltIn(CURLOPT_PROXY_SSL_VERIFYPEER, values.verifiesPeer ? 1 : 0)
        options.setWhereBuiltIn(CURLOPT_PROXY_SSL_VERIFYHOST, values.verifiesPeer ? 2 : 0)
        Authorities(named: values.authorityFile).applyToProxy(of: options)
    }

    private func applySSH(_ options: EasyHandle) {
        let folder = Environment.home.map { $0 + "/.ssh" }
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

    /// Throws when one of the request's settings cannot be sent.
    func settings(for request: TransferRequest) throws(TransferFault) -> ConnectionSettings {
        let key = ConnectionSettings.Key(request)
        if let found = known[key] { return found }
        // Requests retain the settings they use, so removing them all is safe.
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        let settings = try ConnectionSettings(for: request)
        known[key] = settings
        return settings
    }
}
