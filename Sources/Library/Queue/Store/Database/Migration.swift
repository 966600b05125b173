/// One named step from an earlier schema of the database to the next.
///
/// Steps are only ever appended: a released step is never changed, since databases that have it exist.
struct Migration: Hashable, Sendable {
    let name: String
    let script: String

    /// All steps, the oldest first.
    static let all = [downloads, laterOptions]

    /// The first schema.
    ///
    /// `number` follows the order of adding, so rows of one call are adjacent and ties are broken in that order.
    /// Ended downloads are history and stay in the same table, distinguished by their state. Each index starts with the
    /// columns that filter a page and continues with those that order it, so that no page is ever sorted.
    private static let downloads = Migration(
        name: "downloads, sources and settings",
        script: """
            CREATE TABLE downloads (
                number INTEGER PRIMARY KEY,
                id INTEGER NOT NULL UNIQUE,
                options TEXT NOT NULL,
                family TEXT NOT NULL,
                priority INTEGER NOT NULL,
                position REAL NOT NULL,
                state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
                folder TEXT NOT NULL,
                name TEXT,
                type TEXT,
                written INTEGER NOT NULL,
                total INTEGER,
                added INTEGER NOT NULL,
                started INTEGER,
                ended INTEGER,
                code INTEGER NOT NULL,
                error TEXT,
                description TEXT
            ) STRICT;
            CREATE INDEX downloads_turn ON downloads (state, priority DESC, position);
            CREATE INDEX downloads_added ON downloads (state, added);
            CREATE INDEX downloads_ended ON downloads (state, ended);
            CREATE INDEX downloads_name ON downloads (state, name COLLATE NOCASE);
            CREATE INDEX downloads_family ON downloads (family, state, priority DESC, position);
            CREATE TABLE sources (
                download INTEGER NOT NULL,
                place INTEGER NOT NULL,
                address TEXT NOT NULL,
                PRIMARY KEY (download, place)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX sources_address ON sources (address);
            CREATE TABLE settings (
                name TEXT NOT NULL PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)

    /// The schema stays; version 0.1.0 refuses the queue from here on.
    ///
    /// It would leave out what it does not know of a download's options, such as a checksum of another type.
    private static let laterOptions = Migration(name: "options of version 0.2.0", script: "")
}
