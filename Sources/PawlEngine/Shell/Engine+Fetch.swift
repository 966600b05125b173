import PawlCore
import Synchronization

extension Engine {
    /// Downloads small content into memory, unnoticed by the engine's owner; `nil` when it fails or the engine
    /// closes.
    func fetch(_ job: Job, limit: Int, before end: Instant, completion: @escaping @Sendable (SidecarResponse?) -> Void)
    {
        let clock = ports.clock
        let memory = MemoryDisk(limit: Int64(limit), isOverdue: { clock.now > end })
        let box = FetchBox()
        var job = job
        job.disk = memory
        job.observer = { [weak self] update, head in
            let hasSucceeded: Bool
            switch update {
            case .started:
                box.state.withLock { $0.head = head }
                return
            case .finished: hasSucceeded = true
            case .failed, .phase(.paused), .phase(.removed): hasSucceeded = false
            case .phase, .notice, .retrying: return
            }
            let before = box.state.withLock { state in
                defer { state.isOver = true }
                return state
            }
            guard !before.isOver else { return }
            if let id = before.id { self?.forget(id) }
            completion(
                hasSucceeded
                    ? SidecarResponse(
                        received: memory.bytes, contentType: before.head?.contentType,
                        coding: before.head?.contentEncoding, limit: limit) : nil)
        }
        let (id, _) = add(job)
        box.state.withLock { $0.id = id }
        start(id)
        // Nothing is started while the engine closes.
        if state.withLock({ $0.isClosing }) { job.observer?(.phase(.paused), nil) }
    }
}

/// The state of one fetch, shared by its notices.
private final class FetchBox: Sendable {
    struct State: Sendable {
        var id: DownloadID?
        var head: ResponseHead?
        var isOver = false
    }

    let state = Mutex(State())
}
