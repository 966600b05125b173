#if Queue
import PawlBase
import PawlCore
import PawlEngine
import Synchronization

extension DownloadManager: BodyOwner {
    /// The bytes of `source` as they arrive, outside the queue and without a file.
    ///
    /// As ``Downloader/body(of:options:hooks:)``, with the manager's hooks, limits and rate. The iteration throws
    /// ``PawlError/Code/unfinished`` when the manager is shut down.
    public func body(
        of source: String, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> DownloadBody { try DownloadBody(of: source, options ?? self.options, hooks, by: self) }

    /// Continues a stream after the bytes that were delivered, see ``Downloader/body(resuming:of:options:hooks:)``.
    public func body(
        resuming position: DownloadBody.Position, of source: String? = nil,
        options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> DownloadBody {
        try DownloadBody(resuming: position, of: source, options ?? self.options, hooks, by: self)
    }

    func addBody(
        of source: String, into body: BodySink, _ options: DownloadOptions, _ hooks: DownloadHooks?
    ) throws(PawlError) -> (Download, stop: @Sendable () -> Void) {
        let job = try passingJob(source, options, to: body.destination)
        body.request(job.plan.streamAlgorithms)
        let owner = StreamRun(job, hooks, thread)
        let base = DownloadSnapshot(id: Download.ID(rawValue: 0), source: job.plan.sources[0].redacted)
        let download = Download(base, owner: owner)
        owner.download.withLock { $0 = StreamHandle(download) }
        return (download, { owner.stop() })
    }
}

private struct StreamHandle: Sendable {
    weak let download: Download?
    init(_ download: Download) { self.download = download }
}

/// A stream that the manager's thread starts when it is iterated.
private final class StreamRun: DownloadOwner {
    let job: Job
    let download = Mutex<StreamHandle?>(nil)
    private let hooks: DownloadHooks?
    private let thread: WorkMailbox<QueueKeeper>
    private let fetch = MemoryFetch()

    init(_ job: Job, _ hooks: DownloadHooks?, _ thread: WorkMailbox<QueueKeeper>) {
        self.job = job
        self.hooks = hooks
        self.thread = thread
    }

    package func resume(_ id: Download.ID) {
        guard let download = download.withLock({ $0?.download }) else { return }
        let base = download.snapshot
        let isHeard = thread.post { [fetch, job, hooks] keeper in
            keeper.run(fetch, job, hooks) { progress in
                download.show(base, box: progress, leaving: nil)
            } _: { result in
                download.end(DownloadEvent.Kind(result))
            }
        }
        if !isHeard { download.end(.failed(PawlError(.closed))) }
    }

    func stop() { thread.post { [fetch] in $0.cancel(fetch) } }

    func pause(_ id: Download.ID) { stop() }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) { stop() }

    func letGo(_ id: Download.ID) {}
}
#endif
