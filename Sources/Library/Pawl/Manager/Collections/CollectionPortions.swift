import PawlBase
import PawlCollections
import PawlJournal

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
    /// The files of downloads that an earlier run has left, below the root.
    var known: Set<String> = []
    /// Those of them that have finished in this run: the listing may have found them before or after that.
    private var settled: Set<String> = []
    /// Entries that could not be added.
    var unusable = 0
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

    func start() { run.start() }
    func stop() { run.stop() }

    /// Files that are known and not taken.
    var waiting: Int { entries.count }

    func settle(_ places: [String]) { settled.formUnion(known.intersection(places)) }

    private func isSettled(_ planned: PlannedEntry) -> Bool {
        guard !settled.isEmpty else { return false }
        let (place, path) = planned.entry.location(in: collection.options.folder)
        return settled.contains((place.isEmpty ? "" : place + "/") + path)
    }

    /// Takes what was found, unless enough is known; returns what of it is there already.
    func read() -> (count: Int, bytes: Int64) {
        var there = (count: 0, bytes: Int64(0))
        while entries.count < QueuedCollection.room, !isListed {
            // Read before: then nothing is left behind it.
            let tally = run.tally
            let events = run.take()
            for case .entry(let planned) in events where planned.entry.kind != .folder && !isSettled(planned) {
                if planned.state.isFetched {
                    entries.append(planned)
                } else {
                    there.count += 1
                    there.bytes = there.bytes.addingClamped(planned.entry.size ?? 0)
                }
            }
            self.tally = tally
            isListed = tally.isOver
            if isListed, failure == nil { failure = tally.failure }
            if events.isEmpty { break }
        }
        return there
    }

    func take(_ count: Int) -> [Result<DownloadRequest, Failure>] {
        defer { entries.removeFirst(count) }
        // What has finished since it was listed is counted.
        return entries.prefix(count).filter { !isSettled($0) }.map { planned in
            Result { () throws(Failure) in try request(planned) }
        }
    }

    private func request(_ planned: PlannedEntry) throws(Failure) -> DownloadRequest {
        let entry = planned.entry
        let (place, path) = entry.location(in: collection.options.folder)
        let parents = path.pathParts().dropLast().joined(separator: "/")
        if entry.place == nil, !parents.isEmpty { try RootedFiles.check(parents, below: folder) }
        var request = DownloadRequest(entry.address)
        request.options = options
        request.options.folder = place.isEmpty ? "." : place
        do throws(PawlError) { request.replaces = try request.options.take(planned, at: path) } catch {
            throw error.failure
        }
        (request.group, request.priority) = (collection.id, collection.priority)
        return request
    }

    /// Does what follows at the end; returns why the collection is not complete.
    func complete() -> Failure? {
        do throws(Failure) { _ = try run.complete() } catch { return failure ?? error }
        return failure
    }
}
