import Pawl
import PawlBase
import PawlQueue
import Synchronization

// The user's commands, and what goes wrong.
extension QueueSimulation {
    func perform(_ incident: QueueScenario.Incident) {
        world.timeline.note("\(incident)")
        switch incident {
        case .command(let index, let command): give(command, index)
        case .crash(let kind): die(kind)
        case .restart:
            guard !isOver else { return }
            note("restarts")
            close()
        case .network(let isUp):
            if !isUp { note("network losses") }
            world.set(online: isUp)
        case .room(let room):
            if room != nil { note("full disks") }
            world.disk.troubles.room = room
            noteRoom()
        case .touch(let index, let touch): self.touch(index, touch)
        case .disk(true, _):
            world.disk.mount(Self.usb)
            noteRoom()
        case .disk(false, let isMissing): takeDisk(isMissing: isMissing)
        case .writes(let fail): state.withLock { $0.failsWrites = fail && !$0.isFinale }
        }
    }

    static let usb = QueueScenario.root + "/" + QueueScenario.usb

    /// What waits for the disk does so for a bounded time once it is there and has room.
    private func noteRoom() {
        let isThere = world.disk.troubles.room == nil && !world.disk.isAway(Self.usb)
        let (since, life) = state.withLock { state in
            state.roomSince = isThere ? world.clock.now : nil
            return (state.roomSince, state.lives)
        }
        guard isThere else { return }
        world.timeline.after(Law.longestWaitForRoom) { [weak self] in
            guard let self, !isOver, state.withLock({ $0.roomSince == since && $0.lives == life }) else { return }
            checkRoom()
        }
    }

    /// A disk that is in use goes with the machine's power switch.
    private func takeDisk(isMissing: Bool) {
        if !world.disk.unmount(Self.usb, isMissing: isMissing) {
            die(.kill)
            guard world.disk.unmount(Self.usb, isMissing: isMissing) else { return }
        }
        note("disks taken away")
        noteRoom()
        let awaited = store.all.filter { record in
            guard record.folder == QueueScenario.usb, record.written > 0, let name = record.name else { return false }
            let isOpen = [.waiting, .paused, .failed].contains(record.state)
            return isOpen && world.disk.awayHolds(Self.usb + "/" + name, in: Self.usb)
        }
        if !awaited.isEmpty { note("progress on disks taken away") }
        state.withLock { state in
            state.awaited = [:]
            for record in awaited { state.awaited[record.id] = record }
        }
    }

    /// A part file is begun in the folder whose disk is away.
    func beganAway(_ source: String, _ path: String) {
        let lost = state.withLock { state in state.awaited.values.contains { $0.sources.contains(source) } }
        if lost { violate(.progress, "\(path) is begun again, and its part file is on the disk that is away") }
    }

    private func touch(_ index: Int, _ touch: QueueScenario.Touch) {
        let (disk, target) = (world.disk, scenario.targets[index])
        let aside = "\(QueueScenario.root)/moved/\(index)"
        let own = disk.finishedPath(of: [target.source, target.mirror, target.impostor])
        var isDone = true
        switch (touch, own) {
        case (.movesBack, _):
            let former = state.withLock { $0.movedFrom[index] }
            isDone = former.map { !disk.isAway(Self.folder(of: $0)) && disk.move(aside, to: $0) } ?? false
        case (_, nil): isDone = false
        case (.edits, let path?): disk.edit(path)
        case (.moves, let path?), (.replaces, let path?):
            isDone = !path.hasPrefix(QueueScenario.root + "/moved/") && disk.move(path, to: aside)
            guard isDone else { break }
            state.withLock { $0.movedFrom[index] = path }
            guard touch == .replaces else { break }
            disk.put(
                FakeDisk.Finished(Array(target.otherPayload.bytes(in: ByteRange(0, target.payload.length)))), at: path)
        }
        guard isDone else { return }
        note("files that the user \(touch)")
        state.withLock { $0.mayLeaveFiles = true }
        // Another download of the same name may have the file that the user has put back.
        for index in scenario.targets.indices { course(index) { $0.isTouched = true } }
    }

    static func folder(of path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    /// The downloads that a command changes.
    private func subjects(of command: QueueScenario.Command, _ index: Int) -> Range<Int> {
        switch command.kind {
        // The number of slots changes no download, but a second such command has to wait.
        case .pauseAll, .resumeAll, .forgetAll, .slots: scenario.targets.indices
        case .pauseGroup, .resumeGroup, .totalLimit, .timetable, .rules: 0..<0
        case .add, .pause, .resume, .start, .startOver, .remove, .forget, .rename, .relocate, .folder, .replaceURL,
            .options, .limit, .move, .priority, .group, .description, .schedule:
            index..<index + 1
        }
    }

    private func give(_ command: QueueScenario.Command, _ index: Int) {
        let subjects = subjects(of: command, index)
        guard !isOver, !subjects.contains(where: { course($0) { $0.isPending } }) else { return }
        let isThere = course(index) { $0.isAdded != .no && $0.isRemoved != .yes }
        // The record of a removed one can be forgotten, and makes way for another of its name.
        if subjects.count == 1, command.kind != .add, command.kind != .forget, !isThere { return }
        expect(command, index, subjects)
        note(command.word)
        let (id, target) = (Self.id(index), scenario.targets[index])
        let requirement = course(index) { $0.requirements.last ?? target.requirement }
        ask(subjects) { step throws(Failure) in
            switch command {
            case .add(let isPaused):
                var request = DownloadRequest(target.source)
                request.options = target.options(requirement)
                request.id = id
                request.start = isPaused ? .paused : .enqueued
                // Added again, it is given a text.
                request.options.taskDescription = try step.snapshot(of: id).map { _ in "added again" }
                return try step.add(request) == id
            case .change(let requirement): return try Self.change(id, of: target, to: requirement, step)
            case .other(let command): return try step.perform(command).isChange
            }
        } completion: { [weak self] result in
            self?.confirm(command, index, result)
        }
    }

    /// Changes the range and the checksum, and nothing else.
    private static func change(
        _ id: Download.ID, of target: QueueScenario.Target, to requirement: Requirement, _ step: QueueStep
    ) throws(Failure) -> Bool {
        guard var options = try step.details(of: id)?.options else { return false }
        options.range = requirement.range
        options.checksum = target.checksum(requirement)
        return try step.perform(.options(id, options)).isChange
    }

    /// Sends a command; `completion` is called unless the process has died before.
    func ask(
        _ subjects: Range<Int>, _ body: @escaping @Sendable (QueueStep) throws(Failure) -> Bool,
        completion: @escaping @Sendable (Result<Result<Bool, Failure>, Failure>) -> Void
    ) {
        for index in subjects { course(index) { $0.isPending = true } }
        state.withLock { $0.queue }?.step(body) { [weak self] result in
            guard let self, !state.withLock({ $0.isDead }) else { return }
            for index in subjects { course(index) { $0.isPending = false } }
            completion(result)
        }
    }

    /// Until it is confirmed, either may be true.
    private func expect(_ command: QueueScenario.Command, _ index: Int, _ subjects: Range<Int>) {
        state.withLock { state in
            let isAway = world.disk.isAway(Self.usb)
            switch command.kind {
            case .remove, .options, .replaceURL, .startOver, .forget, .forgetAll:
                state.mayLeaveFiles = true
                for index in subjects { state.awaited[QueueID(rawValue: Self.id(index).rawValue)] = nil }
                if isAway { state.mayLeaveParts = true }
            case .relocate: state.mayLeaveFiles = true
            // A kill may have come between the claim of the name and its record.
            case .folder: (state.mayLeaveFiles, state.mayLeaveParts) = (true, true)
            // A finished file may be on the disk that is away.
            case .add, .resume, .resumeAll, .start, .schedule: if isAway { state.mayLeaveFiles = true }
            case .pause, .pauseAll, .move, .rename, .priority, .group, .pauseGroup, .resumeGroup, .description, .limit,
                .slots, .totalLimit, .timetable, .rules:
                break
            }
            switch command {
            case .other(.remove(_, let removal)): if removal.keepsPartial { state.mayLeaveParts = true }
            case .other(.forget), .other(.forgetAll): state.mayLeaveParts = true
            case .other(.slots(let slots)): state.slots = max(state.slots, slots)
            case .add, .change, .other: break
            }
        }
        for index in subjects { course(index) { expect(command, of: &$0, scenario.targets[index]) } }
    }

    private func expect(_ command: QueueScenario.Command, of course: inout Course, _ target: QueueScenario.Target) {
        switch command.kind {
        case .add:
            if course.isAdded == .no || course.isRemoved == .yes {
                (course.isAdded, course.isRemoved) = (.maybe, .no)
                course.requirements = [course.requirements.last ?? target.requirement]
                course.urls = [target.source]
            } else if course.isRemoved == .maybe {
                course.urls.append(target.source)
            }
            course.isPaused = nil
        case .pause, .pauseAll, .resume, .resumeAll, .start, .startOver, .schedule: course.isPaused = nil
        case .remove, .forget, .forgetAll: if course.isRemoved == .no { course.isRemoved = .maybe }
        case .options: if case .change(let requirement) = command { course.requirements.append(requirement) }
        case .replaceURL:
            guard case .other(.replaceURL(_, let url, _)) = command else { break }
            course.urls.append(url)
            if url == target.impostor { course.isMisled = true }
        case .rename, .relocate, .folder, .limit, .move, .priority, .group, .description, .pauseGroup, .resumeGroup,
            .slots, .totalLimit, .timetable, .rules:
            break
        }
    }

    private func confirm(
        _ command: QueueScenario.Command, _ index: Int, _ result: Result<Result<Bool, Failure>, Failure>
    ) {
        world.timeline.note("\(index) \(command): \(result)")
        // Otherwise it is not written, and repeated until it is.
        guard case .success(let result) = result else { return }
        let isChange = (try? result.get()) == true
        if isChange, case .other(.slots(let slots)) = command { state.withLock { $0.slots = slots } }
        let now = world.timeline.now
        course(index) { course in
            switch command.kind {
            case .add: if case .success = result { course.isAdded = .yes }
            case .pause: if isChange { (course.isPaused, course.pausedAt) = (true, now) }
            case .resume, .start, .startOver: if isChange { course.isPaused = false }
            case .remove, .forget: if isChange { course.isRemoved = .yes }
            case .options:
                if isChange {
                    course.requirements.removeFirst(course.requirements.count - 1)
                } else {
                    course.requirements.removeLast()
                }
            case .replaceURL:
                if isChange { course.urls.removeFirst(course.urls.count - 1) } else { course.urls.removeLast() }
            case .pauseAll, .resumeAll, .forgetAll, .rename, .relocate, .folder, .limit, .move, .priority, .group,
                .description, .pauseGroup, .resumeGroup, .slots, .totalLimit, .timetable, .schedule,
                .rules:
                break
            }
        }
    }

    /// The user corrects what is wrong with each download that is left, and resumes it.
    func finishAll() {
        ask(0..<0) { step throws(Failure) in
            try step.perform(.resumeGroup(QueueScenario.group))
            try step.perform(.totalLimit(nil))
            return true
        } completion: { _ in
        }
        for (index, target) in scenario.targets.enumerated() {
            let (isLeft, requirement) = course(index) { course in
                (course.isAdded == .yes && course.isRemoved == .no && !course.isFinished, course.requirements.last)
            }
            guard isLeft, var requirement else { continue }
            if requirement.digest == .wrong { requirement.digest = .right }
            let id = Self.id(index)
            course(index) { ($0.requirements, $0.urls) = ([requirement], [target.source]) }
            ask(index..<index + 1) { [requirement] step throws(Failure) in
                _ = try Self.change(id, of: target, to: requirement, step)
                try step.perform(.replaceURL(id, target.source))
                return try step.perform(.resume(id)).isChange
            } completion: { [weak self] result in
                self?.world.timeline.note("\(index) is resumed: \(result)")
                self?.course(index) { ($0.isPaused, $0.pausedAt) = (false, nil) }
            }
        }
    }
}

extension QueueScenario.Command {
    var word: String {
        guard case .other(.replaceURL(_, let url, _)) = self, url.hasPrefix("http://impostor.") else {
            return kind.rawValue
        }
        return kind.rawValue + " by another content's"
    }
}
