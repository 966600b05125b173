import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore
@testable import PawlSystem

/// SIGKILL at any moment: a call that returned is durable, another one is complete or absent.
@Suite struct KillTests {
    @Test func `killed in the middle of a transaction, nothing committed is lost and nothing else is there`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("queue")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let queue = try QueueDatabase(at: path) { _ in }
            try queue.apply((1...500).map { .put(record($0)) })
            try queue.apply((1...500).map { .progress(record($0).id, written: 7, total: 9) })
            try queue.use("") { (connection) throws(DatabaseError) in
                // So that pages of the open transaction are in the log already.
                try connection.script("PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM sources")
                try connection.script("UPDATE downloads SET written = 1, name = hex(randomblob(500))")
                kill(getpid(), SIGKILL)
            }
        }
        #expect(try #require(FileSystem.size("\(path)-wal")) > 1_000_000)
        let queue = try QueueDatabase(at: path) { Issue.record("\($0)") }
        for number in 1...500 {
            let found = try queue.record(record(number).id)
            #expect(found?.written == 7 && found?.total == 9 && found?.sources == record(number).sources)
        }
        #expect(try queue.entries().count == 500)
    }

    /// Each call adds three records and increments a counter; a second thread kills somewhere within a call.
    @Test(arguments: UInt64(1)...12) func `killed at a random moment, every call that returned is durable`(
        _ seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("queue")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, seed = seed as UInt64] in
            try Doomed(seed: seed).run(at: path)
        }
        let said = try #require(FileSystem.size("\(path).returned"))
        let queue = try QueueDatabase(at: path) { Issue.record("\($0)") }
        let kept = try queue.value("calls").flatMap { Int64($0) }
        #expect(kept == said || kept == said + 1)
        #expect(said > 0)
        #expect(try queue.totals(matching: QueueFilter()).count == Int(3 * (kept ?? 0)))
    }
}

/// Works until its own second thread kills it.
private struct Doomed {
    let seed: UInt64

    func run(at path: String) throws {
        var dice = Dice(seed: seed)
        let last = Int.random(in: 1...40, using: &dice)
        let spins = Int.random(in: 0...300_000, using: &dice)
        let calls = Box()
        let said = unsafe open("\(path).returned", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let queue = try QueueDatabase(at: path) { _ in }
        SystemThread.detached {
            while calls.count.load(ordering: .acquiring) < last { sched_yield() }
            for _ in 0..<spins { calls.spun.add(1, ordering: .relaxed) }
            kill(getpid(), SIGKILL)
        }
        while true {
            let call = calls.count.load(ordering: .relaxed)
            let records = (1...3).map { QueueChange.put(record(3 * call + $0)) }
            try queue.apply(records + [.value("calls", String(call + 1))])
            // One byte per call: the page cache outlives the process.
            guard unsafe write(said, "x", 1) == 1 else { return }
            calls.count.add(1, ordering: .releasing)
        }
    }

    private final class Box: Sendable {
        let count = Atomic(0)
        let spun = Atomic(0)
    }
}
