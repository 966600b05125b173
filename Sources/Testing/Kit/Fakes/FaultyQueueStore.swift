import CFaultyFiles
package import PawlBase
package import PawlQueue
import PawlStore
import Synchronization

/// The real queue, an SQLite database, whose files are on a medium with faults.
@safe package final class FaultyQueueStore: SimulatedQueueStore {
    /// A fault at a call of SQLite to its files.
    package enum Fault: Int32, CaseIterable, Sendable {
        case diesBefore = 1
        case diesWithin = 2
        case diesAfter = 3
        case isFull = 4
        case fails = 5
    }

    private struct State {
        var database: QueueDatabase?
        var crash: FakeDisk.Crash?
        var intercept: (@Sendable ([QueueChange]) -> MemoryQueueStore.Interception)?
        var fault: (@Sendable () -> Fault?)?
        var notice: @Sendable (String) -> Void = { _ in }
    }

    private let folder: TemporaryFolder
    // SAFETY: a world has one thread.
    private nonisolated(unsafe) let medium: OpaquePointer  // freed in deinit only
    private let name: String
    private let state = Mutex(State())

    /// Creates the medium in a folder of its own.
    package init(seed: UInt64) throws(SetupFailure) {
        folder = try TemporaryFolder()
        name = String(folder.path.dropFirst(5))
        guard let medium = unsafe pawl_medium_make(name, seed) else { throw SetupFailure("a file system of SQLite") }
        unsafe self.medium = medium
    }

    deinit {
        state.withLock { $0.database = nil }
        unsafe pawl_medium_free(medium)
    }

    private var path: String { folder.path("queue.db") }

    /// `fault` is asked at each call of SQLite to its files; what happened to the database is told by `notice`.
    package func disturb(
        _ fault: @escaping @Sendable () -> Fault?, notice: @escaping @Sendable (String) -> Void
    ) {
        state.withLock { ($0.fault, $0.notice) = (fault, notice) }
        unsafe pawl_medium_ask(
            medium,
            { context in
                guard let context = unsafe context else { return 0 }
                let store = unsafe Unmanaged<FaultyQueueStore>.fromOpaque(context).takeUnretainedValue()
                return store.state.withLock { $0.fault }?()?.rawValue ?? 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether another process has the lock of the database.
    package func setLocked(_ isLocked: Bool) { unsafe pawl_medium_lock(medium, isLocked ? 1 : 0) }
    /// No sync has an effect from now on: a sabotage.
    package func dropSyncs() { unsafe pawl_medium_drop_syncs(medium) }

    /// What happened to the files, in words and numbers.
    package var counts: [(String, Int)] {
        let counts = unsafe pawl_medium_count(medium)
        return [
            ("writes of SQLite", Int(counts.writes)), ("syncs of SQLite", Int(counts.syncs)),
            ("writes of SQLite lost in power cuts", Int(counts.lost)),
            ("writes of SQLite torn in power cuts", Int(counts.torn)),
        ]
    }

    // MARK: processes

    package func open() throws(Failure) {
        let (crash, notice) = state.withLock { state in
            state.database = nil
            defer { state.crash = nil }
            return (state.crash, state.notice)
        }
        switch crash {
        case .powerCut:
            let failed = unsafe pawl_medium_cut(medium)
            guard failed == 0 else { preconditionFailure("the files of a queue cannot be written: \(failed)") }
        case .kill: unsafe pawl_medium_revive(medium)
        case nil: break
        }
        let database = try QueueDatabase(at: path, on: name, notice: notice)
        state.withLock { $0.database = database }
    }

    package func crash(_ kind: FakeDisk.Crash) {
        unsafe pawl_medium_die(medium)
        state.withLock { $0.crash = $0.crash ?? kind }
    }

    package func intercept(_ body: @escaping @Sendable ([QueueChange]) -> MemoryQueueStore.Interception) {
        state.withLock { $0.intercept = body }
    }

    private func database() throws(Failure) -> QueueDatabase {
        guard let database = state.withLock({ $0.database }) else {
            throw Failure(.cannotOpen, "cannot use", at: path, because: "it is closed")
        }
        return database
    }

    package func close() {
        guard let database = state.withLock({ $0.database }) else { return }
        // A process that was killed closes nothing.
        if state.withLock({ $0.crash }) == nil { database.close() }
        state.withLock { $0.database = nil }
    }

    // MARK: the queue

    package func apply(_ changes: [QueueChange]) throws(Failure) {
        guard let intercept = state.withLock({ $0.intercept }) else { return try database().apply(changes) }
        let fate = intercept(changes)
        let failure: Failure?
        do throws(Failure) {
            try database().apply(fate.changes)
            failure = nil
        } catch { failure = error }
        fate.afterwards()
        if let failure = failure ?? fate.failure { throw failure }
    }

    package var all: [QueueRecord] {
        (try? database().records(matching: QueueFilter(), by: .turn, offset: 0, limit: 1_000)) ?? []
    }

    package func record(_ id: QueueID) throws(Failure) -> QueueRecord? { try database().record(id) }
    package func records(of source: String) throws(Failure) -> [QueueRecord] { try database().records(of: source) }

    package func records(
        matching filter: QueueFilter, by ordering: QueueOrdering, after id: QueueID?, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord]? {
        try database().records(matching: filter, by: ordering, after: id, offset: offset, limit: limit)
    }

    package func totals(matching filter: QueueFilter) throws(Failure) -> QueueTotals {
        try database().totals(matching: filter)
    }

    package func isName(
        _ name: String, in folder: String, ofOtherThan id: QueueID, in states: Set<DownloadState>
    ) throws(Failure) -> Bool { try database().isName(name, in: folder, ofOtherThan: id, in: states) }

    package func groups() throws(Failure) -> [(name: String, count: Int)] { try database().groups() }

    package func ids(prefix: String, limit: Int) throws(Failure) -> [QueueID] {
        try database().ids(prefix: prefix, limit: limit)
    }

    package func entries() throws(Failure) -> [QueueEntry] { try database().entries() }
    package func value(_ name: String) throws(Failure) -> String? { try database().value(name) }
}
