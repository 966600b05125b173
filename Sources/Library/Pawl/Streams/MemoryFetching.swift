#if Features
import PawlBase
import PawlCore
import PawlDisk
import PawlEngine
import PawlJournal

/// Downloads into memory that are parts of a stream: a downloader's, or those of a queue's engine.
protocol MemoryFetching: Sendable {
    /// Begins one, and returns what stops it; a stopped one may report its end or not.
    func fetch(
        _ source: String, _ options: DownloadOptions, to destination: Destination,
        completion: @escaping @Sendable (Result<DownloadedFile, PawlError>) -> Void
    ) throws(PawlError) -> @Sendable () -> Void
}

/// Those of a downloader, whose events hide them.
final class DownloaderFetching: MemoryFetching {
    private weak let downloader: Downloader?

    init(_ downloader: Downloader) { self.downloader = downloader }

    func fetch(
        _ source: String, _ options: DownloadOptions, to destination: Destination,
        completion: @escaping @Sendable (Result<DownloadedFile, PawlError>) -> Void
    ) throws(PawlError) -> @Sendable () -> Void {
        guard let downloader else {
            throw .gone(Redaction.address(source), "cannot fetch", because: "its downloader was released")
        }
        let download = try downloader.add(source, options: options, hooks: nil) { _ in destination }
        downloader.board.divert(download) { _ in }
        download.onEnd { [weak download] in
            guard let outcome = download?.outcome else { return }
            completion(outcome)
        }
        download.resume()
        return { [scheduler = downloader.scheduler, board = downloader.board, weak download] in
            guard let download, download.outcome == nil else { return }
            scheduler.remove(DownloadID(rawValue: download.id.rawValue))
            board.removed(download)
        }
    }
}

#if Queue
/// Those of a queue: its engine runs them beside the downloads, within the common limits, and no record knows of them.
final class QueueFetching: MemoryFetching {
    private weak let thread: WorkMailbox<QueueKeeper>?
    private let settingsCache: TransferSettingsCache
    /// The download that they are parts of.
    private let owner: DownloadID

    init(_ thread: WorkMailbox<QueueKeeper>, _ settingsCache: TransferSettingsCache, for owner: DownloadID) {
        self.thread = thread
        self.settingsCache = settingsCache
        self.owner = owner
    }

    func fetch(
        _ source: String, _ options: DownloadOptions, to destination: Destination,
        completion: @escaping @Sendable (Result<DownloadedFile, PawlError>) -> Void
    ) throws(PawlError) -> @Sendable () -> Void {
        let job: Job
        do throws(Failure) {
            var made = try Job(source: source, options: options, settingsCache: settingsCache)
            made.deliver(to: destination)
            job = made
        } catch { throw PawlError(error, of: source) }
        let fetch = MemoryFetch()
        let isHeard = thread?.post { [owner] in $0.run(fetch, job, nil, for: owner, completion) } ?? false
        guard isHeard else { throw PawlError(.closed) }
        return { [weak thread] in thread?.post { $0.cancel(fetch) } }
    }
}
#endif
#endif
