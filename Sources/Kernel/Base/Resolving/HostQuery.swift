/// A host name, and the version of the addresses that are needed.
package struct HostQuery: Hashable, Sendable {
    package var host: String
    package var version: IPVersion

    package init(_ host: String, _ version: IPVersion = .any) {
        self.host = host
        self.version = version
    }

    /// Whether the host is a name that a resolver has to know: not an address, nor this machine (RFC 6761 §6.3).
    package var needsLookup: Bool {
        !host.isEmpty && host.utf8.count <= 253 && loopback == nil && !NumericAddress.isOne(host)
    }

    /// The addresses of this machine, if the host is a name of it.
    package var loopback: [String]? {
        host == "localhost" || host.hasSuffix(".localhost") ? ["::1", "127.0.0.1"] : nil
    }
}

/// What a resolver says of a host name.
package enum HostResult: Hashable, Sendable {
    /// Its addresses, in the order in which they are tried.
    case addresses([String])
    /// There is no such name, or it has no address of the version.
    case missing
    /// The resolver does not respond, or cannot say it now (SERVFAIL).
    case unavailable

    /// The fault of a request that needs the addresses; `nil` if there are some.
    package func fault(of query: HostQuery) -> TransferFault? {
        switch self {
        case .addresses: nil
        case .missing where query.version != .any: .noAddress(of: query.host, version: query.version)
        case .missing: .noHost(query.host)
        case .unavailable: .unresolved(query.host)
        }
    }

    /// The same as the failure of a download.
    package func failure(of query: HostQuery, for address: WebAddress) -> Failure? {
        guard let fault = fault(of: query) else { return nil }
        var failure = Failure(
            RetryPolicy.disposition(of: .transfer(fault)).code, "cannot fetch", at: address.redacted,
            because: fault.message, remedy: fault.remedy ?? "")
        failure.fault = fault.kind
        return failure
    }
}
