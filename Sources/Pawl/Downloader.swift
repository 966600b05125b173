import PawlCore
import PawlCurl
import PawlDisk
import PawlEngine
import PawlReach
import Synchronization

/// Downloads files: one or many, over HTTP(S), FTP and SFTP, and continues what an earlier run began.
///
/// ```swift
/// let downloader = Downloader { event in print(event) }
/// let download = try downloader.add("https://example.org/file.iso")
/// download.resume()
/// print(try await download.file().path)
/// ```
public final class Downloader: Sendable {
    /// What all downloads of one downloader share.
    public struct Configuration: Sendable {
        /// Downloads that run at once; the rest wait in order.
        ///
        /// Default 3.
        public var jobs = 3
        /// Bytes per second of all downloads together, `nil` (default) for none.
        public var rateLimit: Int64?
        /// Threads that move bytes: 1…16.
        ///
        /// Default 1, which fills a fast line; more help many small files on more cores.
        public var threads = 1

        /// Every default.
        public init() {}
    }

    private let engine: Engine
    private let board: Board
    private let cabinet = SettingsCabinet()

    /// Starts the threads.
    ///
    /// `onEvent` is called on one of them for every event, in order for each download; it must return quickly.
    public init(
        _ configuration: Configuration = Configuration(),
        onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) {
        let board = Board(onEvent: onEvent)
        self.board = board
        let clock = SystemClock()
        let ports = Ports(
            clock: clock,
            disk: FileDisk { board.notice($0) },
            reachability: SystemReachability(),
            threads: SystemThreads(),
            transports: CurlTransports(clock: clock)
        )
        engine = Engine(
            ports: ports,
            loops: min(max(1, configuration.threads), 16),
            jobs: configuration.jobs,
            rate: configuration.rateLimit
        ) { board.post($0) }
    }

    /// Adds a download of `source`; nothing runs before ``Download/resume()``.
    ///
    /// Throws ``PawlError`` with code 28 when an address or an option cannot be understood.
    public func add(
        _ source: String,
        options: DownloadOptions = DownloadOptions()
    ) throws(PawlError) -> Download {
        let job: Job
        do throws(Failure) { job = try Job(source: source, options: options, cabinet: cabinet) } catch {
            throw PawlError(error)
        }
        let (id, box) = engine.add(job)
        let download = Download(
            id: Download.ID(rawValue: id.rawValue),
            source: job.plan.sources[0].redacted,
            taskDescription: options.taskDescription,
            engine: engine,
            box: box
        )
        board.add(download)
        return download
    }

    /// Pauses everything and waits until all partials are safely on disk.
    ///
    /// Afterwards nothing runs any more. Blocks the calling thread; do not call it from an event.
    public func shutDown() {
        let gate = Gate()
        engine.shutDown { gate.open() }
        gate.pass()
    }

    /// Changes the limit of all downloads together while they run; `nil` takes it away.
    public func limit(to bytesPerSecond: Int64?) {
        engine.limit(to: bytesPerSecond)
    }
}

/// Hands reports to the downloads they are about and to the person who listens.
final class Board: Sendable {
    private let downloads = Mutex<[UInt64: Download]>([:])
    private let onEvent: @Sendable (DownloadEvent) -> Void

    init(onEvent: @escaping @Sendable (DownloadEvent) -> Void) {
        self.onEvent = onEvent
    }

    func add(_ download: Download) {
        downloads.withLock { $0[download.id.rawValue] = download }
    }

    /// The disk has something to say that belongs to no single download.
    func notice(_ text: String) {
        onEvent(DownloadEvent(id: Download.ID(rawValue: 0), kind: .notice(text)))
    }

    func post(_ report: Report) {
        let event = DownloadEvent(report)
        let ended: Result<DownloadedFile, PawlError>? =
            switch event.kind {
            case .finished(let file): .success(file)
            case .failed(let error): .failure(error)
            case .state, .started, .notice, .retry: nil
            }
        onEvent(event)
        guard let ended else { return }
        // Kept alive by the board only until its end.
        let download = downloads.withLock { $0.removeValue(forKey: report.id.rawValue) }
        download?.end(ended)
    }
}
