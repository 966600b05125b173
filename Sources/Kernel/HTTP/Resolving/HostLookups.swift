package import PawlBase

/// Lookups of host names before their requests, which then find the result.
package struct HostLookups: Sendable {
    private let values: TransferSettings.Values
    /// The schemes of requests to a proxy, which looks the names up.
    private let proxied: Set<WebAddress.Scheme>

    /// `values`: the settings of the requests.
    package init(_ values: TransferSettings.Values) {
        self.values = values
        proxied = Set(WebAddress.Scheme.allCases.filter { values.usesProxy(for: $0) })
    }

    /// The lookup that a connection to the address needs; `nil` where it needs none.
    package func query(for address: WebAddress) -> HostQuery? {
        // A located address has no host.
        guard !address.isLocated, !proxied.contains(address.scheme) else { return nil }
        return values.query(for: address)
    }

    /// The result; `nil` when the name has to be looked up first, and `receiver` is called on another thread.
    package func lookUp(_ query: HostQuery, _ receiver: @escaping @Sendable (HostResult) -> Void) -> HostResult? {
        if case .known(let result) = HostResolver.shared.ask(query, { _, result in receiver(result) }) { return result }
        return nil
    }
}

extension TransferSettings.Values {
    /// Whether libcurl connects to a proxy, or may.
    package func usesProxy(for scheme: WebAddress.Scheme) -> Bool {
        proxy.map { !$0.isEmpty } ?? EnvironmentProxy.isNamed(for: scheme)
    }

    /// The lookup that a connection to the address needs if it uses no proxy; `nil` where libcurl knows the address.
    package func query(for address: WebAddress) -> HostQuery? {
        let query = HostQuery(address.host, ipVersion)
        let isOverridden = addressOverrides.contains {
            ($0.host.isEmpty || $0.host == address.host) && $0.port == address.port
        }
        return query.needsLookup && !isOverridden ? query : nil
    }
}
