#if Queue
import Glibc
import PawlBase
import PawlDisk
import PawlEngine
import PawlJournal
import PawlQueue

// What commands mean for records.
extension QueueKeeper {
    // MARK: adding

    /// Adds a new download, or resumes the known one of the same URL.
    func addOrResume(_ order: AddOrder) throws(Failure) -> (record: QueueRecord, isKnown: Bool) {
        let source = order.record.sources[0]
        if !order.allowsDuplicate, let record = try resume(with: order) { return (record, true) }
        var record = order.record
        if !order.choosesFolder { try place(&record) }
        let startAt = order.startAt.flatMap { $0 > ports.clock.wallTime.seconds ? $0 : nil }
        let start = startAt == nil ? order.start : .paused
        try checkRoot()
        try checkPlace(of: record)
        while try self.record(record.id) != nil {
            if order.isNamed {
                throw Failure(
                    .badOption, "cannot add", at: record.id.text,
                    because: LocalizableMessage("download-of-that-name", "there is a download of that name"))
            }
            record.id = QueueID(rawValue: .random(in: 1 ... .max))
        }
        record.addedAt = ports.clock.wallTime
        let place = machine.lastPlace(priority: record.priority)
        record.position = place.position
        record.state = start == .paused ? .paused : .waiting
        erased.remove(record.id)
        put(record)
        if let name = StoredOptions(text: record.options).options.fileName {
            ports.disk.reserve(name, in: path(of: record))
        }
        if let pieces = order.pieces { keep(pieces, of: record.id) }
        fresh[Bytewise(source), default: []].append(record.id)
        notify(record.id, .added)
        machine.admit(record.id, at: place, group: record.groupID, isPaused: start == .paused)
        if let startAt { _ = try schedule(record.id, at: startAt) }
        if start == .now { perform(machine.apply(.start(record.id))) }
        return (record, false)
    }

    /// Throws if a symbolic link leads out of the root and the configuration forbids that.
    ///
    /// Missing folders will be created inside the root.
    func checkPlace(of record: QueueRecord) throws(Failure) { try checkPlace(record.folder) }

    /// As ``checkPlace(of:)``, of a folder relative to the root.
    func checkPlace(_ folder: String) throws(Failure) {
        guard staysInRoot, let home = Self.realPath(root) else { return }
        var parts = folder.pathParts()
        while !parts.isEmpty {
            let place = root + "/" + parts.joined(separator: "/")
            if let real = Self.realPath(place) {
                guard real == home || home == "/" || real.utf8.starts(with: (home + "/").utf8) else {
                    throw Failure.leadsOut(folder)
                }
                try AddOrder.check(real.dropFirst(home.count), given: folder)
                return
            }
            parts.removeLast()
        }
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    // MARK: steering

    /// The ids that begin with these hexadecimal digits.
    func ids(of digits: String, limit: Int) throws(Failure) -> [QueueID] {
        try store.ids(prefix: digits.lowercased(), limit: limit)
    }

    /// Resumes a paused download, restarts a failed one or a finished one whose file is gone, and, with
    /// `endsWait`, ends the wait for a retry.
    package func resume(_ id: QueueID, endsWait: Bool = true) throws(Failure) -> Bool {
        if machine.knows(id) {
            if machine.rest(of: id) == .waitingForDisk {
                tryNow(id)
                return true
            }
            if endsWait, machine.rest(of: id) == nil, let run = runs[id], run.box.reading.waitsToTry {
                engine.retryNow(run.engineID)
                return true
            }
            return apply(.resume(id))
        }
        guard try revive(id) else { return false }
        perform(machine.startNext())
        return true
    }

    func force(_ id: QueueID) throws(Failure) -> Bool {
        if !machine.knows(id), try !revive(id) { return false }
        diskWaits.tryNow(id)
        return apply(.start(id))
    }

    /// Puts an ended download back into the queue.
    private func revive(_ id: QueueID) throws(Failure) -> Bool {
        guard !machine.isRunning(id), var record = try record(id) else { return false }
        switch record.state {
        case .failed: break
        case .finished:
            guard let presence = presence(of: record), presence != .there else { return false }
            if presence == .missing, let failure = otherDisk(of: record, "cannot fetch again") { throw failure }
            record.written = 0
            record.total = nil
            // What has the name now is the user's: it is neither replaced nor continued.
            if presence != .missing {
                record.change { stored in
                    let mode = stored.options.existingFile
                    if mode == .overwrite || mode == .resume { stored.options.existingFile = .rename }
                }
            }
        case .waiting, .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing, .paused,
            .preempted, .removed:
            return false
        }
        requeue(record)
        return true
    }

    /// Downloads the file of a finished download again; the file stays until the new one is complete and
    /// verified.
    ///
    /// `isSeeded`: the part file already has the right pieces of the old file. `replacing`: that file, which stays if another
    /// program has changed it since.
    func redo(_ id: QueueID, isSeeded: Bool, replacing: FileStamp?) throws(Failure) -> Bool {
        guard !machine.knows(id), !isLeaving(id), var record = try record(id), record.state == .finished else {
            return false
        }
        record.written = 0
        record.total = nil
        record.change { stored in
            stored.options.existingFile = .overwrite
            stored.isSeeded = isSeeded
            stored.replaced = replacing
            stored.replacedIsWrong = true
        }
        requeue(record)
        perform(machine.startNext())
        return true
    }

    /// Downloads a failed download, or one that waits for its disk, again from the beginning, with its options.
    ///
    /// What it has received is deleted first: after a kill in between it is still such a download.
    func startOver(_ id: QueueID) throws(Failure) -> Bool {
        guard !isLeaving(id), var record = try record(id) else { return false }
        let waits = machine.rest(of: id) == .waitingForDisk
        guard waits || !machine.knows(id) && record.state == .failed else { return false }
        if let name = try begunName(of: record) { try removePartial(of: record, named: name) }
        try removeFurtherParts(of: record, isFinished: false)
        record.written = 0
        record.total = nil
        if waits {
            put(record)
            tryNow(id)
            return true
        }
        requeue(record)
        perform(machine.startNext())
        return true
    }

    private func requeue(_ ended: QueueRecord) {
        var record = ended
        let id = record.id
        let place = machine.lastPlace(priority: record.priority)
        record.position = place.position
        record.state = .waiting
        record.reopen()
        put(record)
        existingHandle(id)?.reopen()
        machine.admit(id, at: place, group: record.groupID, isPaused: false)
        notify(id, .state(.waiting))
    }

    /// Renames a download, in the queue and on disk.
    func rename(_ id: QueueID, to name: String) throws(Failure) -> Bool {
        guard let record = try record(id), record.state != .removed else { return false }
        try OptionForm.fileName.check(name, .fileName)
        switch record.state {
        case .finished:
            if let old = record.name, !old.hasSameBytes(as: name) { try renameFiles(of: record, to: name) }
        case .waiting, .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing, .paused,
            .preempted, .failed:
            // A kill may have come between the claim of the name and its record.
            let (source, folder) = (record.sources[0], path(of: record))
            let hasPart =
                ports.disk.unfinished(of: source, in: folder) != nil
                || ports.disk.leftover(of: source, in: folder) != nil
            let isBegun = record.name != nil || runs[id] != nil || hasPart
            // At the end it is tried again: until then another file may get the name.
            let isOther = record.name.map { !$0.hasSameBytes(as: name) } ?? true
            guard !isBegun || !isOther || ports.disk.stamp(of: name, in: folder) == nil else {
                throw Failure.exists(folder + "/" + name)
            }
            edit(id) { record in
                record.change { stored in if isBegun { stored.newName = name } else { stored.options.fileName = name } }
            }
        case .removed: return false
        }
        notify(id, .changed)
        return true
    }

    func pause(group: String) throws(Failure) {
        pausedGroups.insert(Bytewise(try AddOrder.group(group)))
        writeGroups()
        perform(machine.apply(.pauseGroup(GroupID(group))))
    }

    package func resume(group: String) {
        pausedGroups.remove(Bytewise(group))
        writeGroups()
        perform(machine.apply(.resumeGroup(GroupID(group))))
    }

    private func writeGroups() {
        values["paused groups"] = pausedGroups.sorted().map(\.wrappedValue).joined(separator: "\n")
    }

    /// Expiring URLs add up; a part file is identified by the first or the last verified one.
    private static let mostFormer = 16

    /// Stores a new URL from the engine or the user.
    func keep(_ address: WebAddress, for id: QueueID, at index: Int) {
        edit(id) { record in
            let former = record.sources[index]
            guard !former.hasSameBytes(as: address.text) else { return }
            record.sources[index] = address.text
            // A part file belongs to the first source.
            guard index == 0 else { return }
            record.change { stored in
                stored.formerSources.append(former)
                if stored.formerSources.count > Self.mostFormer { stored.formerSources.remove(at: 1) }
            }
        }
        notify(id, .changed)
    }

    /// Sets the limit of one download.
    func limit(_ id: QueueID, to rate: Int64?) throws(Failure) -> Bool {
        let rate = try Self.checked(rate)
        guard let record = try record(id), record.state != .removed, record.state != .finished else { return false }
        edit(id) { $0.change { $0.options.rateLimit = rate } }
        if let run = runs[id] { run.stream == nil ? engine.limit(run.engineID, to: rate) : restart(id) }
        notify(id, .changed)
        return true
    }
}
#endif
