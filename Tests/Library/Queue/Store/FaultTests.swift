import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// Disks that are full, read-only or lie.
@Suite struct FaultTests {
    @Test(.enabled(if: MountedFolder.isAvailable))
    func `a full disk is code 9, nothing is half written, and it recovers`() throws {
        let disk = try MountedFolder(bytes: 512 << 10)
        let path = disk.path(".pawl/queue.sqlite")
        let queue = try QueueDatabase(at: path) { Issue.record("\($0)") }
        try queue.apply((1...10).map { .put(record($0)) })
        let failure = #expect(throws: Failure.self) { try queue.apply((11...9000).map { .put(record($0)) }) }
        #expect(failure?.code == .diskFull)
        #expect(try queue.entries().count == 10)
        try disk.remount("size=16m")
        try queue.apply((11...9000).map { .put(record($0)) })
        queue.close()
        #expect(try QueueDatabase(at: path) { Issue.record("\($0)") }.entries().count == 9000)
    }

    @Test(.enabled(if: MountedFolder.isAvailable)) func `a disk full before the queue is created is code 9`() throws {
        let disk = try MountedFolder(bytes: 64 << 10)
        try FileSystem.write([UInt8](repeating: 1, count: 60 << 10), to: disk.path("filler"))
        let failure = #expect(throws: Failure.self) { _ = try QueueDatabase(at: disk.path("q/queue")) { _ in } }
        #expect(failure?.code == .diskFull)
    }

    @Test(.enabled(if: MountedFolder.isAvailable), arguments: [true, false])
    func `a folder that cannot be written is code 15 with a remedy`(_ isThere: Bool) throws {
        let disk = try MountedFolder(bytes: 4 << 20)
        if isThere { try QueueDatabase(at: disk.path("queue")) { _ in }.close() }
        try disk.remount("ro")
        let failure = #expect(throws: Failure.self) { _ = try QueueDatabase(at: disk.path("queue")) { _ in } }
        #expect(failure?.code == .cannotOpen)
        #expect(failure?.remedy.text.contains("writable") == true)
    }

    @Test func `a folder that cannot be created is code 18`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write([1], to: folder.path("file"))
        let failure = #expect(throws: Failure.self) {
            _ = try QueueDatabase(at: folder.path("file/.pawl/queue")) { _ in }
        }
        #expect(failure?.code == .cannotMakeFolder)
    }

    @Test func `a symbolic link in the queue's place is refused`() throws {
        let bench = try QueueBench()
        try bench.open().close()
        FileSystem.remove(bench.path)
        #expect(unsafe symlink("/etc/passwd", bench.path) == 0)
        #expect(throws: Failure.self) { try bench.open() }
    }

    @Test func `damage found while the queue is in use throws, sets it aside, and a new one replaces it`() throws {
        let bench = try QueueBench()
        let first = try bench.open()
        try first.apply((1...3000).map { .put(record($0)) })
        first.close()
        let queue = try bench.open()
        // So that it must read from disk.
        try queue.use("") { (connection) throws(DatabaseError) in try connection.script("PRAGMA shrink_memory") }
        // Written under the open queue, from the second page on.
        let length = try #require(FileSystem.size(bench.path))
        let file = unsafe open(bench.path, O_WRONLY)
        let noise = payload(Int(length) - 4096)
        #expect(unsafe pwrite(file, noise, noise.count, 4096) == noise.count)
        close(file)
        let failure = #expect(throws: Failure.self) { try queue.totals(matching: QueueFilter(text: "zzz")) }
        #expect(failure?.code == .inputOutput)
        #expect(failure?.remedy.text.contains("queue.sqlite.bad") == true)
        #expect(bench.said.count == 1)
        #expect(try queue.entries().isEmpty)
        try queue.apply([.put(record(1))])
        #expect(try queue.record(record(1).id) == record(1))
        #expect(FileSystem.size("\(bench.path).bad") == length)
    }

    private enum Outcome {
        case works
        case setAside
        case refused
    }

    @Test func `wrong bytes anywhere are no crash, and the old file is never overwritten`() throws {
        var outcomes: [Outcome: Int] = [:]
        for seed in UInt64(1)...60 { outcomes[try outcome(seed), default: 0] += 1 }
        #expect(outcomes[.works, default: 0] > 5 && outcomes[.setAside, default: 0] > 5, "\(outcomes)")
    }

    /// The queue works or is set aside, and only wrong bytes of its version make it refused.
    private func outcome(_ seed: UInt64) throws -> Outcome {
        var dice = Dice(seed: seed)
        let bench = try QueueBench()
        let maker = try bench.open()
        try maker.apply((1...200).map { .put(record($0)) })
        if seed % 3 != 0 { maker.close() }
        let log = FileSystem.contents("\(bench.path)-wal")
        var bytes = try #require(FileSystem.contents(bench.path))
        maker.close()
        let reach = seed % 2 == 0 ? bytes.count : min(4096, bytes.count)
        for _ in 0..<Int.random(in: 1...40, using: &dice) {
            bytes[Int.random(in: 0..<reach, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        if seed % 5 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &dice)) }
        try FileSystem.write(bytes, to: bench.path)
        if let log { try FileSystem.write(damaged(log, &dice), to: "\(bench.path)-wal") }
        do throws(Failure) { try use(bench.open()) } catch  where bench.said.isEmpty {
            #expect([.newerJournal, .cannotOpen].contains(error.code), "seed \(seed): \(error)")
            #expect(FileSystem.contents(bench.path) == bytes)
            return .refused
        } catch {}
        guard !bench.said.isEmpty else { return .works }
        #expect(FileSystem.exists("\(bench.path).bad"))
        return .setAside
    }

    private func damaged(_ log: [UInt8], _ dice: inout Dice) -> [UInt8] {
        guard !log.isEmpty else { return log }
        var log = log
        log[Int.random(in: 0..<log.count, using: &dice)] ^= 0x55
        return log
    }

    private func use(_ queue: QueueDatabase) throws(Failure) {
        _ = try queue.entries()
        for ordering in [QueueOrdering.turn, .name, .added(newestFirst: true), .ended(newestFirst: false)] {
            _ = try queue.records(matching: QueueFilter(), by: ordering, offset: 0, limit: 300)
        }
        _ = try queue.totals(matching: QueueFilter(text: "files/7"))
        try queue.apply((100...300).map { .put(record($0)) })
        try queue.apply((1...50).map { .erase(record($0).id) })
        queue.close()
    }
}
