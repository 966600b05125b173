import CPawlSystem
import Glibc
import PawlCore
import PawlEngine

/// A connection to a numeric address that is established without libcurl.
///
/// For each connection libcurl sets up a handle and searches its address cache, which costs several times as much as the
/// connection itself.
struct NumericConnection {
    let exchange: HTTP1Exchange
    let socket: Int32
    /// When the attempt fails.
    let deadline: Instant
    /// Whether it is established already, as connections to this machine usually are.
    let isEstablished: Bool

    /// Begins to connect; `nil` if libcurl has to do it, or to report why it is not possible.
    init?(for exchange: HTTP1Exchange, now: Instant) {
        let (address, values) = (exchange.request.address, exchange.settings.values)
        guard address.scheme == .http, !exchange.needsCurl, !exchange.request.isMeasured,
            values.addressOverrides.isEmpty, values.interface == nil, values.ipVersion == .any,
            let bytes = NumericAddress.bytes(of: address.host),
            !values.deniesPrivateAddresses || !PrivateNetworks.contains(bytes)
        else { return nil }
        var established: Int32 = 0
        socket = unsafe pawl_connect(bytes, bytes.count, address.port, &established)
        guard socket >= 0 else { return nil }
        self.exchange = exchange
        isEstablished = established != 0
        deadline = now + values.connectTimeout
    }

    /// Whether it is established, after an event of the socket.
    var hasSucceeded: Bool { pawl_connection_error(socket) == 0 }

    func close() { _ = Glibc.close(socket) }
}
