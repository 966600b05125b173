import Glibc
package import PawlBase
import PawlQueue
import Synchronization

/// The queue in an SQLite database, which belongs to one process at a time.
///
/// A database of a newer version is rejected. A damaged one is renamed to `NAME.bad`, which `notice` reports, and a
/// new one is created; when the damage shows while the queue is in use, the call that met it throws.
package final class QueueDatabase: QueueStore {
    private let path: String
    private let steps: [Migration]
    private let isGuest: Bool
    private let notice: @Sendable (String) -> Void
    private let state: Mutex<State>

    private struct State {
        /// `nil` once closed.
        var files: QueueFiles?
        var connection: DatabaseConnection?

        mutating func beginAnew(_ steps: [Migration], after error: DatabaseError) throws(Failure) -> String {
            guard let files else { return "" }
            connection = nil
            let begun = try QueueDatabase.begin(files, steps, after: error)
            connection = begun.0
            return begun.1
        }
    }

    /// Opens the database at `path`, or creates it with its folder.
    ///
    /// A guest of a database creates none, migrates none and renames none: it throws instead. `fileSystem` names one of SQLite's
    /// (VFS) other than the system's, for tests.
    package convenience init(
        at path: String, asGuest: Bool = false, on fileSystem: String? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        try self.init(at: path, steps: Migration.all, asGuest: asGuest, on: fileSystem, notice: notice)
    }

    init(
        at path: String, steps: [Migration], asGuest: Bool = false, on fileSystem: String? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        let files = try QueueFiles(at: path, on: fileSystem)
        self.path = files.path
        self.steps = steps
        isGuest = asGuest
        self.notice = notice
        guard !isGuest else {
            state = Mutex(State(files: files, connection: try Self.visit(files, steps)))
            return
        }
        let loss = try files.make()
        let (connection, damage) = try Self.open(files, steps)
        state = Mutex(State(files: files, connection: connection))
        if let loss { notice(loss) }
        if let damage { notice(damage) }
    }

    private static func visit(_ files: QueueFiles, _ steps: [Migration]) throws(Failure) -> DatabaseConnection {
        guard files.isThere else { throw .system(.cannotOpen, "cannot open the queue", at: files.path, ENOENT) }
        guard !files.isEmptied else {
            throw DatabaseError.damage("it is empty although it has a log").failure(
                "cannot open the queue", at: files.path)
        }
        do throws(DatabaseError) { return try connect(files, steps, asGuest: true) } catch {
            throw error.failure("cannot open the queue", at: files.path)
        }
    }

    /// A damaged database is renamed once: if the new one is damaged too, it is not the file's fault.
    private static func open(
        _ files: QueueFiles, _ steps: [Migration]
    ) throws(Failure) -> (DatabaseConnection, damage: String?) {
        do throws(DatabaseError) { return (try connect(files, steps), nil) } catch  where error.isDamage {
            return try begin(files, steps, after: error)
        } catch { throw error.failure("cannot open the queue", at: files.path) }
    }

    fileprivate static func begin(
        _ files: QueueFiles, _ steps: [Migration], after damage: DatabaseError
    ) throws(Failure) -> (DatabaseConnection, String) {
        let bad = try files.setAside()
        do throws(DatabaseError) {
            let words = """
                the queue \(files.path) was damaged (\(damage.words)) and was renamed to \(bad); a new one was \
                created, and sqlite3's command .recover may recover the old one's content
                """
            return (try connect(files, steps), words)
        } catch { throw error.failure("cannot create a new queue", at: files.path) }
    }

    private static func connect(
        _ files: QueueFiles, _ steps: [Migration], asGuest: Bool = false
    ) throws(DatabaseError) -> DatabaseConnection {
        let connection = try DatabaseConnection(files.path, on: files.fileSystem)
        try connection.prepare(steps, asGuest: asGuest)
        files.noteOpened()
        return connection
    }

    /// The file whose lock its owner holds.
    package static func lock(of path: String) -> String { "\(path).lock" }

    /// Throws if what is written now would be lost.
    func checkPlace() throws(Failure) {
        try state.withLock { (state) throws(Failure) in try state.files?.checkPlace() }
    }

    /// Passes the connection to `body`; if it meets damage, the database is renamed and a new one created.
    func use<Value: Sendable>(
        _ what: String, _ body: @Sendable (DatabaseConnection) throws(DatabaseError) -> Value
    ) throws(Failure) -> Value {
        let (result, damage) = try state.withLock { (state) throws(Failure) in
            let result = try attempt(state.connection, body)
            guard case .failure(let error) = result, error.isDamage, !isGuest else { return (result, String?.none) }
            return (result, try state.beginAnew(steps, after: error))
        }
        if let damage { notice(damage) }
        do throws(DatabaseError) { return try result.get() } catch {
            var failure = error.failure(what, at: path)
            if let damage { failure.remedy = Remedy(damage) }
            throw failure
        }
    }

    private func attempt<Value>(
        _ connection: DatabaseConnection?, _ body: @Sendable (DatabaseConnection) throws(DatabaseError) -> Value
    ) throws(Failure) -> Result<Value, DatabaseError> {
        guard let connection else { throw .queueClosed(path) }
        do throws(DatabaseError) { return .success(try body(connection)) } catch { return .failure(error) }
    }

    package func close() {
        state.withLock { state in
            state.connection?.settleOnClosing()
            // The connection first: closing it checkpoints the log before the files are unlocked.
            state.connection = nil
            state.files = nil
        }
    }
}
