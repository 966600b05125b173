package import PawlBase
package import PawlCore
import Synchronization

/// An event of a run that concerns the slot it was started in.
///
/// On the loop's thread, before the receivers of events hear of it.
package enum SlotEvent: Hashable, Sendable {
    /// It paused or failed by itself or on command; `released` follows.
    case rests(DownloadID)
    /// It needs only the disk from now on, and cannot be stopped.
    case publishing(DownloadID, loop: Int)
    /// Its loop has released it in this phase, and it may be started again.
    case released(DownloadID, DownloadState, loop: Int)
    /// A host refused a request, perhaps because there are too many.
    case refused(HostNote.Reason)
    /// A host has responded over HTTP/2.
    case sharesConnections
    /// A tenth of a second has passed; not while nothing runs.
    case ticked
}

/// Starts, stops and removes downloads: executes each on one of its loops, and reports events.
///
/// It runs whatever is started: which downloads run, and how many, is its owner's decision.
package final class Engine: Sendable {
    typealias Wake = @Sendable () -> Void

    /// Where a download is.
    enum Run: Hashable, Sendable {
        case atRest
        case running(loop: Int)
        /// Its loop was ordered to stop it in this phase.
        case stopping(loop: Int, as: DownloadState)

        var loop: Int? {
            switch self {
            case .atRest: nil
            case .running(let loop), .stopping(let loop, as: _): loop
            }
        }
    }

    /// The state of one download, accessed under the lock only.
    ///
    /// A class, as it is large and is read a dozen times per file.
    final class Entry {
        var job: Boxed<Job>
        let box: ProgressCell
        var run = Run.atRest

        init(job: Boxed<Job>, box: ProgressCell) {
            self.job = job
            self.box = box
        }

        /// Edits the job for the next run: the present one has it as it was.
        func edit(_ change: (inout Job) -> Void) {
            var job = job.value
            change(&job)
            self.job = Boxed(job)
        }
    }

    struct State {
        var entries: [DownloadID: Entry] = [:]
        var next: UInt64 = 1
        var nextLoop = 0
        var isClosing = false
        var stoppedLoops = 0
        var isWatchingNetwork = false
        var onClosed: [@Sendable () -> Void] = []
    }

    let state: Mutex<State>
    let loops: [Mailbox<Loop.Message>]
    let keepsHostsTogether: Bool
    let ports: Ports
    let onReport: @Sendable (EngineEvent) -> Void
    let onSlot: @Sendable (SlotEvent) -> Void
    private let common: CommonRate
    private let shared: Mutex<Shared?> = Mutex(nil)

    /// Starts `loops` threads.
    ///
    /// The common rate limit is its own unless a shared one is given. `onReport` and `onSlot` are called on
    /// these threads and must return quickly. Without `reportsEveryPhase`, phases that follow from other events
    /// are not reported. With `keepsHostsTogether`, downloads from one host run on one thread: threads have
    /// connections of their own. With `boundsHosts`, a host gets at most what ``HostBounds`` allow its protocol.
    package init(
        ports: Ports, loops count: Int, rate: Int64?, common: CommonRate = CommonRate(), reportsEveryPhase: Bool = true,
        keepsHostsTogether: Bool = false, boundsHosts: Bool = false,
        onSlot: @escaping @Sendable (SlotEvent) -> Void = { _ in },
        onReport: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.ports = ports
        self.onReport = onReport
        self.onSlot = onSlot
        self.common = common
        self.keepsHostsTogether = keepsHostsTogether
        state = Mutex(State())
        loops = (0..<max(1, count)).map { _ in Mailbox() }
        let shared = Shared(
            ports: ports, common: common, reportsEveryPhase: reportsEveryPhase, boundsHosts: boundsHosts,
            onReport: onReport, onSlot: onSlot, onPublishing: { [weak self] id in self?.publishing(id) },
            onReleased: { [weak self] id in self?.released(id) },
            onScarcity: { [loops] in for loop in loops { loop.post(.closeIdle) } },
            digestFinder: ports.digestFinder?(EngineFetcher(engine: self, clock: ports.clock)))
        if let rate { common.change(to: rate, now: ports.clock.now) }
        common.join(self)
        self.shared.withLock { $0 = shared }
        for (index, mailbox) in loops.enumerated() {
            ports.threads.start("pawl-loop-\(index)") { [weak self] in
                Loop(shared: shared, mailbox: mailbox).run()
                self?.loopStopped()
            }
        }
    }

    package func add(_ job: consuming Job) -> (id: DownloadID, box: ProgressCell) {
        let job = Boxed(job)
        let box = ProgressCell()
        let id = state.withLock { state in
            let id = DownloadID(rawValue: state.next)
            state.next += 1
            state.entries[id] = Entry(job: job, box: box)
            return id
        }
        return (id, box)
    }

    /// Drops the engine's record of a download: it accepts no more commands.
    ///
    /// A running one continues to its end.
    package func forget(_ id: DownloadID) { state.withLock { $0.entries[id] = nil } }

    // MARK: limits

    /// The value of the last ``limit(to:)``.
    package var rate: Int64? { common.rate }

    /// Limits the bytes per second of all downloads together.
    package func limit(to rate: Int64?) { common.change(to: rate, now: ports.clock.now) }

    func limitsChanged() { for loop in loops { loop.post(.limits) } }

    /// The budgets of all origins that are in use or reported overload.
    package var budgets: [Origin: HostBudget] { shared.withLock { $0 }?.hosts.budgets ?? [:] }

    /// Limits each host's use by all downloads together.
    package func limit(hosts limits: HostLimits) {
        shared.withLock { $0 }?.hosts.change(to: limits, now: ports.clock.now)
        limitsChanged()
    }

    /// Forgets what was seen of the limits of this host; of all hosts with `nil`.
    package func forgetLimits(ofHost host: String?) {
        shared.withLock { $0 }?.hosts.forget(host: host, now: ports.clock.now)
        ports.hostNotes?.forget(host: host)
    }

    /// Limits the bytes per second of this download.
    package func limit(_ id: DownloadID, to rate: Int64?) {
        let wake = state.withLock { state -> Wake? in
            guard let entry = state.entries[id] else { return nil }
            entry.edit { $0.rateLimit = rate }
            return entry.run.loop.flatMap { loops[$0].put(.limit(id, rate)).wake }
        }
        wake?()
    }

    /// What tells whether more downloads would bring more: the bytes received so far, how many downloads wait for a place
    /// or a descriptor, and whether the common rate limit holds them back.
    package func load(now: Instant) -> (received: Int64, waiting: Int, isHeld: Bool) {
        guard let shared = shared.withLock({ $0 }) else { return (0, 0, false) }
        return (shared.received, shared.waiting, shared.isHeld(now: now))
    }

    // MARK: closing

    /// Pauses all running downloads and ends the loops; `completion` is called when all part files are
    /// closed.
    package func shutDown(completion: @escaping @Sendable () -> Void) {
        let (isFirst, isClosed) = state.withLock { state -> (Bool, Bool) in
            let isClosed = state.stoppedLoops == loops.count
            if !isClosed { state.onClosed.append(completion) }
            defer { state.isClosing = true }
            return (!state.isClosing, isClosed)
        }
        if isClosed { return completion() }
        guard isFirst else { return }
        ports.reachability.stop()
        for loop in loops { loop.post(.stop) }
    }

    private func loopStopped() {
        let completions = state.withLock { state -> [@Sendable () -> Void] in
            state.stoppedLoops += 1
            guard state.stoppedLoops == loops.count else { return [] }
            // No callback is called any more, and a callback may retain the engine.
            for entry in state.entries.values {
                entry.edit { job in
                    job.refresh = nil
                    job.onPublishing = nil
                    job.hooks = nil
                }
            }
            defer { state.onClosed = [] }
            return state.onClosed
        }
        for completion in completions { completion() }
    }
}
