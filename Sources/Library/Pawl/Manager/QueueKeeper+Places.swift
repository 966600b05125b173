#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue

// Folders and part files that are not there any more: the disk that they are on may not be mounted.
extension QueueKeeper {
    /// Throws code 15 if the download root is not the folder that it was when the queue was opened: what is added would be
    /// gone with the queue, or on another disk.
    func checkRoot() throws(Failure) { if let failure = obstacleAtRoot { throw failure } }

    private var obstacleAtRoot: Failure? {
        guard let rootStamp else { return nil }
        let now = ports.disk.stamp(ofFolder: root)
        guard now != rootStamp else { return nil }
        var failure = Failure(
            .cannotOpen, "cannot use the download root", at: root,
            because: now == nil
                ? LocalizableMessage("root-not-there", "it is not there any more")
                : LocalizableMessage("root-is-another", "another folder has its path now"),
            remedy: "mount its disk again, or start the program again to use the folder that is there")
        failure.awaited = .folder
        return failure
    }

    /// Why a download has to wait: the root is another one, or it has received bytes and the folder of its part file is not
    /// there, or is another one.
    func obstacle(to record: QueueRecord) -> Failure? {
        if let failure = obstacleAtRoot { return failure }
        guard record.written > 0, let name = record.name, !hasBegunFile(name, record) else { return nil }
        return strayFolder(of: record, "cannot continue")
    }

    /// The failure to `what` with a file that is missing: its folder is not there, or is another one than that in which it
    /// began.
    private func strayFolder(of record: QueueRecord, _ what: String) -> Failure? {
        guard let name = record.name else { return nil }
        let (began, now) = (StoredOptions(text: record.options).place, ports.disk.stamp(ofFolder: path(of: record)))
        guard now == nil || began != nil && began != now else { return nil }
        var failure = Failure(
            .cannotOpen, what,
            at: record.state == .finished ? path(of: name, record) : path(of: FileName.partial(of: name), record),
            because: now == nil
                ? LocalizableMessage("folder-not-there", "the folder is not there")
                : LocalizableMessage("folder-is-another", "its folder is another one than that in which it began"),
            remedy: "mount its disk or put the folder back; or start it over to fetch all again")
        failure.awaited = .folder
        return failure
    }

    /// The same for a file that the user may have removed with its folder: only another folder shows that it may be elsewhere.
    func otherDisk(of record: QueueRecord, _ what: String) -> Failure? {
        guard ports.disk.stamp(ofFolder: path(of: record)) != nil else { return nil }
        return strayFolder(of: record, what)
    }

    /// The folder of a download that has received something, for its record.
    func notePlace(of record: inout QueueRecord) {
        guard let place = ports.disk.stamp(ofFolder: path(of: record)) else { return }
        record.change { $0.place = place }
    }

    /// Where only the part file is gone, because the user removed it or a power cut took it before it was synced, a notice
    /// says that the download begins again.
    func noteLostProgress(of record: QueueRecord) {
        guard record.written > 0, let name = record.name, !hasBegunFile(name, record) else { return }
        let text = LocalizableMessage(
            "progress-gone", "the part file \(FileName.partial(of: name)) is not there any more: starting over")
        notify(record.id, .notice(DownloadNotice(text)))
        edit(record.id) { $0.written = 0 }
    }

    func hasBegunFile(_ name: String, _ record: QueueRecord) -> Bool {
        let folder = path(of: record)
        if ports.disk.holdsPart(of: name, in: folder) { return true }
        // A finished file that is continued has its own name between two runs.
        return StoredOptions(text: record.options).options.existingFile == .resume
            && ports.disk.hasFile(name, in: folder)
    }

    /// The run has kept nothing: it is no progress that is missed later.
    func forgetDiscarded(_ id: QueueID) {
        guard let record = try? record(id), record.written > 0, let name = record.name, !hasBegunFile(name, record),
            let began = StoredOptions(text: record.options).place,
            let now = ports.disk.stamp(ofFolder: path(of: record)), began == now
        else { return }
        edit(id) { $0.written = 0 }
    }
}
#endif
