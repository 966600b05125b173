package import PawlCore
import Synchronization

// What the person and the manager want of one download. What a loop is told of it is put in its mailbox under the lock
// under which that was decided: otherwise a pause could come before the start that it follows, and mean nothing.
extension Engine {
    /// It may run as soon as there is a slot; one that has finished stays as it is.
    package func resume(_ id: DownloadID) {
        let orders = state.withLock { state -> [QueueBook.Order] in
            guard !state.isClosing, let entry = state.entries[id], entry.stopsAs != .removed else {
                return []
            }
            switch entry.box.phase {
            // On its way to its place nothing can stop it, and it has given its slot back already.
            case .finished, .publishing, .removed: return []
            case .paused, .preempted, .failed:
                guard entry.loop != nil else { break }
                // Its loop has still to let go of it; its slot may be another's already.
                entry.startsAgain = true
                return []
            case .waiting, .probing, .transferring, .waitingForNetwork, .verifying:
                if entry.stopsAs != nil { entry.startsAgain = true }
            }
            return state.enqueue(id)
        }
        carryOut(orders)
    }

    /// The person's pause: it runs again when it is resumed, not before.
    package func pause(_ id: DownloadID) { stop(id, as: .paused, .pause(id)) }

    private func stop(_ id: DownloadID, as phase: Phase, _ message: Mailbox.Message) {
        let (box, orders, wake) = state.withLock { state -> (ProgressCell?, [QueueBook.Order], Wake?) in
            // Nothing takes a removal back.
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

    /// It stops and is not known any more; if it runs, what it has on disk goes.
    ///
    /// Its last report is the phase `removed`, but for one that is on its way to its final place: that ends as finished.
    package func remove(_ id: DownloadID) { stop(id, as: .removed, .remove(id)) }

    /// A download that no loop knows is in this phase from now on.
    func tell(_ id: DownloadID, _ phase: Phase, _ box: ProgressCell) {
        switch (box.phase, phase) {
        case (.waiting, _), (.preempted, .paused): break
        case (.paused, .removed), (.preempted, .removed), (.failed, .removed): break
        case (_, _): return
        }
        box.set(phase: phase)
        onReport(EngineEvent(id: id, notice: .phase(phase), name: "", path: "", received: 0, elapsed: .zero))
    }

    /// Its content is at another address from now on (A8), whether it runs or not.
    ///
    /// If the content there is not shown to be the one on disk, the download fails and keeps its bytes.
    package func replaceSource(_ id: DownloadID, with address: WebAddress) {
        let wake = state.withLock { state -> Wake? in
            guard let entry = state.entries[id] else { return nil }
            entry.job.plan.sources[0] = address
            entry.job.plan.replacesAddress = true
            // The bytes are found by the file's name where the address has nothing to do with them.
            if entry.job.fileName == nil { entry.job.fileName = entry.box.reading.name }
            return entry.loop.flatMap { loops[$0].put(.replaceSource(id, address)) }
        }
        wake?()
    }

    /// Calls `answer`, on some thread, with how the download's lanes stand; with `nil` when it does not run.
    package func look(at id: DownloadID, answer: @escaping @Sendable (Inspection?) -> Void) {
        let (runs, wake) = state.withLock { state -> (Bool, Wake?) in
            guard let loop = state.entries[id]?.loop else { return (false, nil) }
            return (true, loops[loop].put(.look(id, answer)))
        }
        wake?()
        if !runs { answer(nil) }
    }
}
