#if Queue
package import PawlBase
import PawlEngine
import PawlIntegrity
import PawlQueue

/// Details of a download (``DownloadManager/details(of:includingConnections:)``).
public struct DownloadDetails: Sendable {
    /// An open connection.
    public struct Connection: Sendable, Hashable {
        /// The URL after redirects, with secrets redacted.
        public var source: String
        /// The offset of the next byte.
        public var offset: Int64
        /// The end of its range; `nil` while unknown.
        public var end: Int64?
        /// Bytes per second.
        public var speed: Int64
        /// Whether data arrives; before that it waits for a response.
        public var isReceiving: Bool

        /// Creates a connection, for tests and previews.
        public init(
            source: String, offset: Int64, end: Int64? = nil, speed: Int64 = 0, isReceiving: Bool = true
        ) {
            self.source = source
            self.offset = offset
            self.end = end
            self.speed = speed
            self.isReceiving = isReceiving
        }
    }

    /// The current state.
    public var snapshot: DownloadSnapshot
    /// The URLs, including secrets; the given one comes first.
    public var sources: [String]
    /// The options, including secrets.
    public var options: DownloadOptions
    /// The byte ranges on disk; exact while it runs and when it has finished, else one range from 0 of the
    /// same size.
    public var written: [Range<Int64>]
    /// Open connections.
    public var connections: [Connection] = []

    /// Creates details, for tests and previews.
    public init(
        snapshot: DownloadSnapshot, sources: [String] = [], options: DownloadOptions = DownloadOptions(),
        written: [Range<Int64>] = [], connections: [Connection] = []
    ) {
        self.snapshot = snapshot
        self.sources = sources
        self.options = options
        self.written = written
        self.connections = connections
    }
    /// The length of the pieces whose digests are known; `nil` without any.
    package var pieceLength: Int64?
    /// Which tracks of a stream are wanted; `nil` for a file.
    public var stream: StreamOptions?
    /// The files of a stream that are begun or complete, the one with its name first.
    public var files: [String] = []
    /// The lengths of those that are complete, by their names.
    package var lengths: [String: Int64] = [:]
    /// The digests that URLs stated, beside the checksum.
    package var digests: [String] = []
    /// The bytes of the pieces that were compared with their digests and are right; of an existing file that is being
    /// compared, those that were read.
    package var verified: Int64 = 0
    /// Whether a file that has its name is compared with its digests before anything is requested, and has not been yet.
    package var checksExistingFile = false
    /// Whether that comparison is running.
    package var isCheckingFile = false
}

extension DownloadDetails {
    /// The URLs, the first that can state digests with those that no option has and with `checksum`.
    package func sources(stating checksum: String? = nil) -> [String] {
        let own = checksum.flatMap(Checksum.list) ?? []
        return DigestFragment.stating(own + digests.compactMap { Checksum(text: $0) }, in: sources)
    }
}

/// The number of downloads in each part of the queue.
public struct DownloadCounts: Sendable, Hashable {
    /// Downloads that have a slot.
    public var running: Int
    /// Downloads that wait for a slot or are paused.
    public var waiting: Int
    /// Finished, failed or removed downloads.
    public var ended: Int
    /// Those of them that have finished.
    public var finished: Int
    /// Those of them that have failed.
    public var failed: Int

    /// Creates counts.
    public init(running: Int = 0, waiting: Int = 0, ended: Int = 0, finished: Int = 0, failed: Int = 0) {
        self.running = running
        self.waiting = waiting
        self.ended = ended
        self.finished = finished
        self.failed = failed
    }
}

extension DownloadManager {
    /// Details of these downloads, in the same order; unknown ones are left out.
    ///
    /// Ranges and connections of running downloads are requested from the transfer threads. Without `includingConnections`
    /// (default `true`) they are not: one range stands for the written bytes, and connections are left out.
    public func details(
        of ids: [Download.ID], includingConnections looking: Bool = true
    ) async throws(PawlError) -> [DownloadDetails] {
        let found = try await step(changes: false) { step throws(Failure) in
            var found: [InspectedDetails] = []
            for id in ids {
                if let details = try step.inspectedDetails(of: id, looking: looking) { found.append(details) }
            }
            return found
        }
        return await InspectedDetails.completed(found)
    }

    /// Details of a part of the queue, listed and read in one step.
    package func details(of part: QueuePart, looking: Bool) async throws(PawlError) -> [DownloadDetails] {
        await InspectedDetails.completed(
            try await query { keeper throws(Failure) in
                try keeper.records(of: part).map { keeper.inspectedDetails($0, looking: looking) }
            })
    }

    /// Bytes a second of all downloads together.
    package func speed() async throws(PawlError) -> Int64 {
        try await query { keeper in keeper.running.reduce(0) { $0 + (keeper.runs[$1.id]?.box.reading.speed ?? 0) } }
    }

    /// Downloads that have a slot.
    public func running() async throws(PawlError) -> [DownloadSnapshot] {
        try await query { keeper throws(Failure) in
            try keeper.records(of: .running).map { keeper.snapshot($0) }
        }
    }

    /// The downloads that wait for a slot or are paused, in queue order: all of them, or a page.
    public func waiting(offset: Int = 0, limit: Int = .max) async throws(PawlError) -> [DownloadSnapshot] {
        try await query { keeper throws(Failure) in
            try keeper.records(of: .line(offset: offset, limit: limit)).map { keeper.snapshot($0) }
        }
    }

    /// The numbers of running, waiting and ended downloads.
    public func counts() async throws(PawlError) -> DownloadCounts {
        try await query { keeper throws(Failure) in
            let ended = try keeper.countEnded()
            return DownloadCounts(
                running: keeper.running.count, waiting: keeper.machine.waitingCount, ended: ended.all,
                finished: ended.finished, failed: ended.failed)
        }
    }

    /// How many downloads wait for their disk.
    package func waitingForDisk() async throws(PawlError) -> Int {
        try await query { keeper in keeper.diskWaits.all.count { keeper.machine.rest(of: $0) == .waitingForDisk } }
    }

    /// The result of ``change(options:of:)``.
    public struct OptionsChange: Sendable, Hashable {
        /// Whether the options were stored: `false` when there is no such download or it has finished.
        public var isStored: Bool
        /// The names of properties of ``DownloadOptions`` that were given another value and keep the old one: `folder`,
        /// and `fileName` once the file has its place.
        ///
        /// ``relocate(_:toFolder:)`` and ``rename(_:to:)`` change those.
        public var unchanged: [String]

        /// Creates a result.
        public init(
            isStored: Bool, unchanged: [String] = []
        ) {
            self.isStored = isStored
            self.unchanged = unchanged
        }
    }

    /// Changes the options of an unfinished download; a running one continues with them.
    ///
    /// Start from those of ``details(of:includingConnections:)``: what is not set gets its default. This is how a token in
    /// ``DownloadOptions/headers`` is renewed. Throws code 28 when an option is invalid.
    @discardableResult public func change(
        options: DownloadOptions, of id: Download.ID
    ) async throws(PawlError) -> OptionsChange {
        try await step { step throws(Failure) in
            let record = try step.keeper.record(QueueID(id))
            let old = record.map { StoredOptions(text: $0.options).options }
            guard let record, let old, try step.perform(.options(id, options)).isChange else {
                return OptionsChange(isStored: false, unchanged: [])
            }
            var unchanged: [String] = []
            let folder = options.folder == "." ? "" : options.folder
            if !folder.hasSameBytes(as: record.folder) { unchanged.append("folder") }
            if record.name != nil, ![old.fileName, record.name].contains(where: options.fileName.hasSameBytes) {
                unchanged.append("fileName")
            }
            return OptionsChange(isStored: true, unchanged: unchanged)
        }
    }

    /// Pauses all waiting and running downloads.
    public func pauseAll() async throws(PawlError) {
        try await perform(.pauseAll)
    }

    /// Resumes all paused downloads, in queue order, and retries those that wait for their disk and then those that have
    /// failed, in the order in which they did.
    public func resumeAll() async throws(PawlError) { try await perform(.resumeAll()) }

    /// Removes the record of an ended download, but not its file.
    public func forget(_ id: Download.ID) async throws(PawlError) { try await perform(.forget(id)) }

    /// Removes the records of all ended downloads, but not their files.
    public func forgetAll() async throws(PawlError) { try await perform(.forgetAll) }
}

/// The details of a download as the queue knows them; those of its transfer are requested afterwards.
package struct InspectedDetails: Sendable {
    package private(set) var details: DownloadDetails
    /// `nil` if it does not run.
    fileprivate var run: (engine: Engine, id: DownloadID)?

    /// Adds ranges and connections from the transfer threads.
    ///
    /// Concurrently: a busy thread replies with a delay, which all requests share.
    package static func completed(_ found: [InspectedDetails]) async -> [DownloadDetails] {
        var details = found.map(\.details)
        let looks = await withTaskGroup(of: (Int, Inspection?).self) { group in
            for (index, found) in found.enumerated() {
                guard let (engine, id) = found.run else { continue }
                group.addTask { (index, await engine.look(at: id)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for case (let index, let look?) in looks { details[index].take(look) }
        return details
    }
}

extension QueueStep {
    /// Details of a download without its connections.
    package func details(of id: Download.ID) throws(Failure) -> DownloadDetails? {
        try keeper.record(QueueID(id)).map { keeper.details($0) }
    }

    /// Details to be completed after the step; without `looking` nothing will be added.
    package func inspectedDetails(of id: Download.ID, looking: Bool = true) throws(Failure) -> InspectedDetails? {
        try keeper.record(QueueID(id)).map { keeper.inspectedDetails($0, looking: looking) }
    }
}

/// A part of the queue, as aria2's interface divides it.
package enum QueuePart: Sendable {
    /// Downloads that have a slot, by the time of their start.
    case running
    /// Those that wait for a slot or are paused, in queue order.
    case line(offset: Int, limit: Int)
    /// Finished, failed and removed ones, by the time of their end.
    case ended(offset: Int, limit: Int)
}

extension QueueKeeper {
    /// Downloads that have a slot; a preempted one is back in the queue while it still closes its file.
    var running: [QueueRecord] {
        let checked = checks.keys.compactMap { id in (try? record(id)) ?? nil }
        return (runs.values.map(\.record) + checked).filter { machine.rest(of: $0.id) == nil }
    }

    fileprivate func records(of part: QueuePart) throws(Failure) -> [QueueRecord] {
        switch part {
        case .running:
            return running.sorted { $0.startedAt ?? $0.addedAt < $1.startedAt ?? $1.addedAt }
        case .line(let offset, let limit):
            var records: [QueueRecord] = []
            for id in machine.waiting(from: offset, limit: limit) {
                if let record = try record(id) { records.append(record) }
            }
            return records
        case .ended(let offset, let limit):
            return try pageRecords(
                DownloadFilter([.finished, .failed, .removed]),
                DownloadOrdering.ended(newestFirst: false).queueOrdering,
                offset: offset, limit: limit)
        }
    }

    fileprivate func inspectedDetails(_ record: QueueRecord, looking: Bool) -> InspectedDetails {
        let run = looking ? runs[record.id] : nil
        return InspectedDetails(details: details(record), run: run.map { (engine: engine, id: $0.engineID) })
    }

    /// The options with what the record has in fields of its own.
    func options(of record: QueueRecord) -> DownloadOptions { options(of: record, StoredOptions(text: record.options)) }

    private func options(of record: QueueRecord, _ stored: StoredOptions) -> DownloadOptions {
        var options = stored.options
        options.folder = record.folder
        options.mirrors = Array(record.sources.dropFirst())
        options.taskDescription = record.taskDescription
        return options
    }

    fileprivate func details(_ record: QueueRecord) -> DownloadDetails {
        let stored = StoredOptions(text: record.options)
        let snapshot = snapshot(record, stored)
        var details = DownloadDetails(
            snapshot: snapshot, sources: record.sources, options: options(of: record, stored),
            written: snapshot.written > 0 ? [0..<snapshot.written] : [])
        details.pieceLength = stored.pieceLength
        details.digests = stored.digests
        (details.stream, details.files) = (stored.stream, stored.parts.map(\.name))
        for part in stored.parts { details.lengths[part.name] = part.stamp?.length }
        details.checksExistingFile = stored.checksExistingFile
        if let check = checks[record.id] {
            details.isCheckingFile = true
            details.verified = check.count
        }
        return details
    }
}

extension DownloadDetails {
    fileprivate mutating func take(_ look: Inspection) {
        written = look.written.runs.map { $0.start..<$0.end }
        verified = look.verified
        connections = look.lanes.map { lane in
            Connection(
                source: lane.address.redacted, offset: lane.range.start,
                end: lane.range.end == ByteRange.open ? nil : lane.range.end, speed: lane.speed,
                isReceiving: lane.isFlowing)
        }
    }
}

extension Engine {
    fileprivate func look(at id: DownloadID) async -> Inspection? {
        await withCheckedContinuation { continuation in look(at: id) { continuation.resume(returning: $0) } }
    }
}
#endif
