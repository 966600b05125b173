import PawlBase
import PawlCore

/// One thread's downloads: takes messages, waits, runs the transport, fires alarms, ticks.
///
/// No locks.
final class Loop {
    enum Message: Sendable {
        case start(DownloadID, Boxed<Job>, ProgressCell)
        case pause(DownloadID)
        case preempt(DownloadID)
        case remove(DownloadID)
        case retryNow(DownloadID)
        indirect case replaceSource(DownloadID, WebAddress)
        case limit(DownloadID, Int64?)
        /// The common limits changed.
        case limits
        /// Descriptors are scarce: connections that no request uses are closed.
        case closeIdle
        case look(DownloadID, @Sendable (Inspection?) -> Void)
        indirect case read(DownloadID, ByteRange, known: ByteRange, @Sendable (PartBytes?) -> Void)
        case network(Bool)
        /// For this run only: a later one ignores messages for an earlier one.
        indirect case runner(DownloadID, run: UInt64, RunnerEvent)
        case stop
    }

    /// The interval at which active downloads check their lanes.
    private static let tickPeriod = Interval.milliseconds(100)
    /// So many do at each tick; of more than ten times that, each does once a second.
    private static let tickedAtOnce = 256
    /// The delay of a tick from which the thread counts as suspended.
    private static let standstill = Interval.seconds(1)

    let shared: Shared
    let clock: any Clock
    private let mailbox: Mailbox<Message>
    /// In order of arrival, so that the same events lead to the same requests.
    private var runners: [Runner] = []
    private var byID: [DownloadID: Runner] = [:]
    private var alarms = Deadlines<DownloadID>()
    /// The place in `runners` of the next that ticks, where not all do.
    private var nextTicked = 0
    private var transport: (any Transport)?
    /// Requests decided inside a callback of the transport; they are sent when it has returned.
    private var outbox: [(request: TransferRequest, id: TransferID, sink: any TransferSink)] = []
    private var sleepers: [(until: Instant, transfer: TransferID)] = []
    private var nextTick: Instant?
    private var isStopping = false
    /// The bytes of bodies that are collected in memory, as long as they will be.
    private var collected: Int64 = 0
    /// Bodies of the usual small files at once, and a few long ones.
    private static let mostCollected: Int64 = 2 << 20

    init(shared: Shared, mailbox: Mailbox<Message>) {
        self.shared = shared
        self.mailbox = mailbox
        clock = shared.ports.clock
    }

    func run() {
        let poller = shared.ports.pollers.makePoller()
        let transport = shared.ports.transports.makeTransport(on: poller)
        self.transport = transport
        mailbox.attach(wake: poller.wake)
        while !(isStopping && runners.isEmpty) {
            for message in mailbox.take() { handle(message) }
            flush()
            if isStopping, runners.isEmpty { break }
            let due = transport.begin()
            if mailbox.wait({ poller.wait(until: earliest(due, deadline)) }) { transport.work() }
            wakeSleepers()
            tick()
        }
        // A message posted at the last moment still gets its reply.
        for message in mailbox.close() { handle(message) }
        self.transport = nil
    }

    private func earliest(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private var deadline: Instant? {
        // Without downloads nothing rings.
        var next = runners.isEmpty ? nil : earliest(earliest(nextTick, alarms.first), shared.hosts.nextTurn)
        for sleeper in sleepers where next.map({ sleeper.until < $0 }) ?? true { next = sleeper.until }
        return next
    }

    private func handle(_ message: Message) {
        switch message {
        case .start(let id, let job, let box): start(id, job, box)
        case .pause(let id): runner(id)?.pause()
        case .preempt(let id): runner(id)?.preempt()
        case .remove(let id): runner(id)?.remove()
        case .retryNow(let id): runner(id)?.retryNow()
        case .replaceSource(let id, let address): runner(id)?.replaceSource(with: address)
        case .limit(let id, let rate):
            runner(id)?.limit(to: rate)
            wakeSleepers(all: true)
        case .limits: wakeSleepers(all: true)
        case .closeIdle: transport?.closeIdle()
        case .look(let id, let reply): reply(runner(id)?.look())
        case .read(let id, let range, let known, let reply): reply(runner(id)?.read(range, known: known))
        case .network(let online): for runner in runners { runner.network(online: online) }
        case .runner(let id, let run, let event):
            if let runner = runner(id), runner.run == run { runner.happened(event) }
        case .stop:
            isStopping = true
            for runner in runners { runner.pause() }
        }
    }

    private func runner(_ id: DownloadID) -> Runner? { byID[id] }

    private func index(of runner: Runner) -> Int? {
        var (low, high) = (0, runners.count)
        while low < high {
            let middle = (low + high) / 2
            if runners[middle].arrival < runner.arrival { low = middle + 1 } else { high = middle }
        }
        return low < runners.count && runners[low] === runner ? low : nil
    }

    private func start(_ id: DownloadID, _ job: Boxed<Job>, _ box: ProgressCell) {
        guard !isStopping else {
            job.value.observer?(.phase(.paused), nil)
            return shared.onReleased(id)
        }
        let runner = Runner(id: id, job: job, box: box, loop: self)
        runners.append(runner)
        byID[id] = runner
        shared.began(runner.run)
        if nextTick == nil { nextTick = clock.now + Loop.tickPeriod }
        runner.begin()
    }

    /// A download that has waited for a descriptor begins as a new run.
    func beginAnew(_ old: Runner) {
        guard let index = index(of: old) else { return }
        let next = Runner(continuing: old)
        alarms.remove(old.id)
        shared.left(old.run)
        shared.began(next.run)
        runners[index] = next
        byID[next.id] = next
        next.begin()
    }

    /// The download has ended or is at rest.
    func release(_ runner: Runner) {
        if byID[runner.id] === runner {
            byID[runner.id] = nil
            alarms.remove(runner.id)
        }
        if let index = index(of: runner) { runners.remove(at: index) }
        if runners.isEmpty { nextTick = nil }
        shared.onReleased(runner.id)
    }

    private func tick() {
        guard let due = nextTick else { return }
        let now = clock.now
        shared.hosts.advance(now: now)
        ring(now: now)
        guard now >= due else { return }
        let late = now - due
        if late > Loop.standstill { for runner in runners { runner.stoodStill(for: late, now: now) } }
        for runner in takeTicked() { runner.tick(now: now) }
        shared.onSlot(.ticked)
        nextTick = runners.isEmpty ? nil : now + Loop.tickPeriod
    }

    /// All, or a portion of many in turn.
    private func takeTicked() -> [Runner] {
        let count = max(Self.tickedAtOnce, (runners.count + 9) / 10)
        guard runners.count > count else { return runners }
        let first = nextTicked < runners.count ? nextTicked : 0
        nextTicked = first + count
        return Array(runners[first..<min(nextTicked, runners.count)])
    }

    func set(alarm: Instant, of runner: Runner) { alarms.set(runner.id, to: alarm) }

    private func ring(now: Instant) { for id in alarms.pass(now) { runner(id)?.ring(now: now) } }

    /// Reserves memory for a body of that length until ``endCollecting(_:)``; `false` where there is no more.
    func beginCollecting(_ length: Int64) -> Bool {
        guard collected + length <= Self.mostCollected else { return false }
        collected += length
        return true
    }

    func endCollecting(_ length: Int64) { collected -= length }

    // MARK: requests of runners

    func send(_ request: consuming TransferRequest, as id: TransferID, sink: any TransferSink) {
        outbox.append((request, id, sink))
    }

    private func flush() {
        guard !outbox.isEmpty else { return }
        // Two lists take turns, so that none is made anew.
        var batch: [(request: TransferRequest, id: TransferID, sink: any TransferSink)] = []
        swap(&batch, &outbox)
        for next in batch { transport?.start(next.request, as: next.id, sink: next.sink) }
        batch.removeAll(keepingCapacity: true)
        if outbox.isEmpty { swap(&batch, &outbox) }
    }

    func cancel(_ id: TransferID) {
        sleepers.removeAll { $0.transfer == id }
        if let index = outbox.firstIndex(where: { $0.id == id }) {
            outbox.remove(at: index)
        } else {
            transport?.cancel(id)
        }
    }

    package func resume(_ id: TransferID) { transport?.resume(id) }

    /// Suspends a transfer until then.
    func sleep(_ transfer: TransferID, until moment: Instant) { sleepers.append((moment, transfer)) }

    /// Resumes transfers that are due; all of them when the limits have changed, as each delay is computed
    /// again.
    private func wakeSleepers(all: Bool = false) {
        guard !sleepers.isEmpty else { return }
        let now = clock.now
        let woken = sleepers.filter { all || $0.until <= now }
        sleepers.removeAll { all || $0.until <= now }
        for sleeper in woken { transport?.resume(sleeper.transfer) }
    }

    /// A completion handler for this run of a download, callable from any thread.
    func poster(for runner: Runner) -> @Sendable (RunnerEvent) -> Void {
        { [mailbox, id = runner.id, run = runner.run] event in mailbox.post(.runner(id, run: run, event)) }
    }
}
