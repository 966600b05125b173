import PawlCore
import PawlEngine

/// A download with all that is known of it (``DownloadManager/details(of:looking:)``).
public struct DownloadDetails: Sendable {
    /// One connection at work.
    public struct Connection: Sendable, Hashable {
        /// Where its bytes come from, redirects followed, secrets redacted.
        public var source: String
        /// The offset of the next byte.
        public var offset: Int64
        /// Where its part ends; `nil` while nobody knows.
        public var end: Int64?
        /// Bytes per second.
        public var speed: Int64
        /// Whether bytes come; before that it waits for an answer.
        public var isReceiving: Bool
    }

    /// Where it stands.
    public var snapshot: DownloadSnapshot
    /// Its addresses with their secrets, the first is the one that was given.
    public var sources: [String]
    /// How it is fetched, secrets included.
    public var options: DownloadOptions
    /// Which bytes are on disk; exact while it runs and when it has finished, else one range from 0 of their number.
    public var written: [Range<Int64>]
    /// Connections at work.
    public var connections: [Connection] = []
}

/// How many downloads there are in each part of the queue.
public struct DownloadCounts: Sendable, Hashable {
    /// Have a slot.
    public var running: Int
    /// Wait for one, or are paused.
    public var waiting: Int
    /// Finished, failed or removed.
    public var ended: Int
}

extension DownloadManager {
    /// All that is known of these downloads, in the same order; unknown ones are left out.
    ///
    /// Ranges and connections of those that run are asked of the threads that move their bytes. Without `looking`, which
    /// is `true` by default, nobody is asked: then one range stands for what is written, and connections are left out.
    public func details(
        of ids: [Download.ID],
        looking: Bool = true
    ) async throws(PawlError) -> [DownloadDetails] {
        let found = try await ask { keeper throws(Failure) in
            var found: [(DownloadDetails, DownloadID?)] = []
            for id in ids {
                guard let record = try keeper.record(QueueID(id)) else { continue }
                let run = looking ? keeper.runs[record.id] : nil
                found.append((keeper.details(record), run?.engineID))
            }
            return (found, keeper.engine)
        }
        var details = found.0.map(\.0)
        // All at once: a thread that is busy answers each after a while, and all of them after the same while.
        let looks = await withTaskGroup(of: (Int, Inspection?).self) { group in
            for (index, (_, engineID)) in found.0.enumerated() {
                guard let engineID else { continue }
                group.addTask { [engine = found.1] in (index, await engine.look(at: engineID)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for case (let index, let look?) in looks { details[index].take(look) }
        return details
    }

    /// What has a slot now.
    public func running() async throws(PawlError) -> [DownloadSnapshot] {
        try await ask { keeper in
            keeper.running.sorted {
                $0.startedAt ?? $0.addedAt < $1.startedAt ?? $1.addedAt
            }
            .map { keeper.snapshot($0) }
        }
    }

    /// A page of what waits for a slot or is paused, in the order in which it will run.
    public func line(offset: Int = 0, limit: Int = 100) async throws(PawlError) -> [DownloadSnapshot] {
        try await ask { keeper throws(Failure) in
            var snapshots: [DownloadSnapshot] = []
            for id in keeper.machine.waiting(from: offset, limit: limit) {
                if let record = try keeper.record(id) { snapshots.append(keeper.snapshot(record)) }
            }
            return snapshots
        }
    }

    /// How many run, wait, and have ended.
    public func counts() async throws(PawlError) -> DownloadCounts {
        try await ask { keeper throws(Failure) in
            DownloadCounts(
                running: keeper.running.count,
                waiting: keeper.machine.waitingCount,
                ended: try keeper.countEnded()
            )
        }
    }

    /// Other options for a download that has not finished; one that runs goes on with them.
    ///
    /// `false` when there is no such download or it has finished. Throws code 28 when an option cannot be understood.
    @discardableResult
    public func change(options: DownloadOptions, of id: Download.ID) async throws(PawlError) -> Bool {
        try await ask { keeper throws(Failure) in
            let id = QueueID(id)
            guard let record = try keeper.record(id), record.state != .removed, record.state != .finished
            else {
                return false
            }
            try keeper.change(record, to: options)
            return true
        }
    }

    /// Pauses everything that waits or runs.
    public func pauseAll() async throws(PawlError) {
        try await ask { keeper throws(Failure) in
            // From the end: nobody gets a slot that becomes free for a moment, and who ran stays before who waited.
            for entry in try keeper.entriesNow().reversed() where entry.state == .waiting {
                _ = keeper.pause(entry.id)
            }
        }
    }

    /// Lets everything that is paused go on, each when its turn comes.
    public func resumeAll() async throws(PawlError) {
        try await ask { keeper throws(Failure) in
            for entry in try keeper.entriesNow() where entry.state == .paused {
                _ = try keeper.resume(entry.id)
            }
        }
    }

    /// Forgets what has ended, files stay; `nil` forgets everything that has.
    public func forget(_ id: Download.ID? = nil) async throws(PawlError) {
        try await ask { keeper throws(Failure) in
            let ended: Set<QueueState> = [.finished, .failed, .removed]
            var records: [QueueRecord] = []
            if let id {
                records = [try keeper.record(QueueID(id))].compactMap { $0 }
            } else {
                keeper.writeNow()
                records = try keeper.store.records(
                    matching: QueueFilter(states: ended),
                    by: .ended(newestFirst: false),
                    offset: 0,
                    limit: .max
                )
            }
            for record in records where ended.contains(record.state) && !keeper.isLeaving(record.id) {
                keeper.erased.insert(record.id)
                keeper.changed[record.id] = nil
            }
        }
    }
}

extension QueueKeeper {
    /// What has a slot; one that is told to make room stands in the line already while it lets go of its file.
    fileprivate var running: [QueueRecord] {
        runs.values.map(\.record).filter { machine.rest(of: $0.id) == nil }
    }

    fileprivate func details(_ record: QueueRecord) -> DownloadDetails {
        let snapshot = snapshot(record)
        var options = StoredOptions(text: record.options).options
        options.folder = record.folder
        options.mirrors = Array(record.sources.dropFirst())
        options.taskDescription = record.taskDescription
        return DownloadDetails(
            snapshot: snapshot,
            sources: record.sources,
            options: options,
            written: snapshot.written > 0 ? [0..<snapshot.written] : []
        )
    }

    fileprivate func entriesNow() throws(Failure) -> [QueueEntry] {
        writeNow()
        return try store.entries()
    }
}

extension DownloadDetails {
    fileprivate mutating func take(_ look: Inspection) {
        written = look.written.runs.map { $0.start..<$0.end }
        connections = look.lanes.map { lane in
            Connection(
                source: lane.address.redacted,
                offset: lane.range.start,
                end: lane.range.end == SegmentMap.open ? nil : lane.range.end,
                speed: lane.speed,
                isReceiving: lane.isFlowing
            )
        }
    }
}

extension Engine {
    fileprivate func look(at id: DownloadID) async -> Inspection? {
        await withCheckedContinuation { continuation in
            look(at: id) { continuation.resume(returning: $0) }
        }
    }
}
