import PawlCore
import PawlEngine

/// Which downloads are asked for; every field that is set narrows.
public struct DownloadFilter: Sendable, Hashable {
    /// What the queue keeps of a download's state: all that is under way is ``waiting``.
    public enum Standing: Sendable, Hashable, CaseIterable {
        /// Runs, or wants to.
        case waiting
        /// Paused by the user.
        case paused
        /// In its place.
        case finished
        /// Ended with an error.
        case failed
        /// Taken out, and kept as history.
        case removed
    }

    /// Default `nil`: all but the removed ones.
    public var standings: Set<Standing>?
    /// Only this group's.
    ///
    /// Default `nil`, every one's.
    public var group: String?
    /// Found in the name or the address, letter case ignored.
    ///
    /// Default `nil`.
    public var text: String?

    /// Every default.
    public init(_ standings: Set<Standing>? = nil, group: String? = nil, text: String? = nil) {
        self.standings = standings
        self.group = group
        self.text = text
    }

    var queueFilter: QueueFilter {
        let standings = standings ?? [.waiting, .paused, .finished, .failed]
        return QueueFilter(states: Set(standings.map(\.state)), group: group, text: text)
    }
}

extension DownloadFilter.Standing {
    var state: QueueState {
        switch self {
        case .waiting: .waiting
        case .paused: .paused
        case .finished: .finished
        case .failed: .failed
        case .removed: .removed
        }
    }
}

/// Which download comes first.
public enum DownloadOrdering: Sendable, Hashable {
    /// The order in which they run: priority, then place.
    case turn
    /// When they were added.
    case added(newestFirst: Bool)
    /// When they ended.
    case ended(newestFirst: Bool)
    /// By name.
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

/// What several downloads sum up to, at most a second old.
public struct DownloadTotals: Sendable, Hashable {
    /// How many.
    public var count = 0
    /// Bytes on disk.
    public var written: Int64 = 0
    /// Bytes of those whose size is known.
    public var total: Int64 = 0
    /// How many have a size that is not known yet.
    public var unknownTotals = 0

    /// `written × 100 / total`, never above 100; `nil` while nothing is known.
    public var percent: Double? {
        total == 0 ? nil : Double(min(written, total)) * 100 / Double(total)
    }

    init(_ totals: QueueTotals) {
        count = totals.count
        written = totals.written
        total = totals.total
        unknownTotals = totals.unknownTotals
    }
}

/// Where a download's file is (``DownloadManager/location(of:)``).
public enum DownloadLocation: Sendable, Hashable {
    /// The queue knows no such download.
    case unknown
    /// It has not finished: there is no file to be used yet.
    case unfinished
    /// The file is there.
    case finished(path: String)
    /// It finished, and the file has gone since.
    case missing(path: String)
}
