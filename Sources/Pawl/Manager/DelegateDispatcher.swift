import PawlCore
import PawlEngine
import Synchronization

/// Calls the delegate and the closures, on a thread of their own: theirs may take as long as they like.
final class DelegateDispatcher: Sendable {
    typealias Completion = @Sendable (Result<DownloadedFile, PawlError>) -> Void

    private let thread = WorkThread<DispatcherThread>()
    /// What was written and is not told yet.
    private let written = Mutex<[Download.ID: (Int64, Int64?)]>([:])
    private let hasDelegate: Bool

    init(_ delegate: (any DownloadDelegate)?, threads: any Threads) {
        hasDelegate = delegate != nil
        threads.start("pawl-delegate") { [thread] in thread.run(DispatcherThread(delegate)) }
    }

    /// This closure hears of the download's end, and the delegate nothing.
    func expect(_ id: Download.ID, _ completion: @escaping Completion) {
        thread.post { $0.completions[id] = completion }
    }

    /// Makes what the engine reads of a download heard.
    func follow(_ id: Download.ID, _ box: ProgressCell) {
        guard hasDelegate else { return }
        box.watch { [weak self] reading in
            guard reading.written > 0 else { return }
            self?.wrote(id, reading.written, reading.total)
        }
    }

    private func wrote(_ id: Download.ID, _ count: Int64, _ total: Int64?) {
        guard written.withLock({ $0.updateValue((count, total), forKey: id) }) == nil else { return }
        thread.post { [weak self] desk in
            guard let (count, total) = self?.written.withLock({ $0.removeValue(forKey: id) }) else { return }
            desk.wrote(id, count, total)
        }
    }

    func started(_ id: Download.ID, _ total: Int64?, _ offset: Int64, _ response: DownloadResponse?) {
        thread.post { $0.started(id, total, offset, response) }
    }

    /// Does something on the delegate's thread, after all that was told before.
    func perform(_ work: @escaping @Sendable () -> Void) { thread.post { _ in work() } }

    func ended(_ id: Download.ID, _ result: Result<DownloadedFile, PawlError>, _ response: DownloadResponse?)
    {
        thread.post { $0.ended(id, result, response) }
    }

    /// It was taken out: who waits for its end has it.
    func removed(_ id: Download.ID, _ error: PawlError) { thread.post { $0.removed(id, error) } }

    func close() { thread.post { $0.hasEnded = true } }
}

/// What only the delegate's thread touches.
private final class DispatcherThread: ThreadBound {
    private let delegate: (any DownloadDelegate)?
    private var last: [Download.ID: Int64] = [:]
    var completions: [Download.ID: DelegateDispatcher.Completion] = [:]
    var hasEnded = false

    init(_ delegate: (any DownloadDelegate)?) { self.delegate = delegate }

    var patience: Interval? { nil }
    func settle() {}

    func started(_ id: Download.ID, _ total: Int64?, _ offset: Int64, _ response: DownloadResponse?) {
        guard completions[id] == nil else { return }
        delegate?.download(id, didStart: total, at: offset, response: response)
    }

    func wrote(_ id: Download.ID, _ count: Int64, _ total: Int64?) {
        guard completions[id] == nil, last[id] != count else { return }
        last[id] = count
        delegate?.download(id, didWrite: count, of: total)
    }

    func removed(_ id: Download.ID, _ error: PawlError) {
        last[id] = nil
        completions.removeValue(forKey: id)?(.failure(error))
    }

    func ended(_ id: Download.ID, _ result: Result<DownloadedFile, PawlError>, _ response: DownloadResponse?)
    {
        last[id] = nil
        if let completion = completions.removeValue(forKey: id) { return completion(result) }
        switch result {
        case .success(let file):
            delegate?.download(id, didFinish: file.path, response: response)
            delegate?.download(id, didComplete: nil)
        case .failure(let error): delegate?.download(id, didComplete: error)
        }
    }
}
