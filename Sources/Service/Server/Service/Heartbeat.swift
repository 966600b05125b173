/// Decides, from one check a second, whether the web server's thread is stuck, and whether a shutdown takes too long.
///
/// Checks are counted, not seconds: a process that was stopped, or a machine that slept, is not stuck.
package struct Heartbeat: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        case well
        /// The thread has sent no heartbeat in more than ``patience`` checks.
        case stuck
        /// The process was requested to end, and has not in more than ``grace`` checks.
        case unending
    }

    /// Checks in a row that may go without a heartbeat; with the next one the thread is stuck.
    package static let patience = 15
    /// Checks that a shutdown may take: containers are killed after 10 seconds, and systemd's unit waits longer.
    package static let grace = 7

    private var silent = 0
    private var ending = 0

    package init() {}

    /// `hasResponded` is whether the thread has sent a heartbeat since the last check.
    package mutating func look(hasResponded: Bool, isEnding: Bool) -> Finding {
        if isEnding {
            ending += 1
            return ending > Heartbeat.grace ? .unending : .well
        }
        silent = hasResponded ? 0 : silent + 1
        return silent > Heartbeat.patience ? .stuck : .well
    }
}
