import PawlBase
import PawlCollections
import PawlSystem
import Synchronization

extension FileCollection {
    /// Downloads what the folder lacks and what has changed, while the rest is listed.
    ///
    /// The files get their paths below `folder`; `nil` stands for the place that is usual for a hub (the cache that its libraries
    /// share), a model of Ollama's (its folder) and an image (a folder with its name), else for the current folder. A changed file replaces the old one when it is complete, and for other files of
    /// the name ``DownloadOptions/existingFile`` applies. A file that is there, unchanged, is not requested where the listing
    /// shows that. After an interruption the same call continues. `onProgress` is called now and then, on the caller's task.
    /// Throws ``PawlError`` if the listing fails as a whole, and `CancellationError`; what fails of it is in
    /// the ``Report``.
    public func download(
        to folder: String?, onProgress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Report {
        let signal = ChangeSignal()
        let (run, folder) = try listing(to: folder.map { .folder($0) } ?? .usual) { signal.notify() }
        let transfer = CollectionTransfer(self, folder, run, signal)
        run.start()
        do {
            while try transfer.advance() {
                let seen = transfer.seen
                onProgress?(transfer.progress)
                if Task.isCancelled { throw CancellationError() }
                await signal.wait(after: seen)
            }
        } catch {
            run.stop()
            await transfer.close()
            throw error
        }
        await transfer.close()
        onProgress?(transfer.progress)
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
        var isListed = false
        var active: [Download.ID: Download] = [:]
        var seen: UInt64 = 0
    }

    private typealias Report = FileCollection.Report

    /// Files that are known and not yet added.
    private static let most = 1_024

    private let collection: FileCollection
    private let folder: String
    private let run: CollectionRun
    private let signal: ChangeSignal
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

    init(_ collection: FileCollection, _ folder: String, _ run: CollectionRun, _ signal: ChangeSignal) {
        self.collection = collection
        self.folder = folder
        self.run = run
        self.signal = signal
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
            for event in ended { Self.take(event, &state) }
            for event in found { Self.take(event, &state) }
            state.progress.listed = tally.files
            state.isListed = tally.isOver && found.isEmpty && run.tally == tally
            state.progress.isListed = state.isListed
            let room = max(0, downloader.slots * 4 - state.active.count)
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
        return state.withLock { !$0.isListed || !$0.active.isEmpty || $0.next < $0.waiting.count }
    }

    private static func take(_ event: DownloadEvent, _ state: inout State) {
        guard state.active.removeValue(forKey: event.id) != nil else { return }
        switch event.kind {
        case .finished(let file):
            if file.wasThere { state.report.unchanged += 1 } else { state.report.finished += 1 }
            state.report.received += file.received
            state.progress.received = state.report.received
            state.progress.complete += 1
        case .failed(let error):
            state.report.failures.append(error)
            state.progress.failed += 1
        case .state, .started, .notice, .retry, .added, .changed, .missed: break
        }
    }

    private static func take(_ event: ListingEvent, _ state: inout State) {
        switch event {
        case .refused(let failure):
            state.report.failures.append(PawlError(failure))
            state.progress.failed += 1
        case .notice(let text): state.report.notices.append(text)
        case .entry(let planned):
            if planned.state.isFetched {
                state.waiting.append(planned)
            } else {
                state.report.unchanged += 1
                state.progress.complete += 1
            }
        }
    }

    private func begin(_ planned: PlannedEntry) {
        do throws(PawlError) {
            let (folder, path) = planned.entry.location(in: folder)
            let parents = path.pathParts().dropLast().joined(separator: "/")
            do throws(Failure) {
                if !parents.isEmpty { try RootedFiles.check(parents, below: folder) }
            } catch { throw PawlError(error) }
            var options = collection.source.options(collection.downloadOptions)
            options.folder = folder
            let replaced = try options.take(planned, at: path)
            let download = try downloader.add(
                planned.entry.address, options: options, pieces: nil,
                digests: planned.entry.digest.map { [$0] } ?? [], replaces: replaced)
            state.withLock { $0.active[download.id] = download }
            download.resume()
        } catch {
            state.withLock { state in
                state.report.failures.append(error)
                state.progress.failed += 1
            }
        }
    }

    /// Pauses what runs, and waits until it is on disk.
    func close() async {
        await withCheckedContinuation { continuation in
            SystemThread.detached("pawl-closing") { [downloader] in
                downloader.shutDown()
                continuation.resume()
            }
        }
    }

    /// Removes what is gone, and returns the report.
    func end() -> FileCollection.Report {
        var report = state.withLock(\.report)
        report.isComplete = !run.tally.isPartial
        do throws(Failure) { if let text = try run.complete() { report.notices.append(text) } } catch {
            report.failures.append(PawlError(error))
        }
        guard collection.options.removesMissing else { return report }
        let cleanup = CollectionCleanup(run, in: folder, isSelective: collection.isSelective)
        if let why = report.failures.isEmpty ? cleanup.obstacle : "not every file could be downloaded" {
            report.notices.append("nothing was removed: \(why)")
            return report
        }
        for removal in cleanup.removeMissing() {
            switch removal {
            case .success(let path): report.removed.append(path)
            case .failure(let failure): report.failures.append(PawlError(failure))
            }
        }
        return report
    }
}
