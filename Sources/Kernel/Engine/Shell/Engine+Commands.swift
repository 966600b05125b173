package import PawlBase
import PawlCore
import Synchronization

// Commands of the user and the manager for one download. A message to its loop enters the mailbox under the
// lock of the decision: otherwise a pause could precede the start that it follows, and have no effect.
extension Engine {
    /// Starts the download, or continues it, on the loop `near` if given and hosts need not be kept together.
    ///
    /// Only one at rest is started, and none that has finished or while the engine closes.
    package func start(_ id: DownloadID, near: Int? = nil) {
        let (watches, wake) = state.withLock { state -> (Bool, Wake?) in
            guard !state.isClosing, let entry = state.entries[id], entry.run == .atRest, entry.box.phase != .finished
            else { return (false, nil) }
            assert(near.map(loops.indices.contains) ?? true, "there is no such loop")
            let loop = loop(for: entry, near: near, &state)
            entry.run = .running(loop: loop)
            // The monitor costs a thread; downloads from this machine itself do not need it.
            let watches = !state.isWatchingNetwork && entry.job.value.plan.sources.contains { !$0.isLoopback }
            if watches { state.isWatchingNetwork = true }
            return (watches, loops[loop].put(.start(id, entry.job, entry.box)).wake)
        }
        if watches { watchNetwork() }
        wake?()
    }

    private func loop(for entry: Entry, near: Int?, _ state: inout State) -> Int {
        if loops.count == 1 { return 0 }
        if keepsHostsTogether, let host = entry.job.value.plan.sources.first?.host {
            return Int(host.hashValue.magnitude % UInt(loops.count))
        }
        if let near { return near }
        defer { state.nextLoop += 1 }
        return state.nextLoop % loops.count
    }

    /// Pauses on behalf of the user: it runs again only after `start`.
    package func pause(_ id: DownloadID) { stop(id, as: .paused, .pause(id)) }

    /// Stops the download and forgets it; if it runs, its bytes on disk are removed.
    ///
    /// Its last event is the phase `removed`, except while it is published: then it ends as finished.
    package func remove(_ id: DownloadID) { stop(id, as: .removed, .remove(id)) }

    private func stop(_ id: DownloadID, as phase: DownloadState, _ message: Loop.Message) {
        let (box, wake) = state.withLock { state -> (ProgressCell?, Wake?) in
            guard let entry = state.entries[id] else { return (nil, nil) }
            switch entry.run {
            case .atRest:
                if phase == .removed { state.entries[id] = nil }
                return (entry.box, nil)
            // A removal is final.
            case .stopping(_, as: .removed): return (nil, nil)
            case .running(let loop), .stopping(let loop, as: _):
                entry.run = .stopping(loop: loop, as: phase)
                return (nil, loops[loop].put(message).wake)
            }
        }
        wake?()
        if let box { notify(id, phase, box) }
    }

    /// Stops it for another download: it is to be started again without a command of the user.
    package func preempt(_ id: DownloadID) {
        let wake = state.withLock { state -> Wake? in
            guard case .running(let loop) = state.entries[id]?.run else { return nil }
            return loops[loop].put(.preempt(id)).wake
        }
        wake?()
    }

    /// Reports this phase of a download that no loop runs.
    private func notify(_ id: DownloadID, _ phase: DownloadState, _ box: ProgressCell) {
        switch (box.phase, phase) {
        case (.waiting, _), (.preempted, .paused): break
        case (.paused, .removed), (.preempted, .removed), (.failed, .removed): break
        case (_, _): return
        }
        box.set(phase: phase)
        onReport(EngineEvent(id: id, update: .phase(phase), name: "", path: "", received: 0, elapsed: .zero))
    }

    /// Makes the next attempt at once if the download waits for it.
    package func retryNow(_ id: DownloadID) {
        let wake = state.withLock { state in state.entries[id]?.run.loop.flatMap { loops[$0].put(.retryNow(id)).wake } }
        wake?()
    }

    /// Replaces its address (A8), whether it runs or not.
    ///
    /// If the content there is not shown to be the one on disk, the download fails and keeps its bytes.
    package func replaceSource(_ id: DownloadID, with address: WebAddress) {
        let wake = state.withLock { state -> Wake? in
            guard let entry = state.entries[id] else { return nil }
            entry.edit { [name = entry.box.reading.name] job in
                job.plan.sources[0] = address
                job.plan.replacesAddress = true
                // The part file is found by the file's name where the address is unrelated to it.
                job.fileName = job.fileName ?? name
            }
            return entry.run.loop.flatMap { loops[$0].put(.replaceSource(id, address)).wake }
        }
        wake?()
    }

    /// Calls `completion`, on any thread, with the state of the download's lanes; with `nil` when it does not
    /// run.
    package func look(at id: DownloadID, completion: @escaping @Sendable (Inspection?) -> Void) {
        let (runs, wake) = state.withLock { state -> (Bool, Wake?) in
            guard let loop = state.entries[id]?.run.loop else { return (false, nil) }
            return (true, loops[loop].put(.look(id, completion)).wake)
        }
        wake?()
        if !runs { completion(nil) }
    }

    /// Calls `completion`, on any thread, with what the download has on disk of the beginning of `range`; with `nil` when it
    /// does not run.
    ///
    /// Bytes that are missing are fetched before others. `known`: those that the reader has had before.
    package func read(
        _ range: ByteRange, known: ByteRange, of id: DownloadID,
        completion: @escaping @Sendable (PartBytes?) -> Void
    ) {
        let (runs, wake) = state.withLock { state -> (Bool, Wake?) in
            guard let loop = state.entries[id]?.run.loop else { return (false, nil) }
            return (true, loops[loop].put(.read(id, range, known: known, completion)).wake)
        }
        wake?()
        if !runs { completion(nil) }
    }
}

// Events of loops.
extension Engine {
    private func watchNetwork() {
        ports.reachability.start { [loops] online in for loop in loops { loop.post(.network(online)) } }
    }

    /// The download needs only the disk from now on.
    package func publishing(_ id: DownloadID) {
        guard let loop = state.withLock({ $0.entries[id]?.run.loop }) else { return }
        onSlot(.publishing(id, loop: loop))
    }

    /// The loop has released the download.
    func released(_ id: DownloadID) {
        let end = state.withLock { state -> (run: Run, box: ProgressCell, phase: DownloadState)? in
            guard let entry = state.entries[id] else { return nil }
            let run = entry.run
            entry.run = .atRest
            if case .stopping(_, as: .removed) = run { state.entries[id] = nil }
            return (run, entry.box, entry.box.phase)
        }
        guard let end, let loop = end.run.loop else { return }
        // A command for a download already at rest had no runner to carry it out.
        if case .stopping(_, as: let phase) = end.run { notify(id, phase, end.box) }
        onSlot(.released(id, end.phase, loop: loop))
    }
}
