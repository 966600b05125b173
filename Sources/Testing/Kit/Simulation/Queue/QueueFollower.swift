import Pawl
import PawlBase
import Synchronization

/// A client that follows a queue by its events: it reads everything once, then each download that an event names, and what belongs
/// to none if one names that, as a page does.
struct QueueFollower: Sendable {
    /// What the queue shows of a download, or of itself under the id of its own events.
    private enum Row: Sendable, Equatable {
        case download(DownloadSnapshot)
        case queue(QueueFacts)

        var word: String {
            switch self {
            case .download(let snapshot): snapshot.state.rawValue
            case .queue: "the queue"
            }
        }

        var fields: [(name: String, value: String)] {
            let mirror =
                switch self {
                case .download(let snapshot): Mirror(reflecting: snapshot)
                case .queue(let facts): Mirror(reflecting: facts)
                }
            return mirror.children.map { ($0.label ?? "", "\($0.value)") }
        }
    }

    /// A row that is not what the queue shows, and since when.
    private struct Doubt: Sendable {
        var row: Row?
        var since: Instant
    }

    /// What the queue has told.
    struct Reading: Sendable {
        var facts: QueueFacts
        var rows: [DownloadSnapshot] = []
        var handles: [Download] = []
    }

    /// What an event announces is read by then.
    static let longestDelay = Interval.seconds(5)

    private let events: EventSubscriber
    private let ids: [Download.ID]
    private var rows: [Download.ID: Row] = [:]
    /// The downloads to be read, all of them at first, and the queue itself.
    private var unread: Set<Download.ID>
    /// Those that are being read.
    private var asked: Set<Download.ID> = []
    /// Those that were named since the comparison began.
    private var named: Set<Download.ID> = []
    private var doubts: [Download.ID: Doubt] = [:]
    /// The handles of what it has read, which show the same.
    private var handles: [Download.ID: Download] = [:]

    init(_ events: EventSubscriber, of ids: [Download.ID]) {
        self.events = events
        self.ids = [.ofQueue] + ids
        unread = Set(self.ids)
    }

    /// Takes what has happened since; returns it in words.
    mutating func hear(_ sabotage: QueueSabotage?) -> [String] {
        var heard: [String] = []
        while let event = events.takeNow() {
            let (word, hiding) = Self.word(event.kind)
            heard.append(word)
            if let hiding, hiding == sabotage { continue }
            let names: [Download.ID] =
                switch event.kind {
                case .missed: ids
                case .notice where event.id == .ofQueue: []
                case _: ids.filter { $0 == event.id }
                }
            unread.formUnion(names)
            named.formUnion(names)
            for id in names { doubts[id] = nil }
        }
        return heard
    }

    /// The kind of an event in words, and what hides it.
    private static func word(_ kind: DownloadEvent.Kind) -> (String, QueueSabotage?) {
        switch kind {
        case .added: ("events of new downloads", .hidesAdditions)
        case .state: ("events of states", .hidesStates)
        case .changed: ("events of changes", .hidesChanges)
        case .queueChanged: ("events of the queue itself", .hidesQueueChanges)
        case .missed: ("events that were dropped", .hidesMissedEvents)
        case _: ("other events", nil)
        }
    }

    /// Whether something is to be read, and nothing is being read.
    var isBehind: Bool { asked.isEmpty && !unread.isEmpty }

    /// The downloads that are read now.
    mutating func ask() -> Set<Download.ID> {
        (asked, unread) = (unread, [])
        return asked
    }

    /// The queue's reply; `nil` if it could not be read.
    mutating func learn(_ found: Reading?) {
        if let found {
            for id in asked { (rows[id], handles[id]) = (nil, nil) }
            for (id, row) in Self.rows(found) where asked.contains(id) { rows[id] = row }
            for handle in found.handles { handles[handle.id] = handle }
        } else {
            unread.formUnion(asked)
        }
        asked = []
    }

    /// The queue's rows are about to be read for a comparison.
    mutating func beginComparison() { named = unread.union(asked) }

    /// Compares the queue's rows with its own; returns what it does not know, although it had the time to read it.
    ///
    /// `isAtRest`: nothing happens any more. `isStored`: the queue can write, which handles wait for.
    mutating func compare(
        _ found: Reading, isAtRest: Bool, isStored: Bool, now: Instant
    ) -> [String] {
        let shown = Self.rows(found)
        var wrong: [String] = []
        for id in ids where !named.contains(id) {
            let row = shown[id]
            if case .download(let snapshot) = row, let handle = handles[id], Self.row(handle.snapshot) != row {
                // One that has a slot may begin between the two.
                let isIdle = [.paused, .finished, .failed].contains(snapshot.state)
                if isAtRest || isStored && isIdle {
                    wrong.append("the handle of \(id) shows \(Self.difference(Self.row(handle.snapshot), row))")
                }
            }
            guard row != rows[id] else {
                doubts[id] = nil
                continue
            }
            if let doubt = doubts[id], doubt.row == row {
                if now - doubt.since < Self.longestDelay, !isAtRest { continue }
            } else {
                doubts[id] = Doubt(row: row, since: now)
                guard isAtRest else { continue }
            }
            wrong.append("who follows \(id) knows \(Self.difference(rows[id], row))")
        }
        return wrong
    }

    private static func difference(_ known: Row?, _ shown: Row?) -> String {
        guard let known, let shown else { return "\(known?.word ?? "nothing"), not \(shown?.word ?? "nothing")" }
        return zip(known.fields, shown.fields).filter { $0.value != $1.value }
            .map { "\($0.name) \($0.value), not \($1.value)" }.joined(separator: ", ")
    }

    private static func rows(_ found: Reading) -> [Download.ID: Row] {
        var rows: [Download.ID: Row] = [.ofQueue: .queue(found.facts)]
        for snapshot in found.rows { rows[snapshot.id] = row(snapshot) }
        return rows
    }

    /// What events announce of a download; the rest is read at intervals while it runs.
    private static func row(_ snapshot: DownloadSnapshot) -> Row? {
        guard snapshot.state != .removed else { return nil }
        var row = snapshot
        (row.received, row.speed, row.smoothedSpeed, row.connections) = (0, 0, 0, 0)
        (row.timeLeft, row.retryIn, row.retry, row.waitsForHost, row.hostLimit) = (nil, nil, nil, nil, nil)
        // The user's files are no matter of the queue.
        row.file = nil
        switch row.state {
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: row.written = 0
        case .waiting, .waitingForDisk, .paused, .preempted, .finished, .failed, .removed: break
        }
        return .download(row)
    }
}

// Who follows the events, in the simulated world.
extension QueueSimulation {
    /// Hears what has happened, and reads what that names.
    func follow() {
        guard let delay = scenario.follower?.delay else { return }
        let (heard, isBehind) = state.withLock { state in
            (
                state.follower?.hear(sabotage) ?? [],
                state.follower?.isBehind == true && !state.isReading && !state.isDead
            )
        }
        for word in heard { note(word) }
        guard isBehind else { return }
        let life = state.withLock { state in
            state.isReading = true
            return state.lives
        }
        world.timeline.after(delay) { [weak self] in
            guard let self, state.withLock({ $0.lives == life }) else { return }
            readNamed()
        }
    }

    private func readNamed() {
        let ids = state.withLock { state in
            state.isReading = false
            return state.isDead ? [] : state.follower?.ask() ?? []
        }
        guard !ids.isEmpty else { return }
        readRows(ids.sorted { $0.rawValue < $1.rawValue }) { [weak self] rows in
            self?.state.withLock { $0.follower?.learn(rows) }
            self?.follow()
        }
    }

    private func readRows(_ ids: [Download.ID], _ completion: @escaping @Sendable (QueueFollower.Reading?) -> Void) {
        state.withLock { $0.queue }?.step(changes: false) { step throws(Failure) in
            var reading = QueueFollower.Reading(facts: step.facts)
            for id in ids {
                guard let row = try step.snapshot(of: id), row.state != .removed else { continue }
                reading.rows.append(row)
                if let handle = try step.handle(of: id) { reading.handles.append(handle) }
            }
            return reading
        } completion: { [weak self] result in
            guard let self, !state.withLock({ $0.isDead }) else { return }
            completion(try? result.get().get())
        }
    }

    /// Compares what a follower of the events knows with what the queue shows.
    func compareFollower(isAtRest: Bool, then goOn: @escaping @Sendable () -> Void = {}) {
        guard !isOver, state.withLock({ $0.follower != nil }) else { return goOn() }
        let life = state.withLock { state in
            state.follower?.beginComparison()
            return state.lives
        }
        readRows(scenario.targets.indices.map(Self.id)) { [weak self] rows in
            guard let self, let rows else { return goOn() }
            // The events of this step come after its end.
            world.timeline.after(.zero) { [weak self] in
                defer { goOn() }
                guard let self, !isOver, state.withLock({ $0.lives == life }) else { return }
                follow()
                note("rows of followers compared", rows.rows.count)
                let now = world.timeline.now
                let wrong = state.withLock { state in
                    let isStored = state.faultedAt.map { now - $0 > QueueFollower.longestDelay } ?? true
                    return state.follower?.compare(rows, isAtRest: isAtRest, isStored: isStored, now: now) ?? []
                }
                for text in wrong { violate(.followed, text) }
            }
        }
    }
}
