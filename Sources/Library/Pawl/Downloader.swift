package import PawlBase
package import PawlCore
import PawlDisk
import PawlEngine
package import PawlJournal
import PawlSystem
import Synchronization

/// Downloads one or many files over HTTP(S), FTP(S) and SFTP or from S3 object stores, and resumes earlier downloads.
///
/// ```swift
/// let downloader = Downloader { event in print(event) }
/// let download = try downloader.add("https://example.org/file.iso")
/// download.resume()
/// print(try await download.file.path)
/// ```
public final class Downloader: Sendable {
    package let scheduler: DownloadScheduler
    let disk: any Disk
    let board: EventBoard
    package let settingsCache: TransferSettingsCache
    package let reachability: any Reachability
    private let sharesConnections: Bool
    private let hooks: DownloadHooks

    /// Starts the threads.
    ///
    /// `onEvent` is called on one of them for every event, in order for each download; it must return
    /// quickly.
    public init(
        _ configuration: Configuration = Configuration(),
        onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) {
        let observers = configuration.observers
        let onAll: @Sendable (DownloadEvent) -> Void = { event in
            observers.note(event)
            onEvent(event)
        }
        let board = EventBoard(onEvent: observers.isEmpty ? onEvent : onAll)
        self.board = board
        sharesConnections = configuration.sharesConnections
        hooks = configuration.hooks
        settingsCache = TransferSettingsCache(
            deniesPrivateAddresses: configuration.deniesPrivateAddresses,
            allowsPrivateEndpoint: configuration.allowsPrivateEndpoint, usesManyHosts: configuration.usesManyHosts,
            usesHTTP1Only: configuration.usesHTTP1Only)
        let system = Ports.system(
            numbering: configuration.numbering, recognizesFinished: configuration.recognizesFinished,
            trace: configuration.trace, onCookies: configuration.onCookies
        ) { board.notice($0) }
        var ports = system.remembering(in: configuration.stateFolder)
        if let trace = configuration.trace { ports.onHostLimit = { trace(.hostLimit($0, of: $1)) } }
        disk = ports.disk
        reachability = ports.reachability
        scheduler = DownloadScheduler(
            ports: ports, loops: min(max(1, configuration.threads), 16),
            jobs: configuration.adaptsJobs ? nil : configuration.jobs, mostJobs: SystemDescriptors.limit / 8,
            rate: configuration.rateLimit, reportsEveryPhase: configuration.reportsEveryState,
            keepsHostsTogether: configuration.usesManyHosts
        ) { board.post($0) }
    }

    /// Pauses running downloads; their bytes are kept, and every wait for them ends.
    deinit {
        let board = board
        board.refuseNew()
        scheduler.engine.shutDown { board.close(because: "its downloader was released") }
    }

    /// Adds a download of `source`; nothing runs before ``Download/resume()``.
    ///
    /// Throws ``PawlError`` with code 28 when a URL or an option is invalid, and with
    /// ``PawlError/Code/unfinished`` after ``shutDown()``. The download does not keep its downloader alive:
    /// when that is released, the download pauses, and ``Download/file`` throws. `hooks` replace those of the
    /// configuration for this download.
    public func add(
        _ source: String, options: DownloadOptions = DownloadOptions(), hooks: DownloadHooks? = nil
    ) throws(PawlError) -> Download { try add(source, options: options, hooks: hooks) { _ in .folder } }

    /// Downloads small content into memory, off the caller's thread.
    ///
    /// Content of more than `maximumSize` bytes fails with ``PawlError/Code/tooLarge`` as soon as that is
    /// known; no more than that is kept. Retries and redirects work as for files. Options that name a place
    /// on disk are ignored. The content is verified as a file is, and returned only if no digest is wrong
    /// (``PawlError/Code/checksumMismatch``). Throws ``PawlError``; cancelling the task that waits stops the
    /// transfer and throws `CancellationError`.
    public func data(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions = DownloadOptions(),
        hooks: DownloadHooks? = nil
    ) async throws -> [UInt8] {
        let memory = MemorySink(limit: Int64(maximumSize), digests: ContentDigest.digests)
        let download = try add(source, options: options, hooks: hooks) { _ in memory.destination }
        download.resume()
        guard let end = await download.ending else {
            scheduler.remove(DownloadID(rawValue: download.id.rawValue))
            throw CancellationError()
        }
        _ = try end.get()
        return memory.bytes
    }

    /// Downloads a file and returns it when it is complete.
    ///
    /// `path` is the file's path, relative to ``DownloadOptions/folder`` unless it begins with `/`; `nil` takes
    /// the folder and the name of `options`. If there is another file, ``DownloadOptions/existingFile`` decides; by
    /// default the new one gets a name such as `NAME (1)`, which ``DownloadedFile/path`` has.
    ///
    /// Throws ``PawlError``; cancelling the task that waits stops the transfer, keeps what was received for a later
    /// run, and throws `CancellationError` once it is on disk. A file that is complete by then is returned.
    public func download(
        _ source: String, to path: String? = nil, options: DownloadOptions = DownloadOptions(),
        hooks: DownloadHooks? = nil
    ) async throws -> DownloadedFile {
        var options = options
        if let path { try options.place(at: path) }
        let download = try add(source, options: options, hooks: hooks)
        download.resume()
        if let end = await download.ending { return try end.get() }
        download.pause()
        // A task of its own: in this one every wait ends at once.
        let complete = await Task { await download.fileAtRest() }.value
        guard let complete else { throw CancellationError() }
        return complete
    }

    /// Adds a download whose bytes are written to a device or a pipe, in order and over one connection.
    package func add(_ source: String, options: DownloadOptions, to target: StreamTarget) throws(PawlError) -> Download
    {
        try add(source, options: options, hooks: nil) { [board] in
            StreamSink.destination(target, algorithms: $0.streamAlgorithms) { board.notice($0) }
        }
    }

    /// Notes that a download to come gets this name: no part file or journal of another takes it.
    package func reserve(_ name: String, in folder: String) { disk.reserve(name, in: folder) }

    /// Adds a download whose content is proven by digests: those of its pieces, or the checksum of `options`.
    ///
    /// `isSeeded`: its part file begins with bytes of another file (``Disk/seed``). `replaces`: the only file that it may
    /// overwrite, as it was then. `digests`: those that the content must have besides the checksum.
    package func add(
        _ source: String, options: DownloadOptions, pieces: PieceHashes?, digests: [ExpectedDigest] = [],
        isSeeded: Bool = false, replaces: FileStamp? = nil
    ) throws(PawlError) -> Download {
        try add(
            source, options: options, hooks: nil, pieces: pieces, digests: digests, isSeeded: isSeeded,
            replaces: replaces
        ) { _ in .folder }
    }

    package func add(
        _ source: String, options: DownloadOptions, hooks: DownloadHooks?, pieces: PieceHashes? = nil,
        digests: [ExpectedDigest] = [], isSeeded: Bool = false, replaces: FileStamp? = nil,
        takesEverySuccess: Bool = false, listing: FolderListingForm? = nil,
        to destination: (DownloadPlan) throws(Failure) -> Destination
    ) throws(PawlError) -> Download {
        var job: Job
        do throws(Failure) {
            job = try Job(source: source, options: options, settingsCache: settingsCache)
            try job.plan.add(digests)
            job.plan.pieces = pieces
            job.deliver(to: try destination(job.plan))
        } catch { throw PawlError(error, of: source) }
        job.plan.takesEverySuccess = takesEverySuccess
        job.plan.listing = listing
        job.plan.isSeeded = isSeeded
        if let replaces { job.replace(replaces) }
        job.sharesConnections = sharesConnections
        job.use(hooks ?? self.hooks)
        let place = FileLocation(
            disk: disk, destination: job.destination, folder: options.folder, sources: job.plan.sources)
        let (id, box) = scheduler.add(job)
        let download = Download(
            DownloadSnapshot(
                id: Download.ID(rawValue: id.rawValue), source: place.sources[0].redacted,
                taskDescription: options.taskDescription), box: box,
            owner: StandaloneRun(scheduler: scheduler, place: place, board: board))
        guard board.add(download) else {
            throw .gone(download.source, "cannot add", because: "its downloader was shut down")
        }
        return download
    }

    /// Pauses all downloads and waits until all part files are synced to disk.
    ///
    /// Nothing runs afterwards: every wait for a download ends, and adding one throws. Blocks the calling
    /// thread; do not call it from an event.
    public func shutDown() {
        let latch = Latch()
        board.refuseNew()
        scheduler.engine.shutDown { latch.open() }
        latch.pass()
        board.close(because: "its downloader was shut down")
    }

    /// How many downloads may run at once now.
    package var slots: Int { scheduler.slots }
    /// The most that have run at once.
    package var mostRunning: Int { scheduler.mostRunning }

    /// Changes the limit for all downloads together while they run; `nil` removes it.
    public func limit(to bytesPerSecond: Int64?) { scheduler.engine.limit(to: bytesPerSecond) }
}
