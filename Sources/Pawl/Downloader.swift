package import PawlCore
import PawlCurl
import PawlDisk
import PawlEngine
import Synchronization

/// Downloads one or many files over HTTP(S), FTP and SFTP, and resumes earlier downloads.
///
/// ```swift
/// let downloader = Downloader { event in print(event) }
/// let download = try downloader.add("https://example.org/file.iso")
/// download.resume()
/// print(try await download.file.path)
/// ```
public final class Downloader: Sendable {
    /// Settings that all downloads of one downloader share.
    public struct Configuration: Sendable {
        /// Simultaneous downloads; the rest wait in order.
        ///
        /// Default 3.
        public var jobs = 3
        /// Bytes per second for all downloads together, `nil` (default) for no limit.
        public var rateLimit: Int64?
        /// Threads that transfer data: 1…16.
        ///
        /// Default 1, enough for a fast network; more speed up many small files on several cores.
        public var threads = 1
        /// Whether files of one host may share an HTTP/2 connection.
        ///
        /// Default `false`: separate keep-alive connections cost less for small and large files. `true` suits
        /// a host that limits connections.
        public var sharesConnections = false
        /// Whether connections to this machine and to private networks are refused.
        ///
        /// See ``DownloadManager/Configuration/deniesPrivateAddresses``. Default `false`.
        public var deniesPrivateAddresses = false
        /// A folder that stores how many connections each host accepts, shared by all programs that use it.
        ///
        /// A host that rejected further connections gets no more than it accepted for a day, also after a
        /// restart. The folder is created when needed; one that cannot be used is ignored. Default `nil`:
        /// nothing is kept across restarts.
        public var stateFolder: String?

        /// Whether events report states that follow from other events: `probing` and `transferring`,
        /// `publishing`, `finished` and `failed`.
        ///
        /// Default `true`. With thousands of small files these events take a tenth of the work; snapshots
        /// have the state in any case.
        public var tellsEveryState = true

        /// Creates a configuration with all defaults.
        public init() {}
    }

    private let engine: Engine
    let disk: any Disk
    private let board: EventBoard
    private let settingsCache: TransferSettingsCache
    private let sharesConnections: Bool

    /// Starts the threads.
    ///
    /// `onEvent` is called on one of them for every event, in order for each download; it must return
    /// quickly.
    public init(
        _ configuration: Configuration = Configuration(),
        onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) {
        let board = EventBoard(onEvent: onEvent)
        self.board = board
        sharesConnections = configuration.sharesConnections
        settingsCache = TransferSettingsCache(deniesPrivateAddresses: configuration.deniesPrivateAddresses)
        let ports = Ports.system { board.notice($0) }.remembering(in: configuration.stateFolder)
        disk = ports.disk
        engine = Engine(
            ports: ports,
            loops: min(max(1, configuration.threads), 16),
            jobs: configuration.jobs,
            rate: configuration.rateLimit,
            tellsEveryPhase: configuration.tellsEveryState
        ) { board.post($0) }
    }

    /// Pauses running downloads; their bytes are kept.
    deinit {
        board.clear()
        engine.shutDown {}
    }

    /// Adds a download of `source`; nothing runs before ``Download/resume()``.
    ///
    /// Throws ``PawlError`` with code 28 when a URL or an option is invalid.
    public func add(
        _ source: String,
        options: DownloadOptions = DownloadOptions()
    ) throws(PawlError) -> Download {
        try add(source, options: options) { _ in nil }
    }

    /// Downloads small content into memory, off the caller's thread.
    ///
    /// Content of more than `maximumSize` bytes fails with ``PawlError/Code/tooLarge`` as soon as that is
    /// known; no more than that is kept. Retries and redirects work as for files. Options that name a place
    /// on disk are ignored; a checksum is refused.
    public func data(
        from source: String,
        maximumSize: Int = 16 << 20,
        options: DownloadOptions = DownloadOptions()
    ) async throws(PawlError) -> [UInt8] {
        let options = try options.forMemory()
        let memory = MemoryDisk(limit: Int64(maximumSize))
        let download = try add(source, options: options) { _ in memory }
        download.resume()
        _ = try await download.file
        return memory.bytes
    }

    /// Adds a download whose bytes are written to a device or a pipe, in order and over one connection.
    package func add(
        _ source: String,
        options: DownloadOptions,
        to target: StreamTarget
    ) throws(PawlError) -> Download {
        var options = options
        options.connections = 1
        options.existingFile = .rename
        return try add(source, options: options) { StreamDisk(to: target, checksum: $0.checksum?.algorithm) }
    }

    private func add(
        _ source: String,
        options: DownloadOptions,
        ownDisk: (DownloadPlan) -> (any Disk)?
    ) throws(PawlError) -> Download {
        var job: Job
        do throws(Failure) {
            job = try Job(source: source, options: options, settingsCache: settingsCache)
        } catch {
            throw PawlError(error)
        }
        job.disk = ownDisk(job.plan)
        job.sharesConnections = sharesConnections
        let (id, box) = engine.add(job)
        var base = DownloadSnapshot(
            id: Download.ID(rawValue: id.rawValue),
            source: job.plan.sources[0].redacted
        )
        base.taskDescription = options.taskDescription
        let place = FileLocation(
            disk: job.disk ?? disk,
            folder: options.folder,
            sources: job.plan.sources
        )
        let download = Download(base, box: box, owner: StandaloneRun(engine: engine, place: place))
        board.add(download)
        return download
    }

    /// Pauses all downloads and waits until all part files are synced to disk.
    ///
    /// Nothing runs afterwards. Blocks the calling thread; do not call it from an event.
    public func shutDown() {
        let latch = ThreadLatch()
        engine.shutDown { latch.open() }
        latch.pass()
    }

    /// Changes the limit for all downloads together while they run; `nil` removes it.
    public func limit(to bytesPerSecond: Int64?) {
        engine.limit(to: bytesPerSecond)
    }
}

/// Controls one download outside a queue.
final class StandaloneRun: DownloadOwner {
    private let engine: Engine
    private let place: FileLocation

    init(engine: Engine, place: FileLocation) {
        self.engine = engine
        self.place = place
    }

    func resume(_ id: Download.ID) { engine.resume(DownloadID(rawValue: id.rawValue)) }
    func pause(_ id: Download.ID) { engine.pause(DownloadID(rawValue: id.rawValue)) }
    func letGo(_ id: Download.ID) { engine.forget(DownloadID(rawValue: id.rawValue)) }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {
        pause(download.id)
        await download.untilAtRest()
        do throws(Failure) {
            if case .success(let file) = download.outcome {
                if !keepingFile, !file.wasThere { try place.removeFile(file.path) }
            } else if let name = download.readingName {
                try place.removePartial(of: name)
            }
        } catch {
            throw PawlError(error)
        }
    }
}

/// Dispatches engine events to their downloads and to the caller's closure.
final class EventBoard: Sendable {
    private let downloads = Mutex<[UInt64: Download]>([:])
    private let onEvent: @Sendable (DownloadEvent) -> Void

    init(onEvent: @escaping @Sendable (DownloadEvent) -> Void) {
        self.onEvent = onEvent
    }

    func add(_ download: Download) {
        downloads.withLock { $0[download.id.rawValue] = download }
    }

    func clear() {
        let forgotten = downloads.withLock { downloads in
            defer { downloads = [:] }
            return downloads
        }
        // Released outside the lock: the last reference to a download calls the engine.
        _ = forgotten
    }

    /// A notice of the disk that belongs to no single download.
    func notice(_ text: String) {
        onEvent(DownloadEvent(id: Download.ID(rawValue: 0), kind: .notice(DownloadNotice("\(text)"))))
    }

    func post(_ report: EngineEvent) {
        let event = DownloadEvent(report)
        let ended: Result<DownloadedFile, PawlError>? =
            switch event.kind {
            case .finished(let file): .success(file)
            case .failed(let error): .failure(error)
            case .state, .started, .notice, .retry, .added, .changed, .missed: nil
            }
        onEvent(event)
        if case .state(let state) = event.kind, state.isAtRest {
            downloads.withLock { $0[report.id.rawValue] }?.rested()
        }
        guard let ended else { return }
        // The board keeps it alive only until its end.
        let download = downloads.withLock { $0.removeValue(forKey: report.id.rawValue) }
        download?.end(ended)
    }
}
