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
