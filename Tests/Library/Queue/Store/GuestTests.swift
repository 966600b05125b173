import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// A queue of another program, and the lock that identifies the owner.
@Suite struct GuestTests {
    @Test func `a guest reads and writes a valid queue`() throws {
        let bench = try QueueBench()
        try bench.open().apply([.put(record(1))])
        let guest = try bench.open(asGuest: true)
        try guest.apply([.put(record(2))])
        #expect(throws: Failure.self) { try bench.open() }
        guest.close()
        #expect(try bench.open().entries().count == 2)
    }

    private static let later = Migration(name: "test: notes", script: "CREATE TABLE notes (text TEXT) STRICT")

    @Test(arguments: [true, false]) func `neither an older schema nor a newer one is changed by a guest`(
        _ isOlder: Bool
    ) throws {
        let bench = try QueueBench()
        let forms = [Migration.all, Migration.all + [Self.later]]
        let own = try bench.open(isOlder ? forms[0] : forms[1])
        try own.apply([.put(record(1))])
        own.close()
        let bytes = FileSystem.contents(bench.path)
        let failure = #expect(throws: Failure.self) { try bench.open(isOlder ? forms[1] : forms[0], asGuest: true) }
        #expect(failure?.why.contains(isOlder ? "an older version" : "a newer version") == true)
        #expect(FileSystem.contents(bench.path) == bytes)
        #expect(bench.said.isEmpty)
    }

    @Test func `a guest neither creates a queue nor sets a damaged one aside`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        #expect(throws: Failure.self) { try bench.open(asGuest: true) }
        #expect(bench.files == ["queue.sqlite.lock"])
        try FileSystem.write(Array("no database".utf8), to: bench.path)
        #expect(throws: Failure.self) { try bench.open(asGuest: true) }
        #expect(FileSystem.contents(bench.path) == Array("no database".utf8))
        #expect(bench.files == ["queue.sqlite", "queue.sqlite.lock"])
        try FileSystem.write([], to: bench.path)
        try FileSystem.write(payload(5000), to: "\(bench.path)-wal")
        #expect(throws: Failure.self) { try bench.open(asGuest: true) }
        #expect(FileSystem.contents("\(bench.path)-wal") == payload(5000))
        #expect(bench.said.isEmpty)
    }

    @Test func `damage found while a guest has the queue is not set aside either`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        let guest = try bench.open(asGuest: true)
        let failure = #expect(throws: Failure.self) {
            try guest.use("cannot look") { (_) throws(DatabaseError) in throw DatabaseError.damage("test") }
        }
        #expect(failure?.why == "test")
        #expect(!bench.files.contains { $0.contains("bad") })
        #expect(bench.said.isEmpty)
    }

    @Test func `a lock is detected without being taken, with its holder's process ID`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a/b.lock")
        #expect(FileLock.look(at: path) == nil)
        let lock = try #require(try FileLock(at: path))
        lock.note(7)
        #expect(FileLock.look(at: path)?.isHeld == true)
        #expect(try FileLock(at: path) == nil, "two parts of a process exclude each other")
        lock.release()
        #expect(FileLock.look(at: path)?.isHeld == false)
        #expect(FileLock.look(at: path)?.number == 7)
        #expect(FileSystem.mode(path) == 0o600)
        // Looking has never blocked another process.
        #expect(try FileLock(at: path) != nil)
    }
}
