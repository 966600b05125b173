import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// An engine and its scheduler in a simulated world, with all their events.
final class Stage: Sendable {
    static let folder = "/downloads"
    static let host = "files.test"

    let world: World
    private let schedulerBox = Mutex<DownloadScheduler?>(nil)
    private let received = Mutex<[(at: Instant, report: EngineEvent)]>([])
    private let reaction = Mutex<(@Sendable (Stage, EngineEvent) -> Void)?>(nil)
    private let closed = Atomic(0)
    private let isClosing = Atomic(false)
    private let marked = Atomic<Int64>(0)

    init(
        seed: UInt64 = 1, world: World? = nil, loops: Int = 1, jobs: Int? = 3, rate: Int64? = nil,
        common: CommonRate = CommonRate(), notes: (any HostNotes)? = nil
    ) {
        let world = world ?? World(seed: seed)
        self.world = world
        var ports = world.ports
        ports.hostNotes = notes
        let scheduler = DownloadScheduler(ports: ports, loops: loops, jobs: jobs, rate: rate, common: common) {
            [weak self] report in self?.hear(report)
        }
        schedulerBox.withLock { $0 = scheduler }
    }

    var scheduler: DownloadScheduler {
        guard let scheduler = schedulerBox.withLock({ $0 }) else { preconditionFailure("the stage is dark") }
        return scheduler
    }

    var engine: Engine { scheduler.engine }

    private func hear(_ report: EngineEvent) {
        let now = world.clock.now
        received.withLock { $0.append((now, report)) }
        world.timeline.note("report \(report.id.rawValue) \(report.update)")
        reaction.withLock { $0 }?(self, report)
    }

    // MARK: content

    /// Adds content of `length` bytes to the default server and returns its URL.
    @discardableResult func serve(
        _ name: String, _ length: Int64, host: String = Stage.host, seed: UInt64 = 7,
        _ change: (inout SimulatedFile) -> Void = { _ in }
    ) -> Payload {
        let payload = Payload(seed: seed &+ UInt64(name.utf8.count), length: length)
        var file = SimulatedFile(payload)
        change(&file)
        world.network[host].files["/" + name] = file
        world.disk.expect(payload, at: Stage.path(name))
        return payload
    }

    static func path(_ name: String) -> String { "\(folder)/\(name)" }

    // MARK: downloads

    static func address(_ name: String, host: String = Stage.host) -> WebAddress {
        WebAddress(scheme: .http, host: host, port: 80, path: "/" + name, query: nil)
    }

    static func job(_ name: String, mirrors: [String] = [], _ change: (inout Job) -> Void = { _ in }) -> Job {
        let sources = [address(name)] + mirrors.map { address(name, host: $0) }
        var job = Job(
            plan: DownloadPlan(sources: sources), settings: TransferSettings(TransferSettings.Values()), folder: folder)
        job.plan.ramp = .fixed(1)
        change(&job)
        return job
    }

    @discardableResult func start(_ job: Job) -> DownloadID {
        let (id, _) = scheduler.add(job)
        scheduler.resume(id)
        return id
    }

    // MARK: the course of events

    /// Runs `body` after that much virtual time.
    func after(_ span: Interval, _ body: @escaping @Sendable (Stage) -> Void) {
        world.timeline.after(span) { [self] in body(self) }
    }

    /// Runs `body` after that many bytes were received over the network in total.
    func whenTaken(_ bytes: Int64, _ body: @escaping @Sendable (Stage) -> Void) {
        world.network.whenTaken(bytes) { [self] in body(self) }
    }

    /// Records the number of bytes received so far.
    func setMark() { marked.store(world.network.taken, ordering: .relaxed) }
    var mark: Int64 { marked.load(ordering: .relaxed) }

    /// Runs `body` for each event, when it is reported.
    func onReport(_ body: @escaping @Sendable (Stage, EngineEvent) -> Void) { reaction.withLock { $0 = body } }

    /// Runs the world until nothing more happens, shuts down, and checks the house laws.
    func run(sourceLocation: SourceLocation = #_sourceLocation) {
        world.timeline.whenAllStandsStill { [self] in if !isClosing.load(ordering: .relaxed) { shutDown() } }
        world.threads.run()
        world.timeline.close()
        reaction.withLock { $0 = nil }
        checkLaws(sourceLocation)
    }

    func shutDown() {
        isClosing.store(true, ordering: .relaxed)
        engine.shutDown { [self] in
            closed.add(1, ordering: .relaxed)
            #expect(world.disk.openPartials == 0, "closed before the engine says so")
        }
    }

    /// How often the engine reported that it has closed.
    var closings: Int { closed.load(ordering: .relaxed) }

    /// Kills the process immediately.
    func crash(_ kind: FakeDisk.Crash) {
        world.disk.crash(kind)
        world.network.forgetTransfers()
        shutDown()
    }

    private func checkLaws(_ place: SourceLocation) {
        #expect(world.disk.violations == [], sourceLocation: place)
        #expect(world.disk.openPartials == 0, "every partial is closed", sourceLocation: place)
        #expect(world.network.open == 0, "every connection is closed", sourceLocation: place)
        #expect(!world.timeline.isOverdue, "it ended without intervention", sourceLocation: place)
        #expect(closings > 0, "the engine closed", sourceLocation: place)
        for id in Set(reports.map(\.id.rawValue)) {
            let ends = updates(DownloadID(rawValue: id)).count { $0.isEnd }
            let starts = phases(DownloadID(rawValue: id)).count { $0 == .finished }
            #expect(starts <= 1, "success is declared once", sourceLocation: place)
            #expect(ends <= 8, sourceLocation: place)
        }
    }

    // MARK: events

    var reports: [EngineEvent] { received.withLock { $0.map(\.report) } }

    func updates(_ id: DownloadID) -> [StatusUpdate] { reports.filter { $0.id == id }.map(\.update) }

    func phases(_ id: DownloadID) -> [DownloadState] {
        updates(id).compactMap { if case .phase(let phase) = $0 { phase } else { nil } }
    }

    func failure(_ id: DownloadID) -> Failure? {
        updates(id).compactMap { if case .failed(let failure) = $0 { failure } else { nil } }.last
    }

    func retries(_ id: DownloadID) -> [Interval] {
        updates(id).compactMap { if case .retrying(_, let wait) = $0 { wait } else { nil } }
    }

    func sentences(_ id: DownloadID) -> [String] {
        updates(id).compactMap { if case .notice(let text) = $0 { text.description } else { nil } }
    }

    func time(_ id: DownloadID, of phase: DownloadState) -> Instant? {
        received.withLock { $0.first { $0.report.id == id && $0.report.update == .phase(phase) }?.at }
    }

    /// The file at `name` is finished and every byte of it is the payload's.
    func expect(
        _ payload: Payload, at name: String, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let bytes = world.disk.finished(Stage.path(name))?.bytes
        #expect(bytes?.count == Int(payload.length), comment, sourceLocation: sourceLocation)
        let agreed = unsafe bytes?.withUnsafeBytes { unsafe payload.agreement(with: $0, at: 0) }
        #expect(agreed == Int(payload.length), comment, sourceLocation: sourceLocation)
    }

    /// The requests that a server has responded to.
    var responses: [SimulatedRequest] { requests.filter { $0.status > 0 } }
    var requests: [SimulatedRequest] { world.network.requests }
}

extension StatusUpdate {
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        case .phase, .started, .notice, .retrying: false
        }
    }
}

extension Int64 {
    static let mebi: Int64 = 1 << 20
    static let kibi: Int64 = 1 << 10
}
