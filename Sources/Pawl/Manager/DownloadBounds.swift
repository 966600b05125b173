package import PawlCore
import PawlEngine

/// What bounds all downloads of a manager together (``DownloadManager/bounds()``).
public struct DownloadBounds: Sendable, Hashable {
    /// Downloads that run at once.
    public var slots: Int
    /// Bytes per second of all together that hold now; `nil` for none.
    public var rateLimit: Int64?
    /// The limits by time of day, as they were given; `nil` when there are none.
    public var timetable: String?
}

extension DownloadManager {
    /// What bounds all downloads together at this moment.
    public func bounds() async throws(PawlError) -> DownloadBounds {
        try await ask { keeper in
            DownloadBounds(
                slots: keeper.machine.slots,
                rateLimit: keeper.engine.rate,
                timetable: keeper.timetable?.text
            )
        }
    }

    /// What every origin has and may have that is in use or has complained.
    package func hostBudgets() async throws(PawlError) -> [Origin: HostBudget] {
        try await ask { $0.engine.budgets }
    }
}
