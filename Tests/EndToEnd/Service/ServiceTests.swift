import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The service as a user runs it, with the real program.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The service` {
    private let house: ServiceHouse
    private let content = Payload(seed: 81, length: 3_000_001)

    init() throws { house = try ServiceHouse() }

    @Test func `add starts it, and it outlives its parent`() throws {
        let url = house.origin.serve("/f", content) { $0.cut = .stall(at: 1_000_000) }
        // A session of its own that ends, as a terminal's does.
        let shell = try PawlProcess.run(
            "/usr/bin/setsid", ["--wait", "/bin/sh", "-c", "\"$0\" add -x 1 \"$1\"", PawlBinary.path, url],
            environment: house.environment)
        #expect(shell.exit == .code(0), "\(shell.errors)")
        #expect(shell.errors.contains("pawl: started the service for \(house.folder.path("root"))"))
        let pid = try house.servicePID()
        #expect(getsid(pid) == pid, "it has a session of its own")
        // The stalled connection is closed by a pause.
        try house.run("pause", "--all")
        house.origin.adjust("/f") { $0.cut = nil }
        try house.run("resume", "--all")
        #expect(try house.run("wait", "--all").exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
    }

    @Test func `a download that crashes it is set aside, and the others continue`() throws {
        let url = house.origin.serve("/poison", content) { $0.delay = .untilReleased }
        for life in 1...2 {
            let service = try house.start("serve")
            try #require(service.line(in: .err, atMost: .patience) { $0.contains("serving") } != nil)
            if life == 1 { #expect(try house.run("add", url).exit == .code(0)) }
            #expect(house.origin.wait(held: 1, of: "/poison"))
            service.send(SIGKILL)
            #expect(service.wait() == .signal(SIGKILL))
            house.origin.waitUntilQuiet("/poison")
        }
        let service = try house.start("serve")
        try #require(service.line(in: .err, atMost: .patience) { $0.contains("serving") } != nil)
        let row = try #require(try house.ask("list").first)
        #expect(row["state"]?.string == "paused")
        #expect(row["error"]?["message"]?.string?.contains("ended 2 times while") == true, "\(row)")
        let requested = house.origin.log.of("/poison").count
        let other = house.origin.serve("/f", content)
        #expect(try house.run("add", other).exit == .code(0))
        let ids = try house.ask("list").compactMap { $0["id"]?.string }
        let added = try #require(ids.first { $0 != row["id"]?.string })
        #expect(try house.run("wait", added).exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
        #expect(house.origin.log.of("/poison").count == requested)
        house.origin.adjust("/poison") { $0.delay = .none }
        #expect(try house.run("resume", "--all").exit == .code(0))
        #expect(try house.run("wait", "--all").exit == .code(0))
        #expect(house.difference("poison", from: content) == nil)
        #expect(try house.run("stop").exit == .code(0))
        service.wait()
    }

    @Test func `with no-start, add reports that no service is running`() throws {
        let process = try house.run("add", "--no-start", "http://127.0.0.1/f")
        #expect(process.exit == .code(3))
        #expect(process.errors.contains("the Pawl service is not running"))
        #expect(try house.run("status").exit == .code(3))
    }

    @Test func `many simultaneous adds start one service`() throws {
        let url = house.origin.serve("/f", Payload(seed: 82, length: 1000))
        let adds = try (1...5).map { try house.start("add", "--paused", "\(url)?\($0)") }
        for add in adds {
            add.wait()
            #expect(add.exit == .code(0), "\(add.errors)")
        }
        #expect(adds.count { $0.errors.contains("started the service") } == 1)
        #expect(try house.ask("list").count == 5)
    }

    @Test func `killed with SIGKILL it loses nothing`() throws {
        let slow = house.origin.serve("/slow", content) { $0.cut = .stall(at: 1_500_000) }
        let small = house.origin.serve("/small", Payload(seed: 83, length: 1000))
        try house.run("add", "-x", "1", slow)
        try house.run("add", "--paused", "--group", "films", "--priority", "3", small)
        try house.waitUntilWritten(1_500_000)
        let before = try house.ask("list")
        kill(try house.servicePID(), SIGKILL)
        #expect(try house.run("status").exit != .code(0))
        house.origin.adjust("/slow") { $0.cut = nil }

        // The next start finds the stale socket and the queue.
        let started = try house.run("serve", "--background")
        #expect(started.exit == .code(0), "\(started.errors)")
        let after = try house.ask("list")
        #expect(Set(after.map { $0["id"] }) == Set(before.map { $0["id"] }))
        let paused = try #require(after.first { $0["group"]?.string == "films" })
        #expect(paused["state"]?.string == "paused")
        #expect(paused["priority"]?.integer == 3)
        let running = try #require(after.first { $0["group"] == .null }?["id"]?.string)
        #expect(try house.run("wait", running).exit == .code(0))
        #expect(house.difference("slow", from: content) == nil)
        #expect(house.origin.ended("/slow").map(\.bodyStart).contains { $0 > 0 }, "it went on")
    }

    @Test func `a second service in the root or at the socket reports the first`() throws {
        try house.run("serve", "--background")
        let root = try house.run("serve", "--socket", house.folder.path("other"))
        #expect(root.exit == .code(11))
        #expect(root.errors.contains("has it open"))
        let socket = try house.run("serve", "--root", house.folder.path("other-root"))
        #expect(socket.exit == .code(11))
        #expect(socket.errors.contains("a service is already running there"))
        #expect(try house.run("status").exit == .code(0))
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `a signal stops it cleanly, and everything resumes`(signal: Int32) throws {
        let url = house.origin.serve("/f", content) { $0.cut = .stall(at: 1_000_000) }
        let service = try house.start("serve")
        #expect(service.line(in: .err) { $0.hasPrefix("pawl: serving ") } != nil)
        try house.run("add", "-x", "1", url)
        try house.waitUntilWritten(1_000_000)
        service.send(signal)
        #expect(service.wait() == .code(0))
        #expect(service.errors.hasSuffix("pawl: stopped; unfinished downloads resume at the next start\n"))
        #expect(!FileSystem.exists(house.folder.path("socket")))
        house.origin.adjust("/f") { $0.cut = nil }
        try house.run("serve", "--background")
        #expect(try house.run("wait", "--all").exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
        #expect(house.origin.log.sentTwice("/f") == 0)
    }

    @Test func `stop returns when everything is written`() throws {
        try house.run("serve", "--background")
        let pid = try house.servicePID()
        #expect(try house.run("stop").exit == .code(0))
        // The lock is released last.
        #expect(try house.run("serve", "--background").exit == .code(0))
        #expect(try house.servicePID() != pid)
    }
}
