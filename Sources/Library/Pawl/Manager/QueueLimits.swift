#if Queue
package import PawlBase
package import PawlCore
import PawlEngine
import PawlQueue

/// The limits for all downloads of a manager together (``DownloadManager/limits()``).
public struct QueueLimits: Sendable, Hashable {
    /// Simultaneous downloads.
    public var maximumConcurrentDownloads: Int
    /// The current limit of all downloads together in bytes per second; `nil` for none.
    public var rateLimit: Int64?
    /// The limits by time of day, as given; `nil` for none.
    public var timetable: String?
    /// Whether the timetable pauses all downloads now.
    public var isPaused = false
    /// When such a pause ends, in seconds since 1970; `nil` for none, and for one without an end.
    public var pausedUntil: Int64?

    /// Creates limits.
    public init(
        maximumConcurrentDownloads: Int, rateLimit: Int64? = nil, timetable: String? = nil,
        isPaused: Bool = false, pausedUntil: Int64? = nil
    ) {
        self.maximumConcurrentDownloads = maximumConcurrentDownloads
        self.rateLimit = rateLimit
        self.timetable = timetable
        self.isPaused = isPaused
        self.pausedUntil = pausedUntil
    }
}

extension DownloadManager {
    /// The current limits for all downloads together.
    public func limits() async throws(PawlError) -> QueueLimits {
        try await query { keeper in
            QueueLimits(
                maximumConcurrentDownloads: keeper.machine.slots, rateLimit: keeper.engine.rate,
                timetable: keeper.timetable?.text, isPaused: keeper.machine.isHeld,
                pausedUntil: keeper.heldUntil?.seconds)
        }
    }

    /// Forgets how many connections this host was seen to allow, in this run and earlier ones; of all hosts with `nil`.
    package func forgetHostLimits(of host: String?) async throws(PawlError) {
        try await query { $0.engine.forgetLimits(ofHost: host) }
    }

    /// The connection budget of every origin that is in use or has throttled requests.
    package func hostBudgets() async throws(PawlError) -> [Origin: HostBudget] { try await query { $0.engine.budgets } }
}
#endif
