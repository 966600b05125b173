#if Queue
import PawlBase
import PawlEngine
import Synchronization

/// Calls the delegate and completion closures, on a dedicated thread: they may block.
final class DelegateDispatcher: Sendable {
    typealias Completion = @Sendable (Result<DownloadedFile, PawlError>) -> Void

    struct Progress: Sendable {
        var written: Int64
        var total: Int64?
        var segments: DownloadSnapshot.Segments?
    }

    private let thread = WorkMailbox<DispatcherThread>()
    /// Written bytes, not yet reported.
    private let written = Mutex<[Download.ID: Progress]>([:])
    private let hasDelegate: Bool

    init(_ delegate: (any DownloadDelegate)?, ports: Ports) {
        hasDelegate = delegate != nil
        ports.threads.start("pawl-delegate") { [thread] in
            thread.run(DispatcherThread(delegate), at: ports.pollers.makePoller())
        }
    }

    /// Reports the download's end to this closure instead of the delegate.
    func expect(_ id: Download.ID, _ completion: @escaping Completion) {
        thread.post { $0.completions[id] = completion }
    }

    /// The download was not added.
    func forget(_ id: Download.ID) { thread.post { $0.completions[id] = nil } }

    /// Reports the engine's progress samples of a download.
    func follow(_ id: Download.ID, _ box: ProgressCell) {
        guard hasDelegate else { return }
        box.watch { [weak self] reading in
            guard reading.written > 0 else { return }
            let segments = reading.parts.map { DownloadSnapshot.Segments(done: $0.done, total: $0.total) }
            self?.wrote(id, Progress(written: reading.written, total: reading.total, segments: segments))
        }
    }

    private func wrote(_ id: Download.ID, _ progress: Progress) {
        guard written.withLock({ $0.updateValue(progress, forKey: id) }) == nil else { return }
        thread.post { [weak self] desk in
            guard let progress = self?.written.withLock({ $0.removeValue(forKey: id) }) else { return }
            desk.wrote(id, progress)
        }
    }

    func started(_ id: Download.ID, _ total: Int64?, _ offset: Int64, _ response: DownloadResponse?) {
        thread.post { $0.started(id, total, offset, response) }
    }

    func collected(_ id: Download.ID, _ metrics: [TransferMetrics]) { thread.post { $0.collected(id, metrics) } }

    func waitsForNetwork(_ id: Download.ID) { thread.post { $0.waitsForNetwork(id) } }

    /// Runs `work` on the delegate's thread, after all earlier calls.
    func perform(_ work: @escaping @Sendable () -> Void) { thread.post { _ in work() } }

    func ended(_ id: Download.ID, _ result: Result<DownloadedFile, PawlError>, _ response: DownloadResponse?) {
        thread.post { $0.ended(id, result, response) }
    }

    /// It was removed: reports that to a waiting closure.
    func removed(_ id: Download.ID, _ error: PawlError) { thread.post { $0.removed(id, error) } }

    func close() { thread.post { $0.hasEnded = true } }
}

/// State confined to the delegate's thread.
private final class DispatcherThread: ThreadBound {
    private let delegate: (any DownloadDelegate)?
    private var last: [Download.ID: Int64] = [:]
    var completions: [Download.ID: DelegateDispatcher.Completion] = [:]
    var hasEnded = false

    init(_ delegate: (any DownloadDelegate)?) { self.delegate = delegate }

    var deadline: Instant? { nil }
    func settle() {}

    func started(_ id: Download.ID, _ total: Int64?, _ offset: Int64, _ response: DownloadResponse?) {
        guard completions[id] == nil else { return }
        delegate?.download(id, didStart: total, at: offset, response: response)
    }

    func wrote(_ id: Download.ID, _ progress: DelegateDispatcher.Progress) {
        guard completions[id] == nil, last[id] != progress.written else { return }
        last[id] = progress.written
        // What they are told of the segments holds for the bytes that follow.
        if let segments = progress.segments {
            (delegate as? any SessionEventReceiver)?.download(id, didLoad: segments)
        }
        delegate?.download(id, didWrite: progress.written, of: progress.total)
    }

    func collected(_ id: Download.ID, _ metrics: [TransferMetrics]) {
        (delegate as? any SessionEventReceiver)?.download(id, didCollect: metrics)
    }

    func waitsForNetwork(_ id: Download.ID) { (delegate as? any SessionEventReceiver)?.downloadIsWaitingForNetwork(id) }

    func removed(_ id: Download.ID, _ error: PawlError) {
        last[id] = nil
        completions.removeValue(forKey: id)?(.failure(error))
    }

    func ended(_ id: Download.ID, _ result: Result<DownloadedFile, PawlError>, _ response: DownloadResponse?) {
        last[id] = nil
        if let completion = completions.removeValue(forKey: id) { return completion(result) }
        switch result {
        case .success(let file):
            if !file.others.isEmpty { (delegate as? any SessionEventReceiver)?.download(id, hasFurther: file.others) }
            delegate?.download(id, didFinish: file.path, response: response)
            delegate?.download(id, didComplete: nil)
        case .failure(let error): delegate?.download(id, didComplete: error)
        }
    }
}
#endif
