#if Queue
import PawlBase
import PawlQueue

/// A filter for downloads; all fields that are set must match.
public struct DownloadFilter: Sendable, Hashable {
    /// The stored state of a download: every active one is ``waiting``.
    public enum Standing: Sendable, Hashable, CaseIterable {
        /// Runs or waits for a slot.
        case waiting
        /// Has a slot: a part of ``waiting``.
        case running
        /// Paused by the user.
        case paused
        /// Finished.
        case finished
        /// Failed.
        case failed
        /// Removed, and kept as history.
        case removed
    }

    /// Default `nil`: all but removed ones.
    public var standings: Set<Standing>?
    /// Only downloads of this group.
    ///
    /// Default `nil`, all groups.
    public var group: String?
    /// Text in the name or the URL, case-insensitive.
    ///
    /// Default `nil`.
    public var text: String?

    /// Creates a filter with all defaults.
    public init(_ standings: Set<Standing>? = nil, group: String? = nil, text: String? = nil) {
        self.standings = standings
        self.group = group
        self.text = text
    }

    var queueFilter: QueueFilter {
        let standings = standings ?? [.waiting, .paused, .finished, .failed]
        return QueueFilter(states: Set(standings.map(\.state)), group: group, text: text)
    }

    /// Whether downloads that wait for a slot do not match, though the store has no state of its own for them.
    var leavesOutWaiting: Bool { standings.map { $0.contains(.running) && !$0.contains(.waiting) } ?? false }
}

extension DownloadFilter.Standing {
    var state: DownloadState {
        switch self {
        case .waiting, .running: .waiting
        case .paused: .paused
        case .finished: .finished
        case .failed: .failed
        case .removed: .removed
        }
    }
}

/// An order of downloads.
public enum DownloadOrdering: Sendable, Hashable {
    /// The order in which they run: priority, then position.
    case turn
    /// The time when they were added.
    case added(newestFirst: Bool)
    /// The time when they ended.
    case ended(newestFirst: Bool)
    /// The name.
    case name

    var queueOrdering: QueueOrdering {
        switch self {
        case .turn: .turn
        case .added(let newestFirst): .added(newestFirst: newestFirst)
        case .ended(let newestFirst): .ended(newestFirst: newestFirst)
        case .name: .name
        }
    }
}

/// Totals of several downloads, at most a second old.
public struct DownloadTotals: Sendable, Hashable {
    /// The number of downloads.
    public var count = 0
    /// Bytes on disk.
    public var written: Int64 = 0
    /// The sum of the known sizes in bytes.
    public var total: Int64 = 0
    /// The number of downloads whose size is not known yet.
    public var unknownTotals = 0

    /// Creates totals.
    public init(
        count: Int = 0, written: Int64 = 0, total: Int64 = 0, unknownTotals: Int = 0
    ) {
        self.count = count
        self.written = written
        self.total = total
        self.unknownTotals = unknownTotals
    }

    /// `written × 100 / total`, never above 100; `nil` while no size is known.
    public var percent: Double? { total == 0 ? nil : Double(min(written, total)) * 100 / Double(total) }

    init(_ totals: QueueTotals) {
        count = totals.count
        written = totals.written
        total = totals.total
        unknownTotals = totals.unknownTotals
    }
}

/// The location of a download's file (``DownloadManager/location(of:)``).
#if hasAttribute(nonexhaustive)
@nonexhaustive(warn)
#endif
public enum DownloadLocation: Sendable, Hashable {
    /// The queue does not contain the download.
    case unknown
    /// There is no complete file: it has not finished, or its content was kept in memory.
    case unfinished
    /// The file exists, and is the one that was downloaded.
    case finished(path: String)
    /// It finished, but the file is not there any more: nothing has its name, or another file
    /// (``DownloadSnapshot/file``).
    case missing(path: String)
}
#endif
