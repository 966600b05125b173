import CPawlSystem
import Glibc

/// The calls of libcurl, and the sockets that it has made: while a transfer is under way it does not name them.
final class CurlSockets {
    /// Counts the calls.
    var round: UInt64 = 0
    /// Some may have been closed long ago.
    private var made: Set<Int32> = []

    func note(_ socket: Int32) { made.insert(socket) }

    func socket(localPort port: Int) -> Int32? {
        made.first { port > 0 && Int(pawl_local_port($0)) == port }
    }

    /// How many bytes have come on the connection from that port; `nil` when it is not known.
    func received(localPort port: Int) -> Int64? {
        guard let socket = socket(localPort: port) else { return nil }
        let count = pawl_received(socket)
        return count < 0 ? nil : count
    }

    /// Lets libcurl find the connection closed.
    func cut(localPort port: Int) {
        if let socket = socket(localPort: port) { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
}
