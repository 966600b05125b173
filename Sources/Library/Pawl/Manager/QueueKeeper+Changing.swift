#if Queue
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue

// Changes to a download of the queue, whatever its state.
extension QueueKeeper {
    /// `false` if there is no such download.
    func change(priority: Int, of id: QueueID) throws(Failure) -> Bool {
        guard var record = try record(id), record.state != .removed else { return false }
        record.priority = priority
        put(record)
        perform(machine.apply(.priority(id, priority)))
        notify(id, .changed)
        return true
    }

    /// As ``change(priority:of:)``.
    func change(group: String, of id: QueueID) throws(Failure) -> Bool {
        guard var record = try record(id), record.state != .removed else { return false }
        record.group = try AddOrder.group(group)
        put(record)
        perform(machine.apply(.group(id, record.groupID)))
        notify(id, .changed)
        return true
    }

    /// Moves a download that has not begun to another folder, relative to the root.
    ///
    /// `false` if there is no such download. Throws code 28 if the folder cannot be used, or if there are files of the
    /// download in the present one.
    func change(folder: String, of id: QueueID) throws(Failure) -> Bool {
        guard var record = try record(id), record.state != .removed else { return false }
        let folder = try AddOrder.folder(folder)
        guard !folder.hasSameBytes(as: record.folder) else { return true }
        guard record.name == nil, record.state != .finished, runs[id] == nil else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(folder)",
                because: LocalizableMessage("folder-in-use", "the download has begun in another one"),
                remedy: "add it again")
        }
        record.folder = folder
        try checkPlace(of: record)
        edit(id) { record in
            record.folder = folder
            record.change { $0.followsRules = false }
        }
        notify(id, .changed)
        return true
    }

    func describe(_ id: QueueID, _ text: String?) {
        edit(id) { $0.taskDescription = text }
        notify(id, .changed)
    }

    /// `false` if there is no such download or it has ended for good.
    func change(options: DownloadOptions, of id: QueueID) throws(Failure) -> Bool {
        guard let record = try record(id), record.state != .removed, record.state != .finished else { return false }
        try change(record, to: options)
        return true
    }

    /// Changes the options of an unfinished download: a limit applies at once, everything else requires a
    /// restart.
    ///
    /// A running download keeps its plan; the new one is made from the record.
    /// The digests that its new mirrors state, and those of `stated`, are added; another checksum replaces all.
    func change(_ record: QueueRecord, to options: DownloadOptions, stating stated: [Checksum] = []) throws(Failure) {
        let id = record.id
        var stored = StoredOptions(text: record.options)
        let (before, digests) = (stored.options, stored.digests)
        let job = try Job(source: record.sources[0], options: options, settingsCache: settingsCache)
        let mirrors = job.plan.sources.dropFirst().map(\.text)
        stored.options = options
        if options.checksum != before.checksum { stored.digests = [] }
        try stored.add(job.plan.digests.map(\.checksum) + stated)
        var after = stored.options
        after.rateLimit = before.rateLimit
        after.attributes = before.attributes
        after.folder = before.folder
        after.mirrors = before.mirrors
        after.taskDescription = before.taskDescription
        let isOther =
            !after.hasSameBytes(as: before) || stored.digests != digests
            || !mirrors.hasSameBytes(as: Array(record.sources.dropFirst()))
        guard isOther || options.rateLimit != before.rateLimit || !options.hasSameBytes(as: before) else { return }
        edit(id) { record in
            record.sources = [record.sources[0]] + mirrors
            record.change {
                $0.options = options
                $0.takeDigests(of: stored)
            }
            // The size of another range is not known.
            if options.range != before.range { record.total = nil }
        }
        if options.rateLimit != before.rateLimit { _ = try limit(id, to: options.rateLimit) }
        notify(id, .changed)
        if isOther { restart(id) }
    }

    /// Starts the run again with the changed options, unless its file is already being published.
    func restart(_ id: QueueID) {
        forgetOutdatedFile(of: id)
        perform(machine.restart(id))
    }

    /// Its URL, its part or its digests were changed when the former content was complete already: that file stays as it is.
    func changedTooLate(_ id: QueueID, _ file: DownloadedFile) -> Failure {
        forgetFile(of: id)
        return Failure(
            .badOption, "cannot apply the change to", at: file.path,
            because: LocalizableMessage(
                "changed-too-late", "its URL, range or checksum was changed when the file was already complete"),
            remedy: "resume the download to fetch it anew; this file stays")
    }

    /// Sets another URL of the same content.
    ///
    /// A running download switches to it as soon as the content is shown to be the same. If its file is being published, it
    /// is of the former URL, and the download fails. Throws code 28 if the URL states a digest that contradicts a known one.
    func replace(_ id: QueueID, with source: String, usesOwnersSecrets: Bool) throws(Failure) -> Bool {
        _ = try WebAddress.parse(source)
        // Before any request to the new URL.
        if !usesOwnersSecrets, var options = try record(id).map({ options(of: $0) }), options.usesOwnersSecrets {
            options.usesOwnersSecrets = false
            _ = try change(options: options, of: id)
        }
        guard let record = try record(id), record.state != .removed, record.state != .finished else { return false }
        _ = try keep(source, for: record, at: 0)
        if runs[id] != nil { replaced.insert(id) }
        forgetOutdatedFile(of: id)
        return true
    }

    /// The address that replaces an expired one; `nil` if it cannot be used.
    func refreshed(_ id: QueueID, _ expired: String, to source: String) -> WebAddress? {
        do throws(Failure) {
            return try record(id).map { record throws(Failure) in
                try keep(source, for: record, at: record.sources.firstIndex(of: expired))
            }
        } catch {
            notify(id, .notice(DownloadNotice(LocalizableMessage(error))))
            return nil
        }
    }

    /// Stores a new URL and the digests that it states.
    ///
    /// `index` is that of the source that it replaces; `nil` for a source that a server named, which is not stored.
    private func keep(_ source: String, for record: QueueRecord, at index: Int?) throws(Failure) -> WebAddress {
        let address = try WebAddress.parse(source).address
        let before = StoredOptions(text: record.options)
        var after = before
        try after.add(try DigestFragment.parse(source, of: address))
        if let index { keep(address, for: record.id, at: index) }
        if after != before {
            edit(record.id) { $0.change { $0.takeDigests(of: after) } }
            // A running download keeps its plan.
            restart(record.id)
        }
        return address
    }
}
#endif
