import PawlBase
import PawlSystem
import Synchronization

/// A table that is stored as text.
protocol StoredTable: Sendable {
    /// The longest text that is read.
    static var mostBytes: Int { get }
    var text: String { get }

    init(parsing bytes: [UInt8], now: UnixTime)
}

extension HostTable: StoredTable {}
extension SecureHosts: StoredTable {}

/// A table in a small file of the state folder, shared by all programs of the user.
///
/// Best effort: a missing or damaged file is treated as empty, and one that cannot be read or written is left as it is. Each
/// writer replaces the whole file with its current content and the writer's own changes.
final class SharedTable<Table: StoredTable, Key: Hashable & Sendable, Change: Sendable>: Sendable {
    private struct State: Sendable {
        var table: Table
        /// Changes not yet written, the latest of each key.
        var pending: [Key: Change] = [:]
    }

    /// Changes the table; `false` if it stays as it is.
    typealias Apply = @Sendable (Change, Key, inout Table, UnixTime) -> Bool

    private let file: StateFile
    private let clock: any Clock
    private let queue: WorkQueue
    private let state: Mutex<State>
    private let apply: Apply

    init(_ name: String, in folder: String, clock: any Clock, apply: @escaping Apply) {
        file = StateFile(name, in: folder)
        self.clock = clock
        queue = WorkQueue("pawl-\(name)", .brief)
        self.apply = apply
        let table = Self.read(file, now: clock.wallTime) ?? Table(parsing: [], now: clock.wallTime)
        state = Mutex(State(table: table))
    }

    var table: Table { state.withLock { $0.table } }

    func make(_ change: Change, of key: Key) {
        let now = clock.wallTime
        let isFirst = state.withLock { state in
            guard apply(change, key, &state.table, now) else { return false }
            defer { state.pending[key] = change }
            return state.pending.isEmpty
        }
        // Not on the transfer thread: the folder may be on a slow file system.
        if isFirst { queue.submit { self.write() } }
    }

    private func write() {
        let changes = state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
        let now = clock.wallTime
        // Another program may have changed it meanwhile.
        guard var table = Self.read(file, now: now) else { return }
        for (key, change) in changes { _ = apply(change, key, &table, now) }
        file.replace(with: Array(table.text.utf8))
    }

    /// `nil` if the file cannot be read.
    private static func read(_ file: StateFile, now: UnixTime) -> Table? {
        file.read(atMost: Table.mostBytes).map { Table(parsing: $0, now: now) }
    }
}
