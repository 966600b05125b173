/// The proxy by which requests go.
///
/// Connections are kept by it: what one login may reach, another may not.
package struct ProxyRoute: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case http(isSecure: Bool)
        /// Whether the proxy looks names up (4a), and not this machine.
        case socks4(resolves: Bool)
        /// Whether the proxy looks names up (5h), and not this machine.
        case socks5(resolves: Bool)

        package var isHTTP: Bool { if case .http = self { true } else { false } }

        /// Whether the proxy looks names up.
        package var resolves: Bool {
            switch self {
            case .http: true
            case .socks4(let resolves), .socks5(let resolves): resolves
            }
        }
    }

    package let kind: Kind
    /// In the form of URLs; an IPv6 address without brackets and perhaps with a zone.
    package let host: String
    package let port: UInt16
    package let login: Credentials?
    /// For messages: as it was given, without its login.
    package let place: String

    /// The proxy for requests to `address`; `nil` where they go to it directly.
    ///
    /// `environment` has the values of variables that are not empty. Throws for a URL that cannot be used.
    package static func route(
        to address: WebAddress, _ values: TransferSettings.Values, environment: (String) -> String?
    ) throws(TransferFault) -> ProxyRoute? {
        let variable = values.proxy == nil ? variables(for: address.scheme).first { environment($0) != nil } : nil
        guard let text = values.proxy ?? variable.flatMap(environment), !text.isEmpty else { return nil }
        if let exceptions = values.noProxy ?? environment("no_proxy") ?? environment("NO_PROXY"),
            NoProxyList.covers(exceptions, host: address.host, port: address.port)
        {
            return nil
        }
        guard ProxyURL.isUsable(text) else { throw variable.map { .unusableProxy(in: $0) } ?? .unusableProxy }
        // The login of the environment is not for what strangers request.
        let usesLogin = values.proxy != nil || values.usesOwnersSecrets
        return ProxyRoute(text, login: values.proxyLogin ?? (usesLogin ? ProxyURL.credentials(of: text) : nil))
    }

    /// The variables that may name a proxy, the first that is set counts.
    ///
    /// HTTP_PROXY is left out: CGI sets it from a request's Proxy field.
    package static func variables(for scheme: WebAddress.Scheme) -> [String] {
        let own = scheme.name + "_proxy"
        return (scheme == .http ? [own] : [own, own.uppercased()]) + ["all_proxy", "ALL_PROXY"]
    }

    /// `text` can be used.
    init(_ text: String, login: Credentials?) {
        let parts = ProxyURL.parts(of: text)
        kind =
            switch parts.scheme {
            case "https": .http(isSecure: true)
            case "socks4": .socks4(resolves: false)
            case "socks4a": .socks4(resolves: true)
            case "socks5": .socks5(resolves: false)
            case "socks5h": .socks5(resolves: true)
            case _: .http(isSecure: false)
            }
        host = parts.host
        port = parts.port ?? (kind == .http(isSecure: true) ? 443 : 1080)
        self.login = login
        place = ProxyURL.place(of: text)
    }
}
