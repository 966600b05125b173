import Glibc
import PawlBase
import PawlTestKit
import Testing

/// What the commands of the queue keep, show and refuse.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The queue's commands` {
    private let house: ServiceHouse
    private let content = Payload(seed: 85, length: 100_001)

    init() throws { house = try ServiceHouse.serving() }

    private func finished(_ path: String) throws -> String {
        let id = try house.add(house.origin.serve(path, content))
        try #require(try house.run("wait", id).exit == .code(0))
        return id
    }

    @Test func `remove keeps the finished file, unless it is to be deleted`() throws {
        let (kept, deleted) = (try finished("/kept"), try finished("/deleted"))
        #expect(try house.run("remove", kept).exit == .code(0))
        #expect(house.difference("kept", from: content) == nil)
        #expect(try house.run("remove", "--delete-file", deleted).exit == .code(0))
        #expect(!FileSystem.exists(house.folder.path("root/deleted")))
        #expect(try house.ask("list").isEmpty)
    }

    @Test func `clear removes finished ones from the list, and failed ones on demand`() throws {
        _ = try finished("/f")
        let failed = try house.add("--retries", "0", house.origin.url("/none"))
        _ = try house.run("wait", failed)
        let cleared = try house.run("clear")
        #expect(cleared.output == "cleared 1; 1 failed ones stay, --failed takes them too\n")
        #expect(try house.ask("list").map { $0["state"]?.string } == ["failed"])
        #expect(try house.ask("clear", "--failed").first?["cleared"]?.integer == 1)
        #expect(try house.ask("list").isEmpty)
        #expect(house.difference("f", from: content) == nil)
        #expect(try house.run("clear").output == "nothing to clear\n")
    }

    @Test func `what changes nothing says so`() throws {
        let resumed = try house.run("resume", "--group", "nosuch")
        #expect(resumed.exit == .code(3))
        #expect(resumed.errors.contains("no download is in it"))
        #expect(try house.run("pause", "--group", "later").output.contains("has no downloads yet"))
        let url = "http://127.0.0.1:1/f"
        let id = try house.add("--paused", url)
        let again = try house.run("add", "--paused", url)
        #expect(again.output.contains("already in the queue"), "\(again.output)")
        #expect(try house.ask("add", "--paused", url).first?["known"]?.bool == true)
        #expect(try house.run("rename", id, "new").output.contains("renamed to new"))
        #expect(try house.run("set", id).exit == .code(28))
    }

    @Test func `limit and slots show and set`() throws {
        #expect(try house.run("limit").output == "all downloads: no limit\n")
        #expect(try house.run("limit", "2M").output == "all downloads: 2.00 MiB/s\n")
        #expect(try house.run("limit").output == "all downloads: 2.00 MiB/s\n")
        #expect(try house.ask("limit").first?["limit"]?.integer == 2 << 20)
        #expect(try house.run("slots").output == "simultaneous downloads: 3\n")
        #expect(try house.run("slots", "7").output == "simultaneous downloads: 7\n")
        #expect(try house.ask("slots").first?["slots"]?.integer == 7)
        #expect(try house.run("slots", "0").exit == .code(28))
    }

    @Test func `set changes a download that waits for its login`() throws {
        let url = house.origin.serve("/f", content) { $0.login = .basic(user: "me", password: "pw") }
        let id = try house.add(url)
        #expect(try house.run("wait", id).exit == .code(24))
        #expect(try house.run("set", id, "--user", "me:pw", "-H", "X-A: 1", "-x", "2").exit == .code(0))
        #expect(try house.run("resume", id).exit == .code(0))
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
        #expect(house.origin.ended("/f").last?.request.header("x-a") == "1")
        #expect(try house.run("set", id, "-x", "3").exit == .code(28), "it has finished")
    }

    @Test func `a retry is called one, with its time, reason and count`() throws {
        let url = house.origin.serve("/busy", content) { $0.instead = .status(503, retryAfter: "3000") }
        let id = try house.add("--retries", "8", url)
        var shown: JSON = .null
        for _ in 1...2000 where shown["retryIn"]?.text ?? "null" == "null" {
            shown = try #require(try house.ask("show", id).first)
        }
        #expect(shown["state"]?.string == "retrying")
        #expect(shown["retryReason"]?.string == "503" && shown["retryAttempt"]?.integer == 1)
        #expect(shown["retryLimit"]?.integer == 8)
        #expect(try house.run("show", id).output.contains("(503, 1 of 8)"))
        let list = try house.run("list").output
        #expect(list.contains("retrying") && list.contains("(503, 1 of 8)") && !list.contains("connecting"))
        #expect(try house.ask("list", "--state", "running").count == 1)
        #expect(try house.ask("list", "--state", "queued").isEmpty)
    }

    @Test func `list decodes names, finds decoded text, and knows every state`() throws {
        _ = try house.add("--paused", "http://127.0.0.1:1/%E6%B5%B7%E8%B4%BC%E7%8E%8B%201.mkv")
        #expect(try house.run("list").output.contains("海贼王 1.mkv"))
        #expect(try house.ask("list", "--find", "海贼王").count == 1)
        #expect(try house.ask("list", "--find", "none").isEmpty)
        #expect(try house.ask("list", "--state", "running").isEmpty)
        #expect(try house.ask("list", "--state", "paused").count == 1)
        #expect(try house.run("list", "--state", "lost").exit == .code(28))
        let status = try #require(try house.ask("status").first)
        #expect(status["waiting"]?.integer == 0 && status["paused"]?.integer == 1)
        #expect(try house.run("status").output.contains("0 running, 0 queued, 1 paused, 0 finished, 0 failed"))
    }

    @Test func `completion lists ids with names, and groups`() throws {
        let id = try house.add("--paused", "--group", "films", "http://127.0.0.1:1/a.mkv")
        #expect(try house.run("completions", "ids").output == "\(id.prefix(6))\ta.mkv (paused)\n")
        #expect(try house.run("completions", "groups").output == "films\t1 download\n")
        #expect(try house.run("status").output.hasSuffix("\ngroup films: 1 download\n"))
    }
}
