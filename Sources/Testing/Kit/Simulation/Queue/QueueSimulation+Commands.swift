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

    private func give(_ command: QueueScenario.Command, _ index: Int) {
        guard !isOver, !course(index, { $0.isPending }) else { return }
        let isThere = course(index) { $0.isAdded != .no && $0.isRemoved != .yes }
        if case .add = command {} else if !isThere { return }
        expect(command, index)
        note(command.word)
        let (id, target) = (Self.id(index), scenario.targets[index])
        let requirement = course(index) { $0.requirements.last ?? target.requirement }
        ask(index) { step throws(Failure) in
            switch command {
            case .add(let isPaused):
                var request = DownloadRequest(target.source)
                request.options = target.options(requirement)
                request.id = id
                request.start = isPaused ? .paused : .enqueued
                return try step.add(request) == id
            case .pause: return step.pause(id)
            case .resume: return try step.resume(id)
            case .start: return try step.start(now: id)
            case .startOver: return try step.startOver(id)
            case .remove(let keepsFile): return try step.remove(id, keepingFile: keepsFile)
            case .move(let place): return step.move(id, to: .index(place)) != nil
            case .rename(let name): return try step.rename(id, to: name)
            case .change(let requirement): return try Self.change(id, of: target, to: requirement, step)
            case .replaceURL(let toImpostor):
                return try step.replaceURL(of: id, with: target.url(ofImpostor: toImpostor))
            case .priority(let priority): return try step.change(priority: priority, of: id)
            case .relocate(let folder): return try step.relocate(id, toFolder: folder)
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
        return try step.change(options: options, of: id)
    }

    /// Sends a command; `completion` is called unless the process has died before.
    func ask(
        _ index: Int, _ body: @escaping @Sendable (QueueStep) throws(Failure) -> Bool,
        completion: @escaping @Sendable (Result<Result<Bool, Failure>, Failure>) -> Void
    ) {
        course(index) { $0.isPending = true }
        state.withLock { $0.queue }?.step(body) { [weak self] result in
            guard let self, !state.withLock({ $0.isDead }) else { return }
            course(index) { $0.isPending = false }
            completion(result)
        }
    }

    /// Until it is confirmed, either may be true.
    private func expect(_ command: QueueScenario.Command, _ index: Int) {
        state.withLock { state in
            switch command {
            case .remove, .change, .replaceURL, .startOver:
                state.mayLeaveFiles = true
                state.awaited[QueueID(rawValue: Self.id(index).rawValue)] = nil
                if world.disk.isAway(Self.usb) { state.mayLeaveParts = true }
            case .relocate: state.mayLeaveFiles = true
            // A finished file may be on the disk that is away.
            case .add, .resume, .start: if world.disk.isAway(Self.usb) { state.mayLeaveFiles = true }
            case .pause, .move, .rename, .priority: break
            }
        }
        course(index) { course in
            if case .replaceURL(toImpostor: true) = command { course.isMisled = true }
            switch command {
            case .add:
                if course.isAdded == .no || course.isRemoved == .yes {
                    (course.isAdded, course.isRemoved) = (.maybe, .no)
                    course.requirements = [course.requirements.last ?? scenario.targets[index].requirement]
                    course.urls = [scenario.targets[index].source]
                }
                course.isPaused = nil
            case .pause, .resume, .start, .startOver: course.isPaused = nil
            case .remove: course.isRemoved = .maybe
            case .change(let requirement): course.requirements.append(requirement)
            case .replaceURL(let toImpostor): course.urls.append(scenario.targets[index].url(ofImpostor: toImpostor))
            case .move, .rename, .priority, .relocate: break
            }
        }
    }

    private func confirm(
        _ command: QueueScenario.Command, _ index: Int, _ result: Result<Result<Bool, Failure>, Failure>
    ) {
        world.timeline.note("\(index) \(command): \(result)")
        let now = world.timeline.now
        course(index) { course in
            switch (command, result) {
            // Not written, and repeated until it is.
            case (_, .failure): break
            case (.add, .success(.success)): course.isAdded = .yes
            case (.pause, .success(.success(true))): (course.isPaused, course.pausedAt) = (true, now)
            case (.resume, .success(.success(true))), (.start, .success(.success(true))),
                (.startOver, .success(.success(true))):
                course.isPaused = false
            case (.remove, .success(.success(true))): course.isRemoved = .yes
            case (.change(let requirement), .success(.success(true))): course.requirements = [requirement]
            case (.change, .success): course.requirements.removeLast()
            case (.replaceURL, .success(.success(true))): course.urls.removeFirst(course.urls.count - 1)
            case (.replaceURL, .success): course.urls.removeLast()
            case (.add, .success), (.pause, .success), (.resume, .success), (.start, .success), (.startOver, .success),
                (.remove, .success), (.move, .success), (.rename, .success), (.priority, .success),
                (.relocate, .success):
                break
            }
        }
    }

    /// The user corrects what is wrong with each download that is left, and resumes it.
    func finishAll() {
        for (index, target) in scenario.targets.enumerated() {
            let (isLeft, requirement) = course(index) { course in
                (course.isAdded == .yes && course.isRemoved == .no && !course.isFinished, course.requirements.last)
            }
            guard isLeft, var requirement else { continue }
            if requirement.digest == .wrong { requirement.digest = .right }
            let id = Self.id(index)
            course(index) { ($0.requirements, $0.urls) = ([requirement], [target.source]) }
            ask(index) { [requirement] step throws(Failure) in
                _ = try Self.change(id, of: target, to: requirement, step)
                _ = try step.replaceURL(of: id, with: target.source)
                return try step.resume(id)
            } completion: { [weak self] result in
                self?.world.timeline.note("\(index) is resumed: \(result)")
                self?.course(index) { ($0.isPaused, $0.pausedAt) = (false, nil) }
            }
        }
    }
}

extension QueueScenario.Command {
    var word: String {
        switch self {
        case .add: "downloads added"
        case .pause: "pauses"
        case .resume: "resumptions"
        case .start: "forced starts"
        case .startOver: "downloads started over"
        case .remove: "removals"
        case .move: "moves"
        case .rename: "renamings"
        case .change: "options changed"
        case .replaceURL(let toImpostor): toImpostor ? "URLs replaced by another content's" : "URLs replaced"
        case .priority: "priorities changed"
        case .relocate: "relocations"
        }
    }
}
