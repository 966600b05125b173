import PawlCore
import PawlEngine

// New downloads that cannot be stored are not added: their callers get the failure, and nothing of them runs later.
extension QueueKeeper {
    /// How many downloads were added since the queue was last written.
    var freshCount: Int { fresh.values.reduce(0) { $0 + $1.count } }

    /// Takes back what was added since the queue was last written.
    func withdrawFresh() {
        let ids = fresh.values.flatMap { $0 }
        fresh = [:]
        for id in ids { withdraw(id) }
    }

    /// Its run was never started: that waits for the write as well.
    private func withdraw(_ id: QueueID) {
        let actions = machine.remove(id)
        _ = machine.stopped(id)
        checks.removeValue(forKey: id)?.cancel()
        if let run = runs.removeValue(forKey: id) {
            held.removeAll { $0 == run.engineID }
            ids[run.engineID] = nil
            engine.forget(run.engineID)
        }
        starts.end(id)
        diskWaits.remove(id)
        hindered.removeAll { $0.0 == id }
        changed[id] = nil
        // A write that reported its failure may have been carried out.
        erased.insert(id)
        forgetPieces(of: id)
        events.removeAll { $0.id.rawValue == id.rawValue }
        broadcaster.dispatcher.forget(Download.ID(rawValue: id.rawValue))
        let stopped: Set<QueueMachine.Action> = [.stop(id), .clean(id)]
        perform(actions.filter { !stopped.contains($0) })
    }
}

extension Failure {
    /// A failed write of the queue, for the caller of a command that needed it.
    func unstored(adding: Bool) -> Failure {
        var failure = self
        failure.remedy =
            switch (adding, code == .diskFull) {
            case (true, true): "nothing was added: free some space, then add it again"
            case (true, false): "nothing was added: add it again when the queue can be written"
            case (false, true): "free some space: the command takes effect, and is stored then"
            case (false, false): "the command takes effect, and is stored when the queue can be written"
            }
        return failure
    }
}
