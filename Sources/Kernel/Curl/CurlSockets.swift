import CPawlSystem
import Glibc

/// A count of libcurl's rounds, and the sockets it has made: libcurl does not report them during a transfer.
final class CurlSockets {
    /// Counts the rounds.
    var round: UInt64 = 0
    /// Some may have been closed since.
    private var made: Set<Int32> = []

    func note(_ socket: Int32) { made.insert(socket) }

    func socket(localPort port: Int) -> Int32? { made.first { port > 0 && Int(pawl_local_port($0)) == port } }

    /// The number of bytes received on the connection from that local port; `nil` when it is not known.
    func received(localPort port: Int) -> Int64? {
        guard let socket = socket(localPort: port) else { return nil }
        let count = pawl_received(socket)
        return count < 0 ? nil : count
    }

    /// Shuts the connection down, so that libcurl finds it closed.
    func cut(localPort port: Int) { if let socket = socket(localPort: port) { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
}
