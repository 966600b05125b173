#if Features
import PawlBase
import PawlCollections
import PawlJournal
import PawlSystem
import Synchronization

extension FileCollection {
    /// Downloads what the folder lacks and what has changed, while the rest is listed.
    ///
    /// The files get their paths below `folder`; `nil` stands for the place that is usual for a hub (the cache that its libraries
    /// share), a model of Ollama's (its folder) and an image (a folder with its name), else for the current folder. A changed file replaces the old one when it is complete, and for other files of
    /// the name ``DownloadOptions/existingFile`` applies. A file that is there, unchanged, is not requested where the listing
    /// shows that. After an interruption the same call continues. `progress` is called on the caller's task, about ten times a second
    /// while bytes of larger files arrive, and for the last time at the end.
    /// Throws ``PawlError`` if the listing fails as a whole, and `CancellationError`; what fails of it is in
    /// the ``Report``.
    public func download(
        to folder: String?, progress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Report { try await download(to: folder.map { .folder($0) } ?? .usual, progress) }

    /// Downloads an image of a registry as one file: a tar archive of its layout, which other tools read as `oci-archive:`.
    ///
    /// `path` ends with `.tar`. Until the archive is complete, its blobs are in the folder `PATH.blobs`, from which the same call
    /// continues. For another file of the name ``DownloadOptions/existingFile`` applies; an archive that is there with the same
    /// content is not written again. Its path is among ``Report/notices``. Throws as ``download(to:progress:)``, and code 28 for what
    /// is no image.
    public func download(
        toArchive path: String, progress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Report {
        if let flaw = source.archiveFlaw(path, listingOptions) {
            throw PawlError(Failure(.badOption, "cannot write", at: path, because: .init(stringLiteral: flaw)))
        }
        return try await download(to: .archive(path), progress)
    }

    private func download(
        to target: CollectionSource.Target, _ progress: (@Sendable (Progress) -> Void)?
    ) async throws -> Report {
        let signal = ChangeSignal()
        let (run, folder) = try listing(to: target) { signal.notify() }
        let transfer = CollectionTransfer(self, folder, run, signal, showsBytes: progress != nil)
        run.start()
        do {
            while try transfer.advance() {
                let seen = transfer.seen
                progress?(transfer.progress)
                if Task.isCancelled { throw CancellationError() }
                await signal.wait(after: seen)
            }
        } catch {
            run.stop()
            await transfer.close()
            throw error
        }
        await transfer.close()
        progress?(transfer.progress)
        return transfer.end()
    }
}

/// A download of a collection under way; used by one task, while the downloader's threads report to its events.
private final class CollectionTransfer: Sendable {
    private struct State {
        var report = Report()
        var progress = FileCollection.Progress()
        var waiting: [PlannedEntry] = []
        var next = 0
        /// Files in whose place something stands that may be gone at the end.
        var blocked: [PlannedEntry] = []
        var hasMadeRoom = false
        var isListed = false
        var active: [Download.ID: Download] = [:]
        /// The bytes received so far of running downloads that are watched, and their sum.
        var arriving: [Download.ID: Int64] = [:]
        var arrived: Int64 = 0
        /// Those that the listing waits for.
        var awaited: [Download.ID: PlannedEntry] = [:]
        var seen: UInt64 = 0
    }

    private typealias Report = FileCollection.Report

    /// Files that are known and not yet added.
    private static let most = 1_024
    /// Bytes of a file whose progress is shown before its end.
    private static let watchedSize: Int64 = 1 << 20

    private let collection: FileCollection
    private let folder: String
    private let run: CollectionRun
    private let signal: ChangeSignal
    private let showsBytes: Bool
    private let downloader: Downloader
    private let events: EventList
    private let state = Mutex(State())

    /// What the downloader's threads report.
    private final class EventList: Sendable {
        private let events = Mutex<[DownloadEvent]>([])

        func add(_ event: DownloadEvent) { events.withLock { $0.append(event) } }

        func take() -> [DownloadEvent] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    init(
        _ collection: FileCollection, _ folder: String, _ run: CollectionRun, _ signal: ChangeSignal, showsBytes: Bool
    ) {
        self.collection = collection
        self.folder = folder
        self.run = run
        self.signal = signal
        self.showsBytes = showsBytes
        var configuration = collection.configuration
        configuration.reportsEveryState = false
        let events = EventList()
        self.events = events
        downloader = Downloader(configuration) { event in
            guard event.kind.isEnd else { return }
            events.add(event)
            signal.notify()
        }
    }

    /// The signals that were there before the last ``advance()``.
    var seen: UInt64 { state.withLock(\.seen) }
    var progress: FileCollection.Progress { state.withLock(\.progress) }

    /// Takes what was reported and found, and begins what there is room for; `false` when everything has ended.
    func advance() throws(PawlError) -> Bool {
        let seen = signal.count
        let ended = events.take()
        let (tally, found) = (run.tally, state.withLock { $0.waiting.count - $0.next < Self.most } ? run.take() : [])
        var added: [PlannedEntry] = []
        state.withLock { state in
            state.seen = seen
            for event in ended {
                settle(event, &state)
                Self.take(event, &state)
            }
            for event in found { take(event, &state) }
            state.progress.listed = tally.files
            state.progress.total = tally.bytes
            state.progress.received = state.report.received + state.arrived
            state.isListed = tally.isOver && found.isEmpty && run.tally == tally
            state.progress.isListed = state.isListed
            let room = max(0, downloader.maximumConcurrentDownloads * 4 - state.active.count)
            let end = min(state.waiting.count, state.next + room)
            added = Array(state.waiting[state.next..<end])
            state.next = end
            guard state.next == state.waiting.count || state.next > Self.most else { return }
            state.waiting.removeFirst(state.next)
            state.next = 0
        }
        if let failure = tally.failure { throw PawlError(failure) }
        for entry in added { begin(entry) }
        // What was found just now may have been all.
        if !found.isEmpty { signal.notify() }
        if state.withLock({ !$0.isListed || !$0.active.isEmpty || $0.next < $0.waiting.count }) { return true }
        guard state.withLock({ !$0.blocked.isEmpty }) else { return false }
        makeRoom()
        return true
    }

    /// Removes what stands in the place of files, if nothing speaks against it; then they follow.
    private func makeRoom() {
        removeMissing { _ in }
        state.withLock { state in
            state.waiting += state.blocked
            (state.blocked, state.hasMadeRoom) = ([], true)
        }
        signal.notify()
    }

    private static func take(_ event: DownloadEvent, _ state: inout State) {
        guard let download = state.active.removeValue(forKey: event.id) else { return }
        state.arrived -= state.arriving.removeValue(forKey: event.id) ?? 0
        switch event.kind {
        case .finished(let file):
            if file.wasThere { state.report.unchanged += 1 } else { state.report.finished += 1 }
            state.report.received += file.received
            state.progress.complete += 1
        case .failed(let error):
            state.report.failures.append(error)
            state.report.received += download.snapshot.received
            state.progress.failed += 1
        case .state, .started, .notice, .retry, .added, .changed, .queueChanged, .missed: break
        }
    }

    /// Tells the listing what became of the file that it waits for.
    private func settle(_ event: DownloadEvent, _ state: inout State) {
        guard let planned = state.awaited.removeValue(forKey: event.id) else { return }
        var outcome = AwaitedFile.missing
        if case .finished(let file) = event.kind {
            outcome = AwaitedFile(file.path, wasThere: file.wasThere, before: planned.state)
        }
        run.settle(planned.entry.path, outcome)
    }

    private func take(_ event: ListingEvent, _ state: inout State) {
        switch event {
        case .refused(let failure):
            state.report.failures.append(PawlError(failure))
            state.progress.failed += 1
        case .notice(let text): state.report.notices.append(text)
        case .entry(let planned):
            if planned.state.isFetched {
                state.waiting.append(planned)
            } else {
                let (folder, path) = planned.entry.location(in: folder)
                run.settle(planned.entry.path, .file("\(folder)/\(path)"))
                state.report.unchanged += 1
                state.progress.complete += 1
            }
        }
    }

    private func begin(_ planned: PlannedEntry) {
        if collection.options.removesMissing, PlaceObstacle(of: planned.entry, below: folder) != nil,
            state.withLock({ state in
                if !state.hasMadeRoom { state.blocked.append(planned) }
                return !state.hasMadeRoom
            })
        {
            return run.settle(planned.entry.path, .missing)
        }
        do throws(PawlError) {
            var options = collection.source.options(collection.downloadOptions)
            let replaced = try options.take(planned, below: folder)
            let download = try downloader.add(
                planned.entry.address, options: options, pieces: planned.entry.pieces,
                digests: planned.entry.digest.map { [$0] } ?? [], replaces: replaced.map { ReplacedFile($0) })
            state.withLock { state in
                state.active[download.id] = download
                if run.awaits(planned.entry.path) { state.awaited[download.id] = planned }
            }
            if showsBytes, planned.entry.size ?? .max > Self.watchedSize { watch(download) }
            download.resume()
        } catch {
            run.settle(planned.entry.path, .missing)
            state.withLock { state in
                state.report.failures.append(error)
                state.progress.failed += 1
            }
        }
    }

    /// Counts the bytes of a download while they arrive; ends with the download or its downloader.
    private func watch(_ download: Download) {
        Task {
            for await snapshot in download.updates {
                state.withLock { state in
                    guard state.active[download.id] != nil else { return }
                    state.arrived += snapshot.received - (state.arriving[download.id] ?? 0)
                    state.arriving[download.id] = snapshot.received
                }
                signal.notify()
            }
        }
    }

    /// Pauses what runs, and waits until it is on disk.
    func close() async { await downloader.shutDown() }

    /// Removes what is gone, and returns the report.
    func end() -> FileCollection.Report {
        let completed = Result { () throws(Failure) in try run.complete() }
        state.withLock { state in
            state.report.isComplete = !run.tally.isPartial
            switch completed {
            case .success(let text): state.report.notices += text.map { [$0] } ?? []
            case .failure(let failure): state.report.failures.append(PawlError(failure))
            }
        }
        if collection.options.removesMissing {
            removeMissing { why in state.withLock { $0.report.notices.append("nothing was removed: \(why)") } }
        }
        return state.withLock(\.report)
    }

    /// `refused` gets why nothing is removed, if something speaks against it.
    private func removeMissing(refused: (String) -> Void) {
        let cleanup = CollectionCleanup(run, in: folder, isSelective: collection.isSelective)
        let isWhole = state.withLock(\.report.failures.isEmpty)
        if let why = isWhole ? cleanup.obstacle : "not every file could be downloaded" { return refused(why) }
        cleanup.removeMissing { removal in
            state.withLock { state in
                switch removal {
                case .success(let path): state.report.removed.append(path)
                case .failure(let failure): state.report.failures.append(PawlError(failure))
                }
            }
        }
    }
}
#endif
