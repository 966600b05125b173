import CSQLite

/// Owns one connection and the statements that were prepared on it.
@safe final class DatabaseConnection {
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// Opens or makes the file; `:memory:` is a database without one.
    ///
    /// `fileSystem` names one of SQLite's (VFS) other than the system's, for tests.
    init(_ path: String, on fileSystem: String? = nil) throws(DatabaseError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, fileSystem)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = unsafe DatabaseError.last(of: opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.handle = handle
        guard unsafe pawl_defend(handle) == SQLITE_OK else { throw unsafe .last(of: handle) }
        try unsafe addTextSearch(to: handle)
    }

    /// Lets closing checkpoint and remove the log, which must not happen to a damaged database.
    func settleOnClosing() { _ = unsafe pawl_close_with_checkpoint(handle) }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// The statement of this text, prepared when it is first used.
    private func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try unsafe Statement(sql, on: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs one statement and maps each row to a value.
    func rows<Value>(
        _ sql: String, _ values: [DatabaseValue] = [], _ make: (Statement) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> [Value] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var found: [Value] = []
        while try statement.step() { found.append(try make(statement)) }
        return found
    }

    /// Runs one statement without results.
    func run(_ sql: String, _ values: [DatabaseValue] = []) throws(DatabaseError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Runs any number of statements once.
    func script(_ sql: String) throws(DatabaseError) {
        guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw unsafe .last(of: handle) }
    }

    /// Commits all changes of `body`, or none when it throws.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try run("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try body()
            try run("COMMIT")
        } catch {
            // On a full disk SQLite rolls back itself, and then there is nothing to do.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }
}
