#if Queue
import PawlBase
import PawlEngine
import PawlQueue

/// Carries out the queue's decisions; one thread owns it, so nothing here is locked.
///
/// Commands change the machine and records; `settle` then writes all changes in one transaction, and only
/// then replies and publishes events. So nothing is reported that a kill could undo.
final class QueueKeeper: ThreadBound {
    /// A download that the engine runs.
    struct Run {
        let engineID: DownloadID
        let box: ProgressCell
        /// What runs in the place of the engine's download, if it is a stream.
        var stream: QueuedStream?
        /// A request of the stream waits for the network, and no other one was answered since.
        var isOffline = false
        var record: QueueRecord
        /// The stored options with which it began; those of the record may have been changed since.
        let began: String
        /// The first URL with which it began.
        private let beganSource: String
        /// The bytes that it had then.
        let beganWritten: Int64
        /// Whether it was paused when its bytes were complete already.
        var wasPausedTooLate = false
        /// The first URL when its bytes were complete: another one that is set later is too late.
        var completedSource: String?
        var response: DownloadResponse?

        init(engineID: DownloadID, box: ProgressCell, record: QueueRecord) {
            (self.engineID, self.box, self.record) = (engineID, box, record)
            (began, beganSource, beganWritten) = (record.options, record.sources[0], record.written)
        }

        /// Whether what it fetched is another part than is wanted now, of another URL, or was not checked with a digest that
        /// is given now.
        var isOutdated: Bool {
            let source = record.sources[0]
            if let completedSource, ![beganSource, completedSource].containsBytes(of: source) { return true }
            guard !record.options.hasSameBytes(as: began) else { return false }
            let (now, before) = (StoredOptions(text: record.options), StoredOptions(text: began))
            return now.options.range != before.options.range || !Set(now.given).isSubset(of: before.given)
        }
    }

    let root: String
    let store: any QueueStore
    let ports: Ports
    let engine: Engine
    let settingsCache: TransferSettingsCache
    /// Those of requests that have none.
    let options: DownloadOptions
    let staysInRoot: Bool
    let keepsResponses: Bool
    let endsWithErrorResponses: Bool
    let isMeasured: Bool
    let judge: (@Sendable (Download.ID, CertificateQuestion) async -> CertificateDecision)?
    let broadcaster: EventBroadcaster
    let thread: WorkMailbox<QueueKeeper>
    let sharesConnections: Bool
    let refreshURL: (@Sendable (Download.ID, String) async -> String?)?
    let hooks: DownloadHooks
    /// The common limit outside the timetable.
    var rate: Int64?
    /// Limits by time of day.
    var timetable: RateTimetable?
    /// The timetable's last value, once it was read.
    var tabled: Int64??
    var nextLimit: Instant?
    /// When paused downloads start, and when that is looked at again.
    var schedule = StartSchedule()
    var nextStart: Instant?
    /// The folders of new downloads.
    var rules = FolderRules()
    /// What the events have told of the queue itself; `nil` until it is opened.
    var toldFacts: QueueFacts?
    var machine: QueueMachine
    var runs: [QueueID: Run] = [:]
    /// Comparisons of existing files before their downloads begin, by number.
    var checks: [QueueID: RunningCheck] = [:]
    /// By the engine's identifiers.
    var ids: [DownloadID: QueueID] = [:]
    /// Runs outside the queue: content for memory, bodies, and the segments of streams.
    var memoryDownloads: [DownloadID: MemoryDownload] = [:]

    // Changes to be written and published.
    var changed: [QueueID: QueueRecord] = [:]
    var erased: Set<QueueID> = []
    var values: [String: String] = [:]
    var hasUnwritten: Bool { !changed.isEmpty || !erased.isEmpty || !values.isEmpty }
    var events: [DownloadEvent] = []
    var completions: [(Failure?) -> Void] = []
    /// New downloads that are not stored yet, by URL.
    var fresh: [Bytewise<String>: [QueueID]] = [:]
    /// Runs that begin once they, their options and their start are stored: a kill would leave files that no record describes.
    var held: [DownloadID] = []
    /// Downloads whose runs get another URL once it is stored.
    var replaced: Set<QueueID> = []
    /// Stopped downloads whose files are removed once their removal is written.
    var cleanings: [QueueID] = []
    /// Requested removals that are not complete.
    var removals: [QueueID: Removal] = [:]
    var removalCompletions: [QueueID: [(Result<Void, Failure>) -> Void]] = [:]
    /// The slot holders that were written last.
    var writtenHolders: [QueueID] = []
    /// Downloads being started, and what was written of them.
    var starts = StartLedger()
    var writtenStarts: String?
    /// Downloads that wait for their disk, and when it is looked at again.
    var diskWaits = DiskWaits()
    var nextRoom: Instant?
    /// Downloads that were to start and that have to wait as well.
    var hindered: [(QueueID, DiskWaits.Cause)] = []
    let waitsForDisk: Bool
    var dice: Dice
    /// Waiting downloads continue without being resumed.
    let startsByItself: Bool
    /// Downloads whose file is being renamed, also those whose process was killed meanwhile.
    package var publishing: Set<QueueID> = []
    /// The download root when the queue was opened.
    var rootStamp: FolderStamp?
    /// Groups that are paused.
    var pausedGroups: Set<Bytewise<String>> = []

    var handles: [QueueID: WeakDownload] = [:]
    weak var owner: (any DownloadOwner)?
    private static let usualSlots = 3
    private var nextProgress = Instant(nanoseconds: 0)
    /// Why the queue cannot be written; it is tried again every second.
    private(set) var writeFailure: Failure?
    private var endedCounts: (all: Int, finished: Int, failed: Int)?
    var closing: [@Sendable () -> Void] = []
    /// The engine is stopped.
    var isStopped = false
    var hasEnded = false

    init(
        root: String, configuration: DownloadManager.Configuration, ports: Ports, store: any QueueStore,
        commonRate: CommonRate, thread: WorkMailbox<QueueKeeper>, broadcaster: EventBroadcaster
    ) {
        self.root = root
        self.ports = ports
        self.store = store
        self.thread = thread
        self.broadcaster = broadcaster
        settingsCache = TransferSettingsCache(deniesPrivateAddresses: configuration.deniesPrivateAddresses)
        options = configuration.options
        staysInRoot = configuration.staysInRoot
        keepsResponses = configuration.keepsResponses
        endsWithErrorResponses = configuration.endsWithErrorResponses
        isMeasured = configuration.isMeasured
        judge = configuration.judge
        startsByItself = !configuration.holdsAtStart
        waitsForDisk = configuration.waitsForDisk
        dice = Dice(seed: UInt64(bitPattern: ports.clock.now.nanoseconds))
        sharesConnections = configuration.sharesConnections
        refreshURL = configuration.refreshURL
        hooks = configuration.hooks
        machine = QueueMachine(slots: configuration.maximumConcurrentDownloads ?? Self.usualSlots)
        engine = Engine(ports: ports, loops: min(max(1, configuration.threads), 16), rate: nil, common: commonRate) {
            [weak thread] report in thread?.post { $0.heard(report) }
        }
    }

    // MARK: records

    func record(_ id: QueueID) throws(Failure) -> QueueRecord? {
        if let record = changed[id] ?? runs[id]?.record { return record }
        return erased.contains(id) ? nil : try store.record(id)
    }

    /// Changes a record; does nothing if it is missing.
    func edit(_ id: QueueID, _ edit: (inout QueueRecord) -> Void) {
        do throws(Failure) {
            guard var record = try record(id) else { return }
            edit(&record)
            put(record)
        } catch { note(error) }
    }

    func put(_ record: QueueRecord) {
        changed[record.id] = record
        runs[record.id]?.record = record
    }

    // MARK: events

    func notify(_ id: QueueID, _ kind: DownloadEvent.Kind) {
        events.append(DownloadEvent(id: Download.ID(rawValue: id.rawValue), kind: kind))
    }

    /// A notice that belongs to no single download.
    func notice(_ message: LocalizableMessage) {
        events.append(.notice(message))
    }

    /// Reading or writing the queue failed; unwritten changes are retried every second.
    func note(_ failure: Failure) {
        guard writeFailure != failure else { return }
        writeFailure = failure
        notice(LocalizableMessage(failure.untilWritten))
    }

    // MARK: settling

    /// Progress of running downloads is written every second.
    var deadline: Instant? {
        let isBusy = !runs.isEmpty || writeFailure != nil
        let stalls = hindered.isEmpty ? nil : ports.clock.now
        let due = [isBusy ? nextProgress : nil, nextLimit, nextRoom, nextStart, stalls].compactMap { $0 }.min()
        return due.map { max($0, ports.clock.now + .milliseconds(1)) }
    }

    /// Writes changes, cleans up, starts new downloads, replies and publishes.
    func settle() {
        let now = ports.clock.now
        let isDue = now >= nextProgress
        if isDue { nextProgress = now + .seconds(1) }
        if let due = nextLimit, now >= due { followTimetable() }
        if let due = nextStart, now >= due { followSchedule() }
        if let due = nextRoom, now >= due { lookForRoom(now: now) }
        stallHindered()
        var failure = write(progress: isDue)
        if failure != nil { withdrawFresh() }
        if failure == nil, !cleanings.isEmpty {
            clean()
            failure = write(progress: false)
        }
        startStored()
        tellFacts()
        let (completions, events) = (self.completions, self.events)
        self.completions = []
        self.events = []
        for completion in completions { completion(failure) }
        broadcaster.broadcast(events)
        endWhenClosed()
    }

    /// Writes before a query of many records; few queries need the current progress.
    func writeNow(progress: Bool = false) { _ = write(progress: progress) }

    /// Writes before something that must not happen unless it is written.
    func writeAll() throws(Failure) { if let failure = write(progress: false) { throw failure } }

    /// The number of ended downloads, recounted after a change.
    func countEnded() throws(Failure) -> (all: Int, finished: Int, failed: Int) {
        writeNow()
        if let endedCounts { return endedCounts }
        let all = try store.totals(matching: QueueFilter(states: [.finished, .failed, .removed])).count
        let finished = try store.totals(matching: QueueFilter(states: [.finished])).count
        let failed = try store.totals(matching: QueueFilter(states: [.failed])).count
        endedCounts = (all, finished, failed)
        return (all, finished, failed)
    }

    private func write(progress isDue: Bool) -> Failure? {
        noteHolders()
        noteStarts()
        var changes = values.map { QueueChange.value($0.key, $0.value.isEmpty ? nil : $0.value) }
        for record in changed.values where !erased.contains(record.id) { changes.append(.put(record)) }
        changes += erased.map { .erase($0) } + forgetPieces(of: erased)
        if isDue { changes += progress() }
        guard !changes.isEmpty else { return writeFailure }
        if !changed.isEmpty || !erased.isEmpty { endedCounts = nil }
        do throws(Failure) { try store.apply(changes) } catch {
            note(error)
            return error
        }
        writeFailure = nil
        let shown = changed.values
        (changed, values, erased, fresh) = ([:], [:], [], [:])
        for record in shown { show(record) }
        return nil
    }

    private func progress() -> [QueueChange] {
        var changes: [QueueChange] = []
        for (id, run) in runs where changed[id] == nil {
            let reading = run.box.reading
            guard reading.written != run.record.written, reading.name != nil else { continue }
            runs[id]?.record.written = reading.written
            runs[id]?.record.total = reading.total
            changes.append(.progress(id, written: reading.written, total: reading.total))
        }
        return changes
    }
}
#endif
