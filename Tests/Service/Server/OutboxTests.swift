import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// No event is lost because the service ended.
@Suite struct OutboxTests {
    private func message(_ event: String, _ id: String, at second: Int64) -> JSON {
        ["event": .string(event), "id": .string(id), "download": ["endedAt": .number(second)]]
    }

    private func text(of path: String) -> String { String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self) }

    @Test func `a pending delivery survives any end, a delivered one does not`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("outbox")
        do {
            let outbox = Outbox(path: path, now: 100, log: nil)
            #expect(outbox.undelivered.isEmpty && FileSystem.mode(path) == 0o600)
            let both = outbox.add(message("complete", "a", at: 101), pending: [.program, .webhook])
            let one = outbox.add(message("error", "b", at: 102), pending: [.webhook])
            _ = outbox.add(message("complete", "c", at: 102), pending: [])
            _ = outbox.add(message("start", "d", at: 103), pending: [.program])
            outbox.settle(both.number, for: .webhook)
            outbox.settle(one.number, for: .webhook)
        }
        // A kill in the middle of a line.
        try FileSystem.write(Array((text(of: path) + "{\"number\":9,\"mess").utf8), to: path)
        let outbox = Outbox(path: path, now: 500, log: nil)
        #expect(outbox.undelivered.map { $0.message["id"]?.string } == ["a", "d"])
        #expect(outbox.undelivered.map(\.pending) == [[.program], [.program]])
        #expect(outbox.ended.at == 102 && outbox.ended.ids == ["b", "c"])
        // Numbers are not used twice.
        #expect(outbox.add(message("pause", "e", at: 0), pending: [.program]).number > outbox.undelivered[1].number)
    }

    @Test func `a file that cannot be read is left for the next start`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("outbox")
        do {
            let outbox = Outbox(path: path, now: 100, log: nil)
            _ = outbox.add(message("complete", "a", at: 101), pending: [.program])
        }
        // A link is not followed: as unreadable as a bad sector.
        guard unsafe rename(path, folder.path("kept")) == 0, unsafe symlink("kept", path) == 0 else {
            throw SetupFailure("symlink")
        }
        do {
            let outbox = Outbox(path: path, now: 500, log: nil)
            let entry = outbox.add(message("complete", "b", at: 501), pending: [.program])
            outbox.settle(entry.number, for: .program)
        }
        guard unsafe rename(folder.path("kept"), path) == 0 else { throw SetupFailure("rename") }
        let outbox = Outbox(path: path, now: 900, log: nil)
        #expect(outbox.undelivered.map { $0.message["id"]?.string } == ["a"])
        #expect(outbox.ended.at == 101)
    }

    @Test func `the names of version 0.1.0 are read`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("outbox")
        let lines = """
            {"number":7,"letter":{"event":"start","id":"a"},"owed":["program","webhook"]}
            {"number":8,"letter":{"event":"start","id":"b"},"owed":["webhook"]}
            {"number":7,"heard":"program"}
            {"number":8,"heard":"webhook"}

            """
        try FileSystem.write(Array(lines.utf8), to: path)
        let left = Outbox(path: path, now: 0, log: nil).undelivered
        #expect(left.map(\.number) == [7])
        #expect(left.map(\.pending) == [[.webhook]])
        #expect(left.first?.message["id"]?.string == "a")
        #expect(!text(of: path).contains("letter"))
    }

    @Test func `the file stays short, and keeps pending deliveries`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("outbox")
        let outbox = Outbox(path: path, now: 0, log: nil)
        _ = outbox.add(message("complete", "kept", at: 1), pending: [.webhook])
        for number in 0..<5000 {
            let entry = outbox.add(message("complete", "\(number)", at: Int64(number)), pending: [.webhook])
            outbox.settle(entry.number, for: .webhook)
        }
        #expect(try #require(FileSystem.size(path)) <= Int64(Outbox.limit))
        let left = Outbox(path: path, now: 0, log: nil)
        #expect(left.undelivered.map { $0.message["id"]?.string } == ["kept"])
        #expect(left.ended.at == 4999 && left.ended.ids == ["4999"])
    }

    @Test func `a file of more undelivered events than the limit is not rewritten with each line`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("outbox")
        let outbox = Outbox(path: path, now: 0, log: nil)
        let padding = String(repeating: "x", count: 1000)
        var (rewrites, file) = (0, FileSystem.inode(path))
        for number in 0..<2000 {
            _ = outbox.add(message(padding, "\(number)", at: 0), pending: [.webhook])
            let present = FileSystem.inode(path)
            if present != file { (rewrites, file) = (rewrites + 1, present) }
        }
        // At the limit, and whenever the file has doubled.
        #expect((1...4).contains(rewrites))
        #expect(Outbox(path: path, now: 0, log: nil).undelivered.count == 2000)
    }

    @Test(.enabled(if: MountedFolder.isAvailable, "needs a file system of its own"))
    func `a delivery that became due while the disk was full is in the file with the next write`() throws {
        let disk = try MountedFolder(bytes: 1 << 18)
        let outbox = Outbox(path: disk.path("outbox"), now: 0, log: nil)
        try? FileSystem.write([UInt8](repeating: 1, count: 1 << 18), to: disk.path("filler"))
        let padding = String(repeating: "x", count: 1000)
        for number in 0..<20 { _ = outbox.add(message(padding, "\(number)", at: 0), pending: [.webhook]) }
        #expect(Outbox(path: disk.path("outbox"), now: 0, log: nil).undelivered.count < 20)
        FileSystem.remove(disk.path("filler"))
        _ = outbox.add(message("start", "last", at: 0), pending: [.webhook])
        let left = Outbox(path: disk.path("outbox"), now: 0, log: nil).undelivered
        #expect(left.map { $0.message["id"]?.string } == (0..<20).map { "\($0)" } + ["last"])
    }

    @Test func `a mark separates earlier ends, and those within its second`() {
        var mark = DeliveryMark(at: 10)
        #expect(mark.note(message("complete", "a", at: 12)) && mark.note(message("error", "b", at: 12)))
        #expect(!mark.note(message("start", "c", at: 13)) && !mark.note(message("complete", "d", at: 11)))
        #expect(mark.knows("x", at: 11) && mark.knows("a", at: 12) && mark.knows("b", at: 12))
        #expect(!mark.knows("x", at: 12) && !mark.knows("a", at: 13))
        #expect(DeliveryMark(mark.line) == mark)
    }

    @Test func `an end that could not be reported is reported at the next start`() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        _ = try PawlProcess.run("/usr/bin/mkfifo", [pipe])
        let program = folder.path("program")
        try FileSystem.write(Array("#!/bin/sh\necho \"$1\" >\(pipe)\n".utf8), to: program)
        _ = try PawlProcess.run("/bin/chmod", ["755", program])

        let before = try await ServiceBench()
        let url = before.origin.serve("/f", Payload(seed: 6, length: 1000))
        let gid = try await before.gid("aria2.addUri", [[.string(url)]])
        try await before.finish(gid)
        await before.close()
        // As a service leaves it that was killed before it was notified of the end.
        let outbox = before.root + "/.pawl/outbox"
        #expect(!FileSystem.exists(outbox))
        try FileSystem.write(Array("{\"ended\":1000,\"ids\":[]}\n".utf8), to: outbox)

        let after = try await ServiceBench {
            $0.root = before.root
            $0.hooks.programs = [.complete: program]
        }
        #expect(try await after.run("/bin/cat", [pipe]).output == gid + "\n")
        await after.close()
        let left = Outbox(path: outbox, now: 0, log: nil)
        #expect(left.undelivered.isEmpty && left.ended.ids == [gid])
    }

    @Test func `webhook deliveries that failed before the service ended are posted when it starts again`() async throws
    {
        let port = try FreePort.choose()
        let bench = try await ServiceBench { $0.hooks.webhook = "http://127.0.0.1:\(port)/hook" }
        // Nothing listens there yet.
        let url = bench.origin.serve("/f", Payload(seed: 7, length: 1000))
        let gid = try await bench.gid("aria2.addUri", [[.string(url)]])
        try await bench.finish(gid)
        await bench.close()
        let path = bench.root + "/.pawl/outbox"
        let events = Outbox(path: path, now: 0, log: nil).undelivered.compactMap { $0.message["event"]?.string }
        #expect(events == ["start", "complete"])

        let server = try WebhookReceiver(port: port)
        let again = try await ServiceBench {
            $0.root = bench.root
            $0.hooks.webhook = "http://127.0.0.1:\(port)/hook"
        }
        let line = try #require(server.process.line { $0.contains("\"complete\"") })
        #expect(try JSON.parse(line)["id"]?.string == gid)
        await again.close()
        // The response to the last one may not have been read: then it is posted again.
        let left = Outbox(path: path, now: 0, log: nil).undelivered.compactMap { $0.message["event"]?.string }
        #expect(left.isEmpty || left == ["complete"], "\(left)")
        server.process.send(15)
    }

    @Test func `the file of a hook that had to wait is looked at when its program starts`() async throws {
        let folder = try TemporaryFolder()
        let gates = (1...HookRunner.limit).map { folder.path("gate\($0)") }
        _ = try PawlProcess.run("/usr/bin/mkfifo", gates)
        let runner = HookRunner(log: nil)
        for gate in gates { runner.run(["/bin/cat", gate]) }
        let file = Mutex(folder.path("early"))
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        runner.run(["/usr/bin/touch"], done: { end.finish() }, file: { ["\(file.withLock { $0 })"] })
        file.withLock { $0 = folder.path("late") }
        for gate in gates { _ = try PawlProcess.run("/bin/sh", ["-c", ": >\(gate)"]) }
        for await _ in ends {}
        #expect(folder.names.contains("late") && !folder.names.contains("early"))
        await runner.close(within: .patience)
    }

    @Test func `a stop waits for running programs, starts none, and does not wait forever`() async throws {
        let folder = try TemporaryFolder()
        let gates = (1...HookRunner.limit + 1).map { folder.path("gate\($0)") }
        _ = try PawlProcess.run("/usr/bin/mkfifo", gates)
        let done = Mutex<[Int]>([])
        let runner = HookRunner(log: nil)
        for (number, gate) in gates.enumerated() {
            runner.run(["/bin/cat", gate]) { done.withLock { $0.append(number) } }
        }
        let impatient = HookRunner(log: nil)
        impatient.run(["/bin/cat", gates[HookRunner.limit]])
        await impatient.close(within: .milliseconds(1))
        async let closing: Void = runner.close(within: .patience)
        // Otherwise the last of them would be started when the first ends.
        while !runner.isClosing { await Task.yield() }
        for gate in gates.dropLast() { _ = try PawlProcess.run("/bin/sh", ["-c", ": >\(gate)"]) }
        await closing
        #expect(done.withLock { $0.sorted() } == Array(0..<HookRunner.limit))
        // The one that was not waited for.
        _ = try PawlProcess.run("/bin/sh", ["-c", ": >\(gates[HookRunner.limit])"])
    }
}
