import PawlCore
import Synchronization

/// The effects that an engine works with.
package struct Ports: Sendable {
    package var clock: any Clock
    package var disk: any Disk
    package var reachability: any Reachability
    package var threads: any Threads
    package var transports: any TransportMaker

    package init(
        clock: any Clock,
        disk: any Disk,
        reachability: any Reachability,
        threads: any Threads,
        transports: any TransportMaker
    ) {
        self.clock = clock
        self.disk = disk
        self.reachability = reachability
        self.threads = threads
        self.transports = transports
    }
}

/// Runs downloads: gives each to a loop when it has a slot, and tells what happens.
package final class Engine: Sendable {
    private struct Entry: Sendable {
        var job: Job
        var box: ReadingBox
        /// The loop it runs on, while it does.
        var loop: Int?
        /// Its loop was told to pause it.
        var isPausing = false
        /// It was told to go on when its loop had not let go of it yet.
        var startsAgain = false
        /// Nobody asks for it any more; it goes when it has ended.
        var isForgotten = false

        /// Its loop is done with it.
        mutating func letGo() {
            loop = nil
            isPausing = false
            startsAgain = false
        }
    }

    private struct State: Sendable {
        var scheduler: QueueScheduler<DownloadID>
        var entries: [DownloadID: Entry] = [:]
        var next: UInt64 = 1
        var nextLoop = 0
        var isClosing = false
        var stoppedLoops = 0
        var isWatchingNetwork = false
        var onClosed: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>
    private let loops: [Mailbox]
    private let ports: Ports
    private let onReport: @Sendable (Report) -> Void
    private let shared: Mutex<Shared?> = Mutex(nil)

    /// Starts `loops` threads.
    ///
    /// `onReport` is called on them and must return quickly.
    package init(
        ports: Ports,
        loops count: Int,
        jobs: Int,
        rate: Int64?,
        onReport: @escaping @Sendable (Report) -> Void
    ) {
        self.ports = ports
        self.onReport = onReport
        state = Mutex(State(scheduler: QueueScheduler(slots: jobs)))
        loops = (0..<max(1, count)).map { _ in Mailbox() }
        let shared = Shared(
            ports: ports,
            onReport: onReport,
            onSlotFree: { [weak self] id in self?.slotFreed(id) },
            onSettled: { [weak self] id in self?.settled(id) }
        )
        if let rate { shared.change(rate: rate, now: ports.clock.now) }
        self.shared.withLock { $0 = shared }
        for (index, mailbox) in loops.enumerated() {
            ports.threads.start("pawl-loop-\(index)") { [weak self] in
                Loop(shared: shared, mailbox: mailbox).run()
                self?.loopStopped()
            }
        }
    }

    package func add(_ job: Job) -> (id: DownloadID, box: ReadingBox) {
        let box = ReadingBox()
        let id = state.withLock { state in
            let id = DownloadID(rawValue: state.next)
            state.next += 1
            state.entries[id] = Entry(job: job, box: box)
            return id
        }
        return (id, box)
    }

    /// It may run as soon as there is a slot; one that has finished stays as it is.
    package func resume(_ id: DownloadID) {
        let starts = state.withLock { state -> [QueueOrder<DownloadID>] in
            guard !state.isClosing, let entry = state.entries[id] else { return [] }
            switch entry.box.reading.phase {
            // On its way to its place nothing can stop it, and it has given its slot back already.
            case .finished, .publishing: return []
            case .paused, .preempted, .failed:
                guard entry.loop != nil else { break }
                // Its loop has still to let go of it; its slot may be another's already.
                state.entries[id]?.startsAgain = true
                return []
            case .waiting, .probing, .transferring, .waitingForNetwork, .verifying:
                if entry.isPausing { state.entries[id]?.startsAgain = true }
            }
            return state.scheduler.enqueue(id)
        }
        start(starts)
    }

    package func pause(_ id: DownloadID) {
        let loop = state.withLock { state -> Int? in
            guard let entry = state.entries[id] else { return nil }
            if let loop = entry.loop {
                state.entries[id]?.isPausing = true
                state.entries[id]?.startsAgain = false
                return loop
            }
            _ = state.scheduler.release(id)
            return nil
        }
        if let loop {
            loops[loop].post(.pause(id))
        } else {
            tellPaused(id)
        }
    }

    private func tellPaused(_ id: DownloadID) {
        guard let box = state.withLock({ $0.entries[id]?.box }) else { return }
        switch box.reading.phase {
        case .waiting, .preempted:
            box.set(phase: .paused)
            onReport(
                Report(id: id, telling: .phase(.paused), name: "", path: "", received: 0, elapsed: .zero)
            )
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing, .paused, .finished,
            .failed:
            break
        }
    }

    /// Nobody will ask for it any more.
    ///
    /// One that runs goes on to its end.
    package func forget(_ id: DownloadID) {
        state.withLock { state in
            guard let entry = state.entries[id] else { return }
            if entry.loop == nil, !state.scheduler.isWaiting(id) {
                state.entries[id] = nil
            } else {
                state.entries[id]?.isForgotten = true
            }
        }
    }

    package func limit(to rate: Int64?) {
        shared.withLock { $0 }?.change(rate: rate, now: ports.clock.now)
    }

    /// Pauses everything that runs and ends the loops; `completion` comes when all partials are closed.
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
            defer { state.onClosed = [] }
            return state.onClosed
        }
        for completion in completions { completion() }
    }

    /// The first takes over the slot on the loop `freed`: that one is awake, and each keeps its share.
    private func start(_ orders: [QueueOrder<DownloadID>], freed: Int? = nil) {
        var freed = freed
        for case .start(let id) in orders {
            let found = state.withLock { state -> (Job, ReadingBox, Int)? in
                guard !state.isClosing, let index = state.entries.index(forKey: id) else { return nil }
                let loop = freed ?? state.nextLoop % loops.count
                if freed == nil { state.nextLoop += 1 }
                state.entries.values[index].loop = loop
                let entry = state.entries.values[index]
                return (entry.job, entry.box, loop)
            }
            freed = nil
            guard let (job, box, loop) = found else { continue }
            watchNetwork(for: job)
            loops[loop].post(.start(id, job, box))
        }
    }

    /// The monitor costs a thread; downloads from this machine itself do not need it.
    private func watchNetwork(for job: Job) {
        guard job.plan.sources.contains(where: { !$0.isLoopback }) else { return }
        let isFirst = state.withLock { state -> Bool in
            defer { state.isWatchingNetwork = true }
            return !state.isWatchingNetwork
        }
        guard isFirst else { return }
        ports.reachability.start { [loops] online in
            for loop in loops { loop.post(.network(online)) }
        }
    }

    /// Only the disk is still at work for this one.
    private func slotFreed(_ id: DownloadID) {
        let (starts, loop) = state.withLock { ($0.scheduler.release(id), $0.entries[id]?.loop) }
        start(starts, freed: loop)
    }

    /// The loop has let go of the download: its slot is free.
    private func settled(_ id: DownloadID) {
        let (starts, loop) = state.withLock { state -> ([QueueOrder<DownloadID>], Int?) in
            let starts = state.scheduler.release(id)
            guard let index = state.entries.index(forKey: id) else { return (starts, nil) }
            let entry = state.entries.values[index]
            state.entries.values[index].letGo()
            let isAgain = entry.startsAgain && entry.box.reading.phase != .finished && !state.isClosing
            if entry.isForgotten, !isAgain { state.entries[id] = nil }
            return (isAgain ? starts + state.scheduler.enqueue(id) : starts, entry.loop)
        }
        start(starts, freed: loop)
    }
}
