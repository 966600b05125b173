#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue

// How a queue is restored and closed.
extension QueueKeeper {
    /// Restores the state of an earlier run.
    func load(_ configuration: DownloadManager.Configuration) throws(Failure) {
        rootStamp = ports.disk.stamp(ofFolder: root)
        try restoreLimits(configuration)
        if !configuration.resumesAtStart { try store.apply([.pauseWaiting]) }
        pausedGroups = Set((try store.value("paused groups") ?? "").split(separator: "\n").map { Bytewise(String($0)) })
        for group in pausedGroups { perform(machine.apply(.pauseGroup(GroupID(group.wrappedValue)))) }
        try loadPublishing()
        let suspects = try loadStarts()
        for entry in try store.entries() {
            machine.admit(
                entry.id, at: QueuePosition(priority: entry.priority, position: entry.position),
                group: entry.group.isEmpty ? nil : GroupID(entry.group),
                isPaused: entry.state == .paused || configuration.holdsAtStart || suspects.contains(entry.id))
        }
        for id in suspects { setAside(id) }
        try loadRules()
        try resumeRenaming()
        try resumeMove()
        try resumeRemovals()
        writtenHolders = Self.parsedIDs(try store.value(Self.holdersName) ?? "")
        perform(machine.resume(writtenHolders))
        perform(machine.startNext())
        // Behind those that ran.
        try loadSchedule()
        tellFacts()
    }

    /// The name of the stored value of the slot holders: ids in hexadecimal digits, the oldest first.
    static let holdersName = "running"

    /// The ids of a stored list; invalid ones are ignored.
    static func parsedIDs(_ text: String) -> [QueueID] {
        text.split(separator: " ").compactMap { word in
            UInt64(word, radix: 16).flatMap { $0 == 0 ? nil : QueueID(rawValue: $0) }
        }
    }

    /// The slot holders are written together with the change that affected them.
    func noteHolders() {
        let holders = machine.holders
        guard holders != writtenHolders else { return }
        writtenHolders = holders
        values[Self.holdersName] = holders.map(\.text).joined(separator: " ")
    }

    /// Stops all downloads cleanly; `completion` is called when the store is closed.
    func shutDown(_ completion: @escaping @Sendable () -> Void) {
        closing.append(completion)
        guard closing.count == 1 else { return }
        machine.close()
        for check in checks.values { check.cancel() }
        for (id, run) in runs {
            guard let stream = run.stream else { continue }
            if held.contains(run.engineID) { leave(id) } else { stream.stop() }
        }
        engine.shutDown { [weak thread] in thread?.post { $0.isStopped = true } }
    }

    func endWhenClosed() {
        // What a stream has is on disk when its thread has ended.
        guard isStopped, !hasEnded, !runs.values.contains(where: { $0.stream != nil }) else { return }
        hasEnded = true
        store.close()
        for handle in allHandles { handle.close(because: "its manager was shut down") }
        broadcaster.close()
    }

    /// Not before: what is posted after a completion would run with a closed store and engine, and wait for ever.
    func end() {
        let completions = closing
        closing = []
        for completion in completions { completion() }
    }
}
#endif
