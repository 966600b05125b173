#if Queue
import PawlBase
import PawlCollections
import PawlDisk
import PawlJournal
import PawlSystem

/// A download of an earlier run that has not finished.
struct Left: Hashable, Sendable {
    var id: Download.ID
    var source: String
}

/// The files of a collection under way, while it is listed, as requests to the queue; used by one task.
final class CollectionPortions {
    private let collection: QueuedCollection
    private let folder: String
    /// Those of each file.
    private let options: DownloadOptions
    private let run: CollectionRun
    private var entries: [PlannedEntry] = []
    /// The numbers of the listing when it was read last.
    private(set) var tally = ListingTally()
    /// Whether nothing more is found.
    private(set) var isListed = false
    /// The downloads that an earlier run has left, by their files below the root.
    var known: [String: Left] = [:]
    /// Those of them that are for another content: a branch has moved.
    private(set) var outdated: [Download.ID] = []
    /// Those of them that have finished in this run: the listing may have found them before or after that.
    private var settled: Set<String> = []
    /// Those of them that were listed.
    private var seen: Set<String> = []
    /// Downloads that have finished before this run, which was not known yet.
    private var before: [String: Left] = [:]
    /// Those of them that are for another content than the listing's.
    private var former: Set<String> = []
    /// How many of these have finished, and were counted.
    private var miscounted = 0
    private var late = (count: 0, bytes: Int64(0))
    private let disk = FileDisk(notice: { _ in })
    /// Entries that could not be added.
    private(set) var unusable = 0
    /// Why the first entry failed that is no download of the queue.
    private(set) var firstFailure: Failure?
    /// What ended it before its end.
    var failure: Failure?

    /// Throws code 28 if it cannot be listed; `onChange` is called on the listing's thread.
    init(
        _ collection: QueuedCollection, below root: String, _ configuration: Downloader.Configuration,
        onChange: @escaping @Sendable () -> Void
    ) throws(Failure) {
        self.collection = collection
        folder = collection.options.folder.isEmpty ? root : "\(root)/\(collection.options.folder)"
        guard
            let kind = try CollectionSource(
                collection.source, isRecursive: collection.listing.isRecursive, collection.options)
        else {
            throw Failure(
                .badOption, "cannot list", at: Redaction.address(collection.source), because: "it names a file",
                remedy: "end it with / for a folder")
        }
        options = kind.options(collection.options)
        let lister = try kind.lister(collection.listing, to: .folder(folder), collection.options, configuration)
        run = CollectionRun(lister, into: folder, isForDownload: true, onChange: onChange)
    }

    /// Notes an entry that could not be added.
    func refuse(_ failure: Failure) {
        unusable += 1
        firstFailure = firstFailure ?? failure
    }

    func start() { run.start() }
    func stop() { run.stop() }

    /// Files that are known and not taken.
    var waiting: Int { entries.count }

    /// What has finished before this run: the listing tells whether it counts.
    func begin(after finished: [String: Left]) {
        for (place, left) in finished {
            known[place] = nil
            before[place] = left
        }
    }

    /// Downloads that have finished in this run, by their files.
    func settle(_ finished: [String: Left]) {
        for (place, left) in finished where known[place]?.id == left.id {
            settled.insert(place)
            if former.contains(place) { miscounted += 1 }
        }
    }

    /// Hands out those that are to be removed.
    func takeOutdated() -> [Download.ID] {
        defer { outdated = [] }
        return outdated
    }

    /// What turned out to be there when it was to be added.
    func takeLate() -> (count: Int, bytes: Int64) {
        defer { late = (0, 0) }
        return late
    }

    func takeMiscounted() -> Int {
        defer { miscounted = 0 }
        return miscounted
    }

    private func place(of planned: PlannedEntry) -> String {
        let (place, path) = planned.entry.location(in: collection.options.folder)
        return (place.isEmpty ? "" : place + "/") + path
    }

    /// A download for another address than the listing's is not for its file.
    private func compare(_ planned: PlannedEntry) {
        guard !known.isEmpty else { return }
        let place = place(of: planned)
        guard let left = known[place] else { return }
        seen.insert(place)
        guard !isFor(planned, left) else { return }
        drop(left, at: place)
    }

    private func drop(_ left: Left, at place: String) {
        former.insert(place)
        if settled.contains(place) { miscounted += 1 } else { outdated.append(left.id) }
    }

    private func isFor(_ planned: PlannedEntry, _ left: Left) -> Bool {
        Self.shown(left.source).hasSameBytes(as: Self.shown(planned.entry.address))
    }

    /// Whether the folder has the entry now, by a download for another address that has finished meanwhile; another content
    /// of such a download gives way.
    private func isThere(_ planned: PlannedEntry) -> Bool {
        let place = place(of: planned)
        guard planned.state == .missing, let left = known[place] ?? before[place], !isFor(planned, left),
            let name = place.pathParts().last.map(String.init)
        else { return false }
        let (parent, path) = planned.entry.location(in: folder)
        let file = "\(parent)/\(path)"
        if let checksum = planned.entry.checksum.flatMap({ Checksum(text: $0) }),
            let digests = try? FileHashing(Array(file.utf8)).digests([checksum.algorithm]),
            digests.first == checksum.digest
        {
            return true
        }
        let own = FolderPath.parent(of: file)
        if let finished = disk.finishedFile(name, in: own, from: [left.source]) {
            try? disk.remove(name, in: own, if: finished)
        }
        return false
    }

    private static func shown(_ source: String) -> String {
        (try? WebAddress.parse(source).address.redacted) ?? source
    }

    /// What was not listed is gone, if everything was.
    private func compareRest() {
        guard tally.failure == nil, !tally.isPartial else { return }
        for (place, left) in known where !seen.contains(place) { drop(left, at: place) }
    }

    private func isQueued(_ planned: PlannedEntry) -> Bool {
        guard !known.isEmpty, let left = known[place(of: planned)] else { return false }
        return isFor(planned, left)
    }

    private func isSettled(_ planned: PlannedEntry) -> Bool {
        guard !settled.isEmpty, let left = known[place(of: planned)] else { return false }
        return settled.contains(place(of: planned)) && isFor(planned, left)
    }

    /// Takes what was found, unless enough is known; returns what of it is there already.
    func read() -> (count: Int, bytes: Int64) {
        var there = (count: 0, bytes: Int64(0))
        while entries.count < QueuedCollection.room, !isListed {
            // Read before: then nothing is left behind it.
            let tally = run.tally
            let events = run.take()
            for case .refused(let failure) in events { firstFailure = firstFailure ?? failure }
            for case .entry(let planned) in events where planned.entry.kind != .folder {
                compare(planned)
                // What the queue has is counted when it has finished there.
                guard !isSettled(planned), planned.state.isFetched || !isQueued(planned) else { continue }
                if planned.state.isFetched {
                    entries.append(planned)
                } else {
                    there.count += 1
                    there.bytes = there.bytes.addingClamped(planned.entry.size ?? 0)
                }
            }
            self.tally = tally
            isListed = tally.isOver
            if isListed {
                if failure == nil { failure = tally.failure }
                compareRest()
            }
            if events.isEmpty { break }
        }
        return there
    }

    func take(_ count: Int) -> [Result<DownloadRequest, Failure>] {
        defer { entries.removeFirst(count) }
        // What has finished since it was listed is counted.
        return entries.prefix(count).filter { planned in
            guard !isSettled(planned) else { return false }
            guard isThere(planned) else { return true }
            late.count += 1
            late.bytes = late.bytes.addingClamped(planned.entry.size ?? 0)
            return false
        }.map { planned in
            Result { () throws(Failure) in try request(planned) }
        }
    }

    private func request(_ planned: PlannedEntry) throws(Failure) -> DownloadRequest {
        let entry = planned.entry
        let (place, path) = entry.location(in: collection.options.folder)
        let parents = path.pathParts().dropLast().joined(separator: "/")
        if let obstacle = PlaceObstacle(of: entry, below: folder) { throw obstacle.failure }
        if entry.place == nil, !parents.isEmpty { try RootedFiles.check(parents, below: folder) }
        var request = DownloadRequest(entry.address)
        request.options = options
        request.options.folder = place.isEmpty ? "." : place
        do throws(PawlError) { request.replaces = try request.options.take(planned, at: path) } catch {
            throw error.failure
        }
        request.pieces = entry.pieces
        (request.group, request.priority) = (collection.id, collection.priority)
        request.choosesFolder = true
        return request
    }

    /// Does what follows at the end; returns why the collection is not complete.
    func complete() -> Failure? {
        do throws(Failure) { _ = try run.complete() } catch { return failure ?? error }
        return failure
    }
}
#endif
