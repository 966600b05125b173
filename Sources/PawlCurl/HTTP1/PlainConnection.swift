import CPawlSystem
import Glibc
import PawlCore
import PawlEngine

/// A TCP connection that is being established without libcurl.
///
/// For each connection libcurl sets up a handle and searches its address cache, which costs several times as much as the
/// connection itself.
struct PlainConnection {
    let exchange: HTTP1Exchange
    let socket: Int32
    /// When the attempt ends.
    let deadline: Instant
    /// Whether the host has further addresses, which libcurl tries after the deadline.
    let hasAlternatives: Bool
    /// Whether it is established already, as connections to this machine usually are.
    let isEstablished: Bool

    /// How long the first of several addresses is tried alone (RFC 8305 §5).
    private static let headStart = Interval.milliseconds(250)

    /// Begins to connect to the first of `addresses`, or to the host if it is one; `nil` if libcurl has to do it, or to
    /// report why it is not possible.
    init?(for exchange: HTTP1Exchange, to addresses: [String]?, now: Instant) {
        let (address, values) = (exchange.request.address, exchange.settings.values)
        guard address.scheme == .http, !exchange.needsCurl, !exchange.request.isMeasured,
            values.addressOverrides.isEmpty, values.interface == nil, values.ipVersion == .any,
            let bytes = NumericAddress.bytes(of: addresses?.first ?? address.host),
            !values.deniesPrivateAddresses || !PrivateNetworks.contains(bytes)
        else { return nil }
        var established: Int32 = 0
        socket = unsafe pawl_connect(bytes, bytes.count, address.port, &established)
        guard socket >= 0 else { return nil }
        self.exchange = exchange
        isEstablished = established != 0
        hasAlternatives = addresses.map { $0.count > 1 } ?? false
        deadline =
            now + (hasAlternatives ? min(Self.headStart, values.connectTimeout) : values.connectTimeout)
    }

    /// Whether it is established, after an event of the socket.
    var hasSucceeded: Bool { pawl_connection_error(socket) == 0 }

    func close() { _ = Glibc.close(socket) }
}
