#if Queue
import PawlBase
import PawlCore
import PawlEngine
import PawlQueue

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

extension DownloadManager {
    /// Why the queue cannot be written at present, in a sentence; `nil` if it can.
    package func queueTrouble() async throws(PawlError) -> String? {
        try await query { $0.writeFailure?.untilWritten.description }
    }
}

extension Failure {
    /// A failed write of the queue, which is tried again every second.
    var untilWritten: Failure {
        var failure = self
        if let awaited { failure.remedy = "\(awaited.remedy): the queue is written as soon as that is possible" }
        return failure
    }

    /// A failed write of the queue, for the caller of a command that needed it.
    func unstored(adding: Bool) -> Failure {
        var failure = self
        failure.remedy =
            switch (adding, awaited) {
            case (true, let awaited?): "nothing was added: \(awaited.remedy), then add it again"
            case (true, nil): "nothing was added: add it again when the queue can be written"
            case (false, let awaited?): "\(awaited.remedy): the command takes effect, and is stored then"
            case (false, nil): "the command takes effect, and is stored when the queue can be written"
            }
        return failure
    }
}
#endif
