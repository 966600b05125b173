#if Queue
package import PawlBase
import PawlCollections
import PawlQueue
import PawlSystem

/// The collections of a manager's queue: lists them, adds their files in portions, and counts what has ended.
///
/// What is true of the files is in the queue alone: each turn asks it, so that no event can be missed.
package actor CollectionQueue {
    private static let place = "collections"

    private let manager: DownloadManager
    private let configuration: Downloader.Configuration
    private let onChange: @Sendable (String) -> Void
    private var all: [QueuedCollection] = []
    /// What a later version stored.
    private var unknown: [JSON] = []
    private var runs: [String: Task<Void, Never>] = [:]
    /// Something has ended, was listed or is to stop.
    private let signal = ChangeSignal()
    private var isClosed = false

    /// The time between two turns of a collection: what ends in it is counted together.
    private static let pace = Duration.milliseconds(50)

    /// `onChange` gets the id of a collection that was added, has ended, or was paused, resumed or removed.
    package init(
        _ manager: DownloadManager, deniesPrivateAddresses: Bool,
        onChange: @escaping @Sendable (String) -> Void
    ) {
        self.manager = manager
        var configuration = Downloader.Configuration()
        configuration.deniesPrivateAddresses = deniesPrivateAddresses
        self.configuration = configuration
        self.onChange = onChange
    }

    /// Takes up what an earlier run of the service left.
    package func begin() async throws(PawlError) {
        let text = try await manager.keptText(Self.place) ?? ""
        for json in (try? JSON.parse(Array(text.utf8)))?.array ?? [] {
            if let collection = QueuedCollection(json) { all.append(collection) } else { unknown.append(json) }
        }
        for collection in all {
            switch collection.phase {
            case .ended: break
            case .leaving: try await finishRemoval(of: collection.id)
            case .active: if try await !manager.isPaused(group: collection.id) { start(collection.id) }
            }
        }
    }

    /// A download has ended, or there may be such that were not told.
    package nonisolated func note(_ event: DownloadEvent) {
        switch event.kind {
        case .finished, .failed, .missed, .state(.removed): signal.notify()
        case .started, .notice, .retry, .added, .changed, .queueChanged, .state: break
        }
    }

    /// What happened before the first ``note(_:)`` is asked for.
    package nonisolated func wake() { signal.notify() }

    /// Stops what runs; the next ``begin()`` takes it up.
    package func close() async {
        isClosed = true
        let tasks = runs.values
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: commands

    /// Adds a collection, or resumes the known one of this URL and folder; throws code 28 for what cannot be listed.
    ///
    /// `request`: of its options the folder is the collection's; without one, it is named by the URL.
    package func add(
        _ request: DownloadRequest, _ listing: ListingOptions, of kind: CollectionSource, hasFolder: Bool
    ) async throws(PawlError) -> (id: String, isKnown: Bool) {
        var options = request.options
        if !hasFolder { options.folder += (options.folder.isEmpty ? "" : "/") + kind.name }
        options.folder = try DownloadRequest.checkedFolder(options.folder)
        if let known = all.first(where: {
            $0.phase != .leaving && $0.source.hasSameBytes(as: request.source)
                && $0.options.folder.hasSameBytes(as: options.folder)
        }) {
            _ = try await resume(known.id)
            return (known.id, true)
        }
        do throws(Failure) {
            guard all.count < QueuedCollection.most else {
                throw Failure(
                    .badOption, "cannot add", at: Redaction.address(request.source),
                    because: "the queue has \(QueuedCollection.most) collections",
                    remedy: "remove those that have finished")
            }
            try DownloadOption.check(options)
            if let name = options.fileName {
                throw Failure(
                    refusing: .fileName, name,
                    because: LocalizableMessage("name-of-several", "a collection has the names of its files"))
            }
            _ = try kind.lister(listing, to: .folder(manager.root), options, configuration)
        } catch { throw PawlError(error) }
        let collection = QueuedCollection(
            id: QueuedCollection.freshID(), source: request.source, listing: listing, options: options,
            priority: request.priority, addedAt: SystemClock().wallTime)
        all.append(collection)
        do throws(PawlError) {
            if request.start == .paused { try await manager.pause(group: collection.id) }
            try await store()
        } catch {
            all.removeAll { $0.id == collection.id }
            throw error
        }
        if request.start != .paused { start(collection.id) }
        onChange(collection.id)
        return (collection.id, false)
    }

    /// The ids that begin with a text.
    package func ids(of beginning: String) -> [String] {
        all.map(\.id).filter { $0.utf8.starts(with: beginning.lowercased().utf8) }
    }

    /// Its downloads do not run until it is resumed; `false` if it is paused or has ended.
    package func pause(_ id: String) async throws(PawlError) -> Bool {
        guard let collection = known(id), collection.phase == .active, try await !manager.isPaused(group: id) else {
            return false
        }
        try await manager.pause(group: id)
        try await store()
        onChange(id)
        return true
    }

    /// Goes on; one that has ended is listed anew, and what failed is tried again.
    package func resume(_ id: String) async throws(PawlError) -> Bool {
        guard let index = all.firstIndex(where: { $0.id == id && $0.phase != .leaving }) else { return false }
        let wasPaused = try await manager.isPaused(group: id)
        if wasPaused { try await manager.resume(group: id) }
        let failed = try await retryFailed(of: id)
        let wasEnded = all[index].phase == .ended
        if wasEnded { all[index].phase = .active }
        if runs[id] == nil {
            try await store()
            start(id)
        }
        if wasPaused || failed || wasEnded { onChange(id) }
        return wasPaused || failed || wasEnded
    }

    private func retryFailed(of id: String) async throws(PawlError) -> Bool {
        let failed = try await manager.downloads(matching: DownloadFilter([.failed], group: id))
        guard !failed.isEmpty else { return false }
        try await manager.performAll(failed.map { .resume($0.id) })
        return true
    }

    /// Stops it and takes it and its downloads off the queue; files that are complete stay.
    package func remove(_ id: String) async throws(PawlError) -> Bool {
        guard let index = all.firstIndex(where: { $0.id == id && $0.phase != .leaving }) else { return false }
        all[index].phase = .leaving
        try await store()
        try await finishRemoval(of: id)
        onChange(id)
        return true
    }

    private func finishRemoval(of id: String) async throws(PawlError) {
        if let run = runs.removeValue(forKey: id) {
            run.cancel()
            await run.value
        }
        while true {
            let page = try await manager.downloads(matching: DownloadFilter(group: id), limit: 500)
            guard !page.isEmpty else { break }
            try await manager.performAll(page.map { .remove($0.id, Removal(keepsFile: true)) })
        }
        try await manager.resume(group: id)
        all.removeAll { $0.id == id }
        try await store()
    }

    /// Pauses or resumes everything: first what would add more.
    ///
    /// `withFailed`: also what has failed.
    package func setAll(areRunning: Bool, withFailed: Bool = true) async throws(PawlError) {
        for snapshot in try await snapshots() {
            let (id, state) = (snapshot.collection.id, snapshot.state)
            if !areRunning { _ = try await pause(id) }
            if areRunning, state == .paused || withFailed && state == .failed { _ = try await resume(id) }
        }
        try await manager.perform(areRunning ? .resumeAll(withFailed: withFailed) : .pauseAll)
    }

    /// Those that have not finished, as items of `pawl.add`.
    package func export() async throws(PawlError) -> [JSON] {
        try await snapshots().filter { $0.state != .finished }.map { snapshot in
            let collection = snapshot.collection
            return .object(
                [
                    JSON.Member("url", .string(collection.source)),
                    JSON.Member("options", collection.options.exported),
                    JSON.Member("mirrors", .array(collection.options.mirrors.map { .string($0) })),
                    JSON.Member("folder", .string(collection.options.folder)),
                    JSON.Member("listing", collection.listing.json),
                    JSON.Member("priority", .number(collection.priority)),
                    JSON.Member("start", .string(snapshot.state == .paused ? "paused" : "enqueued")),
                ] + collection.options.restrictions)
        }
    }

    private func known(_ id: String) -> QueuedCollection? { all.first { $0.id == id } }

    private func store() async throws(PawlError) {
        try await manager.keep(JSON.array(all.map(\.json) + unknown).text, as: Self.place)
    }

    // MARK: a collection that runs

    private func start(_ id: String) {
        guard !isClosed, runs[id] == nil else { return }
        runs[id] = Task { await self.run(id) }
    }

    private func change(_ id: String, _ body: (inout QueuedCollection) -> Void) {
        guard let index = all.firstIndex(where: { $0.id == id }) else { return }
        body(&all[index])
    }

    private func run(_ id: String) async {
        defer { if known(id)?.phase != .leaving { runs[id] = nil } }
        guard let collection = known(id) else { return }
        change(id) { ($0.counts, $0.failure, $0.endedAt) = (.init(), nil, nil) }
        let feed: CollectionPortions
        do throws(Failure) {
            feed = try CollectionPortions(collection, below: manager.root, configuration) { [signal] in signal.notify()
            }
        } catch { return await end(id, error, isListed: false) }
        defer { feed.stop() }
        var isFirst = true
        var counted = Counted()
        while !Task.isCancelled {
            let seen = signal.count
            do throws(PawlError) {
                if isFirst { feed.known = try await places(of: id) }
                // Those that finished before this run are listed again, as files that are there.
                try await takeFinished(of: id, feed, isFirst ? nil : counted)
                if isFirst { feed.start() }
                isFirst = false
                if try await turn(id, feed, &counted) {
                    // What has finished since they were counted.
                    try await takeFinished(of: id, feed, counted)
                    let first = try await firstFailure(of: id) ?? feed.firstFailure
                    return await end(id, feed.complete(), first, isListed: feed.tally.failure == nil)
                }
            } catch {
                // The queue cannot be read or written, or is closed: what it has is asked for again.
                try? await Task.sleep(for: .seconds(1))
                continue
            }
            try? await Task.sleep(for: Self.pace)
            await signal.wait(after: seen)
        }
    }

    /// Downloads that the queue had finished already when their files were added: they are counted.
    private typealias Counted = Set<Download.ID>

    /// The files of downloads that an earlier run has left.
    private func places(of id: String) async throws(PawlError) -> [String: Left] {
        Self.places(
            of: try await manager.downloads(matching: DownloadFilter([.waiting, .paused, .failed], group: id)))
    }

    private static func places(of files: [DownloadSnapshot]) -> [String: Left] {
        Dictionary(files.compactMap { file in place(of: file).map { ($0, Left(id: file.id, source: file.source)) } }) {
            first, _ in first
        }
    }

    /// Below the root.
    private static func place(of file: DownloadSnapshot) -> String? {
        file.name.map { (file.folder.isEmpty ? "" : file.folder + "/") + $0 }
    }

    /// Returns whether it is over.
    private func turn(
        _ id: String, _ feed: CollectionPortions, _ counted: inout Counted
    ) async throws(PawlError) -> Bool {
        let waiting = try await manager.totals(matching: DownloadFilter([.waiting, .paused], group: id)).count
        let failed = try await manager.totals(matching: DownloadFilter([.failed], group: id)).count
        let (there, late) = (feed.read(), feed.takeLate())
        change(id) { collection in
            collection.counts.done += late.count
            collection.counts.written = collection.counts.written.addingClamped(late.bytes)
            collection.counts.done += there.count - feed.takeMiscounted()
            collection.counts.written = collection.counts.written.addingClamped(there.bytes)
            (collection.counts.listed, collection.counts.bytes) = (feed.tally.files, feed.tally.bytes)
            collection.counts.refused = feed.tally.refused + feed.unusable
            (collection.counts.isListed, collection.counts.failed) = (feed.isListed, failed)
        }
        guard let collection = known(id), collection.phase == .active else { return true }
        let outdated = feed.takeOutdated()
        guard outdated.isEmpty else {
            // The next turn adds what they were for.
            try await manager.performAll(outdated.map { .remove($0, Removal(keepsFile: true)) })
            signal.notify()
            return false
        }
        switch collection.step(waiting: waiting, failed: failed, known: feed.waiting) {
        case .wait: return false
        case .end: return true
        case .giveUp:
            feed.failure = Failure(
                .rejected, "cannot download", at: Redaction.address(collection.source),
                because: "\(QueuedCollection.mostFailures) of its files failed", remedy: "resume it to try again")
            return true
        case .add(let count):
            let results = try await manager.addAll(feed.take(count))
            // What the queue has finished already is not requested again.
            let finished = results.compactMap { try? $0.get() }.filter(\.isFinished).map(\.id)
            counted.formUnion(finished)
            for case .failure(let error) in results { feed.refuse(error.failure) }
            change(id) { $0.counts.done += finished.count }
            // The next turn goes on: first what has finished meanwhile is counted.
            signal.notify()
            return false
        }
    }

    /// Takes them off the queue, and counts those that are not; none if `counted` is `nil`.
    private func takeFinished(
        of id: String, _ feed: CollectionPortions, _ counted: Counted?
    ) async throws(PawlError) {
        while true {
            let page = try await manager.downloads(
                matching: DownloadFilter([.finished], group: id), by: .ended(newestFirst: false), limit: 500)
            guard !page.isEmpty else { return }
            try await manager.performAll(page.map { .forget($0.id) })
            guard let counted else {
                feed.begin(after: Self.places(of: page))
                continue
            }
            let new = page.filter { !counted.contains($0.id) }
            feed.settle(Self.places(of: new))
            change(id) { collection in
                collection.counts.done += new.count
                for file in page { collection.counts.written = collection.counts.written.addingClamped(file.written) }
            }
        }
    }

    /// Why the first of its downloads that failed did.
    private func firstFailure(of id: String) async throws(PawlError) -> Failure? {
        try await manager.downloads(
            matching: DownloadFilter([.failed], group: id), by: .ended(newestFirst: false), limit: 1
        ).first?.error?.failure
    }

    /// `first`: why the first of its files failed; `isListed`: whether all of them are known.
    private func end(_ id: String, _ failure: Failure?, _ first: Failure? = nil, isListed: Bool) async {
        change(id) { collection in
            guard collection.phase == .active else { return }
            collection.phase = .ended
            collection.endedAt = SystemClock().wallTime
            collection.counts.isListed = isListed
            collection.failure = failure ?? collection.failure(becauseOf: first)
        }
        try? await store()
        onChange(id)
    }
}

extension CollectionQueue {
    /// A collection with what its downloads are doing.
    package struct Snapshot: Sendable {
        package var collection: QueuedCollection
        package var state: DownloadState
        /// Of its downloads that have not finished.
        package var running = 0
        package var failed = 0
        package var written: Int64 = 0
        package var speed: Int64 = 0
        package var smoothedSpeed: Int64 = 0
        package var connections = 0
    }

    /// All collections, or those with these ids, in the order in which they were added.
    package func snapshots(of ids: [String]? = nil) async throws(PawlError) -> [Snapshot] {
        let wanted = all.filter { $0.phase != .leaving && ids?.contains($0.id) ?? true }
        guard !wanted.isEmpty else { return [] }
        let running = try await manager.running()
        var found: [Snapshot] = []
        for collection in wanted {
            let own = running.filter { $0.group == collection.id }
            let rest = try await manager.totals(matching: DownloadFilter([.waiting, .paused], group: collection.id))
            var state = DownloadState.finished
            if collection.phase == .ended {
                if collection.failure != nil { state = .failed }
            } else if try await manager.isPaused(group: collection.id) {
                state = .paused
            } else {
                state = !own.isEmpty ? .transferring : collection.counts.isListed ? .waiting : .probing
            }
            var snapshot = Snapshot(collection: collection, state: state)
            snapshot.running = own.count
            snapshot.failed = collection.counts.failed + collection.counts.refused
            snapshot.written = collection.counts.written.addingClamped(rest.written)
            snapshot.speed = own.reduce(0) { $0 + $1.speed }
            snapshot.smoothedSpeed = own.reduce(0) { $0 + $1.smoothedSpeed }
            snapshot.connections = own.reduce(0) { $0 + $1.connections }
            found.append(snapshot)
        }
        return found
    }
}

extension DownloadManager {
    /// Carries out commands as one step of the queue.
    fileprivate func performAll(_ commands: [QueueCommand]) async throws(PawlError) {
        try await step { step throws(Failure) in for command in commands { try step.perform(command) } }
    }
}
#endif
