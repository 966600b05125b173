import Pawl
import PawlBase
import PawlCore
import PawlEngine
import Synchronization

/// One scenario from one seed: whole engines, one after the other, in a world with faults, checked against the laws.
package final class Simulation: Sendable {
    /// The facts about one download besides its engine's reports.
    struct Course: Sendable {
        var id: DownloadID?
        var phase = DownloadState.waiting
        /// Whether the user wants it to run, and it has not ended.
        var isWanted = true
        var isPaused = false
        var isRemoved = false
        var name = ""
        /// The path of its finished file.
        var published: String?
        /// The part that was requested then.
        var publishedSelection: RequestedRange?
        /// Whether the engine has reported it.
        var isTold = false
        var isFinished = false
        var failure: Failure?
        /// In this process: bytes that an earlier one had kept, and requests.
        var again: Int64 = 0
        var requests = 0
        /// Whether the whole file is received again for a comparison, with a notice to the user.
        var comparesAll = false
        /// The bytes that its requests repeated beyond a usual comparison, up to a place that has information.
        var repeated: Int64 = 0
        /// The bytes that it requested only for a comparison.
        var compared: Int64 = 0
        /// Whether bytes that it had received were of no use.
        var startedOver = false
        var run: RunView?
        /// Since when it waits for the network.
        var waitsSince: Instant?

        var isRunning: Bool {
            switch phase {
            case .probing, .transferring, .waitingForNetwork, .verifying: true
            case .waiting, .waitingForDisk, .publishing, .paused, .preempted, .finished, .failed, .removed: false
            }
        }
    }

    struct State: Sendable {
        var scheduler: DownloadScheduler?
        var isDead = false
        var isClosing = false
        var isFinale = false
        /// Since when the network is up.
        var upSince: Instant? = Instant(nanoseconds: 0)
        var slots: Int
        /// The number of processes that have ended.
        var lives = 0
        var courses: [Course]
        var tally = Tally()
        var violations: [Violation] = []
        /// What was reported of which download, with its contents.
        var reports: [(index: Int, line: String)] = []
        /// The budgets of hosts at the last instant, and how many connections were served when.
        var budgets: [Origin: HostBudget] = [:]
        var served: [Origin: [(at: Instant, count: Int)]] = [:]
    }

    package let scenario: Scenario
    package let world: World
    let sabotage: Sabotage?
    let state: Mutex<State>
    private let notes: WorldNotes

    package init(_ scenario: Scenario, sabotage: Sabotage? = nil, keepsLog: Bool = false) {
        self.scenario = scenario
        self.sabotage = sabotage
        world = World(seed: scenario.seed, keepsLog: keepsLog)
        notes = WorldNotes(scenario.remembered)
        state = Mutex(State(slots: scenario.slots, courses: scenario.downloads.map { _ in Course() }))
    }

    /// The result of a scenario.
    package struct Outcome: Sendable {
        package var violations: [Violation]
        package var tally: Tally
        package var log: [String]
    }

    package static func run(seed: UInt64, sabotage: Sabotage? = nil, keepsLog: Bool = false) -> Outcome {
        Simulation(Scenario(seed: seed), sabotage: sabotage, keepsLog: keepsLog).run()
    }

    package func run() -> Outcome {
        prepare()
        var lives = 0
        repeat {
            if lives > 0 { appendAsOthers() }
            live()
            lives += 1
        } while state.withLock { $0.isDead } && lives < 100
        checkEnd()
        note("worlds")
        note("processes", lives)
        let tally = state.withLock { state in
            var tally = state.tally
            tally.add(counts)
            return tally
        }
        return Outcome(violations: violations, tally: tally, log: world.timeline.log)
    }

    var violations: [Violation] { state.withLock { $0.violations } + world.disk.violations + world.network.violations }

    /// The counts of disk and network.
    private var counts: Tally {
        var tally = Tally()
        let disk = world.disk.counts
        tally.note("checkpoints", disk.checkpoints)
        tally.note("disk full", disk.fullDisks)
        tally.note("disk calls that failed", disk.failedCalls)
        tally.note("journals reopened", disk.adopted)
        tally.note("journals damaged by a power cut", disk.damagedJournals)
        tally.note("kills between a write and its cursor", disk.killsInWrites)
        tally.note("bytes of such writes that the file's length revealed", Int(disk.revealedByLength))
        tally.note("bytes of such writes that were lost", Int(disk.lostToKills))
        tally.note("bytes written twice", Int(disk.rewritten))
        tally.note("bytes of races dropped", Int(disk.dropped))
        tally.note("foreign tails truncated", disk.cutTails)
        tally.note("holes of existing files", disk.holes)
        tally.note("whole files named at once", disk.wholeFiles)
        tally.note("responses of bad nodes", world.network.badNodes)
        tally.note("bytes lost to power cuts", Int(disk.lostToPowerCuts))
        tally.note("bytes received", Int(world.network.taken))
        tally.note("requests", world.network.requests.count)
        tally.note("events", world.timeline.events)
        tally.note("throttling responses of hosts", world.network.throttlings)
        tally.note("quotas used up", world.network.quotas)
        tally.note("limits of hosts remembered", notes.count)
        tally.add(world.network.tally)
        return tally
    }

    func note(_ mechanism: String, _ count: Int = 1) { state.withLock { $0.tally.note(mechanism, count) } }

    func violate(_ law: Law, _ text: String) {
        state.withLock { if $0.violations.count < 3 { $0.violations.append(Violation(law, text)) } }
        world.timeline.note("VIOLATION \(law): \(text)")
    }

    func course<Result>(_ index: Int, _ body: (inout Course) -> Result) -> Result {
        state.withLock { body(&$0.courses[index]) }
    }

    func index(of id: DownloadID) -> Int? { state.withLock { state in state.courses.firstIndex { $0.id == id } } }

    var isOver: Bool { state.withLock { $0.isDead || $0.isClosing } }
}

// MARK: - The stage

extension Simulation {
    private func prepare() {
        let (world, disk, network) = (world, world.disk, world.network)
        for (host, server) in scenario.servers.sorted(by: { $0.key < $1.key }) { network[host] = server }
        disk.setDelay(scenario.diskDelay)
        disk.set(isVolatile: scenario.isDiskVolatile)
        disk.troubles.reservesRoom = scenario.reservesRoom
        seedParts()
        disk.set(traps: scenario.traps) { [weak self] kind in
            self?.note("\(kind.rawValue)s inside a disk call")
            self?.die(kind)
        }
        for (index, download) in scenario.downloads.enumerated() {
            network.limit(download.path, to: download.width)
            if let bytes = download.existing, let name = download.job.fileName {
                let holes = download.hole.map { [$0] } ?? []
                disk.put(FakeDisk.Finished(bytes, holes: holes), at: Scenario.folder + "/" + name)
            }
            state.withLock { $0.courses[index].name = download.job.fileName ?? "" }
        }
        disk.expect { [weak self] source in self?.versions(of: source) ?? [] }
        network.onTaken { [weak self] address, range in self?.took(range, of: address.path) }
        for (after, incident) in scenario.atTimes {
            world.timeline.after(after) { [weak self] in self?.perform(incident) }
        }
        world.timeline.onBeat { [weak self] beat in self?.hear(beat) }
        world.set(sabotage: sabotage)
    }

    /// The plan of a sabotaged engine.
    private func spoil(_ job: inout Job, _ index: Int) {
        switch sabotage {
        case .neverGivesUp: job.plan.retry.retries += 3
        case .widensDownloads: job.plan.ramp = .fixed(scenario.downloads[index].width + 1)
        case .skipsPieces: job.plan.pieces = nil
        case .believesMonitor: job.plan.retry.offlineDelay = .seconds(7200)
        case .skipsUnfitPieces where scenario.downloads[index].hasUnfitPieces: job.plan.pieces = nil
        case .keepsUnchecked where job.ifExists == .skip: job.plan.pieces = nil
        default: break
        }
    }

    /// Runs one process, from its start to its end or its death.
    private func live() {
        let slots = spoilt(state.withLock { $0.slots })
        var ports = world.ports
        ports.witness = self
        ports.hostNotes = notes
        ports.hostFlaw =
            switch sabotage {
            case .wakesNobody: .wakesNobody
            case .shrinksToOne: .shrinksToOne
            default: nil
            }
        let scheduler = DownloadScheduler(ports: ports, loops: scenario.loops, jobs: slots, rate: scenario.rate) {
            [weak self] report in self?.hear(report)
        }
        state.withLock { state in
            state.scheduler = scheduler
            state.isDead = false
            state.isClosing = false
            (state.budgets, state.served) = ([:], [:])
        }
        for index in scenario.downloads.indices { begin(index, on: scheduler) }
        world.timeline.whenAllStandsStill { [weak self] in self?.standStill() }
        world.threads.run()
        checkLife()
        noteChanges()
        state.withLock { state in
            state.scheduler = nil
            state.lives += 1
        }
    }

    private func noteChanges() {
        guard state.withLock({ $0.isDead && $0.lives == 0 }) else { return }
        for index in scenario.downloads.indices where course(index, { !$0.isFinished }) {
            if scenario.downloads[index].nextSelection != nil { note("requested parts changed") }
            if scenario.downloads[index].turnsSources { note("source orders changed") }
        }
    }

    /// The slots that a scheduler really gets.
    func spoilt(_ slots: Int) -> Int {
        switch sabotage {
        case .addsSlot: slots + 1
        case .removesSlot: max(1, slots - 1)
        default: slots
        }
    }

    private func begin(_ index: Int, on scheduler: DownloadScheduler) {
        var job = job(index)
        spoil(&job, index)
        let id = scheduler.add(job).id
        let path = course(index) { $0.published }
        let isGone = path.map { world.disk.finished($0) == nil } ?? false
        let wants = course(index) { course in
            // A power cut may undo a rename that was never reported as durable.
            if isGone, !course.isTold { (course.published, course.isFinished) = (nil, false) }
            // A user who finds the finished file does not request it again.
            let wants = !course.isRemoved && !course.isPaused && !course.isFinished && course.published == nil
            let (name, published, isFinished) = (course.name, course.published, course.isFinished)
            let publishedSelection = course.publishedSelection
            let isTold = course.isTold
            let (isPaused, isRemoved) = (course.isPaused, course.isRemoved)
            course = Course()
            course.id = id
            course.isTold = isTold
            course.publishedSelection = publishedSelection
            (course.name, course.published, course.isFinished) = (name, published, isFinished)
            (course.isPaused, course.isRemoved, course.isWanted) = (isPaused, isRemoved, wants)
            return wants
        }
        if wants { scheduler.resume(id) }
    }

    /// The job for the current process.
    func job(_ index: Int) -> Job {
        let download = scenario.downloads[index]
        var job = download.job
        addHooks(to: &job, of: index)
        guard state.withLock({ $0.lives }) > 0 else { return job }
        if let selection = download.nextSelection { job.plan.selection = selection }
        if download.turnsSources { job.plan.sources.append(job.plan.sources.removeFirst()) }
        return job
    }

    /// Ends all faults when nothing is due any more, and gives every unfinished download one more chance.
    private func standStill() {
        if world.timeline.isOverdue { violate(.ends, "it does not end") }
        guard !isOver else { return }
        let isLast = state.withLock { state in
            defer { state.isFinale = true }
            return state.isFinale
        }
        guard !isLast, !world.timeline.isOverdue else { return shutDown() }
        world.timeline.note("FINALE")
        world.timeline.whenAllStandsStill { [weak self] in self?.standStill() }
        heal()
        let left = scenario.downloads.indices.filter { index in course(index) { !$0.isRemoved && !$0.isFinished } }
        guard !left.isEmpty else { return shutDown() }
        for index in left { resume(index) }
    }

    private func heal() {
        withdrawPages()
        world.disk.removeTraps()
        world.disk.troubles.room = nil
        state.withLock { $0.scheduler }?.engine.limit(to: nil)
        for host in world.network.hosts { world.network[host].calmDown() }
        world.set(online: true)
        state.withLock { $0.upSince = world.clock.now }
    }

    private func shutDown() {
        state.withLock { $0.isClosing = true }
        state.withLock { $0.scheduler }?.engine.shutDown { [weak self] in
            guard let self, !state.withLock({ $0.isDead }) else { return }
            if world.disk.openPartials > 0 { violate(.tidiness, "a partial is open when the engine has closed") }
        }
    }

    /// Kills the process where it stands.
    func die(_ kind: FakeDisk.Crash) {
        guard !isOver else { return }
        note("\(kind.rawValue)s")
        withdrawPages()
        state.withLock { $0.isDead = true }
        world.disk.crash(kind)
        world.network.forgetTransfers()
        state.withLock { $0.scheduler }?.engine.shutDown {}
    }
}
