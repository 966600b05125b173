extension DatabaseConnection {
    /// Checks the database, migrates it to the last of `steps` and sets its pragmas (exclusive lock, WAL).
    ///
    /// A guest's database must have the latest schema already: the program that owns it may not know a newer one.
    func prepare(_ steps: [Migration], asGuest: Bool = false) throws(DatabaseError) {
        // The lock is taken with the first read and kept, so no other program runs between two statements; and a WAL
        // that only one process uses needs no shared memory, which not every file system has.
        try script("PRAGMA locking_mode = EXCLUSIVE")
        // The version first, before anything else is read: a newer schema may not even be readable.
        let version = try rows("PRAGMA user_version") { $0.integer(0) }.first ?? 0
        if version > steps.count { throw .newer("schema \(version)") }
        if version < steps.count, asGuest { throw .older("schema \(version)") }
        // Until there is a WAL, with the folder: where a power cut brings removed files back, SQLite would take a rollback journal for
        // that of a transaction in progress, and undo everything. ext4, XFS and Btrfs do not.
        try script(
            """
            PRAGMA synchronous = EXTRA;
            PRAGMA journal_mode = WAL;
            PRAGMA journal_size_limit = 4194304;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            """)
        let words = try rows("PRAGMA quick_check(1)") { $0.text(0) }
        guard words == ["ok"] else { throw .damage(words.first ?? "the check returned nothing") }
        do throws(DatabaseError) {
            try migrate(steps)
            try checkSchema(steps)
        } catch  where error.isSchemaMismatch { throw .damage("its tables are not those of a queue: \(error.words)") }
    }

    private func migrate(_ steps: [Migration]) throws(DatabaseError) {
        try script("CREATE TABLE IF NOT EXISTS migrations (name TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID")
        let applied = Set(try rows("SELECT name FROM migrations") { $0.text(0) })
        let known = Set(steps.map(\.name))
        if let unknown = applied.subtracting(known).min() { throw .newer("migration \"\(unknown)\"") }
        for (index, step) in steps.enumerated() where !applied.contains(step.name) {
            try transaction { () throws(DatabaseError) in
                try script(step.script)
                try run("INSERT INTO migrations VALUES (?)", [.text(step.name)])
                try script("PRAGMA user_version = \(index + 1)")
            }
        }
    }

    /// `quick_check` does not compare the schema with the expected one.
    ///
    /// Further tables and columns are accepted.
    private func checkSchema(_ steps: [Migration]) throws(DatabaseError) {
        let model = try DatabaseConnection(":memory:")
        try model.migrate(steps)
        let missing = Set(try model.schema()).subtracting(try schema())
        if let first = missing.min() { throw .damage("its tables are not those of a queue: \(first)") }
    }

    private func schema() throws(DatabaseError) -> [String] {
        try rows(
            """
            SELECT s.type || ' ' || s.name || ' of ' || s.tbl_name
                || coalesce(', ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk, '')
            FROM sqlite_schema AS s LEFT JOIN pragma_table_info(s.name) AS c
            """
        ) { $0.text(0) }
    }
}
