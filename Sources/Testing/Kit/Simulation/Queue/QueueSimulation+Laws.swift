import Pawl
import PawlBase
package import PawlCore
package import PawlEngine
import Synchronization

// What the user sees, and what has to be true then.
extension QueueSimulation {
    /// One download as the queue shows it.
    struct Sight: Sendable {
        var state: DownloadState
        var range: String?
        var checksum: String?
        var url: String
        var location: DownloadLocation
        /// Whether all bytes are there: a pause may come too late.
        var isComplete: Bool
        var error: PawlError?
    }

    /// Looks at every download, and compares it with what was confirmed.
    func look(_ completion: @escaping @Sendable () -> Void = {}) {
        let count = scenario.targets.count
        state.withLock { $0.queue }?.step(changes: false) { step throws(Failure) in
            var sights: [Sight?] = []
            for index in 0..<count { sights.append(try Self.sight(of: Self.id(index), step)) }
            return sights
        } completion: { [weak self] result in
            guard let self, !state.withLock({ $0.isDead }) else { return }
            guard case .success(.success(let sights)) = result else { return }
            state.withLock { $0.ownedPaths = [] }
            for (index, sight) in sights.enumerated() { check(index, sight) }
            completion()
        }
    }

    private static func sight(of id: Download.ID, _ step: QueueStep) throws(Failure) -> Sight? {
        guard let details = try step.details(of: id) else { return nil }
        let snapshot = details.snapshot
        return Sight(
            state: snapshot.state, range: details.options.range, checksum: details.options.checksum,
            url: details.sources[0], location: try step.location(of: id),
            isComplete: snapshot.total == snapshot.written, error: snapshot.error)
    }

    private func check(_ index: Int, _ sight: Sight?) {
        let course = course(index) { $0 }
        guard !course.isPending else { return }
        world.timeline.note("\(index) is \(sight.map { "\($0)" } ?? "not there")")
        let sight = sight?.state == .removed ? nil : sight
        if sight == nil, course.isAdded == .yes, course.isRemoved == .no {
            violate(.confirmed, "\(index) is not there")
        }
        if sight != nil, course.isRemoved == .yes { violate(.confirmed, "\(index) is there again") }
        self.course(index) { course in
            course.isAdded = sight == nil ? .no : .yes
            if sight != nil { course.isRemoved = .no }
        }
        guard let sight else { return }
        let wanted = course.requirements.first { requirement in
            requirement.range == sight.range && scenario.targets[index].checksum(requirement) == sight.checksum
        }
        guard let wanted else { return violate(.confirmed, "\(index) has options that nobody wants: \(sight)") }
        guard course.urls.contains(sight.url) else {
            return violate(.confirmed, "\(index) has a URL that nobody wants: \(sight)")
        }
        let isResting = [.paused, .finished, .failed, .publishing].contains(sight.state) || sight.isComplete
        if course.isPaused == true, !isResting { violate(.paused, "\(index) is \(sight.state)") }
        self.course(index) { course in
            (course.requirements, course.urls) = ([wanted], [sight.url])
            course.isFinished = sight.state == .finished
            if course.isPaused == nil || sight.state != .paused { course.isPaused = sight.state == .paused }
            course.pausedAt = world.timeline.now
        }
        if sight.state == .finished { checkFile(index, wanted, sight) }
    }

    /// A finished download has its file, which is the content of its URL, and the right one if a digest was given.
    private func checkFile(_ index: Int, _ requirement: Requirement, _ sight: Sight) {
        let location = sight.location
        if case .missing(let path) = location {
            // The user, or another download after the user, has what was there.
            if course(index, { $0.isTouched }) || world.disk.isAway(Self.folder(of: path)) { return }
        }
        guard case .finished(let path) = location, let file = world.disk.finished(path) else {
            return violate(.published, "\(index) has finished, and has no file: \(location)")
        }
        if world.disk.isUsers(path) { return violate(.users, "\(index) has the user's file \(path)") }
        if !state.withLock({ $0.ownedPaths.insert(path).inserted }) {
            violate(.published, "two downloads have the file \(path)")
        }
        let target = scenario.targets[index]
        let versions = world.network.versions(of: target.path)
        if let text = Law.published(file.bytes, of: versions, selection: requirement.selection) {
            violate(.published, "\(index): \(text)")
        }
        switch requirement.digest {
        case .none:
            if file.bytes != target.content(requirement, of: sight.url) {
                violate(.published, "\(index) has the file of another URL than \(sight.url)")
            }
        case .right: if file.bytes != target.content(requirement) { violate(.digest, "\(index) has another digest") }
        case .wrong: violate(.digest, "\(index) has finished with a wrong digest")
        }
    }

    /// No download waits for the disk any more.
    func checkRoom() {
        let count = scenario.targets.count
        state.withLock { $0.queue }?.step(changes: false) { step throws(Failure) in
            var waiting: [Int] = []
            for index in 0..<count {
                let snapshot = try step.snapshot(of: Self.id(index))
                // One that lacks only its folder waits, and does not fail.
                let cause = snapshot?.error?.cause?.id
                let lacksFolder = snapshot?.state == .failed && cause?.hasPrefix("folder-") == true
                if snapshot?.state == .waitingForDisk || lacksFolder { waiting.append(index) }
            }
            return waiting
        } completion: { [weak self] result in
            guard let self, !state.withLock({ $0.isDead }), case .success(.success(let waiting)) = result else {
                return
            }
            if !waiting.isEmpty { violate(.room, "\(waiting) wait") }
        }
    }

    func took(_ path: String) {
        guard let index = scenario.targets.firstIndex(where: { $0.path == path }), !isOver else { return }
        let now = world.timeline.now
        let isPaused = course(index) { course in course.isPaused == true && course.pausedAt.map { $0 < now } == true }
        if isPaused { violate(.paused, "\(index) receives bytes") }
    }

    func checkSlots() {
        guard !isOver else { return }
        let (running, slots) = state.withLock { state in
            let running = state.phases.values.count { phase in
                switch phase {
                case .probing, .transferring, .waitingForNetwork: true
                case .waiting, .waitingForDisk, .verifying, .publishing, .paused, .preempted, .finished, .failed,
                    .removed:
                    false
                }
            }
            return (running, state.slots)
        }
        if let text = Law.slots(running: running, of: slots) { violate(.slots, text) }
    }

    /// Checks the end of the scenario.
    func checkEnd() {
        guard !world.timeline.isOverdue else { return }
        for (index, course) in state.withLock({ $0.courses }).enumerated() {
            if course.isAdded == .yes { note(course.isFinished ? "finished" : "unfinished") }
            // Bytes of another content are only replaced on request.
            if course.isAdded == .yes, course.isRemoved == .no, !course.isFinished, !course.isMisled {
                violate(.finishes, "\(index) has not finished")
            }
        }
        let left = state.withLock { $0.courses.count { $0.isAdded == .yes && !$0.isFinished } }
        let parts = world.disk.listing.filter { $0.hasSuffix(".part") || $0.hasSuffix(".part+journal") }
        if parts.count > left, !state.withLock({ $0.mayLeaveParts }) {
            violate(.tidiness, "part files are left: \(parts)")
        }
        let (owned, mayLeaveFiles) = state.withLock { ($0.ownedPaths, $0.mayLeaveFiles) }
        let orphans = world.disk.listing.filter { !owned.contains($0) && !parts.contains($0) }
        if !orphans.isEmpty, !mayLeaveFiles { violate(.tidiness, "nobody owns \(orphans)") }
    }
}

extension QueueSimulation: Witness {
    package func decided(_ id: DownloadID, run: UInt64, _ actions: [Action], _ machine: DownloadMachine) {
        let late = state.withLock { state -> (Int, QueueScenario.LateCommand)? in
            defer { state.phases[id] = machine.phase }
            let path = machine.plan.sources[0].path
            guard !state.isDead, !state.isFinale, let index = scenario.targets.firstIndex(where: { $0.path == path }),
                state.lateCommands[index]?.phase == machine.phase
            else { return nil }
            return state.lateCommands.removeValue(forKey: index).map { (index, $0) }
        }
        guard let (index, late) = late else { return }
        note("\(late.command.word) while \(late.phase)")
        world.timeline.after(.zero) { [weak self] in self?.perform(.command(index, late.command)) }
        guard let delay = late.killAfter else { return }
        world.timeline.after(delay) { [weak self] in self?.perform(.crash(.kill)) }
    }
}
