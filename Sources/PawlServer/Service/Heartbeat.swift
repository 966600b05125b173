/// Decides, from one look a second, whether a thread is stuck, and whether an end takes too long.
///
/// Looks are counted and not seconds: a process that was stopped, or a machine that slept, is not stuck.
package struct Heartbeat: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        case well
        /// The thread has not come round for so many looks.
        case stuck
        /// It was asked to end, and did not for so many looks.
        case unending
    }

    /// Looks until a thread counts as stuck.
    package static let patience = 15
    /// Looks that an end may take; systemd's unit waits longer.
    package static let grace = 20

    private var silent = 0
    private var ending = 0

    package init() {}

    /// `hasAnswered` is whether the thread has come round since the last look.
    package mutating func look(hasAnswered: Bool, isEnding: Bool) -> Finding {
        if isEnding {
            ending += 1
            return ending > Heartbeat.grace ? .unending : .well
        }
        silent = hasAnswered ? 0 : silent + 1
        return silent > Heartbeat.patience ? .stuck : .well
    }
}
