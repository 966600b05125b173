import PawlBase
import PawlCore
import PawlJournal
import Synchronization

/// Fetches small content as long as the engine is there.
struct EngineFetcher: ContentFetching {
    weak let engine: Engine?
    let clock: any Clock

    func fetch(
        _ address: WebAddress, on terms: FetchTerms, limit: Int, before end: Instant,
        completion: @escaping @Sendable (FetchedContent?) -> Void
    ) {
        guard let engine else { return completion(nil) }
        var plan = DownloadPlan(sources: [address])
        plan.retry = RetryPolicy(retries: 1, longestRetryAfter: .seconds(5))
        plan.timeout = min(terms.timeout, Self.longestTimeout)
        plan.lowestSpeed = Self.lowestSpeed
        plan.maximumRedirects = Self.mostRedirects
        plan.allowsDowngrade = terms.allowsDowngrade
        plan.staysOnHost = true
        var job = Job(plan: plan, settings: terms.settings, folder: "")
        job.trustsRedirects = terms.trustsRedirects
        job.sharesConnections = terms.sharesConnections
        engine.fetch(job, limit: limit, before: end, completion: completion)
    }

    /// The longest wait for a byte.
    private static let longestTimeout = Interval.seconds(10)
    /// A response that is slower for ten seconds is given up: it may never end.
    private static let lowestSpeed: Int64 = 16 << 10
    private static let mostRedirects = 5
}

extension Engine {
    /// Calls `completion` with `nil` when the download fails or the engine closes.
    fileprivate func fetch(
        _ job: Job, limit: Int, before end: Instant, completion: @escaping @Sendable (FetchedContent?) -> Void
    ) {
        let clock = ports.clock
        let memory = MemorySink(limit: Int64(limit), isOverdue: { clock.now > end })
        let box = FetchBox()
        var job = job
        job.deliver(to: memory.destination)
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
                    ? FetchedContent(
                        bytes: memory.bytes, contentType: before.head?.contentType,
                        coding: before.head?.contentEncoding) : nil)
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
