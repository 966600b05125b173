import Pawl
import PawlBase
import PawlEngine
import PawlQueue
import Synchronization

/// One scenario of a queue: its processes, one after the other, in a world with faults, checked against the laws.
package final class QueueSimulation: Sendable {
    typealias Requirement = QueueScenario.Requirement

    /// Whether something was requested, and whether that was confirmed.
    enum Knowledge: Sendable {
        case no
        /// Requested, and not confirmed: a kill or a failed write came in between.
        case maybe
        case yes
    }

    /// What the user knows of one download.
    struct Course: Sendable {
        var isAdded = Knowledge.no
        var isRemoved = Knowledge.no
        /// `nil` when a command was not confirmed.
        var isPaused: Bool? = false
        var pausedAt: Instant?
        /// What it may be wanted to be: the last that was confirmed, and what was requested since.
        var requirements: [Requirement] = []
        /// The same of its URL.
        var urls: [String] = []
        /// A command has not ended.
        var isPending = false
        var isFinished = false
        /// The user has moved, replaced or edited finished files.
        var isTouched = false
        /// It was given the URL of another content, whose bytes may be on disk.
        var isMisled = false
    }

    struct State: Sendable {
        var queue: QueueThread?
        var isDead = false
        var isClosing = false
        var isFinale = false
        var isDone = false
        var lives = 0
        /// The slots that the queue may use.
        var slots: Int
        var writes = 0
        var failsWrites = false
        /// When a write of the queue failed last.
        var faultedAt: Instant?
        /// Since when the disk has room again.
        var roomSince: Instant?
        var storeTraps: [Int: QueueScenario.StoreTrap]
        /// The calls of SQLite to its files, and whether one of this process failed.
        var fileCalls = 0
        var hasFileFault = false
        var fileFaults: [Int: FaultyQueueStore.Fault]
        var lateCommands: [Int: QueueScenario.LateCommand]
        var courses: [Course]
        /// The phases of this process's runs.
        var phases: [DownloadID: DownloadState] = [:]
        /// A removal or a change may leave a file that belongs to no download.
        var mayLeaveFiles = false
        var mayLeaveParts = false
        var ownedPaths: Set<String> = []
        /// The downloads that have progress on the disk that is away.
        var awaited: [QueueID: QueueRecord] = [:]
        /// By download: the path from which the user has moved its file.
        var movedFrom: [Int: String] = [:]
        /// Who follows the events of this process.
        var follower: QueueFollower?
        /// It reads soon what events have named.
        var isReading = false
        var tally = Tally()
        var violations: [Violation] = []
    }

    let scenario: QueueScenario
    let world: World
    let store: any SimulatedQueueStore
    /// The same if it is a database.
    let database: FaultyQueueStore?
    let sabotage: QueueSabotage?
    let state: Mutex<State>

    package init(_ scenario: QueueScenario, sabotage: QueueSabotage? = nil, keepsLog: Bool = false) {
        self.scenario = scenario
        self.sabotage = sabotage
        world = World(seed: scenario.seed, keepsLog: keepsLog)
        database = scenario.database.flatMap { _ in try? FaultyQueueStore(seed: scenario.seed) }
        store = database ?? MemoryQueueStore()
        let courses = scenario.targets.map { target in
            var course = Course()
            (course.requirements, course.urls) = ([target.requirement], [target.source])
            return course
        }
        state = Mutex(
            State(
                slots: scenario.slots, storeTraps: scenario.storeTraps,
                fileFaults: scenario.database?.atCalls ?? [:], lateCommands: scenario.lateCommands,
                courses: courses))
    }

    package static func run(seed: UInt64, sabotage: QueueSabotage? = nil, keepsLog: Bool = false) -> Simulation.Outcome
    { QueueSimulation(QueueScenario(seed: seed), sabotage: sabotage, keepsLog: keepsLog).run() }

    package func run() -> Simulation.Outcome {
        prepare()
        repeat { live() } while state.withLock { !$0.isDone && $0.lives < 100 }
        checkEnd()
        note("worlds of queues")
        if let database {
            note("worlds of queues in SQLite")
            for (mechanism, count) in database.counts { note(mechanism, count) }
        }
        let state = state.withLock { $0 }
        return Simulation.Outcome(
            violations: state.violations + world.disk.violations + world.network.violations, tally: state.tally,
            log: world.timeline.log)
    }

    func note(_ mechanism: String, _ count: Int = 1) { state.withLock { $0.tally.note("queue: " + mechanism, count) } }

    func violate(_ law: Law, _ text: String) {
        state.withLock { if $0.violations.count < 3 { $0.violations.append(Violation(law, text)) } }
        world.timeline.note("VIOLATION \(law): \(text)")
    }

    func course<Result>(_ index: Int, _ body: (inout Course) -> Result) -> Result {
        state.withLock { body(&$0.courses[index]) }
    }

    var isOver: Bool { state.withLock { $0.isDead || $0.isClosing } }
    static func id(_ index: Int) -> Download.ID { QueueScenario.id(index) }
}

// MARK: - The stage

extension QueueSimulation {
    private func prepare() {
        for (host, server) in scenario.servers.sorted(by: { $0.key < $1.key }) { world.network[host] = server }
        world.disk.setDelay(scenario.diskDelay)
        if sabotage == .hidesRoom { world.disk.troubles.reportsRoom = false }
        if sabotage == .identifiesByName { world.disk.identifyByName() }
        if sabotage == .beginsAgain { world.disk.confuseFolders() }
        world.disk.onAwayClaim { [weak self] source, path in self?.beganAway(source, path) }
        if sabotage == .cutsFiles { world.disk.set(sabotage: .cutsFiles) }
        world.disk.set(traps: scenario.diskTraps) { [weak self] kind in
            self?.note("\(kind.rawValue)s inside a disk call")
            self?.die(kind)
        }
        database?.disturb { [weak self] in
            self?.fileFault()
        } notice: { [weak self] notice in
            self?.violate(.confirmed, notice)
        }
        if sabotage == .dropsSyncs { database?.dropSyncs() }
        store.intercept { [weak self] changes in
            self?.fate(of: changes) ?? MemoryQueueStore.Interception([], failure: Self.gone)
        }
        world.network.onTaken { [weak self] address, _ in self?.took(address.path) }
        for (after, incident) in scenario.incidents {
            world.timeline.after(after) { [weak self] in self?.perform(incident) }
        }
        for time in scenario.follower?.looks ?? [] {
            world.timeline.after(time) { [weak self] in self?.compareFollower(isAtRest: false) }
        }
        world.timeline.onBeat { [weak self] beat in
            guard case .instant = beat else { return }
            self?.checkSlots()
            self?.follow()
        }
    }

    /// Runs one process, from its start to its end or its death.
    private func live() {
        var configuration = DownloadManager.Configuration()
        configuration.maximumConcurrentDownloads = scenario.slots + (sabotage == .addsSlot ? 1 : 0)
        configuration.timetable = ""
        configuration.eventBuffer = scenario.follower?.buffer ?? 1
        var ports = world.ports
        ports.witness = self
        let queue = QueueThread(
            root: QueueScenario.root, configuration, ports: { _ in ports },
            store: { [weak self] _ in self?.openStore() ?? .failure(Self.gone) },
            onOpen: { [weak self] result in self?.opened(result) })
        state.withLock { state in
            state.queue = queue
            (state.isDead, state.isClosing, state.phases, state.slots) = (false, false, [:], scenario.slots)
            (state.hasFileFault, state.isReading) = (false, false)
            for index in state.courses.indices { state.courses[index].isPending = false }
            state.follower = scenario.follower.map { _ in
                QueueFollower(queue.listen(), of: scenario.targets.indices.map(Self.id))
            }
        }
        world.timeline.whenAllStandsStill { [weak self] in self?.standStill() }
        world.threads.run()
        if world.disk.openPartials > 0 { violate(.tidiness, "\(world.disk.openPartials) partials are open") }
        if world.network.open > 0 { violate(.tidiness, "\(world.network.open) connections are open") }
        state.withLock { state in
            state.queue = nil
            state.lives += 1
        }
    }

    private func opened(_ result: Result<Void, Failure>) {
        guard !isOver else { return }
        if case .failure(let failure) = result {
            if !state.withLock({ $0.failsWrites || $0.hasFileFault }) { violate(.ends, "it does not open: \(failure)") }
            note("failed to open")
            state.withLock { $0.failsWrites = false }
            return close()
        }
        note("opened")
        look()
        follow()
    }

    /// Kills the process where it stands.
    func die(_ kind: FakeDisk.Crash) {
        guard !isOver else { return }
        note("\(kind.rawValue)s")
        state.withLock { $0.isDead = true }
        store.crash(kind)
        world.disk.crash(kind)
        world.network.forgetTransfers()
        state.withLock { $0.queue }?.shutDown {}
    }

    /// Ends the process in order.
    func close() {
        guard !isOver else { return }
        state.withLock { $0.isClosing = true }
        state.withLock { $0.queue }?.shutDown {}
    }

    /// Ends all faults when nothing is due any more, and gives every unfinished download one more chance.
    private func standStill() {
        if world.timeline.isOverdue { violate(.ends, "it does not end") }
        guard !isOver else { return }
        let isLast = state.withLock { state in
            defer { state.isFinale = true }
            return state.isFinale
        }
        world.timeline.whenAllStandsStill { [weak self] in self?.standStill() }
        compareFollower(isAtRest: true) { [weak self] in self?.goOn(isLast: isLast) }
    }

    private func goOn(isLast: Bool) {
        guard !isLast, !world.timeline.isOverdue else {
            state.withLock { $0.isDone = true }
            return look { [weak self] in self?.close() }
        }
        world.timeline.note("FINALE")
        world.disk.removeTraps()
        world.disk.troubles.room = nil
        world.disk.mount(Self.usb)
        state.withLock { ($0.storeTraps, $0.fileFaults, $0.failsWrites) = ([:], [:], false) }
        for host in world.network.hosts { world.network[host].calmDown() }
        world.set(online: true)
        look { [weak self] in self?.finishAll() }
    }

    // MARK: the store

    static let gone = Failure(.cannotOpen, "cannot write", at: "the queue", because: "its process is gone")

    private func openStore() -> Result<any QueueStore, Failure> {
        let isLocked = state.withLock { $0.lives + 1 == scenario.database?.lockedStart && !$0.isFinale }
        database?.setLocked(isLocked)
        if isLocked {
            note("starts at which another process has the lock")
            state.withLock { $0.hasFileFault = true }
        }
        do throws(Failure) {
            try store.open()
            return .success(store)
        } catch { return .failure(error) }
    }

    /// What happens at a call of SQLite to its files.
    private func fileFault() -> FaultyQueueStore.Fault? {
        let fault = state.withLock { state in
            state.fileCalls += 1
            return state.isDead ? nil : state.fileFaults.removeValue(forKey: state.fileCalls)
        }
        guard let fault else { return nil }
        switch fault {
        case .diesBefore, .diesWithin, .diesAfter:
            note("kills inside SQLite")
            // A process that ends in order has synced its files already.
            if state.withLock({ $0.isClosing }) { store.crash(.kill) } else { die(scenario.database?.crash ?? .kill) }
        case .isFull, .fails:
            note("calls of SQLite that failed")
            state.withLock { ($0.hasFileFault, $0.faultedAt) = (true, world.clock.now) }
        }
        return fault
    }

    private func fate(of changes: [QueueChange]) -> MemoryQueueStore.Interception {
        let (isDead, fails, trap) = state.withLock { state in
            state.writes += 1
            return (state.isDead, state.failsWrites, state.storeTraps.removeValue(forKey: state.writes))
        }
        if isDead { return MemoryQueueStore.Interception([], failure: Self.gone) }
        if let trap {
            note("kills inside a write")
            guard trap.isWritten else {
                die(trap.kind)
                return MemoryQueueStore.Interception([], failure: Self.gone)
            }
            var fate = MemoryQueueStore.Interception(spoilt(changes))
            fate.afterwards = { [weak self] in self?.die(trap.kind) }
            return fate
        }
        guard fails else { return MemoryQueueStore.Interception(spoilt(changes)) }
        note("writes that failed")
        state.withLock { $0.faultedAt = world.clock.now }
        return MemoryQueueStore.Interception(
            [], failure: Failure(.diskFull, "cannot write", at: "the queue", because: "the disk is full"))
    }

    /// What a sabotaged queue stores.
    private func spoilt(_ changes: [QueueChange]) -> [QueueChange] {
        guard let sabotage else { return changes }
        return changes.compactMap { change in
            if case .erase = change, sabotage == .losesRemovals { return nil }
            if case .value("publishing", nil) = change, sabotage == .keepsOutdatedFiles { return nil }
            guard case .put(var record) = change else { return change }
            let before = (try? store.record(record.id)) ?? nil
            switch sabotage {
            case .losesDownloads: if before == nil { return nil }
            case .losesOptions: record.options = before?.options ?? record.options
            case .losesURLs: record.sources = before?.sources ?? record.sources
            case .losesPauses: if record.state == .paused { record.state = .waiting }
            case .losesRemovals: if record.state == .removed { return nil }
            case .losesPublishing: if record.state == .waiting { record.total = nil }
            case .keepsOutdatedFiles:
                if let before, before.name != nil, record.name == nil {
                    (record.name, record.written, record.total) = (before.name, before.written, before.total)
                }
            case .dropsSyncs, .addsSlot, .cutsFiles, .hidesRoom, .identifiesByName, .beginsAgain, .hidesAdditions,
                .hidesStates, .hidesChanges, .hidesQueueChanges, .hidesMissedEvents:
                break
            }
            return .put(record)
        }
    }
}
