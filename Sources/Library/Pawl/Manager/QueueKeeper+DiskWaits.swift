#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue

// Downloads whose disk has no room, or is not there: they wait for it, and give their slots to others.
extension QueueKeeper {
    /// How many downloads at most join the wait between two replies to callers.
    private static let mostStalls = 500

    /// Lets a download wait that could not be written; `false` where it has to fail.
    package func stall(_ id: QueueID, after failure: Failure) -> Bool {
        guard waitsForDisk, let record = try? record(id) else { return false }
        // A disk that went away reports its errors first.
        let failure = failure.isOfDisk ? obstacle(to: record) ?? failure : failure
        let cause: DiskWaits.Cause
        switch failure.awaited {
        case nil: return false
        case .folder?: cause = DiskWaits.Cause(failure.waiting, device: nil)
        case .space(let needed)?: cause = wait(of: record, after: failure, needed: needed)
        case .files?, .quota?, .writing?: cause = wait(of: record, after: failure)
        }
        diskWaits.add(id, cause, now: ports.clock.now, dice: &dice)
        notify(id, .notice(DownloadNotice(LocalizableMessage(cause.failure))))
        nextRoom = nextRoom ?? ports.clock.now + DiskWaits.period
        perform(machine.stalled(id, at: place(of: record), group: record.groupID))
        show(record)
        existingHandle(id)?.rested()
        return true
    }

    private func wait(of record: QueueRecord, after failure: Failure, needed: Int64? = nil) -> DiskWaits.Cause {
        let device = room(of: record)?.device ?? DiskWaits.unknown
        return DiskWaits.Cause(failure.waiting, device: device, needed: needed)
    }

    private func place(of record: QueueRecord) -> QueuePosition {
        QueuePosition(priority: record.priority, position: record.position)
    }

    private func room(of record: QueueRecord) -> DiskRoom? { ports.disk.room(in: path(of: record)) }

    /// Whether the download would fail as others do that wait for its disk: it joins them, without a request.
    func isHindered(_ record: QueueRecord) -> Bool {
        guard !diskWaits.isEmpty, let device = room(of: record)?.device,
            var failure = diskWaits.obstacle(to: record.id, on: device)
        else { return false }
        // That of another download, with the path of its file.
        (failure.what, failure.place) = ("cannot write", path(of: record))
        hindered.append((record.id, DiskWaits.Cause(failure, device: device, needed: nil)))
        return true
    }

    /// Lets hindered downloads wait: each one frees a slot, for which another one may be hindered.
    func stallHindered() {
        let now = ports.clock.now
        for _ in 0..<Self.mostStalls {
            guard let (id, cause) = hindered.popLast() else { return }
            guard machine.isRunning(id), let record = try? record(id) else { continue }
            diskWaits.add(id, cause, now: now, dice: &dice)
            perform(machine.stalled(id, at: place(of: record), group: record.groupID))
            show(record)
            existingHandle(id)?.rested()
        }
    }

    /// Tries downloads whose folders are there again, or whose disks report enough room, and lets the others follow those that
    /// get further.
    func lookForRoom(now: Instant) {
        for id in diskWaits.all where !isWaitingForDisk(id) { diskWaits.remove(id) }
        for id in diskWaits.tried {
            guard let run = runs[id], run.box.reading.written > run.beganWritten else { continue }
            wake(diskWaits.succeeded(id))
        }
        wake(
            diskWaits.returned { id in
                (try? self.record(id)).flatMap { $0 }.map { self.obstacle(to: $0) == nil } ?? true
            })
        let due = diskWaits.trials(now: now) { id in (try? self.record(id)).flatMap { $0 }.flatMap(room) }
        wake(due)
        nextRoom = diskWaits.isEmpty ? nil : now + DiskWaits.period
    }

    /// Whether it still waits, or is being tried: one that is paused is looked after no more.
    private func isWaitingForDisk(_ id: QueueID) -> Bool {
        let rest = machine.rest(of: id)
        return rest == .waitingForDisk || rest != .paused && diskWaits.tried.contains(id) && machine.knows(id)
    }

    /// A download that was tried has ended otherwise than for its disk.
    func endWait(of id: QueueID, isFinished: Bool) {
        guard !diskWaits.isEmpty else { return }
        if isFinished { wake(diskWaits.succeeded(id)) } else { diskWaits.remove(id) }
    }

    /// Tries it on behalf of the user.
    func tryNow(_ id: QueueID) {
        diskWaits.tryNow(id)
        wake([id])
    }

    /// Tries all of them on behalf of the user.
    func tryAll() { wake(diskWaits.endAll()) }

    private func wake(_ ids: [QueueID]) {
        guard !ids.isEmpty else { return }
        perform(machine.wake(ids))
        for id in ids { if let record = try? record(id) { show(record) } }
    }
}
#endif
