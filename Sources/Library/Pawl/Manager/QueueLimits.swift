package import PawlBase
package import PawlCore
import PawlEngine
import PawlQueue

/// The limits for all downloads of a manager together (``DownloadManager/limits()``).
public struct QueueLimits: Sendable, Hashable {
    /// Simultaneous downloads.
    public var slots: Int
    /// The current limit of all downloads together in bytes per second; `nil` for none.
    public var rateLimit: Int64?
    /// The limits by time of day, as given; `nil` for none.
    public var timetable: String?
}

extension DownloadManager {
    /// The current limits for all downloads together.
    public func limits() async throws(PawlError) -> QueueLimits {
        try await query { keeper in
            QueueLimits(slots: keeper.machine.slots, rateLimit: keeper.engine.rate, timetable: keeper.timetable?.text)
        }
    }

    /// Forgets how many connections this host was seen to allow, in this run and earlier ones; of all hosts with `nil`.
    package func forgetHostLimits(of host: String?) async throws(PawlError) {
        try await query { $0.engine.forgetLimits(ofHost: host) }
    }

    /// The connection budget of every origin that is in use or has throttled requests.
    package func hostBudgets() async throws(PawlError) -> [Origin: HostBudget] { try await query { $0.engine.budgets } }
}
