package import PawlBase

/// The queue's record of one download.
package struct QueueRecord: Hashable, Sendable {
    package var id: QueueID
    /// Addresses of one content with their secrets, the given one first.
    @Bytewise package var sources: [String]
    /// Headers, limits, checksum and the like, as a text that only the library parses.
    @Bytewise package var options = ""
    @Bytewise package var group = ""
    /// Higher starts first.
    package var priority = 0
    /// Orders entries of equal priority; lower starts first.
    package var position = 0.0
    package var state = DownloadState.waiting
    /// Relative to the download root; empty for the root itself.
    @Bytewise package var folder = ""
    /// The name that was requested or claimed; `nil` until one is known.
    @Bytewise package var name: String? = nil
    /// The media type in the server's response.
    package var contentType: String?
    package var written: Int64 = 0
    package var total: Int64?
    package var addedAt: UnixTime
    package var startedAt: UnixTime?
    package var endedAt: UnixTime?
    /// Why it failed: the code of the exit table and the message, secrets redacted.
    package var errorCode = 0
    package var error: String?
    @Bytewise package var taskDescription: String? = nil

    package init(id: QueueID, sources: [String], addedAt: UnixTime) {
        self.id = id
        self.sources = sources
        self.addedAt = addedAt
    }
}

/// A selection of records; every field that is set narrows it.
package struct QueueFilter: Hashable, Sendable {
    package var states: Set<DownloadState>?
    package var group: String?
    /// Found in name or address, case-insensitively.
    package var text: String?

    package init(states: Set<DownloadState>? = nil, group: String? = nil, text: String? = nil) {
        self.states = states
        self.group = group
        self.text = text
    }
}

/// The order of records.
package enum QueueOrdering: Hashable, Sendable {
    /// Priority, then position: the order in which they will run.
    case turn
    case added(newestFirst: Bool)
    case ended(newestFirst: Bool)
    case name
}

/// Totals over several records.
package struct QueueTotals: Hashable, Sendable {
    package var count = 0
    package var written: Int64 = 0
    /// Of those whose total is known.
    package var total: Int64 = 0
    package var unknownTotals = 0

    package init() {}
}

/// One change of one record.
package enum QueueChange: Hashable, Sendable {
    /// Adds the record, or replaces the one of the same id.
    case put(QueueRecord)
    /// Bytes on disk; may be lost in a power failure, the journal is authoritative.
    case progress(QueueID, written: Int64, total: Int64?)
    /// Pauses all waiting records.
    case pauseWaiting
    /// Deletes the record permanently, history included.
    case erase(QueueID)
    /// Stores a named value; `nil` removes it.
    case value(String, String?)
}

/// Persistent storage of the queue, its history and named values.
///
/// Calls may come from any thread and block for as long as the disk takes. A store that turns out to be
/// damaged is set aside: the call that detected it throws, and later calls use a new, empty store.
package protocol QueueStore: AnyObject, Sendable {
    /// Applies all changes or none, in order, in one transaction.
    ///
    /// They survive a killed process at once; they survive a power failure unless all of them are `progress`.
    func apply(_ changes: [QueueChange]) throws(Failure)
    func record(_ id: QueueID) throws(Failure) -> QueueRecord?
    /// The records whose first or any other source is this address.
    func records(of source: String) throws(Failure) -> [QueueRecord]
    /// A page of the matching records: those after `id` in this order, whatever its state, without the first
    /// `offset` of them; `nil` when there is no record of `id`.
    func records(
        matching filter: QueueFilter, by ordering: QueueOrdering, after id: QueueID?, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord]?
    func totals(matching filter: QueueFilter) throws(Failure) -> QueueTotals
    /// Whether that is the name of another download than `id` in that folder, in one of these states.
    func isName(
        _ name: String, in folder: String, ofOtherThan id: QueueID, in states: Set<DownloadState>
    ) throws(Failure) -> Bool
    /// The number of records, removed ones excluded, in each group.
    func groups() throws(Failure) -> [(name: String, count: Int)]
    /// All ids that begin with these hexadecimal digits, at most `limit`.
    func ids(prefix: String, limit: Int) throws(Failure) -> [QueueID]
    /// Waiting and paused entries, in the order in which they will run: read once at the start.
    func entries() throws(Failure) -> [QueueEntry]
    func value(_ name: String) throws(Failure) -> String?
    /// Writes pending changes and closes the files; later calls fail.
    func close()
}

extension QueueStore {
    /// A page from the beginning, without the first `offset`.
    package func records(
        matching filter: QueueFilter, by ordering: QueueOrdering, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord] {
        try records(matching: filter, by: ordering, after: nil, offset: offset, limit: limit) ?? []
    }
}

/// The permanent identity of a download in the queue: 64 random bits, never 0.
package struct QueueID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }
}

/// The part of a record that scheduling needs: small, since all waiting ones are held in memory.
package struct QueueEntry: Hashable, Sendable {
    package var id: QueueID
    package var state: DownloadState
    package var priority: Int
    package var position: Double
    @Bytewise package var group: String

    package init(id: QueueID, state: DownloadState, priority: Int, position: Double, group: String) {
        self.id = id
        self.state = state
        self.priority = priority
        self.position = position
        self.group = group
    }
}
