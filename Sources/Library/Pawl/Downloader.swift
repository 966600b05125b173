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
    /// The options of downloads for which none are given, those of ``Configuration/options``.
    public let options: DownloadOptions
    #if Features
    /// Streams that were added.
    let streams = Mutex<[UInt64: SegmentedRun]>([:])
    #endif

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
        options = configuration.options
        settingsCache = TransferSettingsCache(
            deniesPrivateAddresses: configuration.deniesPrivateAddresses,
            allowsPrivateEndpoint: configuration.allowsPrivateEndpoint, usesManyHosts: configuration.usesManyHosts,
            usesHTTP1Only: configuration.usesHTTP1Only)
        let system = Ports.system(
            over: configuration.transport, numbering: configuration.numbering,
            recognizesFinished: configuration.recognizesFinished,
            trace: configuration.trace, onCookies: configuration.onCookies
        ) { board.notice($0) }
        var ports = system.remembering(in: configuration.stateFolder)
        if let trace = configuration.trace { ports.onHostLimit = { trace(.hostLimit($0, of: $1)) } }
        disk = ports.disk
        reachability = ports.reachability
        scheduler = DownloadScheduler(
            ports: ports, loops: min(max(1, configuration.threads), 16),
            jobs: configuration.adaptsConcurrentDownloads ? nil : configuration.maximumConcurrentDownloads,
            mostJobs: SystemDescriptors.limit / 8,
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
    /// ``PawlError/Code/unfinished`` after `shutDown()`. The download does not keep its downloader alive:
    /// when that is released, the download pauses, and ``Download/file`` throws. `options` and `hooks` replace those of the
    /// configuration for this download.
    public func add(
        _ source: String, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> Download { try add(source, options: options ?? self.options, hooks: hooks) { _ in .folder } }

    /// Adds a download whose bytes are written to a device or a pipe, in order and over one connection.
    ///
    /// `refusesStreams`: the response of a playlist ends it with a failure ``PawlError/isOfStream``.
    package func add(
        _ source: String, options: DownloadOptions, to target: StreamTarget, refusesStreams: Bool = false
    ) throws(PawlError) -> Download {
        try add(source, options: options, hooks: nil, otherTypes: refusesStreams ? Self.streamTypes : []) { [board] in
            StreamSink.destination(target, algorithms: $0.streamAlgorithms) { board.notice($0) }
        }
    }

    /// Notes that a download to come gets this name: no part file or journal of another takes it.
    package func reserve(_ name: String, in folder: String) { disk.reserve(name, in: folder) }

    /// Adds a download whose content is proven by digests: those of its pieces, or the checksum of `options`.
    ///
    /// `isSeeded`: its part file begins with bytes of another file (``Disk/seed``). `replaces`: the only file that it may
    /// overwrite, as it was then. `digests`: those that the content must have besides the checksum. `refusesStreams`: the
    /// response of a playlist ends it with a failure ``PawlError/isOfStream``.
    package func add(
        _ source: String, options: DownloadOptions, pieces: PieceHashes?, digests: [ExpectedDigest] = [],
        isSeeded: Bool = false, replaces: ReplacedFile? = nil, refusesStreams: Bool = false
    ) throws(PawlError) -> Download {
        try add(
            source, options: options, hooks: nil, pieces: pieces, digests: digests, isSeeded: isSeeded,
            replaces: replaces, otherTypes: refusesStreams ? Self.streamTypes : []
        ) { _ in .folder }
    }

    package func add(
        _ source: String, options: DownloadOptions, hooks: DownloadHooks?, pieces: PieceHashes? = nil,
        digests: [ExpectedDigest] = [], isSeeded: Bool = false, replaces: ReplacedFile? = nil,
        takesEverySuccess: Bool = false, listing: FolderListingForm? = nil, otherTypes: Set<String> = [],
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
        job.plan.otherTypes = otherTypes
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

    /// Pauses all downloads, and returns when all part files are synced to disk.
    ///
    /// Nothing runs afterwards: every wait for a download ends, and adding one throws.
    public func shutDown() async {
        await withCheckedContinuation { continuation in
            SystemThread.detached("pawl-closing") { [self] in
                shutDownAndWait()
                continuation.resume()
            }
        }
    }

    /// As ``shutDown()``, for code that is not asynchronous: blocks the calling thread.
    ///
    /// Do not call it from an event.
    @available(*, noasync, renamed: "shutDown()")
    public func shutDownAndWait() {
        let latch = Latch()
        #if Features
        stopStreams()
        #endif
        board.refuseNew()
        scheduler.engine.shutDown { latch.open() }
        latch.pass()
        board.close(because: "its downloader was shut down")
    }

    /// The most that have run at once.
    package var mostRunning: Int { scheduler.mostRunning }

    /// Bytes per second for all downloads together; `nil`, 0 and less for no limit.
    ///
    /// Initially ``Configuration/rateLimit``. A change applies at once, to running downloads too.
    public var rateLimit: Int64? {
        get { scheduler.engine.rate }
        set { scheduler.engine.limit(to: newValue) }
    }

    /// Simultaneous downloads, at least 1; the rest wait in order.
    ///
    /// Initially ``Configuration/maximumConcurrentDownloads``, or what was found by measuring. A change applies at once, and nothing is
    /// measured from then on: if the number is lowered, the newest downloads give way and go on when it is their turn.
    public var maximumConcurrentDownloads: Int {
        get { scheduler.slots }
        set { scheduler.change(slots: max(1, newValue)) }
    }
}
