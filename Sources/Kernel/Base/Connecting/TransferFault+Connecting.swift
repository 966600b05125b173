// Why no connection was made, in one place for all transports.
extension TransferFault {
    /// The address must not be contacted.
    package static func deniedAddress(_ text: String) -> TransferFault {
        TransferFault(
            .privateAddress,
            LocalizableMessage(
                "fault-address-denied", "its address \(text) is private, and private addresses are denied"))
    }

    /// There is neither an interface nor an address of this machine with that name: that of a tunnel which is down.
    package static func missingInterface(_ name: String) -> TransferFault {
        TransferFault(
            .unreachable,
            LocalizableMessage("interface-missing", "there is no interface or local address \(name)"))
    }

    /// No response of the resolver came in time.
    package static func unresolved(_ host: String, within limit: Interval) -> TransferFault {
        TransferFault(
            .nameResolution,
            LocalizableMessage(
                "host-not-resolved-within",
                "cannot resolve the host name \(host): DNS did not respond within \(limit.seconds) s"))
    }

    /// A SOCKS proxy's reply.
    static func socksRefused(_ reason: String) -> TransferFault {
        TransferFault(
            .proxy, LocalizableMessage("socks-refused", "the proxy refused the connection: \(reason)"))
    }

    static let socksNotSpoken = TransferFault(
        .proxy, LocalizableMessage("socks-not-spoken", "the proxy does not respond as a SOCKS proxy does"))

    /// The connection with the proxy was of no use.
    static func proxyFailed(_ place: String, _ fault: TransferFault) -> TransferFault {
        TransferFault(
            fault.kind == .tls ? .tls : .proxy,
            LocalizableMessage("proxy-failed", "the proxy \(place) failed: \(fault.cause)"))
    }

    /// Whether it is the proxy that failed.
    var concernsProxy: Bool { cause.id == Self.proxyFailed("", .noResponse).cause.id }

    package static func tunnelRefused(_ status: some CustomStringConvertible) -> TransferFault {
        TransferFault(
            .proxy, LocalizableMessage("tunnel-refused", "the proxy refused to open a tunnel (\(status))"))
    }
}

extension LocalizableMessage {
    package static func noConnection(to place: LocalizableMessage, because cause: LocalizableMessage) -> Self {
        LocalizableMessage("no-connection-because", "no connection to \(place): \(cause)")
    }

    package static func noConnection(within limit: Interval) -> Self {
        LocalizableMessage("no-connection-within", "no connection within \(limit.seconds) s")
    }

    /// `place`: the proxy as it was given, without its login.
    package static func noConnection(byProxy place: String, within limit: Interval) -> Self {
        LocalizableMessage(
            "no-connection-by-proxy-within",
            "no connection by way of the proxy \(place) within \(limit.seconds) s")
    }

    package static func place(
        _ host: some CustomStringConvertible, port: some CustomStringConvertible
    ) -> Self { LocalizableMessage("host-and-port", "\(host) port \(port)") }

    package static func place(ofProxy place: String) -> Self {
        LocalizableMessage("proxy-place", "the proxy \(place)")
    }
}
