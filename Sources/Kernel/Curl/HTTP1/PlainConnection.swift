import CPawlSystem
import Glibc
import PawlBase

/// A TCP connection that is being established without libcurl.
///
/// For each connection libcurl sets up a handle and searches its address cache, which costs several times as much as the
/// connection itself.
struct PlainConnection {
    let exchange: HTTP1Exchange
    let socket: Int32
    /// When the attempt ends.
    let deadline: Instant
    /// The further addresses of the host; libcurl tries them after the deadline.
    let alternatives: ArraySlice<String>
    /// Whether it is established already, as connections to this machine usually are.
    let isEstablished: Bool

    /// How long the first of several addresses is tried alone (RFC 8305 §5).
    private static let headStart = Interval.milliseconds(250)

    /// Begins to connect to the first of `addresses` that does not refuse at once; `nil` if libcurl has to do it, or to
    /// report why it is not possible.
    init?(for exchange: HTTP1Exchange, to addresses: ArraySlice<String>, now: Instant) {
        let (address, values) = (exchange.request.address, exchange.settings.values)
        guard address.scheme == .http, !exchange.needsCurl, !exchange.request.isMeasured,
            values.addressOverrides.isEmpty, values.interface == nil, values.ipVersion == .any
        else { return nil }
        var (alternatives, socket, established) = (addresses, Int32(-1), Int32(0))
        while socket < 0 {
            guard let next = alternatives.popFirst(), let bytes = NumericAddress.bytes(of: next),
                !values.deniesPrivateAddresses || !PrivateNetworks.contains(bytes)
            else { return nil }
            socket = unsafe pawl_connect(bytes, bytes.count, address.port, &established)
        }
        self.exchange = exchange
        self.socket = socket
        self.alternatives = alternatives
        isEstablished = established != 0
        let limit = values.connectTimeout
        deadline = now + (alternatives.isEmpty ? limit : min(Self.headStart, limit))
    }

    /// Whether it is established, after an event of the socket.
    var hasSucceeded: Bool { pawl_connection_error(socket) == 0 }

    func close() { _ = Glibc.close(socket) }
}
