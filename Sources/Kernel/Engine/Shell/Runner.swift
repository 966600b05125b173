import PawlBase
import PawlCore
import PawlJournal

/// Runs one download: executes its machine's actions and feeds back events.
///
/// Belongs to one loop's thread.
final class Runner {
    let id: DownloadID
    /// Distinguishes this run from earlier ones of the same download.
    let run: UInt64
    /// The number of its first run.
    let arrival: UInt64
    private var order: Boxed<Job>
    var job: Job { _read { yield order.value } }
    /// The loop outlives its runners, and ends when it has none.
    let loop: Loop
    let shared: Shared
    let clock: any Clock
    let disk: any Disk
    var destination: Destination
    /// That of the destination, where the program wants the content in memory.
    var memory: MemorySink?
    let witness: (any Witness)?
    /// The addresses as the journal stores them.
    let addresses: [String]
    /// An address was replaced; the machine knows which may be stored.
    var hasOtherAddress = false
    /// The way without a machine, as long as it is enough.
    var straight: StraightRun?
    private lazy var decisionMaker = DecisionMaker(machine: makeMachine())
    var place: Place?
    var writers: [LaneWriter] = []
    private(set) var alarm: Alarm?
    let box: ProgressCell
    var meter = SpeedMeter()
    var limiter: RateLimiter
    let startedAt: Instant
    private(set) var publishedPath = ""
    /// The part file when it began to be published.
    var published: FileStamp?
    /// The part file was begun under a name that is not the server's.
    var naming = ProvisionalName()
    private var isCheckpointing = false
    /// A checkpoint was requested while another was running.
    private var isCheckpointDue = false
    /// The questions to the program, and its replies.
    var hooks = HookState()
    /// Counts the lists of actions: state read from the machine before the last one may be outdated.
    var decisions: UInt64 = 0
    /// Counts disk failures, so that a list of actions is not continued after one.
    private(set) var diskFailures = 0
    /// How often all bytes were discarded.
    var restarts: UInt64 = 0
    /// The last retry that was scheduled.
    var retry: PendingRetry?
    /// The origin that denied the last requested connection.
    var deniedBy: Origin?
    /// The origins in whose lines it stands.
    var standing: [Origin] = []
    /// Connections that the present actions have ended.
    var freed: [FreedPlace] = []
    /// How many lists of actions are being performed, one within the other.
    var performing = 0
    /// How many downloads had released descriptors when it began to wait for one.
    private var releases: UInt64 = 0
    /// Whether it has waited for a descriptor.
    private var hasWaited = false
    private var nextLook = Instant(nanoseconds: 0)
    private var isReleased = false
    /// The SHA-256 digest of the content, if it was computed.
    private(set) var sha256: [UInt8]?
    /// The number of connections in the sample that is valid while the present actions are carried out.
    var readConnections: Int?

    init(id: DownloadID, job order: Boxed<Job>, box: ProgressCell, loop: Loop, arrival: UInt64? = nil) {
        self.id = id
        run = loop.shared.nextTransfer().rawValue
        self.arrival = arrival ?? run
        self.order = order
        self.box = box
        self.loop = loop
        shared = loop.shared
        clock = loop.clock
        disk = shared.ports.disk
        destination = order.value.destination
        witness = shared.ports.witness
        startedAt = clock.now
        limiter = RateLimiter(rate: order.value.rateLimit)
        addresses = order.value.plan.sources.map(\.text)
    }

    /// Made when something happens about which ``StraightPath`` does not decide.
    var machine: DownloadMachine {
        _read { yield decisionMaker.machine }
        _modify { yield &decisionMaker.machine }
    }

    private func makeMachine() -> DownloadMachine {
        var plan = job.plan
        plan.canRefresh = job.refresh != nil
        return DownloadMachine(plan: plan, seed: UInt64(bitPattern: startedAt.nanoseconds) &+ id.rawValue)
    }

    /// Continues `other`, which has waited for a descriptor and holds nothing.
    convenience init(continuing other: Runner) {
        self.init(id: other.id, job: other.order, box: other.box, loop: other.loop, arrival: other.arrival)
        hasOtherAddress = other.hasOtherAddress
        limiter = other.limiter
        retry = other.retry
        hasWaited = true
        machine.waiting.descriptors = other.machine.waiting.descriptors.next(
            hasCompany: shared.hasCompany(of: other.run) || shared.releases != other.releases)
    }

    /// Replaces the given address.
    func use(_ address: WebAddress) {
        // The machine begins with the former one.
        leaveStraightPath()
        var job = job
        job.plan.sources[0] = address
        order = Boxed(job)
        hasOtherAddress = true
    }

    /// Asks the machine in place: a call on the stored property would copy the whole machine first.
    func ask<Value>(_ question: (inout DownloadMachine) -> Value) -> Value {
        leaveStraightPath()
        return question(&machine)
    }

    // MARK: events

    /// Reports every lane's progress to the machine, then the event, and performs the resulting actions.
    func feed(now: Instant? = nil, _ event: (inout DownloadMachine, Instant) -> [Action]) {
        let now = now ?? clock.now
        leaveStraightPath()
        sync(now: now)
        machine.happens(at: now)
        perform(event(&machine, now))
    }

    func begin() {
        let now = clock.now
        let isLocal = job.plan.sources.allSatisfy(\.isLoopback)
        let online = isLocal || shared.ports.reachability.isOnline
        let mayBegin = shared.mayBegin(run, hasWaited: hasWaited)
        if mayBegin, goStraight(online: online, now: now) { return }
        machine.happens(at: now)
        machine.limited(to: presentLimit, now: now)
        // Those that hold the others will release them.
        if !mayBegin { machine.waiting.descriptors.lonely = 0 }
        let claimed = mayBegin ? earlyClaim() : .failed(.noDescriptor)
        perform(machine.begin(claimed: claimed, online: online, now: now))
    }

    func network(online: Bool) { feed { $0.network(online: online, now: $1) } }

    func ring(now: Instant) {
        guard let due = alarm, due.at <= now else { return }
        alarm = nil
        if ask({ $0.waitsForDescriptor }) { return loop.beginAnew(self) }
        feed(now: now) { $0.rang(due.generation, now: $1) }
    }

    func stoodStill(for span: Interval, now: Instant) {
        leaveStraightPath()
        machine.stoodStill(for: span, now: now)
    }

    func tick(now: Instant) {
        if let straight, straight.head == nil, now - startedAt < Self.longestStraight { return }
        leaveStraightPath()
        lookForNetwork(now: now)
        place?.file?.ensurePartName()
        feed(now: now) { [limit = presentLimit] machine, now in
            machine.limited(to: limit, now: now)
            return machine.tick(now: now)
        }
        if machine.phase == .transferring, case let algorithms = ask({ $0.algorithms }), !algorithms.isEmpty {
            place?.file?.hashAhead(algorithms, done: machine.lanes.map.done)
        }
        read(now: now)
    }

    func happened(_ event: RunnerEvent) {
        switch event {
        case .checkpointed(let result):
            isCheckpointing = false
            if case .failure(let failure) = result { return feed { machine, _ in machine.diskFailed(failure) } }
            if isCheckpointDue { checkpoint() }
        case .pieceHashed(let check, .success(let digest)): feed { $0.pieceHashed(check, digest: digest, now: $1) }
        case .pieceHashed(_, .failure(let failure)): feed { machine, _ in machine.diskFailed(failure) }
        case .digested(.success(let digests)):
            sha256 = digests.first { $0.algorithm == .sha256 }?.digest ?? sha256
            feed { $0.digested(digests, now: $1) }
        case .digestedDecoded(.success(let digests)): feed { $0.digestedDecoded(digests, now: $1) }
        case .foundSidecars(let found, let address): feed { machine, _ in machine.foundSidecars(found, of: address) }
        case .published(.success(let path)):
            publishedPath = finalPath(path)
            place = nil
            feed { machine, _ in machine.published() }
        case .mayPublish(let length, let modified): commit(length: length, modified: modified)
        case .refreshed(let source, let generation, let address):
            hasOtherAddress = true
            feed { $0.refreshed(source, generation, to: address, now: $1) }
        case .turn(let origin): turn(at: origin)
        case .replied(let order, let reply): replied(order, reply)
        case .descriptorReleased: if ask({ $0.waitsForDescriptor }) { loop.beginAnew(self) }
        case .digested(.failure(let failure)), .digestedDecoded(.failure(let failure)),
            .published(.failure(let failure)):
            feed { machine, _ in machine.diskFailed(failure) }
        }
    }

    /// Whether the body of this response may be the result, although its status is no success.
    func wantsPage(of head: ResponseHead) -> Bool {
        // These are the content's: 0 is that of FTP and SFTP.
        let isUsual = [0, 200, 206].contains(head.status)
        guard job.plan.endsWithErrorResponse, !isUsual, ask({ $0.takesErrorResponse }) else { return false }
        return !(300..<400).contains(head.status) || head.location == nil || job.plan.hooks.contains(.redirect)
    }

    func responded(_ lane: LaneID, head: ResponseHead, page: [UInt8]? = nil) {
        leaveStraightPath()
        let head = noteSecurity(of: lane, head)
        lastHead = head
        let writer = writers.first { $0.lane == lane }
        lastAddress = writer?.address
        lastResponse = (head, lastAddress, page)
        defer { hold(lane, head) }
        let source = ask { $0.source(of: lane) }
        let isCrowded = writer.map { noteHost($0.origin, head, mayShare: $0.mayShare) } ?? false
        feed { [wallTime = clock.wallTime] in
            $0.responded(lane, head: head, isCrowded: isCrowded, wallTime: wallTime, now: $1)
        }
        lastHead = nil
        if let source { noteName(lane, source: source, head) }
    }

    /// Stores the host's TLS policy, and rewrites a redirect to the scheme that its target requires.
    func noteSecurity(of lane: LaneID, _ head: ResponseHead) -> ResponseHead {
        if let field = head.transportSecurity, job.settings.values.verifiesPeer,
            let origin = writers.first(where: { $0.lane == lane })?.origin, origin.scheme == .https
        {
            shared.note(transportSecurity: field, of: origin.host)
        }
        guard let location = head.location, let target = try? WebAddress.parse(location).address else { return head }
        var head = head
        let secured = shared.secured(target)
        if secured != target { head.location = secured.text }
        return head
    }

    /// The response head for a claim of a name.
    var lastHead: ResponseHead?
    private(set) var lastAddress: WebAddress?
    /// The response whose body is the content.
    var accepted: (head: ResponseHead, address: WebAddress?)?
    /// The last response, while no other request was made.
    var lastResponse: (head: ResponseHead, address: WebAddress?, page: [UInt8]?)?
    /// The requests that ended.
    private(set) var transfers: [TransferRecord] = []
    var hasHead: Bool { if case .some = lastHead { true } else { false } }

    func ended(_ lane: LaneID, _ end: TransferEnd) {
        guard let writer = writers.first(where: { $0.lane == lane }) else { return }
        // A body without a byte is complete before the program has replied.
        if case .complete = end, writer.question != nil {
            writer.ended = end
            return
        }
        sync()
        if case .failed = end { noteNetwork() }
        // Its place is kept for what its end decides.
        guard let index = writers.firstIndex(where: { $0.lane == lane }) else { return }
        free(writers[index])
        finish(writers.remove(at: index))
        feed { $0.ended(lane, end, now: $1) }
    }

    /// A download that is retried for days is not measured for ever.
    private static let mostTransfers = 128

    /// Keeps what was measured of a request.
    func finish(_ writer: LaneWriter) {
        guard var record = writer.record, transfers.count < Self.mostTransfers else { return }
        record.end = clock.now
        record.received = straight?.received ?? writer.received
        transfers.append(record)
    }

    /// A failure may be the first sign of a lost network, before the monitor reports it.
    private func noteNetwork() {
        guard ask({ $0.sources.contains { !$0.current.isLoopback } }) else { return }
        let isOnline = shared.ports.reachability.isOnline
        feed { $0.network(online: isOnline, now: $1) }
    }

    /// Polls the monitor: it reports changes only, and a short outage may not appear as one.
    private func lookForNetwork(now: Instant) {
        guard ask({ $0.shownPhase }) == .waitingForNetwork, now >= nextLook else { return }
        nextLook = now + .seconds(1)
        if shared.ports.reachability.isOnline { feed(now: now) { $0.network(online: true, now: $1) } }
    }

    // MARK: state

    /// Reports every lane's position to the machine.
    func sync(now: Instant? = nil) {
        guard !writers.isEmpty else { return }
        let now = now ?? clock.now
        for writer in writers {
            machine.progressed(
                writer.lane, cursor: writer.cursor, received: writer.received, waits: writer.heldSince != nil, now: now)
        }
    }

    func noteDiskFailure() { diskFailures += 1 }
    func set(path: String) { publishedPath = path }
    func set(alarm: Alarm) {
        self.alarm = alarm
        loop.set(alarm: alarm.at, of: self)
    }

    func checkpoint() {
        guard let file = place?.file, file.hasJournal else { return }
        isCheckpointDue = isCheckpointing
        guard !isCheckpointing else { return }
        isCheckpointing = true
        let post = loop.poster(for: self)
        file.checkpoint(machine.lanes.map.done) { post(.checkpointed($0)) }
    }

    /// Leaves the loop once the machine is at rest.
    func releaseWhenAtRest() {
        guard !isReleased else { return }
        if ask({ $0.waitsForDescriptor }) {
            releases = shared.releases
            shared.waits(run, loop.poster(for: self))
        }
        switch machine.phase {
        case .paused, .preempted, .finished, .failed, .removed: release()
        case .waiting, .waitingForDisk, .probing, .transferring, .waitingForNetwork, .verifying, .publishing: break
        }
    }

    /// Leaves the loop.
    func release() {
        isReleased = true
        shared.ended(run)
        loop.release(self)
    }
}

/// A machine that is changed in place.
private final class DecisionMaker {
    var machine: DownloadMachine

    init(machine: DownloadMachine) { self.machine = machine }
}
