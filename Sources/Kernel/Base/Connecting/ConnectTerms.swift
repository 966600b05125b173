/// What one connection is made for, and how.
package struct ConnectTerms: Hashable, Sendable {
    package var host: String
    package var port: UInt16
    /// Whether TLS is spoken with the host.
    package var isSecure: Bool
    package var route: ProxyRoute?
    package var version = IPVersion.any
    /// What the user gave instead of the host's addresses.
    package var given: Endpoint?
    package var deniesPrivateAddresses = false
    /// For everything until the connection can carry a request, but not while a judge considers its certificates.
    package var timeout = Interval.seconds(30)
    package var lookupTimeout = Interval.seconds(30)
    package var userAgent = ""

    package init(host: String, port: UInt16, isSecure: Bool, route: ProxyRoute?) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.route = route
    }

    package init(_ address: WebAddress, _ values: TransferSettings.Values, by route: ProxyRoute?) {
        self.init(host: address.host, port: address.port, isSecure: address.scheme == .https, route: route)
        version = values.ipVersion
        let override = values.addressOverrides.first {
            ($0.host.isEmpty || $0.host == address.host) && $0.port == address.port
        }
        given = override.flatMap { Endpoint($0.address, port: $0.port) }
        deniesPrivateAddresses = values.deniesPrivateAddresses
        timeout = values.connectTimeout
        // Where requests go to many hosts, their owner looks them up before.
        lookupTimeout = values.usesManyHosts ? min(timeout, HostCache.silence * 2) : timeout
        userAgent = values.userAgent
    }

    /// Whether an HTTP proxy connects to the host without reading what is sent: for TLS, and for an address that was
    /// given, which a request in absolute form could not name.
    package var isTunnelled: Bool { route?.kind.isHTTP == true && (isSecure || given != nil) }

    /// Whether requests have the whole URL in their first line (RFC 9112 §3.2.2).
    package var usesAbsoluteForm: Bool { route?.kind.isHTTP == true && !isTunnelled }
}
