import PawlCore
import PawlEngine

/// The shell around the queue's decisions: owned by one thread, so nothing here is locked.
///
/// Work changes the machine and records; `settle` then writes all changes in one transaction, and only then answers
/// and tells. So nobody hears of what a kill could take back.
final class QueueKeeper: ThreadBound {
    /// A download that the engine has.
    struct Run {
        let engineID: DownloadID
        let box: ProgressCell
        var record: QueueRecord
        var response: DownloadResponse?
    }

    let root: String
    let store: any QueueStore
    let ports: Ports
    let engine: Engine
    let settingsCache: TransferSettingsCache
    let staysInRoot: Bool
    let keepsResponses: Bool
    let broadcaster: EventBroadcaster
    let thread: WorkThread<QueueKeeper>
    let sharesConnections: Bool
    let refreshURL: (@Sendable (Download.ID, String) async -> String?)?
    /// The limit of all together that holds where no timetable says otherwise.
    var rate: Int64?
    /// Limits by time of day.
    var timetable: RateTimetable?
    /// What they said last, once they were asked.
    var tabled: Int64??
    var nextLimit: Instant?
    var machine: QueueMachine
    var runs: [QueueID: Run] = [:]
    /// By the engine's names.
    var ids: [DownloadID: QueueID] = [:]
    /// Runs that no queue knows: content for memory.
    var memoryDownloads: [DownloadID: @Sendable (Result<Void, Failure>) -> Void] = [:]

    // What waits to be written and told.
    var changed: [QueueID: QueueRecord] = [:]
    var erased: Set<QueueID> = []
    var settings: [String: String] = [:]
    var events: [DownloadEvent] = []
    var answers: [(Failure?) -> Void] = []
    /// New ones that the queue does not know yet: a kill would leave files that are nobody's.
    var unwritten: Set<QueueID> = []
    /// The same by address.
    var fresh: [String: [QueueID]] = [:]
    /// Runs that begin when the queue knows of them and that they are being started.
    var held: [DownloadID] = []
    /// Nothing of these runs any more: their files go when that they are removed is written.
    var cleanings: [QueueID] = []
    /// What was asked to be removed and is not yet gone.
    var removals: [QueueID: Removal] = [:]
    var removalAnswers: [QueueID: [(Result<Void, Failure>) -> Void]] = [:]
    /// What the store was told last of who has a slot.
    var writtenHolders: String?
    /// What is being started, and what the store was told of it.
    var starts = StartLedger()
    var writtenStarts: String?
    /// What waits goes on without being resumed.
    let startsByItself: Bool
    /// Groups that are paused.
    var pausedGroups: Set<String> = []

    private var handles: [QueueID: WeakDownload] = [:]
    weak var owner: (any DownloadOwner)?
    private static let usualSlots = 3
    private var nextProgress = Instant(nanoseconds: 0)
    private var writeFailure: Failure?
    private var endedCount: Int?
    var closing: [@Sendable () -> Void] = []
    /// The engine has stopped.
    var isStopped = false
    var hasEnded = false

    init(
        root: String,
        configuration: DownloadManager.Configuration,
        ports: Ports,
        store: any QueueStore,
        commonRate: CommonRate,
        thread: WorkThread<QueueKeeper>,
        broadcaster: EventBroadcaster
    ) {
        self.root = root
        self.ports = ports
        self.store = store
        self.thread = thread
        self.broadcaster = broadcaster
        settingsCache = TransferSettingsCache(deniesPrivateAddresses: configuration.deniesPrivateAddresses)
        staysInRoot = configuration.staysInRoot
        keepsResponses = configuration.keepsResponses
        startsByItself = !configuration.holdsAtStart
        sharesConnections = configuration.sharesConnections
        refreshURL = configuration.refreshURL
        machine = QueueMachine(slots: configuration.slots ?? Self.usualSlots)
        engine = Engine(
            ports: ports,
            loops: min(max(1, configuration.threads), 16),
            // Who runs is decided here.
            jobs: .max,
            rate: nil,
            common: commonRate
        ) { [weak thread] report in
            thread?.post { $0.heard(report) }
        }
    }

    // MARK: records

    func record(_ id: QueueID) throws(Failure) -> QueueRecord? {
        if let record = changed[id] ?? runs[id]?.record { return record }
        return erased.contains(id) ? nil : try store.record(id)
    }

    /// Changes a record; one that is not there stays so.
    func edit(_ id: QueueID, _ edit: (inout QueueRecord) -> Void) {
        do throws(Failure) {
            guard var record = try record(id) else { return }
            edit(&record)
            put(record)
        } catch {
            note(error)
        }
    }

    func put(_ record: QueueRecord) {
        changed[record.id] = record
        runs[record.id]?.record = record
    }

    // MARK: telling

    func tell(_ id: QueueID, _ kind: DownloadEvent.Kind) {
        events.append(DownloadEvent(id: Download.ID(rawValue: id.rawValue), kind: kind))
    }

    /// Something that belongs to no single download.
    func notice(_ message: LocalizableMessage) {
        events.append(DownloadEvent(id: Download.ID(rawValue: 0), kind: .notice(DownloadNotice(message))))
    }

    /// Reading or writing the queue failed; what was to be written is tried again each second.
    func note(_ failure: Failure) {
        guard writeFailure != failure else { return }
        writeFailure = failure
        notice("\(failure)")
    }

    // MARK: handles

    /// The handle of a download, the same one for everybody.
    func handle(_ record: QueueRecord) -> Download? {
        if let handle = handles[record.id]?.download { return handle }
        guard let owner else { return nil }
        let handle = Download(DownloadSnapshot(record), owner: owner)
        handles[record.id] = WeakDownload(download: handle)
        show(record)
        if let outcome = outcome(of: record) { handle.end(outcome) }
        return handle
    }

    /// How it ended before anybody asked.
    private func outcome(of record: QueueRecord) -> Result<DownloadedFile, PawlError>? {
        switch location(record) {
        case .unknown: .failure(.gone(DownloadSnapshot(record).source, because: "it was removed"))
        case .unfinished: record.state == .failed ? DownloadSnapshot(record).error.map { .failure($0) } : nil
        case .finished(let path):
            .success(
                DownloadedFile(path: path, length: record.written, received: 0, duration: 0, wasThere: true)
            )
        case .missing(let path):
            .failure(
                PawlError(
                    Failure(
                        .notFound,
                        "cannot find",
                        at: path,
                        because: "it was finished, and the file has gone since",
                        remedy: "resume it to fetch it anew"
                    )
                )
            )
        }
    }

    var allHandles: [Download] { handles.values.compactMap(\.download) }
    /// It is on its way out of the queue.
    func isLeaving(_ id: QueueID) -> Bool { removals[id] != nil }

    func existingHandle(_ id: QueueID) -> Download? { handles[id]?.download }

    /// Its last holder has let go of it, unless another was made since.
    func forgetHandle(_ id: QueueID) {
        if handles[id]?.download == nil { handles[id] = nil }
    }

    /// Brings the handle, if there is one, to what is known.
    func show(_ record: QueueRecord) {
        guard let handle = existingHandle(record.id) else { return }
        let rest = machine.rest(of: record.id).map { DownloadState($0) }
        let run = runs[record.id]
        var base = DownloadSnapshot(record)
        if let rest, run == nil { base.state = rest }
        handle.show(base, box: run?.box, leaving: run == nil ? nil : rest)
    }

    /// A download as it is now.
    func snapshot(_ record: QueueRecord) -> DownloadSnapshot {
        let record = changed[record.id] ?? runs[record.id]?.record ?? record
        var snapshot = DownloadSnapshot(record)
        let rest = machine.rest(of: record.id).map { DownloadState($0) }
        if let run = runs[record.id] {
            snapshot = snapshot.overlaid(with: run.box.reading)
            if let rest, !snapshot.state.isAtRest { snapshot.state = rest }
        } else if let rest {
            snapshot.state = rest
        }
        return snapshot
    }

    // MARK: settling

    /// How long the thread may sleep; progress of what runs is written each second.
    var patience: Interval? {
        let isBusy = !runs.isEmpty || writeFailure != nil
        let due = [isBusy ? nextProgress : nil, nextLimit].compactMap { $0 }.min()
        return due.map { max(.milliseconds(1), $0 - ports.clock.now) }
    }

    /// Writes, cleans up, begins what is new, answers and tells.
    func settle() {
        let now = ports.clock.now
        let isDue = now >= nextProgress
        if isDue { nextProgress = now + .seconds(1) }
        if let due = nextLimit, now >= due { followTimetable() }
        var failure = write(progress: isDue)
        if failure == nil, !cleanings.isEmpty {
            clean()
            failure = write(progress: false)
        }
        if unwritten.isEmpty {
            for id in held { engine.resume(id) }
            held = []
        }
        let (answers, events) = (self.answers, self.events)
        self.answers = []
        self.events = []
        for answer in answers { answer(failure) }
        broadcaster.tell(events)
        endWhenClosed()
    }

    /// Before the store is asked for many; few questions want to know there how far what runs has come.
    func writeNow(progress: Bool = false) { _ = write(progress: progress) }

    /// How many have ended, counted anew after a change.
    func countEnded() throws(Failure) -> Int {
        writeNow()
        if let endedCount { return endedCount }
        let count = try store.totals(matching: QueueFilter(states: [.finished, .failed, .removed])).count
        endedCount = count
        return count
    }

    private func write(progress isDue: Bool) -> Failure? {
        noteHolders()
        noteStarts()
        var changes = settings.map { QueueChange.setting($0.key, $0.value.isEmpty ? nil : $0.value) }
        for record in changed.values where !erased.contains(record.id) { changes.append(.put(record)) }
        changes += erased.map { .erase($0) }
        if isDue { changes += progress() }
        guard !changes.isEmpty else { return writeFailure }
        if !changed.isEmpty || !erased.isEmpty { endedCount = nil }
        do throws(Failure) {
            try store.apply(changes)
        } catch {
            note(error)
            return error
        }
        writeFailure = nil
        let shown = changed.values
        (changed, settings, erased, unwritten, fresh) = ([:], [:], [], [], [:])
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

struct WeakDownload {
    weak var download: Download?
}
