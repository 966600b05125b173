#if Queue
import PawlBase
import PawlEngine
import PawlQueue

// The handles that callers have of downloads, and what these show.
extension QueueKeeper {
    /// The handle of a download, the same for all callers.
    func handle(_ record: QueueRecord) -> Download? {
        if let handle = handles[record.id]?.download { return handle }
        guard let owner else { return nil }
        let handle = Download(DownloadSnapshot(record), owner: owner)
        handles[record.id] = WeakDownload(download: handle)
        show(record)
        if let outcome = outcome(of: record) { handle.end(DownloadEvent.Kind(outcome)) }
        return handle
    }

    /// The outcome of a download that ended before this handle existed.
    private func outcome(of record: QueueRecord) -> Result<DownloadedFile, PawlError>? {
        switch location(record) {
        case .unknown: .failure(.gone(DownloadSnapshot(record).source, because: "it was removed"))
        case .unfinished: record.state == .failed ? DownloadSnapshot(record).error.map { .failure($0) } : nil
        case .finished(let path): .success(finishedOutcome(of: record, at: path))
        case .missing: .failure(PawlError(gone(record, to: "cannot find")))
        }
    }

    private func finishedOutcome(of record: QueueRecord, at path: String) -> DownloadedFile {
        var file = DownloadedFile(
            path: path, length: record.written, received: 0, duration: .zero, wasThere: true,
            verification: StoredOptions(text: record.options).verification)
        file.others = files(of: record).dropFirst().map { self.path(of: $0.name, record) }
        return file
    }

    var allHandles: [Download] { handles.values.compactMap(\.download) }
    /// It is being removed.
    func isLeaving(_ id: QueueID) -> Bool { removals[id] != nil }

    func existingHandle(_ id: QueueID) -> Download? { handles[id]?.download }

    /// The last reference is gone, unless another handle was made since.
    func forgetHandle(_ id: QueueID) { if handles[id]?.download == nil { handles[id] = nil } }

    /// Updates the handle, if there is one.
    func show(_ record: QueueRecord) {
        guard let handle = existingHandle(record.id) else { return }
        let rest = machine.rest(of: record.id)
        let run = runs[record.id]
        var base = DownloadSnapshot(record)
        if let rest, run == nil {
            base.rest(rest, diskWaits.failure(of: record.id))
        } else if let check = checks[record.id] {
            base.note(check)
        }
        base.startAt = schedule.time(of: record.id)?.seconds
        handle.show(base, box: run?.box, leaving: run == nil ? nil : rest)
    }

    /// The current state of a download.
    ///
    /// `parsed`: the options of `record`, if they were parsed already.
    func snapshot(_ found: QueueRecord, _ parsed: StoredOptions? = nil) -> DownloadSnapshot {
        let record = changed[found.id] ?? runs[found.id]?.record ?? found
        let stored: StoredOptions
        if let parsed, found.options == record.options {
            stored = parsed
        } else {
            stored = StoredOptions(text: record.options)
        }
        var snapshot = DownloadSnapshot(record, stored)
        let rest = machine.rest(of: record.id)
        if let run = runs[record.id] {
            snapshot = snapshot.overlaid(with: run.box.reading)
            snapshot.hideFailure()
            if let rest {
                if !snapshot.state.isFinal { snapshot.state = rest }
            } else {
                // One that was paused and resumed before it had stopped is to run again.
                if machine.knows(record.id), [.paused, .preempted].contains(snapshot.state) {
                    snapshot.state = .waiting
                }
                snapshot.hideWait()
            }
        } else if let rest {
            snapshot.rest(rest, diskWaits.failure(of: record.id))
        } else if let check = checks[record.id] {
            snapshot.note(check)
        }
        snapshot.startAt = schedule.time(of: record.id)?.seconds
        snapshot.file = presence(of: record, stored).map { DownloadSnapshot.FileState($0) }
        return snapshot
    }
}

extension DownloadSnapshot {
    /// `wait`: what it waits for; one that is paused meanwhile waits for nothing.
    fileprivate mutating func rest(_ state: DownloadState, _ wait: Failure?) {
        self.state = state
        if state == .waitingForDisk, let wait { error = PawlError(wait) }
    }
}

struct WeakDownload { weak var download: Download? }
#endif
