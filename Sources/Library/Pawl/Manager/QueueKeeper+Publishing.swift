#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue

// From the last byte to the final name, and what a kill in between leaves.
extension QueueKeeper {
    /// The name of the stored value with the downloads whose files are being renamed: ids in hexadecimal digits.
    private static let publishingName = "publishing"

    func loadPublishing() throws(Failure) {
        publishing = Set(Self.parsedIDs(try store.value(Self.publishingName) ?? ""))
    }

    /// Records that the file of a download is being renamed, or is no longer: after a kill only such a download is recognized by
    /// its finished file.
    func notePublishing(_ id: QueueID, _ isPublishing: Bool) {
        let isChange = isPublishing ? publishing.insert(id).inserted : publishing.remove(id) != nil
        guard isChange else { return }
        values[Self.publishingName] = publishing.sorted().map(\.text).joined(separator: " ")
    }

    /// A file that does not fit a change is no longer the download's: after a kill it is not recognized as such.
    func forgetOutdatedFile(of id: QueueID) {
        guard publishing.contains(id), let run = runs[id], run.isOutdated else { return }
        // After a kill it is to be downloaded again, when the user resumes it.
        if run.wasPausedTooLate { edit(id) { $0.state = .paused } }
        forgetFile(of: id)
    }

    /// The file of its name is not the download's.
    func forgetFile(of id: QueueID) {
        edit(id) { $0.forgetFile() }
        notePublishing(id, false)
    }

    /// All bytes are on disk: the name and size are written before the file is renamed, so that the file is
    /// identified after a kill in between.
    package func publishing(
        _ id: QueueID, _ publishing: Publishing, _ completion: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        edit(id) { record in
            record.name = publishing.name
            record.written = publishing.length
            record.total = publishing.length
            record.change { stored in
                // The user's new name takes precedence over the server's.
                stored.newName = stored.newName ?? publishing.finalName
                stored.finished = publishing.stamp
            }
            if record.state == .paused {
                runs[id]?.wasPausedTooLate = true
                record.state = .waiting
            }
        }
        runs[id]?.completedSource = publishing.source
        notePublishing(id, true)
        forgetOutdatedFile(of: id)
        completions.append { failure in completion(failure.map { .failure($0) } ?? .success(())) }
    }

    /// The length of the file if the recorded publishing was completed: the final file exists, the part file is gone, and a
    /// kill prevented the update of the record.
    ///
    /// `nil` also when the file may be another download's of the same name.
    func publishedLength(_ record: QueueRecord) throws(Failure) -> Int64? {
        guard publishing.contains(record.id), let claimed = record.name, let total = record.total,
            record.written == total
        else { return nil }
        let stored = StoredOptions(text: record.options)
        let folder = path(of: record)
        guard !ports.disk.holdsPart(of: claimed, in: folder) else { return nil }
        // The kill may have come after the rename to a new name.
        for name in [claimed, stored.newName].compactMap(\.self) {
            guard let found = ports.disk.stamp(of: name, in: folder), found.length == total else { continue }
            if let isIts = stored.finished?.isSameFile(as: found) {
                if isIts { return total }
                continue
            }
            // The file of that name may be an older one; fetching it again, or requesting it, corrects it.
            guard stored.options.existingFile != .overwrite, stored.options.existingFile != .resume else { return nil }
            if ports.disk.wasFinished(name, from: record.sources[0], in: folder) { return total }
            writeNow()
            let isOthers = try store.isName(
                name, in: record.folder, ofOtherThan: record.id, in: [.waiting, .paused, .failed, .finished])
            return isOthers ? nil : total
        }
        return nil
    }

    private func isOwn(_ name: String, _ record: QueueRecord, _ stored: StoredOptions) -> Bool {
        guard let found = ports.disk.stamp(of: name, in: path(of: record)) else { return false }
        return stored.finished?.isSameFile(as: found) ?? true
    }

    /// Records the end of a publishing that a kill interrupted.
    func recognize(_ record: QueueRecord, length: Int64) {
        guard let name = record.name else { return }
        let stored = StoredOptions(text: record.options)
        // Another file may have the first name by now.
        let isRenamed = stored.newName != nil && !isOwn(name, record, stored)
        do throws(Failure) {
            // Removes the leftover journal.
            let facts = JournalFacts(sources: record.sources, name: name)
            let claim = Claim(folder: path(of: record), name: name, ifExists: .skip, facts: facts)
            if !isRenamed { _ = try ports.disk.claim(claim, adopts: { _ in false }) }
            // The kill may have come before the names were synced, and a power cut after the record would lose the file.
            try ports.disk.sync(isRenamed ? stored.newName ?? name : name, in: path(of: record))
        } catch { notify(record.id, .notice(DownloadNotice(LocalizableMessage(error)))) }
        notePublishing(record.id, false)
        let final = isRenamed ? stored.newName ?? name : name
        let stamp = ports.disk.stamp(of: final, in: path(of: record))
        edit(record.id) { $0.change { $0.finished = stamp } }
        var file = DownloadedFile(path: path(of: final, record), length: length)
        // They got their names before it.
        file.others = files(of: record).dropFirst().map { path(of: $0.name, record) }
        end(record.id, .success(file))
    }
}
#endif
