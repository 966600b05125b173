#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue

/// The options of a removal.
package struct Removal: Hashable, Sendable {
    /// Its file has its final name.
    var isFinished = false
    var keepsFile = false
    var keepsHistory = false
    /// Part file and journal stay for a later download.
    package var keepsPartial = false

    package init(keepsFile: Bool = false, keepsHistory: Bool = false, keepsPartial: Bool = false) {
        self.keepsFile = keepsFile
        self.keepsHistory = keepsHistory
        self.keepsPartial = keepsPartial
    }

    /// One letter per option, as stored until the removal is complete; an earlier version had three.
    init?(text: some StringProtocol) {
        let letters = Array(text)
        guard letters.count >= 3 else { return nil }
        isFinished = letters[0] == "f"
        keepsFile = letters[1] == "k"
        keepsHistory = letters[2] == "h"
        keepsPartial = letters.count > 3 && letters[3] == "p"
    }

    var text: String {
        (isFinished ? "f" : "u") + (keepsFile ? "k" : "d") + (keepsHistory ? "h" : "e") + (keepsPartial ? "p" : "")
    }
}

// Removes downloads: the removal is written first, then the files are deleted, then the record.
extension QueueKeeper {
    private static let removalsName = "removing"

    /// Begins a removal; `false` when there is no such download.
    ///
    /// When it is complete, the functions in `removalCompletions` are called.
    func remove(_ id: QueueID, _ removal: Removal) throws(Failure) -> Bool {
        guard let record = try record(id), record.state != .removed || isLeaving(id) else { return false }
        edit(id) { record in
            record.state = .removed
            record.endedAt = ports.clock.wallTime
        }
        var removal = removal
        removal.isFinished = record.state == .finished
        guard removals.updateValue(removal, forKey: id) == nil else { return true }
        writeRemovals()
        perform(machine.remove(id))
        return true
    }

    /// Its file got its final name during the removal.
    func finishRemoved(_ id: QueueID, wasThere: Bool) {
        removals[id]?.isFinished = true
        edit(id) { $0.change { $0.wasThere = wasThere } }
        writeRemovals()
    }

    /// Continues removals that an earlier run did not complete.
    func resumeRemovals() throws(Failure) {
        guard let text = try store.value(Self.removalsName) else { return }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let value = UInt64(parts[0], radix: 16), let removal = Removal(text: parts[1])
            else { continue }
            let id = QueueID(rawValue: value)
            removals[id] = removal
            cleanings.append(id)
        }
    }

    private func writeRemovals() {
        values[Self.removalsName] = removals.map { "\($0.key.text) \($0.value.text)\n" }.joined()
    }

    /// Completes the removal of stopped downloads, now that it is written.
    func clean() {
        let ids = cleanings
        cleanings = []
        var folders: Set<String> = []
        defer { for folder in folders { ports.disk.syncNames(in: folder) } }
        for id in ids {
            guard let removal = removals.removeValue(forKey: id) else { continue }
            let source = (try? record(id)).map { DownloadSnapshot($0).source } ?? id.text
            if let record = try? record(id) { folders.insert(path(of: record)) }
            let result = removeFiles(of: id, removal)
            notePublishing(id, false)
            if !removal.keepsHistory { erased.insert(id) }
            notify(id, .state(.removed))
            let handle = existingHandle(id)
            let waiters = removalCompletions.removeValue(forKey: id) ?? []
            if waiters.isEmpty, case .failure(let failure) = result {
                notify(id, .notice(DownloadNotice(LocalizableMessage(failure))))
            }
            let gone = PawlError.gone(source, because: "it was removed")
            completions.append { [broadcaster] failure in
                if let handle {
                    var last = handle.snapshot
                    last.state = .removed
                    handle.show(last, box: nil, leaving: nil)
                    handle.end(.failed(gone))
                }
                broadcaster.dispatcher.removed(Download.ID(rawValue: id.rawValue), gone)
                for waiter in waiters { waiter(failure.map { .failure($0.unstored(adding: false)) } ?? result) }
            }
        }
        writeRemovals()
    }

    /// The name of its part file, found by URL if a kill came before the name was written.
    func begunName(of record: QueueRecord) throws(Failure) -> String? {
        if let name = record.name { return name }
        let sources = [record.sources[0]] + StoredOptions(text: record.options).formerSources
        for source in sources { if let name = try begunName(of: record, from: source) { return name } }
        return nil
    }

    private func begunName(of record: QueueRecord, from source: String) throws(Failure) -> String? {
        let folder = path(of: record)
        guard let name = ports.disk.unfinished(of: source, in: folder) ?? ports.disk.leftover(of: source, in: folder)
        else { return nil }
        for other in try store.records(of: source) where other.id != record.id {
            // Another download of the same URL: the part file may belong to that one.
            let other = try self.record(other.id) ?? other
            guard
                !other.folder.hasSameBytes(as: record.folder) || !(other.name ?? name).hasSameBytes(as: name)
                    || other.state == .removed
            else { return nil }
        }
        return name
    }

    private func removeFiles(of id: QueueID, _ removal: Removal) -> Result<Void, Failure> {
        do throws(Failure) {
            guard let record = try record(id) else { return .success(()) }
            let stored = StoredOptions(text: record.options)
            let folder = path(of: record)
            guard let name = try begunName(of: record) else { return .success(()) }
            let isPublished = try publishedLength(record) != nil
            let isFinished = removal.isFinished || isPublished
            if !removal.keepsPartial || isFinished {
                try removeFurtherParts(of: record, isFinished: isFinished)
            }
            if isFinished, !removal.keepsFile, !stored.wasThere {
                if presence(of: record) == .missing, let failure = otherDisk(of: record, "cannot delete") {
                    throw failure
                }
                try removeFiles(of: record)
            }
            if removal.keepsPartial, !isFinished { return .success(()) }
            if !isFinished, record.written > 0, !hasBegunFile(name, record),
                let failure = otherDisk(of: record, "cannot delete")
            {
                throw failure
            }
            let hasPart = ports.disk.holdsPart(of: name, in: folder)
            // A kill may have left only the journal, also of a finished file.
            let isOrphaned = !hasPart && ports.disk.holdsJournal(of: name, in: folder)
            if isOrphaned || hasPart && !isFinished { try removePartial(of: record, named: name) }
            return .success(())
        } catch {
            // The entry goes all the same.
            var failure = error
            failure.remedy = "the download is off the list and this file stays: delete it yourself if it is not needed"
            return .failure(failure)
        }
    }

    /// Deletes the part file and the journal that a stopped download has under this name.
    func removePartial(of record: QueueRecord, named name: String) throws(Failure) {
        var sources: [WebAddress] = []
        for source in record.sources { sources.append(try WebAddress.parse(source).address) }
        let stored = StoredOptions(text: record.options)
        let place = FileLocation(
            disk: ports.disk, folder: path(of: record), sources: sources,
            formerSources: stored.formerSources + stored.parts.map(\.place))
        try place.removePartial(of: name)
    }
}
#endif
