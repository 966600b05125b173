import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// The possible files under the queue's name when it is opened.
@Suite struct OpeningTests {
    /// The schema of the first release, as a separate text: a released step must never change.
    private static let firstForm = """
        CREATE TABLE migrations (name TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE downloads (number INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, options TEXT NOT NULL,
            family TEXT NOT NULL, priority INTEGER NOT NULL, position REAL NOT NULL,
            state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4), folder TEXT NOT NULL, name TEXT, type TEXT,
            written INTEGER NOT NULL, total INTEGER, added INTEGER NOT NULL, started INTEGER, ended INTEGER,
            code INTEGER NOT NULL, error TEXT, description TEXT) STRICT;
        CREATE INDEX downloads_turn ON downloads (state, priority DESC, position);
        CREATE INDEX downloads_added ON downloads (state, added);
        CREATE INDEX downloads_ended ON downloads (state, ended);
        CREATE INDEX downloads_name ON downloads (state, name COLLATE NOCASE);
        CREATE INDEX downloads_family ON downloads (family, state, priority DESC, position);
        CREATE TABLE sources (download INTEGER NOT NULL, place INTEGER NOT NULL, address TEXT NOT NULL,
            PRIMARY KEY (download, place)) STRICT, WITHOUT ROWID;
        CREATE INDEX sources_address ON sources (address);
        CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO migrations VALUES ('downloads, sources and settings');
        INSERT INTO downloads VALUES (7, 9, '', '', 0, 1.5, 1, 'a', 'x.bin', NULL, 5, 9, 100, NULL, NULL, 0, NULL, NULL);
        INSERT INTO sources VALUES (7, 0, 'https://a.example/x');
        INSERT INTO settings VALUES ('slots', '4');
        PRAGMA user_version = 1;
        """

    @Test(.enabled(if: geteuid() == 0, "needs root"), arguments: ["folder", "file", "log", "link"])
    func `a queue that another user has made is refused`(what: String) throws {
        let bench = try QueueBench()
        try bench.open().close()
        let folder = bench.folder.path(".pawl")
        switch what {
        case "folder": #expect(unsafe chown(folder, 65_534, 65_534) == 0)
        case "file": #expect(unsafe chown(bench.path, 65_534, 65_534) == 0)
        case "log":
            try FileSystem.write([1], to: bench.path + "-wal")
            #expect(unsafe chown(bench.path + "-wal", 65_534, 65_534) == 0)
        default:
            #expect(unsafe rename(folder, bench.folder.path("own")) == 0)
            #expect(unsafe symlink("own", folder) == 0 && lchown(folder, 65_534, 65_534) == 0)
        }
        let failure = #expect(throws: Failure.self) { try bench.open() }
        #expect(failure?.code == .cannotOpen && failure?.why == "it belongs to another user")
        #expect(throws: Failure.self) { try bench.open(asGuest: true) }
    }

    @Test func `a queue of the first release opens with its content`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        try DatabaseConnection(bench.path).script(Self.firstForm)
        let queue = try bench.open()
        var wanted = QueueRecord(
            id: QueueID(rawValue: 9), sources: ["https://a.example/x"], addedAt: UnixTime(seconds: 100))
        wanted.position = 1.5
        wanted.state = .paused
        wanted.folder = "a"
        wanted.name = "x.bin"
        wanted.written = 5
        wanted.total = 9
        #expect(try queue.record(wanted.id) == wanted)
        #expect(try queue.value("slots") == "4")
        #expect(bench.said.isEmpty)
    }

    @Test func `version 0.1.0 refuses a queue that this version has opened, and leaves it as it is`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        try DatabaseConnection(bench.path).script(Self.firstForm)
        try bench.open().close()
        let bytes = FileSystem.contents(bench.path)
        let failure = #expect(throws: Failure.self) { try bench.open(Array(Migration.all.prefix(1))) }
        #expect(failure?.code == .newerJournal)
        #expect(FileSystem.contents(bench.path) == bytes)
    }

    /// Migrations that another version might contain.
    private static let later = [
        Migration(name: "test: notes", script: "CREATE TABLE notes (text TEXT) STRICT; INSERT INTO notes VALUES ('x')"),
        Migration(name: "test: colour", script: "ALTER TABLE downloads ADD COLUMN colour TEXT"),
    ]

    @Test(arguments: 0...4) func `from each earlier schema the missing migrations are run, once`(_ earlier: Int) throws
    {
        let bench = try QueueBench()
        let all = Migration.all + Self.later
        let old = try bench.open(Array(all.prefix(earlier)))
        if earlier > 0 { try old.apply([.put(record(1))]) }
        old.close()
        for _ in 0..<2 {
            let queue = try bench.open(all)
            let rows = try queue.use("") { (connection) throws(DatabaseError) in
                try connection.rows("SELECT text, (SELECT count(colour) FROM downloads) FROM notes") { $0.text(0) }
            }
            #expect(rows == ["x"])
            #expect(try queue.record(record(1).id) == (earlier > 0 ? record(1) : nil))
            queue.close()
        }
        #expect(bench.said.isEmpty)
    }

    @Test func `a failed migration leaves the schema before it`() throws {
        let bench = try QueueBench()
        try bench.open().apply([.put(record(1))])
        let bad = Migration(
            name: "test: bad", script: "CREATE TABLE notes (text TEXT) STRICT; CREATE TABLE sources (a);")
        let database = try DatabaseConnection(bench.path)
        #expect(throws: DatabaseError.self) { try database.prepare(Migration.all + [bad]) }
        #expect(try database.rows("SELECT name FROM sqlite_schema WHERE name = 'notes'") { $0.text(0) } == [])
    }

    @Test(arguments: [true, false]) func `a queue of a newer version is refused and left as it is`(
        _ hasNumber: Bool
    ) throws {
        let bench = try QueueBench()
        let newer = try bench.open(Migration.all + Self.later)
        try newer.apply([.put(record(1))])
        if !hasNumber {
            try newer.use("") { (connection) throws(DatabaseError) in try connection.script("PRAGMA user_version = 1") }
        }
        newer.close()
        let bytes = FileSystem.contents(bench.path)
        let failure = #expect(throws: Failure.self) { try bench.open() }
        #expect(failure?.code == .newerJournal)
        #expect(failure?.remedy.text.contains("use that version") == true)
        #expect(FileSystem.contents(bench.path) == bytes)
        #expect(bench.said.isEmpty)
        #expect(try bench.open(Migration.all + Self.later).record(record(1).id) == record(1))
    }

    @Test func `no other user may read the queue, its log or its folder`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        try queue.apply([.put(record(1))])
        #expect(bench.files == ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite.lock"])
        for name in ["", "/queue.sqlite", "/queue.sqlite-wal", "/queue.sqlite.lock"] {
            var found = stat()
            #expect(unsafe stat(bench.folder.path(".pawl") + name, &found) == 0)
            #expect(found.st_mode & 0o077 == 0, "\(name)")
        }
    }

    @Test func `a second process gets an error that the queue is in use, and can open it when the first closed it`()
        throws
    {
        let bench = try QueueBench()
        let first = try bench.open()
        try first.apply([.put(record(1))])
        let failure = #expect(throws: Failure.self) { try bench.open() }
        #expect(failure?.code == .alreadyDownloading)
        first.close()
        #expect(try bench.open().record(record(1).id) == record(1))
    }

    @Test func `a program that does not know the lock file is kept out too`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        try queue.apply([.put(record(1))])
        let other = try PawlProcess.run(
            "/usr/bin/python3",
            ["-c", "import sqlite3; sqlite3.connect('\(bench.path)', 0).execute('DELETE FROM downloads')"])
        #expect(other.errors.contains("locked"))
        #expect(try queue.record(record(1).id) == record(1))
    }

    @Test func `a damaged queue is set aside and reported, and no older one is overwritten`() throws {
        let bench = try QueueBench()
        for round in 0..<3 {
            try bench.open().close()
            try FileSystem.write(Array("no database \(round)".utf8), to: bench.path)
            let queue = try bench.open()
            try queue.apply([.put(record(1))])
            #expect(try queue.entries().count == 1)
            queue.close()
        }
        #expect(
            bench.files == [
                "queue.sqlite", "queue.sqlite.bad", "queue.sqlite.bad.1", "queue.sqlite.bad.2", "queue.sqlite.lock",
            ])
        for (round, name) in ["bad", "bad.1", "bad.2"].enumerated() {
            #expect(FileSystem.contents("\(bench.path).\(name)") == Array("no database \(round)".utf8))
            #expect(bench.said[round].contains("\(bench.path).\(name);"))
        }
    }

    @Test func `a damaged queue is set aside with its log`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        try FileSystem.write(payload(8192), to: bench.path)
        try FileSystem.write(payload(3000), to: "\(bench.path)-wal")
        try bench.open().close()
        #expect(FileSystem.contents("\(bench.path).bad") == payload(8192))
        #expect(FileSystem.contents("\(bench.path).bad-wal") == payload(3000))
    }

    @Test func `an empty queue beside a log with changes is set aside with it and reported`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        try FileSystem.write([], to: bench.path)
        try FileSystem.write(payload(5000), to: "\(bench.path)-wal")
        try bench.open().close()
        #expect(FileSystem.contents("\(bench.path).bad") == [])
        #expect(FileSystem.contents("\(bench.path).bad-wal") == payload(5000))
        #expect(bench.said.map { $0.contains("\(bench.path).bad,") } == [true])
    }

    @Test func `killed between setting aside a queue and its log, the log is kept`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        try FileSystem.write(payload(5000), to: "\(bench.path)-wal")
        try bench.open().close()
        #expect(FileSystem.contents("\(bench.path).bad-wal") == payload(5000))
        #expect(bench.said.count == 1)
    }

    @Test func `tables of another program are not a queue`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        try DatabaseConnection(bench.path).script("CREATE TABLE downloads (a); CREATE TABLE migrations (name TEXT)")
        #expect(try bench.open().entries().isEmpty)
        #expect(bench.files.contains("queue.sqlite.bad"))
        #expect(bench.said.count == 1)
    }

    @Test func `a user's additions to the schema are not a fault`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        try DatabaseConnection(bench.path).script("CREATE INDEX mine ON downloads (type); CREATE TABLE mine2 (a)")
        try bench.open().close()
        #expect(bench.said.isEmpty)
    }
}
