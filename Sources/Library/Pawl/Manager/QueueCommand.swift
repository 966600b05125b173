#if Queue
import PawlBase
package import PawlQueue

/// A command to the queue, as a value: library, service and simulation give it, ``QueueKeeper/carryOut(_:)`` carries it out.
///
/// ``DownloadManager`` documents the method of each.
package enum QueueCommand: Sendable {
    /// Adds a new download, or resumes the known one of the same URL.
    case add(AddOrder)
    case pause(Download.ID, keepsSlot: Bool = false)
    case pauseAll
    case resume(Download.ID)
    case resumeAll(withFailed: Bool = true)
    case start(Download.ID)
    case startOver(Download.ID)
    case remove(Download.ID, Removal = Removal())
    /// Removes the record of an ended download, but not its file.
    case forget(Download.ID)
    case forgetAll
    case rename(Download.ID, String)
    /// Moves a finished file to another folder.
    case relocate(Download.ID, folder: String)
    /// Moves a download that has not begun to another folder.
    case folder(Download.ID, String)
    /// Without `usesOwnersSecrets` the download no longer uses the secrets of the machine's owner, as a URL from an untrusted
    /// client requires.
    case replaceURL(Download.ID, String, usesOwnersSecrets: Bool = true)
    case options(Download.ID, DownloadOptions)
    case limit(Download.ID, Int64?)
    case move(Download.ID, DownloadManager.Position)
    case priority(Download.ID, Int)
    /// An empty name stands for none.
    case group(Download.ID, String)
    case description(Download.ID, String?)
    case pauseGroup(String)
    case resumeGroup(String)
    case slots(Int)
    /// The limit of all downloads together.
    case totalLimit(Int64?)
    case timetable(String?)
    /// Pauses a download until a time, in seconds since 1970; with `nil` it stays paused.
    case schedule(Download.ID, Int64?)
    /// The folders of new downloads.
    case rules([FolderRule])

    package enum Outcome: Sendable {
        /// Whether there was something to change.
        case changed(Bool)
        /// The new index in the line; `nil` if it does not wait.
        case moved(Int?)
        case added(QueueRecord)

        package var isChange: Bool {
            switch self {
            case .changed(let isChange): isChange
            case .moved(let index): index != nil
            case .added: true
            }
        }
    }
}

extension QueueKeeper {
    /// The machine decides what runs; what a command means for a record is decided here, on the queue's thread.
    func carryOut(_ command: QueueCommand) throws(Failure) -> QueueCommand.Outcome {
        switch command {
        case .add(let order):
            let (record, _) = try addOrResume(order)
            perform(machine.startNext())
            return .added(record)
        case .pause(let id, let keepsSlot):
            let wasScheduled = unschedule(QueueID(id))
            return .changed(apply(.pause(QueueID(id), keepsSlot: keepsSlot)) || wasScheduled)
        case .pauseAll:
            unscheduleAll()
            try pauseAll()
        case .resume(let id):
            unschedule(QueueID(id))
            return .changed(try resume(QueueID(id)))
        case .resumeAll(let withFailed):
            unscheduleAll()
            try resumeAll(withFailed: withFailed)
        case .start(let id):
            unschedule(QueueID(id))
            return .changed(try force(QueueID(id)))
        case .startOver(let id): return .changed(try startOver(QueueID(id)))
        case .remove(let id, let removal):
            unschedule(QueueID(id))
            return .changed(try remove(QueueID(id), removal))
        case .forget(let id): return .changed(try record(QueueID(id)).map { forget($0) } ?? false)
        case .forgetAll: try forgetAll()
        case .rename(let id, let name): return .changed(try rename(QueueID(id), to: name))
        case .relocate(let id, let folder): return .changed(try relocate(QueueID(id), to: folder))
        case .folder(let id, let folder): return .changed(try change(folder: folder, of: QueueID(id)))
        case .replaceURL(let id, let source, let usesOwnersSecrets):
            return .changed(try replace(QueueID(id), with: source, usesOwnersSecrets: usesOwnersSecrets))
        case .options(let id, let options): return .changed(try change(options: options, of: QueueID(id)))
        case .limit(let id, let rate): return .changed(try limit(QueueID(id), to: rate))
        case .move(let id, let position): return .moved(move(QueueID(id), to: position))
        case .priority(let id, let priority): return .changed(try change(priority: priority, of: QueueID(id)))
        case .group(let id, let group): return .changed(try change(group: group, of: QueueID(id)))
        case .description(let id, let text): describe(QueueID(id), text)
        case .pauseGroup(let group): try pause(group: group)
        case .resumeGroup(let group): resume(group: group)
        case .slots(let slots): try change(slots: slots)
        case .totalLimit(let rate): try limit(to: rate)
        case .timetable(let text): try change(timetable: text)
        case .schedule(let id, let time): return .changed(try schedule(QueueID(id), at: time))
        case .rules(let rules): try change(rules: rules)
        }
        return .changed(true)
    }

    /// Returns whether that changes anything.
    func apply(_ command: SlotCommand<QueueID>) -> Bool {
        let actions = machine.apply(command)
        perform(actions)
        return !actions.isEmpty
    }

    private func move(_ id: QueueID, to position: DownloadManager.Position) -> Int? {
        let target: QueueTarget =
            switch position {
            case .index(let index): .index(index)
            case .offset(let offset): .offset(offset)
            case .fromEnd(let offset): .fromEnd(offset)
            }
        let actions = machine.apply(.move(id, target))
        guard !actions.isEmpty else { return nil }
        perform(actions)
        notify(id, .changed)
        // Positions of other downloads may have changed.
        for case .place(let other, _) in actions where other != id { notify(other, .changed) }
        return machine.index(of: id)
    }

    private func pauseAll() throws(Failure) {
        // From the end: no slot is assigned in between, and running downloads stay ahead of waiting ones.
        for entry in try entriesNow().reversed() where entry.state == .waiting {
            _ = apply(.pause(entry.id, keepsSlot: false))
        }
    }

    private func resumeAll(withFailed: Bool) throws(Failure) {
        tryAll()
        for entry in try entriesNow() where entry.state == .paused { _ = try resume(entry.id) }
        guard withFailed else { return }
        let failed = try store.records(
            matching: QueueFilter(states: [.failed]), by: .ended(newestFirst: false), offset: 0, limit: .max)
        for record in failed { _ = try resume(record.id) }
    }

    private func forgetAll() throws(Failure) {
        writeNow()
        let records = try store.records(
            matching: QueueFilter(states: Self.ended), by: .ended(newestFirst: false), offset: 0, limit: .max)
        for record in records { _ = forget(record) }
    }

    private func entriesNow() throws(Failure) -> [QueueEntry] {
        writeNow()
        return try store.entries()
    }

    static let ended: Set<DownloadState> = [.finished, .failed, .removed]

    /// Erases the record of an ended download, which no later event can tell.
    private func forget(_ record: QueueRecord) -> Bool {
        guard Self.ended.contains(record.state), !isLeaving(record.id) else { return false }
        erased.insert(record.id)
        changed[record.id] = nil
        notify(record.id, .changed)
        return true
    }
}
#endif
