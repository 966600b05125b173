import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The commands, each with the real program at both ends.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The service's commands` {
    private let house: ServiceHouse
    private let content = Payload(seed: 84, length: 200_001)

    init() throws { house = try ServiceHouse.serving() }

    private func state(_ id: String) throws -> String? { try house.ask("show", id).first?["state"]?.string }

    @Test func `pause, resume, start and remove work with shortened IDs`() throws {
        let url = house.origin.serve("/f", content) { $0.cut = .stall(after: 1000) }
        let id = try house.add("--paused", url)
        #expect(try state(id) == "paused")
        let short = String(id.prefix(8))
        #expect(try house.run("resume", short).output == "\(id.prefix(6)) resumed\n")
        #expect(try house.run("pause", short).output == "\(id.prefix(6)) paused\n")
        #expect(try house.run("pause", short).output == "\(id.prefix(6)) nothing to do\n")
        #expect(try house.run("start", short).output == "\(id.prefix(6)) started\n")
        #expect(try house.run("pause", "--all").exit == .code(0))
        #expect(try state(id) == "paused")
        #expect(try house.run("remove", short).exit == .code(0))
        #expect(FileSystem.names(in: house.folder.path("root")) == [".pawl"])
        #expect(try house.run("show", short).exit == .code(3))
    }

    @Test func `what changes nothing says so`() throws {
        #expect(try house.run("pause", "--all").output == "nothing to pause\n")
        #expect(try house.run("resume", "-a").output == "nothing to resume\n")
        let url = house.origin.serve("/f", content)
        let id = try house.add("--group", "g", url)
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(try house.run("resume", "--group", "g").output.hasPrefix("nothing to resume: the group g is not"))
        #expect(try house.run("pause", "--group", "g").output == "paused the group g\n")
        #expect(try house.run("pause", "--group", "g").output == "nothing to pause: the group g is paused already\n")
        let limited = try house.run("limit", "1M", id)
        #expect(limited.exit == .code(1) && limited.errors.contains("cannot limit \(id.prefix(6)): it has finished"))
        #expect(try house.run("rename", id, "f").output == "\(id.prefix(6)) unchanged\n")
        let waiting = try house.add("--paused", house.origin.url("/g?a=b"))
        let same = try house.run("url", waiting, house.origin.url("/g?a=b"))
        #expect(same.output == "\(waiting.prefix(6)) unchanged\n")
        #expect(try house.run("set", waiting, "--priority", "0").output.hasSuffix(" nothing to do\n"))
        #expect(try house.run("set", waiting, "--priority", "2", "-x4").output.hasSuffix(" changed\n"))
        #expect(try house.run("set", waiting, "-x4").output.hasSuffix(" nothing to do\n"))
        let none = try house.run("url", "zz", url)
        #expect(
            none.errors == "pawl: cannot replace the URL of zz: there is no download zz; 'pawl list' shows the IDs\n")
    }

    @Test func `what waits for its host says so, and keeps its slot`() throws {
        let first = try house.add(
            house.origin.serve("/last", content) { $0.add(header: "RateLimit: \"daily\";r=0;t=3000") })
        #expect(try house.run("wait", first).exit == .code(0))
        let second = try house.add(house.origin.serve("/f", content))
        var host: String?
        for _ in 1...2000 where host == nil { host = try house.ask("show", second).first?["waitsForHost"]?.string }
        #expect(host == "127.0.0.1")
        #expect(try house.ask("list", "--state", "waiting").map { $0["id"]?.string } == [second])
        #expect(try house.ask("list", "--state", "connecting").isEmpty)
        #expect(try house.run("status").output.contains("1 running (1 waiting), 0 queued"))
        #expect(try house.run("list").output.contains("waiting for 127.0.0.1, which requested a wait: "))
    }

    @Test func `resume ends the wait for a retry`() throws {
        let url = house.origin.serve("/busy", content) { $0.instead = .status(503, retryAfter: "3000") }
        let id = try house.add(url)
        var due: Double?
        for _ in 1...2000 where due == nil { due = Double(try house.ask("show", id).first?["retryIn"]?.text ?? "") }
        #expect(try #require(due) > 2000)
        house.origin.adjust("/busy") { $0.instead = nil }
        #expect(try house.run("resume", id).output == "\(id.prefix(6)) resumed\n")
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(house.difference("busy", from: content) == nil)
        #expect(try house.run("resume", id).output == "\(id.prefix(6)) nothing to do\n")
    }

    @Test func `wait for all of the queue reports what has failed before`() throws {
        let url = house.origin.serve("/gone", content) { $0.instead = .status(404) }
        let id = try house.add(url)
        #expect(try house.run("wait", id).exit == .code(3))
        #expect(try house.run("wait", "--all").exit == .code(3))
        #expect(try house.run("remove", id).exit == .code(0))
        #expect(try house.run("wait", "--all").exit == .code(0))
    }

    @Test func `an ambiguous ID is refused`() throws {
        // Seventeen IDs of hexadecimal digits: two begin alike.
        for number in 1...17 { _ = try house.add("--paused", "http://127.0.0.1:1/f\(number)") }
        let ids = try house.ask("list").compactMap { $0["id"]?.string }
        let digit = try #require(ids.map { $0.prefix(1) }.first { start in ids.count { $0.hasPrefix(start) } > 1 })
        let process = try house.run("pause", String(digit))
        #expect(process.exit == .code(28))
        #expect(process.errors.contains("ambiguous id \(digit)"))
    }

    @Test func `rename, move and url change their downloads`() throws {
        let good = house.origin.serve("/good", content)
        let first = try house.add("--paused", "http://127.0.0.1:1/f")
        let second = try house.add("--paused", "http://127.0.0.1:1/g")
        #expect(try house.ask("list").map { $0["id"]?.string } == [first, second])
        #expect(try house.run("move", second, "1").exit == .code(0))
        #expect(try house.ask("list").map { $0["id"]?.string } == [second, first])
        #expect(try house.run("move", second, "+1").exit == .code(0))
        #expect(try house.ask("list").map { $0["id"]?.string } == [first, second])
        #expect(try house.run("move", second, "-1").exit == .code(0))
        #expect(try house.ask("list").map { $0["id"]?.string } == [second, first])
        #expect(try house.run("move", second, "nowhere").exit == .code(28))
        let short = String(first.prefix(12))
        #expect(try house.ask("limit", "none", short).map { $0["id"]?.string } == [first])
        #expect(try house.ask("rename", short, "early").map { $0["id"]?.string } == [first])
        #expect(try house.run("url", first, good).exit == .code(0))
        #expect(try house.run("rename", first, "named").exit == .code(0))
        try house.run("resume", first)
        #expect(try house.run("wait", first).exit == .code(0))
        #expect(house.difference("named", from: content) == nil)
        #expect(try house.run("url", first, good).exit != .code(0))
    }

    @Test func `wait returns the exit codes of get`() throws {
        let good = try house.add(house.origin.serve("/good", content))
        let bad = try house.add("--retries", "0", house.origin.url("/none"))
        #expect(try house.run("wait", good).exit == .code(0))
        let process = try house.run("wait", good, bad)
        #expect(process.exit == .code(3))
        #expect(process.errors.contains("404 Not Found"))
        let removed = try house.add("--paused", "http://127.0.0.1:1/f")
        let waiting = try house.start("wait", removed, "--json")
        let other = try house.start("wait", removed)
        // The wait has started before the removal, or finds nothing to wait for: both end.
        try house.run("remove", removed)
        waiting.wait()
        other.wait()
        #expect([.code(7), .code(3)].contains(waiting.exit))
        #expect([.code(7), .code(3)].contains(other.exit))
    }

    @Test func `D11 adding a finished URL again requests nothing, and says so`() throws {
        let url = house.origin.serve("/f", content)
        let id = try house.add(url)
        #expect(try house.run("wait", id).exit == .code(0))
        house.origin.waitUntilQuiet("/f")
        let requests = house.origin.ended("/f").count
        let again = try house.run("add", url)
        #expect(again.exit == .code(0))
        #expect(again.output.contains("already finished, not requested again"), "\(again.output)")
        let event = try #require(try house.ask("add", url).first)
        #expect(event["id"]?.string == id && event["finished"]?.bool == true)
        house.origin.waitUntilQuiet("/f")
        #expect(house.origin.ended("/f").count == requests)
        // Without its file it is downloaded again, and that is no finished one.
        try #require(unsafe unlink(house.folder.path("root/f")) == 0)
        #expect(try house.ask("add", url).first?["finished"] == nil)
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
    }

    @Test func `options of a download reach the service`() throws {
        let url = house.origin.serve("/f", content)
        let id = try house.add("-d", "sub", "-o", "name", "-H", "X-One: 1", "-H", "X-Two: 2", "-x", "1", url)
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(house.difference("sub/name", from: content) == nil)
        let head = try #require(house.origin.ended("/f").last).request
        #expect(head.header("x-one") == "1")
        #expect(head.header("x-two") == "2")
        let inside = try house.add("-d", house.folder.path("root/other"), url + "?2")
        #expect(try house.run("wait", inside).exit == .code(0))
        #expect(house.difference("other/f", from: content) == nil)
        let outside = try house.run("add", "-d", "/etc", url)
        #expect(outside.exit == .code(28))
        #expect(outside.errors.contains("not inside the download root"))
    }

    @Test func `without a folder, that of the service's settings is used`() throws {
        let settings: JSON = ["id": "1", "method": "pawl.configure", "params": [["folder": "films"]]]
        let curl = try PawlProcess.run(
            "/usr/bin/curl",
            [
                "-sS", "--data-binary", settings.text, "--unix-socket", house.folder.path("socket"),
                "http://pawl/jsonrpc",
            ])
        #expect(try JSON.parse(curl.output)["result"] == .bool(true))
        let url = house.origin.serve("/f", content)
        #expect(try house.run("wait", house.add(url)).exit == .code(0))
        #expect(house.difference("films/f", from: content) == nil)
        #expect(try house.run("wait", house.add("-d", house.folder.path("root"), url + "?2")).exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
    }

    @Test func `secrets in URLs are not shown`() throws {
        let id = try house.add("--paused", "http://name:password@127.0.0.1:1/f?key=hidden")
        for verb in [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"]] {
            let process = try house.start(verb)
            process.wait()
            #expect(process.exit == .code(0))
            #expect(process.output.contains("127.0.0.1:1") || verb == ["list"])
            #expect(!process.output.contains("password") && !process.output.contains("hidden"), "\(verb)")
        }
    }
}
