import PawlBase
import PawlCore
package import PawlEngine
import PawlQueue
import Synchronization

/// Runs an engine's downloads in slots: carries out what ``SlotScheduler`` decides, and ``JobRamp`` where the number of slots
/// is not given.
///
/// Decisions are made under a lock. Their actions are carried out after it, by one thread at a time and in the
/// order of the decisions: otherwise a pause could reach the engine before the start that it follows.
package final class DownloadScheduler: Sendable {
    private typealias Decision = (action: SlotScheduler.Action, loop: Int?)

    /// The number of slots as it is found by measuring.
    private struct Adaptation: Sendable {
        var ramp: JobRamp
        /// Of the downloads that have slots.
        var turns: [UInt64: JobRamp.Turn] = [:]

        mutating func begins(_ id: UInt64, now: Instant) { turns[id] = ramp.begins(now: now) }

        mutating func ends(_ id: UInt64, now: Instant) {
            if let turn = turns.removeValue(forKey: id) { ramp.ends(turn, now: now) }
        }
    }

    private struct State: Sendable {
        var slots: SlotScheduler
        var adaptation: Adaptation?
        var mostRunning = 0
        var engine: Engine?
        /// Decided and not carried out.
        var pending: [Decision] = []
        var isCarryingOut = false
    }

    private let state: Mutex<State>
    private let clock: any Clock
    private let adapts: Bool

    /// Starts an engine that runs at most `jobs` downloads at once, or, with `nil`, as many as make it faster, up to
    /// `mostJobs`; see ``Engine`` for the rest.
    package init(
        ports: Ports, loops: Int, jobs: Int?, mostJobs: Int = JobRamp.most, rate: Int64?,
        common: CommonRate = CommonRate(), reportsEveryPhase: Bool = true, keepsHostsTogether: Bool = false,
        onReport: @escaping @Sendable (EngineEvent) -> Void
    ) {
        clock = ports.clock
        adapts = jobs == nil
        let adaptation = jobs == nil ? Adaptation(ramp: JobRamp(most: mostJobs, now: ports.clock.now)) : nil
        let slots = jobs ?? adaptation?.ramp.width ?? JobRamp.start
        state = Mutex(State(slots: SlotScheduler(slots: slots), adaptation: adaptation))
        let engine = Engine(
            ports: ports, loops: loops, rate: rate, common: common, reportsEveryPhase: reportsEveryPhase,
            keepsHostsTogether: keepsHostsTogether, boundsHosts: adapts,
            onSlot: { [weak self] event in self?.hear(event) },
            onReport: onReport)
        state.withLock { $0.engine = engine }
    }

    /// The engine, for limits, inspections and the end; the scheduler starts and stops its downloads.
    package var engine: Engine {
        guard let engine = state.withLock({ $0.engine }) else { preconditionFailure("used while it is made") }
        return engine
    }

    /// How many may run at once now.
    package var slots: Int { state.withLock { $0.slots.slots } }
    /// The most that have run at once.
    package var mostRunning: Int { state.withLock { $0.mostRunning } }

    // MARK: commands of the user

    /// Adds a download that is not to run yet.
    package func add(_ job: consuming Job) -> (id: DownloadID, box: ProgressCell) {
        let added = engine.add(job)
        state.withLock { $0.slots.add(added.id.rawValue) }
        return added
    }

    /// Runs the download as soon as there is a slot; a finished one stays as it is.
    package func resume(_ id: DownloadID) { decide { $0.resume(id.rawValue) } }

    /// Pauses on behalf of the user: it runs again only after `resume`.
    package func pause(_ id: DownloadID) { decide { $0.pause(id.rawValue) } }

    /// Stops the download and forgets it; if it runs, its bytes on disk are removed.
    package func remove(_ id: DownloadID) { decide { $0.remove(id.rawValue) } }

    /// Drops the record of a download when it has ended, or at once when it does not run.
    package func forget(_ id: DownloadID) { decide { $0.forget(id.rawValue) } }

    /// Sets how many run at once, for good; beyond that the newest are preempted and resume when a slot is free.
    package func change(slots: Int) {
        state.withLock { $0.adaptation = nil }
        decide { $0.change(slots: slots) }
    }

    // MARK: events of the engine

    /// The first to start is started on the loop of the event: that one is awake, and the load stays balanced.
    private func hear(_ event: SlotEvent) {
        switch event {
        case .rests(let id): state.withLock { $0.slots.rests(id.rawValue) }
        case .publishing(let id, let loop): decide(near: loop, ending: id) { $0.publishing(id.rawValue) }
        case .released(let id, let phase, let loop):
            decide(near: loop, ending: id) { $0.released(id.rawValue, in: phase) }
        case .refused(let reason):
            if adapts { adapt { ramp, now in ramp.refuses(isOverload: reason.isOverload, now: now) } }
        case .sharesConnections: state.withLock { $0.adaptation?.ramp.sharesConnections() }
        case .ticked: if adapts { measure() }
        }
    }

    /// Looks whether more downloads, or fewer, would be better.
    private func measure() {
        let now = clock.now
        let isDue = state.withLock { $0.adaptation?.ramp.isDue(now: now) ?? false }
        guard isDue else { return }
        let load = engine.load(now: now)
        let running = state.withLock { $0.slots.running }
        let sample = JobRamp.Sample(
            running: running, waiting: load.waiting, received: load.received, isHeld: load.isHeld)
        adapt { ramp, now in ramp.measure(sample, now: now) }
    }

    private func adapt(_ change: (inout JobRamp, Instant) -> Void) {
        let now = clock.now
        let width = state.withLock { state -> Int? in
            guard var ramp = state.adaptation?.ramp else { return nil }
            change(&ramp, now)
            state.adaptation?.ramp = ramp
            return ramp.width == state.slots.slots ? nil : ramp.width
        }
        if let width { decide { $0.drain(to: width) } }
    }

    // MARK: actions

    /// `ending`: a download that may give its slot back by this.
    private func decide(
        near loop: Int? = nil, ending: DownloadID? = nil, _ event: (inout SlotScheduler) -> [SlotScheduler.Action]
    ) {
        let now = adapts ? clock.now : Instant(nanoseconds: 0)
        let isFirst = state.withLock { state -> Bool in
            var near = loop
            let actions = event(&state.slots)
            if let ending { state.adaptation?.ends(ending.rawValue, now: now) }
            for action in actions {
                if case .start(let id) = action {
                    state.pending.append((action, near))
                    near = nil
                    state.adaptation?.begins(id, now: now)
                } else {
                    state.pending.append((action, nil))
                }
            }
            state.mostRunning = max(state.mostRunning, state.slots.running)
            guard !state.isCarryingOut, !state.pending.isEmpty else { return false }
            state.isCarryingOut = true
            return true
        }
        if isFirst { carryOut() }
        if adapts, ending != nil { measure() }
    }

    private func carryOut() {
        var batch: [Decision] = []
        while let engine = next(&batch) { for (action, loop) in batch { perform(action, near: loop, on: engine) } }
    }

    /// Replaces a batch that was carried out by the next one.
    ///
    /// `nil` when there is none, and another thread may carry out what follows.
    private func next(_ batch: inout [Decision]) -> Engine? {
        batch.removeAll(keepingCapacity: true)
        return state.withLock { state in
            // Two lists take turns: no list is made anew.
            swap(&batch, &state.pending)
            if batch.isEmpty { state.isCarryingOut = false }
            return batch.isEmpty ? nil : state.engine
        }
    }

    private func perform(_ action: SlotScheduler.Action, near loop: Int?, on engine: Engine) {
        switch action {
        case .start(let id): engine.start(DownloadID(rawValue: id), near: loop)
        case .pause(let id): engine.pause(DownloadID(rawValue: id))
        case .preempt(let id): engine.preempt(DownloadID(rawValue: id))
        case .remove(let id): engine.remove(DownloadID(rawValue: id))
        case .forget(let id): engine.forget(DownloadID(rawValue: id))
        }
    }
}
