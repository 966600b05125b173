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

/// What belongs to no single download of a queue: a change of it is an event (``DownloadEvent/Kind/queueChanged``).
package struct QueueFacts: Sendable, Equatable {
    /// Without the end of a pause, which follows from the timetable and the time.
    var limits: QueueLimits
    var pausedGroups: Set<Bytewise<String>>
    var rules: FolderRules
}

extension QueueKeeper {
    var facts: QueueFacts {
        let limits = QueueLimits(
            maximumConcurrentDownloads: machine.slots, rateLimit: engine.rate, timetable: timetable?.text,
            isPaused: machine.isHeld)
        return QueueFacts(limits: limits, pausedGroups: pausedGroups, rules: rules)
    }

    /// Tells of what has changed since it was called last.
    func tellFacts() {
        let facts = facts
        guard facts != toldFacts else { return }
        if toldFacts != nil { events.append(DownloadEvent(id: .ofQueue, kind: .queueChanged)) }
        toldFacts = facts
    }
}

extension DownloadManager {
    /// The current limits for all downloads together.
    public func limits() async throws(PawlError) -> QueueLimits {
        try await query { keeper in
            var limits = keeper.facts.limits
            limits.pausedUntil = keeper.heldUntil?.seconds
            return limits
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
