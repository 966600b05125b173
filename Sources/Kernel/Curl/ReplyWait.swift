import CPawlSystem
import Glibc
import PawlBase

/// Bounds the wait for an FTP server's replies at the end of a transfer.
///
/// libcurl waits for them, up to a minute, without returning: all transfers of its thread wait with it.
struct ReplyWait {
    /// What libcurl may spend in one round without receiving anything.
    let patience: Interval

    private var round: UInt64 = 0
    private var received: Int64 = -1
    private var start = Instant.past
    /// Why libcurl has to stop.
    private(set) var fault: TransferFault?

    init(patience: Interval) { self.patience = patience }

    /// Notes how much was received, in this round of libcurl.
    mutating func note(round: UInt64, received: Int64, at now: Instant) {
        guard round == self.round, received == self.received else {
            (self.round, self.received, start) = (round, received, now)
            return
        }
        guard now >= start + patience else { return }
        fault = TransferFault(
            .connectionLost,
            LocalizableMessage("fault-end-not-confirmed", "the server did not confirm the end of the transfer"))
    }
}

/// What the handles of a multi handle share: a count of libcurl's rounds, and the sockets that it has made, which it does not
/// report during a transfer.
final class CurlSockets {
    /// The number of busy handles for which libcurl is also called without an event.
    var polled = 0
    /// Counts the rounds.
    var round: UInt64 = 0
    /// Some may have been closed since.
    private var made: Set<Int32> = []

    func note(_ socket: Int32) { made.insert(socket) }

    func socket(localPort port: Int) -> Int32? { made.first { port > 0 && Int(pawl_local_port($0)) == port } }

    /// Shuts the connection down, so that libcurl finds it closed.
    func cut(localPort port: Int) { if let socket = socket(localPort: port) { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
}
