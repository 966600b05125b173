import Pawl
import PawlBase
import PawlCore
import PawlEngine
import Synchronization

// Events in the world, and actions of the user.
extension Simulation {
    func perform(_ incident: Scenario.Incident) {
        world.timeline.note("\(incident)")
        switch incident {
        case .crash, .pause, .resume, .slots: withdrawPages()
        case .cut, .network, .unreported, .monitor, .room, .change, .replace, .grow, .damage, .remove, .limit: break
        }
        switch incident {
        case .cut: if world.network.cutConnection() { note("connections cut") }
        case .network(let isUp, let breaks):
            if !isUp { note("network losses") }
            world.set(online: isUp, breaks: breaks)
            noteNetwork(isUp: isUp)
        case .unreported(let isUp, let breaks):
            if !isUp { note("network losses that are not reported") }
            world.network.set(isUp: isUp, breaks: breaks)
            noteNetwork(isUp: isUp)
        case .monitor(let isOnline):
            note(isOnline ? "reports of a network" : "false reports of a lost network")
            world.reachability.change(to: isOnline)
        case .room(let room): world.disk.troubles.room = room
        case .change(let index, let payload): change(index, payload, datesStay: false)
        case .replace(let index, let payload): change(index, payload, datesStay: true)
        case .crash(let kind): die(kind)
        case .grow(let index, let count): grow(index, by: count)
        case .damage(let index, let place): damage(index, place)
        case .pause(let index): pause(index)
        case .resume(let index): resume(index)
        case .remove(let index): remove(index)
        case .slots(let slots):
            guard !isOver else { return }
            note("slots changed")
            state.withLock { $0.slots = slots }
            state.withLock { $0.scheduler }?.change(slots: spoilt(slots))
        case .limit(let rate):
            guard !isOver else { return }
            note("limits changed")
            state.withLock { $0.scheduler }?.engine.limit(to: rate)
        }
    }

    private func noteNetwork(isUp: Bool) { state.withLock { $0.upSince = isUp ? world.clock.now : nil } }

    private func pause(_ index: Int) {
        guard !isOver, let id = course(index, { $0.id }) else { return }
        let isLate = course(index) { $0.isRemoved || $0.isFinished }
        guard !isLate else { return }
        note("pauses")
        course(index) { $0.isPaused = true }
        state.withLock { $0.scheduler }?.pause(id)
        guard sabotage == .ignoresPauses else { return }
        world.timeline.after(.milliseconds(1)) { [weak self] in self?.state.withLock { $0.scheduler }?.resume(id) }
    }

    package func resume(_ index: Int) {
        guard !isOver, let id = course(index, { $0.id }) else { return }
        let isLate = course(index) { course in
            course.isPaused = course.isRemoved && course.isPaused
            if course.isRemoved || course.isFinished || course.phase == .publishing { return true }
            course.isWanted = true
            course.failure = nil
            return false
        }
        guard !isLate else { return }
        state.withLock { $0.scheduler }?.resume(id)
    }

    /// Removes the download; if it is being published, that still completes.
    private func remove(_ index: Int) {
        guard !isOver, let id = course(index, { $0.id }) else { return }
        note("removals")
        course(index) { course in
            course.isRemoved = true
            course.isPaused = true
        }
        state.withLock { $0.scheduler }?.remove(id)
    }

    private func change(_ index: Int, _ payload: Payload, datesStay: Bool) {
        note(datesStay ? "contents changed under the same date" : "contents changed")
        let download = scenario.downloads[index]
        let plan = download.job.plan
        let old = scenario.servers[plan.sources[0].host]?.files[download.path]?.payload
        // A mirror with other content is not affected.
        for host in plan.sources.map(\.host) where scenario.servers[host]?.files[download.path]?.payload == old {
            world.network.change(host, download.path) { file in
                file.payload = payload
                file.entityTag?.opaque += "+"
                // An old strong date without a tag promises that the content is the same.
                let isPromise = file.dates == .old && file.entityTag == nil && !file.renewsTag
                if !datesStay || isPromise { file.lastModified?.seconds += 1_000 }
            }
        }
        // What a download receives first may be a page, which cannot be detected; and in the finale nothing is wrong any more.
        guard !state.withLock({ $0.isDead || $0.isFinale }), course(index, { $0.phase }) == .transferring,
            let host = scenario.hostOfPage(index)
        else { return }
        world.network.change(host, download.path) { file in
            // Without any validators nothing distinguishes it from the next version.
            let hasValidators = file.entityTag != nil || file.lastModified != nil
            file.pagesLeft = file.mayBeAPage && hasValidators ? 1 : 0
        }
    }

    /// What is known of earlier content ends with a run of a download.
    func withdrawPages() {
        for download in scenario.downloads {
            for host in download.job.plan.sources.map(\.host) {
                world.network.change(host, download.path) { $0.pagesLeft = 0 }
            }
        }
    }
}
