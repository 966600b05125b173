import Glibc
import PawlTestKit
import Testing

/// Orphaned background sessions, and a service that continues them (A2).
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) final class AdoptionTests {
    private let house: ServiceHouse
    private let payload = Payload(seed: 760, length: 6_000_000)
    private let url: String

    init() throws {
        house = try ServiceHouse()
        url = house.origin.serve("/f", payload) { $0.cut = .stall(at: 2_000_000) }
    }

    // MARK: helpers

    private var state: String { house.folder.path(".local/state/pawl/sessions") }
    private var root: String { "\(state)/films%2F1" }

    private func program(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess(PawlBinary.beside("SessionProgram"), [state] + arguments)
    }

    private func serve(_ arguments: String...) throws -> PawlProcess {
        let service = try house.start(["serve"] + arguments)
        try #require(service.line(in: .err) { $0.contains("serving") } != nil, "\(service.errors)")
        return service
    }

    private func logs(_ service: PawlProcess, _ words: String) -> Bool {
        service.line(in: .err) { $0.contains(words) } != nil
    }

    /// The path of the task's file, under one of these names.
    private func path(_ name: String) -> String? {
        FileSystem.names(in: root).map { "\(root)/\($0)/\(name)" }.first { FileSystem.exists($0) }
    }

    /// Returns when that many bytes are in the task's part file: those in sockets are lost with their process.
    private func waitUntilWritten(_ count: Int64) throws {
        let limit = ContinuousClock.now + .patience
        while path("f.part").flatMap(FileSystem.size) ?? 0 < count {
            try #require(ContinuousClock.now < limit, "\(count) bytes were not written")
            sched_yield()
        }
    }

    private func kill(_ process: PawlProcess) {
        process.send(SIGKILL)
        #expect(process.wait() == .signal(SIGKILL))
    }

    /// A program that has received 2 MB when it is killed; the rest stalls at `next`.
    private func leaveSession(stoppingAt next: Int64?, asleep: String? = nil) throws {
        let first = try program("start", url, asleep.map { "-\($0)" } ?? "-http://127.0.0.1:1/x")
        #expect(first.line { $0 == "all are there" } != nil, "\(first.errors)")
        try waitUntilWritten(2_000_000)
        house.origin.adjust("/f") { $0.cut = next.map { .stall(at: $0) } }
        kill(first)
    }

    /// Creates the session again and returns its events except for the restored tasks.
    private func comeBack() throws -> [String] {
        let folder = house.folder.path("moved")
        unsafe mkdir(folder, 0o700)
        let second = try program("again", folder)
        #expect(second.wait() == .code(0), "\(second.lines) \(second.errors)")
        #expect(house.folder.difference("moved/task 0", from: payload) == nil)
        #expect(second.lines.contains("found asleep suspended"), "\(second.lines)")
        return second.lines.filter { !$0.hasPrefix("found") && !$0.contains("asleep") }
    }

    private func expectEachByteOnce(startingAt starts: [Int64]) {
        #expect(house.origin.ended("/f").map(\.bodyStart) == starts)
        #expect(house.origin.log.sentTwice("/f") == 0)
    }

    // MARK: tests

    @Test func `A2 the service finishes the downloads of a killed program, and the program is notified`() throws {
        let asleep = house.origin.serve("/asleep", Payload(seed: 761, length: 1_000))
        let service = try serve("--limit-rate", "100M")
        try leaveSession(stoppingAt: nil, asleep: asleep)
        #expect(logs(service, "taking over the session films%2F1"), "\(service.errors)")
        #expect(logs(service, "released the session films%2F1: no work is left"), "\(service.errors)")
        // Only the service was running.
        let file = try #require(path("f"))
        #expect(FileSystem.difference(of: file, from: payload) == nil)
        expectEachByteOnce(startingAt: [0, 2_000_000])
        #expect(house.origin.log.of("/asleep").isEmpty, "it was not resumed")
        #expect(try comeBack() == ["finish task 0 6000000 4000000", "complete task 0 0", "events", "over 0"])
        expectEachByteOnce(startingAt: [0, 2_000_000])
        #expect(try house.run("stop").exit == .code(0))
        #expect(service.wait() == .code(0))
    }

    @Test func `A2 the service finishes the stream of a killed program behind its last segment`() throws {
        let frames = [UInt8]([0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC])
        let segments = (0..<4).map { number in frames + [UInt8(number), 7] + frames + [7, UInt8(number)] }
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
        for (number, bytes) in segments.enumerated() {
            house.origin.serve("/v/a\(number).aac", Payload(bytes)) { if number == 2 { $0.delay = .untilReleased } }
            text += "#EXTINF:2,\na\(number).aac\n"
        }
        let url = house.origin.serve("/v/show.m3u8", Payload(text: text + "#EXT-X-ENDLIST\n")) {
            $0.contentType = "application/vnd.apple.mpegurl"
        }
        let first = try program("start", url)
        #expect(first.line { $0 == "loaded task 0 2 of 4" } != nil, "\(first.lines) \(first.errors)")
        kill(first)
        house.origin.adjust("/v/a2.aac") { $0.delay = .none }
        let service = try serve()
        #expect(logs(service, "released the session films%2F1: no work is left"), "\(service.errors)")
        let whole = Payload(segments.flatMap { $0 })
        #expect(FileSystem.difference(of: try #require(path("show.aac")), from: whole) == nil)
        #expect(house.origin.ended("/v/a0.aac").count == 1)
        let folder = house.folder.path("moved")
        unsafe mkdir(folder, 0o700)
        let second = try program("again", folder)
        #expect(second.wait() == .code(0), "\(second.lines) \(second.errors)")
        #expect(second.lines.contains { $0.hasPrefix("finish task 0 \(whole.length) ") }, "\(second.lines)")
        #expect(house.folder.difference("moved/task 0", from: whole) == nil)
    }

    @Test func `A2 a program that returns resumes at the byte where the service was`() throws {
        let service = try serve()
        try leaveSession(stoppingAt: 4_000_000)
        try waitUntilWritten(4_000_000)
        #expect(logs(service, "taking over the session films%2F1"), "\(service.errors)")
        let figures = try PawlProcess.run(
            "/usr/bin/curl", ["-sS", "--unix-socket", house.folder.path("socket"), "http://pawl/metrics"])
        #expect(figures.lines.contains("pawl_adopted_sessions 1.0"), "\(figures.output)")
        house.origin.adjust("/f") { $0.cut = nil }
        let output = try comeBack()
        #expect(output.contains("resumed task 0 at 4000000 of 6000000"), "\(output)")
        #expect(output.contains("complete task 0 0"), "\(output)")
        #expect(logs(service, "released the session films%2F1: its program is running again"), "\(service.errors)")
        expectEachByteOnce(startingAt: [0, 2_000_000, 4_000_000])
    }

    @Test func `A2 a service that is killed with a session loses nothing, nor does one that is stopped`() throws {
        try leaveSession(stoppingAt: 3_000_000)
        let first = try serve()
        try waitUntilWritten(3_000_000)
        house.origin.adjust("/f") { $0.cut = .stall(at: 4_000_000) }
        kill(first)
        let second = try serve()
        try waitUntilWritten(4_000_000)
        house.origin.adjust("/f") { $0.cut = nil }
        #expect(try house.run("stop").exit == .code(0))
        #expect(second.wait() == .code(0))
        #expect(logs(second, "released the session films%2F1: the service is stopping"), "\(second.errors)")
        let output = try comeBack()
        #expect(output.contains("complete task 0 0"), "\(output)")
        expectEachByteOnce(startingAt: [0, 2_000_000, 3_000_000, 4_000_000])
    }

    @Test func `A2 a program killed while it takes over leaves the session to the service again`() throws {
        let service = try serve()
        try leaveSession(stoppingAt: 4_000_000)
        try waitUntilWritten(4_000_000)
        // No process finishes it.
        house.origin.adjust("/f") { $0.cut = .stall(after: 10_000) }
        // Each gets slightly further: before its lock, while it waits for the service, or with the queue open.
        for count in 0..<12 {
            let next = try program("start")
            let limit = ContinuousClock.now + .milliseconds(10 * count)
            while ContinuousClock.now < limit { sched_yield() }
            kill(next)
        }
        let last = try program("start")
        #expect(last.line { $0 == "all are there" } != nil, "\(last.errors)")
        #expect(house.origin.wait { $0.of("/f").last?.isHeld == true })
        // Slow enough that the one that is killed now cannot finish before.
        house.origin.adjust("/f") { ($0.cut, $0.pace) = (nil, 1_000_000) }
        kill(last)
        #expect(logs(service, "films%2F1: no work is left"), "\(service.errors)")
        #expect(try comeBack().contains("complete task 0 0"))
    }

    @Test func `A2 a program that is killed repeatedly as it starts is not blamed on its downloads`() throws {
        house.origin.adjust("/f") { ($0.cut, $0.delay) = (nil, .untilReleased) }
        for life in 1...3 {
            let next = try life == 1 ? program("start", url, "-http://127.0.0.1:1/x") : program("start")
            #expect(next.line { $0 == "all are there" } != nil, "\(next.errors)")
            #expect(house.origin.wait(held: 1, of: "/f"))
            kill(next)
            house.origin.waitUntilQuiet("/f")
        }
        house.origin.adjust("/f") { $0.delay = .none }
        let service = try serve()
        #expect(logs(service, "films%2F1: no work is left"), "\(service.errors)")
        #expect(try comeBack().contains("complete task 0 0"))
    }

    @Test func `A2 while a program has the session neither the service nor a second program gets it`() throws {
        let first = try program("start", url)
        try waitUntilWritten(2_000_000)
        let service = try serve()
        let second = try program("again")
        #expect(second.wait() == .code(0))
        #expect(second.lines == ["over 11"], "\(second.lines)")
        #expect(house.origin.log.of("/f").count == 1)
        house.origin.adjust("/f") { $0.cut = nil }
        kill(first)
        #expect(logs(service, "films%2F1: no work is left"), "\(service.errors)")
        #expect(service.errors.split(separator: "\n").count { $0.contains("taking over") } == 1)
    }

    @Test func `A2 of several services one continues a session, and another one when that is gone`() throws {
        let services = try ["1", "2"].map { name in
            try serve("--root", house.folder.path("root\(name)"), "--socket", house.folder.path("socket\(name)"))
        }
        try leaveSession(stoppingAt: 4_000_000)
        try waitUntilWritten(4_000_000)
        let words = "taking over the session films%2F1"
        let limit = ContinuousClock.now + .patience
        while !services.contains(where: { $0.errors.contains(words) }), ContinuousClock.now < limit { sched_yield() }
        let owner = try #require(services.first { $0.errors.contains(words) })
        let other = try #require(services.first { $0 !== owner })
        house.origin.adjust("/f") { $0.cut = nil }
        kill(owner)
        #expect(!other.errors.contains("cannot"), "it waits without a message: \(other.errors)")
        #expect(logs(other, "films%2F1: no work is left"), "\(other.errors)")
        expectEachByteOnce(startingAt: [0, 2_000_000, 4_000_000])
        other.send(SIGTERM)
        #expect(other.wait() == .code(0))
    }

    @Test func `a session with a damaged queue is left as it is, and that is reported`() throws {
        try leaveSession(stoppingAt: nil)
        let queue = "\(root)/.pawl/queue.db"
        let names = FileSystem.names(in: "\(root)/.pawl").filter { !$0.hasPrefix("queue.db-") }
        let damaged = [UInt8](repeating: 0x55, count: 8192)
        FileSystem.remove(queue + "-wal")
        try FileSystem.write(damaged, to: queue)
        let service = try serve()
        #expect(logs(service, "cannot open the queue"), "\(service.errors)")
        #expect(try house.run("stop").exit == .code(0))
        #expect(service.wait() == .code(0))
        #expect(service.errors.split(separator: "\n").count { $0.contains("cannot open the queue") } == 1)
        #expect(FileSystem.contents(queue) == damaged)
        #expect(FileSystem.names(in: "\(root)/.pawl") == names)
    }

    @Test(arguments: [["--no-sessions"], ["--paused"], ["--deny-private-addresses"]])
    func `a service with that option leaves sessions alone`(_ arguments: [String]) throws {
        try leaveSession(stoppingAt: nil)
        let service = try house.start(["serve"] + arguments)
        #expect(logs(service, "serving"), "\(service.errors)")
        let figures = try PawlProcess.run(
            "/usr/bin/curl", ["-sS", "--unix-socket", house.folder.path("socket"), "http://pawl/metrics"])
        #expect(figures.output.contains("pawl_downloads"), "\(figures.output)")
        #expect(!figures.output.contains("pawl_adopted_sessions"), "sessions are not adopted")
    }

    @Test func `a service that may not connect to private addresses denies them to sessions too`() throws {
        try leaveSession(stoppingAt: nil)
        let service = try serve("--deny-private-addresses", "--sessions", state)
        #expect(logs(service, "films%2F1: no work is left"), "\(service.errors)")
        let second = try program("again")
        #expect(second.wait() == .code(0))
        #expect(second.lines.contains("complete task 0 33"), "\(second.lines)")
        #expect(house.origin.log.of("/f").count == 1)
    }
}
