package import PawlCore

/// What the queue remembers of one download.
package struct QueueRecord: Hashable, Sendable {
    package var id: QueueID
    /// Addresses of one content with their secrets, the given one first.
    package var sources: [String]
    /// Headers, limits, checksum and the like, as a text that only the library reads.
    package var options = ""
    package var group = ""
    /// Greater runs earlier.
    package var priority = 0
    /// Orders those of equal priority; smaller runs earlier.
    package var position = 0.0
    package var state = QueueState.waiting
    /// Relative to the download root; empty for the root itself.
    package var folder = ""
    /// The name that was wished for or claimed; `nil` until one is known.
    package var name: String?
    /// The media type that the server named.
    package var contentType: String?
    package var written: Int64 = 0
    package var total: Int64?
    package var addedAt: UnixTime
    package var startedAt: UnixTime?
    package var endedAt: UnixTime?
    /// Why it failed: the code of the exit table and the sentence, secrets redacted.
    package var errorCode = 0
    package var error: String?
    package var taskDescription: String?

    package init(id: QueueID, sources: [String], addedAt: UnixTime) {
        self.id = id
        self.sources = sources
        self.addedAt = addedAt
    }
}

/// Which records are asked for; every field that is set narrows.
package struct QueueFilter: Hashable, Sendable {
    package var states: Set<QueueState>?
    package var group: String?
    /// Found in name or address, letter case ignored.
    package var text: String?

    package init(states: Set<QueueState>? = nil, group: String? = nil, text: String? = nil) {
        self.states = states
        self.group = group
        self.text = text
    }
}

/// Which record comes first.
package enum QueueOrdering: Hashable, Sendable {
    /// Priority, then position: the order in which they will run.
    case turn
    case added(newestFirst: Bool)
    case ended(newestFirst: Bool)
    case name
}

/// What several records sum up to.
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
    /// Bytes that are on disk; may be lost with a power cut, the journal knows better.
    case progress(QueueID, written: Int64, total: Int64?)
    /// Whatever waits is paused from now on.
    case pauseWaiting
    /// Takes the record out for good, history included.
    case erase(QueueID)
    /// Remembers a setting; `nil` forgets it.
    case setting(String, String?)
}

/// Keeps the queue, its history and settings between runs.
///
/// Calls may come from any thread and block for as long as the disk takes. A store that turns out to be damaged is set
/// aside: the call that met it throws, and later ones find an empty store that works.
package protocol QueueStore: AnyObject, Sendable {
    /// Makes all changes or none, in order, in one transaction.
    ///
    /// They survive a killed process at once; they survive a power cut unless all of them are `progress`.
    func apply(_ changes: [QueueChange]) throws(Failure)
    func record(_ id: QueueID) throws(Failure) -> QueueRecord?
    /// The records whose first or any other source is this address.
    func records(of source: String) throws(Failure) -> [QueueRecord]
    /// A page of those that match: those behind `id` in this order, whatever state that one is in, without the first
    /// `offset` of them; `nil` when there is no record of `id`.
    func records(
        matching filter: QueueFilter,
        by ordering: QueueOrdering,
        after id: QueueID?,
        offset: Int,
        limit: Int
    ) throws(Failure) -> [QueueRecord]?
    func totals(matching filter: QueueFilter) throws(Failure) -> QueueTotals
    /// Whether the part file of that final name in that folder is that of another download than `id`.
    func isName(_ name: String, in folder: String, ofOtherThan id: QueueID) throws(Failure) -> Bool
    /// How many records, all but removed ones, each group has.
    func groups() throws(Failure) -> [String: Int]
    /// All ids that begin with these hexadecimal digits, at most `limit`.
    func ids(prefix: String, limit: Int) throws(Failure) -> [QueueID]
    /// What waits or is paused, in order of turn: read once at the start.
    func entries() throws(Failure) -> [QueueEntry]
    func setting(_ name: String) throws(Failure) -> String?
    /// Writes what is open and lets go of the files; afterwards every call fails.
    func close()
}

extension QueueStore {
    /// A page from the beginning on, without the first `offset`.
    package func records(
        matching filter: QueueFilter,
        by ordering: QueueOrdering,
        offset: Int,
        limit: Int
    ) throws(Failure) -> [QueueRecord] {
        try records(matching: filter, by: ordering, after: nil, offset: offset, limit: limit) ?? []
    }
}
