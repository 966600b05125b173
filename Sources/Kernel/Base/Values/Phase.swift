/// The phase of a download.
package enum Phase: Hashable, Sendable {
    case waiting
    case probing
    /// Bytes arrive, or a retry is due.
    case transferring
    case waitingForNetwork
    case verifying
    case publishing
    case paused
    case preempted
    case finished
    case failed
    case removed
}
