package import PawlBase
package import PawlQueue
import Synchronization

/// A queue kept in memory; it survives being closed, as a file would.
package final class MemoryQueueStore: QueueStore {
    private struct State {
        var records: [QueueID: QueueRecord] = [:]
        var bySource: [Bytewise<String>: Set<QueueID>] = [:]
        var values: [String: String] = [:]
        var intercept: (@Sendable ([QueueChange]) -> Interception)?
        var failure: Failure?
        /// How many writes succeed before that.
        var succeeding = 0
        var transactions = 0
    }

    /// The fate of one write.
    package struct Interception {
        /// What is written instead.
        package var changes: [QueueChange]
        /// The reported failure.
        package var failure: Failure?
        /// Runs after the write and before its report.
        package var afterwards: () -> Void = {}

        package init(_ changes: [QueueChange], failure: Failure? = nil) {
            (self.changes, self.failure) = (changes, failure)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Passes every write to `body` first.
    package func intercept(_ body: @escaping @Sendable ([QueueChange]) -> Interception) {
        state.withLock { $0.intercept = body }
    }

    /// The number of writes.
    package var transactions: Int { state.withLock { $0.transactions } }
    package var all: [QueueRecord] { state.withLock { Array($0.records.values) } }

    /// Makes every write fail after so many; `nil` ends that.
    package func fail(with failure: Failure?, after count: Int = 0) {
        state.withLock { ($0.failure, $0.succeeding) = (failure, count) }
    }

    package func apply(_ changes: [QueueChange]) throws(Failure) {
        guard let intercept = state.withLock({ $0.intercept }) else { return try write(changes) }
        let fate = intercept(changes)
        try write(fate.changes)
        fate.afterwards()
        if let failure = fate.failure { throw failure }
    }

    private func write(_ changes: [QueueChange]) throws(Failure) {
        let failure = state.withLock { state -> Failure? in
            if let failure = state.failure {
                guard state.succeeding > 0 else { return failure }
                state.succeeding -= 1
            }
            state.transactions += 1
            for change in changes { Self.apply(change, to: &state) }
            return nil
        }
        if let failure { throw failure }
    }

    private static func apply(_ change: QueueChange, to state: inout State) {
        switch change {
        case .put(let record):
            forget(record.id, in: &state)
            state.records[record.id] = record
            for source in record.sources { state.bySource[Bytewise(source), default: []].insert(record.id) }
        case .progress(let id, let written, let total):
            state.records[id]?.written = written
            state.records[id]?.total = total
        case .pauseWaiting:
            for (id, record) in state.records where record.state == .waiting { state.records[id]?.state = .paused }
        case .erase(let id): forget(id, in: &state)
        case .value(let name, let value): state.values[name] = value
        }
    }

    private static func forget(_ id: QueueID, in state: inout State) {
        guard let record = state.records.removeValue(forKey: id) else { return }
        for source in record.sources { state.bySource[Bytewise(source)]?.remove(id) }
    }

    package func record(_ id: QueueID) -> QueueRecord? { state.withLock { $0.records[id] } }

    package func records(of source: String) -> [QueueRecord] {
        state.withLock { state in (state.bySource[Bytewise(source)] ?? []).sorted().compactMap { state.records[$0] } }
    }

    package func isName(
        _ name: String, in folder: String, ofOtherThan id: QueueID, in states: Set<DownloadState>
    ) -> Bool {
        all.contains { record in
            record.name.hasSameBytes(as: name) && record.folder.hasSameBytes(as: folder) && record.id != id
                && states.contains(record.state)
        }
    }

    package func records(
        matching filter: QueueFilter, by ordering: QueueOrdering, after id: QueueID?, offset: Int, limit: Int
    ) -> [QueueRecord]? {
        var found = all.sorted { ordering.precedes($0, $1) }
        if let id {
            guard let index = found.firstIndex(where: { $0.id == id }) else { return nil }
            found.removeFirst(index + 1)
        }
        found = found.filter { filter.admits($0) }
        return Array(found.dropFirst(offset).prefix(limit))
    }

    package func totals(matching filter: QueueFilter) -> QueueTotals {
        var totals = QueueTotals()
        for record in all where filter.admits(record) {
            totals.count += 1
            totals.written += record.written
            totals.total += record.total ?? 0
            if record.total == nil { totals.unknownTotals += 1 }
        }
        return totals
    }

    package func groups() -> [(name: String, count: Int)] {
        let groups = all.filter { $0.state != .removed && !$0.group.isEmpty }.map { (Bytewise($0.group), 1) }
        return Dictionary(groups, uniquingKeysWith: +).map { (name: $0.key.wrappedValue, count: $0.value) }
    }

    package func ids(prefix: String, limit: Int) -> [QueueID] {
        let ids = all.map(\.id).sorted().filter { id in
            let digits = String(id.rawValue, radix: 16)
            return (String(repeating: "0", count: 16 - digits.count) + digits).hasPrefix(prefix)
        }
        return Array(ids.prefix(limit))
    }

    package func entries() -> [QueueEntry] {
        all.filter { $0.state == .waiting || $0.state == .paused }.sorted { QueueOrdering.turn.precedes($0, $1) }.map {
            record in
            QueueEntry(
                id: record.id, state: record.state, priority: record.priority, position: record.position,
                group: record.group)
        }
    }

    package func value(_ name: String) -> String? { state.withLock { $0.values[name] } }
    package func close() {}
}

extension QueueFilter {
    fileprivate func admits(_ record: QueueRecord) -> Bool {
        if let states, !states.contains(record.state) { return false }
        if let group, group != record.group { return false }
        guard let text = text?.lowercased() else { return true }
        return ([record.name ?? ""] + record.sources).contains { $0.lowercased().contains(text) }
    }
}

extension QueueOrdering {
    fileprivate func precedes(_ left: QueueRecord, _ right: QueueRecord) -> Bool {
        switch self {
        case .turn:
            QueuePosition(priority: left.priority, position: left.position)
                < QueuePosition(priority: right.priority, position: right.position)
        case .added(let newestFirst): (left.addedAt < right.addedAt) != newestFirst
        case .ended(let newestFirst): ((left.endedAt?.seconds ?? 0) < (right.endedAt?.seconds ?? 0)) != newestFirst
        case .name: (left.name ?? "") < (right.name ?? "")
        }
    }
}
