package import PawlCore
import Synchronization

// Commands of the user and the manager for one download. A message to its loop enters the mailbox under the
// lock of the decision: otherwise a pause could precede the start that it follows, and have no effect.
extension Engine {
    /// Runs the download as soon as there is a slot; a finished one stays as it is.
    package func resume(_ id: DownloadID) {
        let orders = state.withLock { state -> [QueueBook.Order] in
            guard !state.isClosing, let entry = state.entries[id], entry.stopsAs != .removed else {
                return []
            }
            switch entry.box.phase {
            // Publishing cannot be stopped, and its slot is free already.
            case .finished, .publishing, .removed: return []
            case .paused, .preempted, .failed:
                guard entry.loop != nil else { break }
                // Its loop has not released it yet; its slot may be in use again.
                entry.startsAgain = true
                return []
            case .waiting, .probing, .transferring, .waitingForNetwork, .verifying:
                if entry.stopsAs != nil { entry.startsAgain = true }
            }
            return state.enqueue(id)
        }
        carryOut(orders)
    }

    /// Pauses on behalf of the user: it runs again only after `resume`.
    package func pause(_ id: DownloadID) { stop(id, as: .paused, .pause(id)) }

    private func stop(_ id: DownloadID, as phase: Phase, _ message: Mailbox.Message) {
        let (box, orders, wake) = state.withLock { state -> (ProgressCell?, [QueueBook.Order], Wake?) in
            // A removal is final.
            guard let entry = state.entries[id], entry.stopsAs != .removed else { return (nil, [], nil) }
            guard let loop = entry.loop else {
                let orders = state.release(id)
                if phase == .removed { state.entries[id] = nil }
                return (entry.box, orders, nil)
            }
            entry.stopsAs = phase
            entry.isYielding = false
            entry.startsAgain = false
            if phase == .removed { entry.isForgotten = true }
            return (nil, [], loops[loop].put(message))
        }
        wake?()
        if let box { tell(id, phase, box) }
        carryOut(orders)
    }

    /// Stops the download and forgets it; if it runs, its bytes on disk are removed.
    ///
    /// Its last event is the phase `removed`, except while it is published: then it ends as finished.
    package func remove(_ id: DownloadID) { stop(id, as: .removed, .remove(id)) }

    /// Reports this phase of a download that no loop runs.
    func tell(_ id: DownloadID, _ phase: Phase, _ box: ProgressCell) {
        switch (box.phase, phase) {
        case (.waiting, _), (.preempted, .paused): break
        case (.paused, .removed), (.preempted, .removed), (.failed, .removed): break
        case (_, _): return
        }
        box.set(phase: phase)
        onReport(EngineEvent(id: id, notice: .phase(phase), name: "", path: "", received: 0, elapsed: .zero))
    }

    /// Replaces its address (A8), whether it runs or not.
    ///
    /// If the content there is not shown to be the one on disk, the download fails and keeps its bytes.
    package func replaceSource(_ id: DownloadID, with address: WebAddress) {
        let wake = state.withLock { state -> Wake? in
            guard let entry = state.entries[id] else { return nil }
            entry.job.plan.sources[0] = address
            entry.job.plan.replacesAddress = true
            // The part file is found by the file's name where the address is unrelated to it.
            if entry.job.fileName == nil { entry.job.fileName = entry.box.reading.name }
            return entry.loop.flatMap { loops[$0].put(.replaceSource(id, address)) }
        }
        wake?()
    }

    /// Calls `answer`, on any thread, with the state of the download's lanes; with `nil` when it does not
    /// run.
    package func look(at id: DownloadID, answer: @escaping @Sendable (Inspection?) -> Void) {
        let (runs, wake) = state.withLock { state -> (Bool, Wake?) in
            guard let loop = state.entries[id]?.loop else { return (false, nil) }
            return (true, loops[loop].put(.look(id, answer)))
        }
        wake?()
        if !runs { answer(nil) }
    }
}
