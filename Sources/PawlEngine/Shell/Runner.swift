import PawlCore

/// Events for a runner from other threads.
///
/// Large values are kept by reference, as in ``Action``.
enum RunnerEvent: Sendable {
    case checkpointed(Result<Void, Failure>)
    indirect case digested(Result<[Checksum], Failure>)
    indirect case digestedDecoded(Result<[Checksum]?, Failure>)
    indirect case foundSidecars(FoundDigests, of: WebAddress)
    indirect case pieceHashed(PieceMap.Check, Result<[UInt8], Failure>)
    case published(Result<String, Failure>)
    /// The owner has recorded the file's name, and the file may be published.
    case mayPublish(length: Int64, modified: UnixTime?)
    indirect case refreshed(source: Int, generation: UInt32, WebAddress?)
    indirect case replied(HookOrder, HookReply)
}

/// Runs one download: executes its machine's actions and feeds back events.
///
/// Belongs to one loop's thread.
final class Runner {
    let id: DownloadID
    /// Distinguishes this run from earlier ones of the same download.
    let run: UInt64
    private var order: Boxed<Job>
    var job: Job { order.value }
    /// The loop outlives its runners, and ends when it has none.
    let loop: Loop
    let shared: Shared
    let clock: any Clock
    var disk: any Disk
    let witness: (any Witness)?
    /// The addresses as the journal stores them.
    let addresses: [String]
    /// An address was replaced; the machine knows which may be stored.
    var hasOtherAddress = false
    var machine: DownloadMachine
    var partial: (any Partial)?
    var writers: [LaneWriter] = []
    private(set) var alarm: Alarm?
    private let box: ProgressCell
    private var meter = SpeedMeter()
    var limiter: RateLimiter
    private var startedAt: Instant
    private(set) var publishedPath = ""
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
    /// The last retry that was scheduled.
    private var retry: PendingRetry?
    /// The host that denied the last requested connection.
    var deniedBy: String?
    private var nextLook = Instant(nanoseconds: 0)
    private var isReleased = false
    /// The SHA-256 digest of the content, if it was computed.
    private(set) var sha256: [UInt8]?
    /// The number of connections in the sample that is valid while the present actions are carried out.
    var readConnections: Int?

    init(id: DownloadID, job order: Boxed<Job>, box: ProgressCell, loop: Loop) {
        self.id = id
        run = loop.shared.nextTransfer().rawValue
        self.order = order
        self.box = box
        self.loop = loop
        shared = loop.shared
        clock = loop.clock
        disk = order.value.disk ?? shared.ports.disk
        witness = shared.ports.witness
        startedAt = clock.now
        limiter = RateLimiter(rate: order.value.rateLimit)
        let seed = UInt64(bitPattern: startedAt.nanoseconds) &+ id.rawValue
        var plan = order.value.plan
        plan.canRefresh = order.value.refresh != nil
        machine = DownloadMachine(plan: plan, seed: seed)
        addresses = machine.sources.map(\.text)
    }

    /// Replaces the given address.
    func use(_ address: WebAddress) {
        var job = job
        job.plan.sources[0] = address
        order = Boxed(job)
        hasOtherAddress = true
    }

    /// Asks the machine in place: a call on the stored property would copy the whole machine first.
    func ask<Value>(_ question: (inout DownloadMachine) -> Value) -> Value { question(&machine) }

    // MARK: events

    /// Reports every lane's progress to the machine, then the event, and performs the resulting actions.
    func feed(now: Instant? = nil, _ event: (inout DownloadMachine, Instant) -> [Action]) {
        let now = now ?? clock.now
        sync(now: now)
        perform(event(&machine, now))
    }

    func begin() {
        let now = clock.now
        let isLocal = job.plan.sources.contains(where: \.isLoopback)
        let online = isLocal || shared.ports.reachability.isOnline
        machine.limited(to: presentLimit, now: now)
        perform(machine.begin(claimed: earlyClaim(), online: online, now: now))
    }

    func network(online: Bool) {
        feed { $0.network(online: online, now: $1) }
    }

    func ring(now: Instant) {
        guard let due = alarm, due.at <= now else { return }
        alarm = nil
        feed(now: now) { $0.rang(due.generation, now: $1) }
    }

    func stoodStill(for span: Interval, now: Instant) { machine.stoodStill(for: span, now: now) }

    func tick(now: Instant) {
        lookForNetwork(now: now)
        partial?.ensurePartName()
        feed(now: now) { [limit = presentLimit] machine, now in
            machine.limited(to: limit, now: now)
            return machine.tick(now: now)
        }
        if machine.phase == .transferring, case let algorithms = ask({ $0.algorithms }), !algorithms.isEmpty {
            partial?.hashAhead(algorithms, done: machine.map.done)
        }
        read(now: now)
    }

    func happened(_ event: RunnerEvent) {
        switch event {
        case .checkpointed(let result):
            isCheckpointing = false
            if case .failure(let failure) = result {
                return feed { machine, _ in machine.diskFailed(failure) }
            }
            if isCheckpointDue { checkpoint() }
        case .pieceHashed(let check, .success(let digest)):
            feed { $0.pieceHashed(check, digest: digest, now: $1) }
        case .pieceHashed(_, .failure(let failure)):
            feed { machine, _ in machine.diskFailed(failure) }
        case .digested(.success(let digests)):
            sha256 = digests.first { $0.algorithm == .sha256 }?.digest ?? sha256
            feed { $0.digested(digests, now: $1) }
        case .digestedDecoded(.success(let digests)): feed { $0.digestedDecoded(digests, now: $1) }
        case .foundSidecars(let found, let address):
            feed { machine, _ in machine.foundSidecars(found, of: address) }
        case .published(.success(let path)):
            publishedPath = finalPath(path)
            partial = nil
            feed { machine, _ in machine.published() }
        case .mayPublish(let length, let modified): commit(length: length, modified: modified)
        case .refreshed(let source, let generation, let address):
            hasOtherAddress = true
            feed { $0.refreshed(source, generation, to: address, now: $1) }
        case .replied(let order, let reply): replied(order, reply)
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
        return !(300..<400).contains(head.status) || head.location == nil
            || job.plan.hooks.contains(.redirect)
    }

    func responded(_ lane: LaneID, head: ResponseHead, page: [UInt8]? = nil) {
        let head = noteSecurity(of: lane, head)
        lastHead = head
        lastAddress = writers.first { $0.lane == lane }?.address
        lastResponse = (head, lastAddress, page)
        defer { hold(lane, head) }
        let source = ask { $0.source(of: lane) }
        let origin = head.status == 403 ? writers.first { $0.lane == lane }?.origin : nil
        let isCrowded = origin.map { shared.isCrowded($0) } ?? false
        feed { [wallTime = clock.wallTime] in
            $0.responded(lane, head: head, isCrowded: isCrowded, wallTime: wallTime, now: $1)
        }
        lastHead = nil
        if let source { noteName(lane, source: source, head) }
    }

    /// Stores the host's TLS policy, and rewrites a redirect to the scheme that its target requires.
    private func noteSecurity(of lane: LaneID, _ head: ResponseHead) -> ResponseHead {
        if let field = head.transportSecurity, job.settings.values.verifiesPeer,
            let origin = writers.first(where: { $0.lane == lane })?.origin, origin.scheme == .https
        {
            shared.note(transportSecurity: field, of: origin.host)
        }
        guard let location = head.location, let target = try? WebAddress.parse(location).address else {
            return head
        }
        var head = head
        let secured = shared.secured(target)
        if secured != target { head.location = secured.text }
        return head
    }

    /// The response head for a claim of a name.
    var lastHead: ResponseHead?
    private var lastAddress: WebAddress?
    /// The response whose body is the content.
    private var accepted: (head: ResponseHead, address: WebAddress?)?
    /// The last response, while no other request was made.
    var lastResponse: (head: ResponseHead, address: WebAddress?, page: [UInt8]?)?
    /// The requests that ended.
    private var transfers: [TransferRecord] = []
    var hasHead: Bool { if case .some = lastHead { true } else { false } }

    func ended(_ lane: LaneID, _ end: TransferEnd) {
        guard let index = writers.firstIndex(where: { $0.lane == lane }) else { return }
        // A body without a byte is complete before the program has replied.
        if case .complete = end, writers[index].question != nil {
            writers[index].ended = end
            return
        }
        sync()
        shared.release(writers[index].origin, served: writers[index].isAdmitted)
        finish(writers.remove(at: index))
        if case .failed = end { noteNetwork() }
        feed { $0.ended(lane, end, now: $1) }
    }

    /// A download that is retried for days is not measured for ever.
    private static let mostTransfers = 128

    /// Keeps what was measured of a request.
    func finish(_ writer: LaneWriter) {
        guard var record = writer.record, transfers.count < Self.mostTransfers else { return }
        record.end = clock.now
        record.received = writer.received
        transfers.append(record)
    }

    /// A failure may be the first sign of a lost network, before the monitor reports it.
    private func noteNetwork() {
        guard !job.plan.sources.contains(where: \.isLoopback), !shared.ports.reachability.isOnline else {
            return
        }
        feed { $0.network(online: false, now: $1) }
    }

    /// Polls the monitor: it reports changes only, and a short outage may not appear as one.
    private func lookForNetwork(now: Instant) {
        guard machine.phase == .waitingForNetwork, now >= nextLook else { return }
        nextLook = now + .seconds(1)
        if shared.ports.reachability.isOnline { feed(now: now) { $0.network(online: true, now: $1) } }
    }

    @discardableResult
    func compared(_ lane: LaneID, agreed: Bool) -> Bool {
        feed { $0.compared(lane, agreed: agreed, now: $1) }
        return writers.contains { $0.lane == lane }
    }

    /// How many bytes behind the lane's end it has to compare.
    func reachedEnd(_ lane: LaneID) -> Int64 {
        sync()
        return machine.reachedEnd(lane)
    }

    func joined(_ lane: LaneID, agreed: Bool) {
        feed { $0.joined(lane, agreed: agreed, now: $1) }
    }

    // MARK: bytes

    /// Whether the bytes on disk equal these; `nil` when the disk failed.
    func agrees(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool? {
        guard let partial else { return nil }
        do throws(Failure) {
            let mine = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { unsafe mine.deallocate() }
            try unsafe partial.read(into: mine, at: offset)
            return unsafe mine.elementsEqual(bytes)
        } catch {
            feed { machine, _ in machine.diskFailed(error) }
            return nil
        }
    }

    var isLimited: Bool { limiter.rate != nil || shared.hasLimit }

    /// The least of the limits in force for this download.
    var presentLimit: Int64? {
        isLimited ? [shared.slowest, limiter.rate].compactMap { $0 }.min() : nil
    }

    /// How far ahead of the limit a lane may be whose connection sends more than the lane may use.
    private static let precedence = Interval.milliseconds(250)

    /// Bytes sent beyond a lane's end are lost: where several lanes of a download share a limit, those wait whose every
    /// byte is used.
    ///
    /// Those of other downloads must not wait for ever: after a while they are as far ahead of the limit.
    private func patience(of writer: LaneWriter, now: Instant) -> Interval {
        if writer.asksBeyond { return Runner.precedence }
        guard let since = writer.heldSince, now - since >= Runner.precedence else { return .zero }
        return writers.contains(where: \.asksBeyond) ? .zero : Runner.precedence
    }

    /// The pause before a reader without capacity is tried again.
    private static let readerPause = Interval.milliseconds(2)

    /// Whether a rate limit or a slow reader suspends this transfer; it is resumed when its time has come.
    func holdsBack(_ writer: LaneWriter) -> Bool {
        guard partial?.hasRoom != false else {
            let now = clock.now
            writer.heldSince = writer.heldSince ?? now
            loop.sleep(writer.transfer, until: now + Runner.readerPause)
            return true
        }
        guard isLimited else { return false }
        let now = clock.now
        let delay = max(shared.delay(of: writer.origin, now: now), limiter.delay(now: now))
        let patience = patience(of: writer, now: now)
        guard delay > patience else { return false }
        writer.heldSince = writer.heldSince ?? now
        loop.sleep(
            writer.transfer,
            until: now + Interval(nanoseconds: delay.nanoseconds - patience.nanoseconds)
        )
        return true
    }

    func charge(_ bytes: Int, to origin: Origin) {
        guard isLimited else { return }
        let now = clock.now
        shared.charge(bytes, to: origin, now: now)
        limiter.charge(bytes, now: now)
    }

    // MARK: state

    /// Reports every lane's position to the machine.
    func sync(now: Instant? = nil) {
        guard !writers.isEmpty else { return }
        let now = now ?? clock.now
        for writer in writers {
            machine.progressed(
                writer.lane,
                cursor: writer.cursor,
                received: writer.received,
                waits: writer.heldSince != nil,
                now: now
            )
        }
    }

    func read(now: Instant) {
        meter.note(total: machine.received, now: now)
        var reading = ProgressSample()
        reading.phase = machine.phase
        reading.name = machine.name
        reading.written = machine.map.done.count
        reading.total = machine.map.total
        reading.received = machine.received
        reading.speed = meter.lastSecond(now: now)
        reading.smoothed = meter.smoothed(now: now)
        reading.connections = writers.count
        reading.retryIn = ask { $0.nextAttempt }.map { max(.zero, $0 - now) }
        reading.waitsForHost = ask { $0.waitsForRetry } ? deniedBy : nil
        reading.retry = reading.retryIn == nil || reading.waitsForHost != nil ? nil : retry
        reading.at = now
        box.set(reading)
    }

    func notify(_ update: StatusUpdate) {
        if case .retrying(let failure, _) = update {
            deniedBy = nil
            retry = PendingRetry(attempt: machine.attempts, limit: machine.plan.retry.retries, after: failure)
        }
        // Its receivers may start it again because of this event.
        if let observer = job.observer { return observer(update, lastHead) }
        if update.isRest { shared.onRests(id) }
        guard shared.reportsEveryPhase || !update.isImplied else { return box.set(phase: machine.phase) }
        let now = clock.now
        if readConnections != writers.count {
            read(now: now)
            readConnections = writers.count
        }
        if update.isStart, let lastHead { accepted = (lastHead, lastAddress) }
        let response = update.isFailure ? lastResponse.map { ($0.head, $0.address) } : accepted
        shared.onReport(
            EngineEvent(
                id: id,
                update: update,
                name: machine.name ?? "",
                path: publishedPath,
                received: machine.received,
                elapsed: now - startedAt,
                source: update.isFinish ? machine.sources[0].given.text : "",
                content: memoryContent(at: update),
                head: update.hasResponse ? response?.0 : nil,
                address: update.hasResponse ? response?.1 : nil,
                page: update.isFailure ? lastResponse?.page : nil,
                transfers: update.isLast ? transfers : [],
                verification: update.isFinish ? machine.verification : nil
            )
        )
    }

    func noteDiskFailure() { diskFailures += 1 }
    func set(path: String) { publishedPath = path }
    func set(alarm: Alarm) { self.alarm = alarm }

    func checkpoint() {
        guard let partial, partial.hasJournal else { return }
        isCheckpointDue = isCheckpointing
        guard !isCheckpointing else { return }
        isCheckpointing = true
        let post = loop.poster(for: run)
        partial.checkpoint(machine.map.done) { post(.checkpointed($0)) }
    }

    /// Leaves the loop once the machine is at rest.
    func releaseWhenAtRest() {
        guard !isReleased else { return }
        switch machine.phase {
        case .paused, .preempted, .finished, .failed, .removed:
            isReleased = true
            loop.release(id)
        case .waiting, .probing, .transferring, .waitingForNetwork, .verifying, .publishing: break
        }
    }
}

extension StatusUpdate {
    /// Whether a start or an end implies this event.
    fileprivate var isImplied: Bool {
        guard case .phase(let phase) = self else { return false }
        return switch phase {
        case .waiting, .probing, .transferring, .publishing, .finished, .failed: true
        case .waitingForNetwork, .verifying, .paused, .preempted, .removed: false
        }
    }

    /// Whether the run has paused or failed.
    fileprivate var isRest: Bool {
        switch self {
        case .failed, .phase(.paused), .phase(.failed): true
        case .phase, .started, .notice, .retrying, .finished: false
        }
    }

    fileprivate var hasResponse: Bool {
        switch self {
        case .started, .failed, .finished: true
        case .phase, .notice, .retrying: false
        }
    }

    fileprivate var isFailure: Bool {
        if case .failed = self { true } else { false }
    }

    /// Whether the run stops with it.
    fileprivate var isLast: Bool {
        switch self {
        case .failed, .finished, .phase(.paused), .phase(.preempted): true
        case .phase, .started, .notice, .retrying: false
        }
    }

    fileprivate var isFinish: Bool {
        if case .finished = self { true } else { false }
    }

    fileprivate var isStart: Bool {
        if case .started = self { true } else { false }
    }
}
