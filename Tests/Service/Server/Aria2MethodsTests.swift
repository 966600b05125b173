import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The behaviour for aria2's clients, over real connections.
@Suite struct Aria2MethodsTests {
    private let payload = Payload(seed: 611, length: 2_500_000)

    @Test func `a download is added, reported, and ends in its file`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/film.bin", payload)
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["out": "a.bin"]])
        #expect(gid.count == 16)
        try await bench.finish(gid)
        #expect(FileSystem.difference(of: bench.root + "/a.bin", from: payload) == nil)
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["status"] == "complete")
        #expect(status["errorCode"] == "0")
        #expect(status["totalLength"] == "2500000")
        #expect(status["completedLength"] == "2500000")
        #expect(status["numPieces"] == "3")
        #expect(status["bitfield"] == "e0")
        #expect(status["files"]?.array?.first?["path"]?.string == bench.root + "/a.bin")
        #expect(try await bench.result("aria2.tellStatus", [.string(gid), ["gid"]]) == ["gid": .string(gid)])
        #expect(
            try await bench.result("aria2.tellStatus", [.string(String(gid.prefix(9))), ["gid"]]) == [
                "gid": .string(gid)
            ])
        #expect(try await bench.result("aria2.getGlobalStat")["numStoppedTotal"] == "1")
        await bench.close()
    }

    @Test func `missing or invalid parameters have aria2's messages`() async throws {
        let bench = try await ServiceBench()
        #expect(try await bench.refusal("aria2.addUri", [[]]) == "URI is not provided.")
        #expect(try await bench.refusal("aria2.addUri") == "The parameter at 0 is required but missing.")
        #expect(try await bench.refusal("aria2.addUri", ["x"]) == "The parameter at 0 has wrong type.")
        #expect(try await bench.refusal("aria2.tellStatus", ["zz"]) == "Invalid GID zz")
        #expect(try await bench.refusal("aria2.tellStatus", ["12"]) == "GID 12 is not found")
        #expect(
            try await bench.refusal("aria2.addUri", [["http://h/"], ["split": "0"]])
                == "We encountered a problem while processing the option '--split'.")
        #expect(
            try await bench.refusal("aria2.addUri", [["http://h/"], [:], .number(-1)])
                == "Position must be greater than or equal to 0.")
        #expect(try await bench.refusal("aria2.none") == "No such method: aria2.none")
        #expect(try await bench.refusal("aria2.addTorrent", ["?"]) == "The parameter at 0 is not base64.")
        let digests = String(repeating: "x", count: 20)
        let seedless = "d4:infod6:lengthi1e4:name1:a12:piece lengthi16384e6:pieces20:\(digests)ee"
        let refusal = try await bench.refusal("aria2.addTorrent", [.string(Base64.encode(Array(seedless.utf8)))])
        #expect(refusal.contains("it names no web seed"), "\(refusal)")
        await bench.close()
    }

    @Test func `a torrent is added without what can be no file, and with further servers`() async throws {
        let bench = try await ServiceBench()
        let digests = String(repeating: "x", count: 20)
        func torrent(_ files: String) -> JSON {
            let text = "d4:infod5:filesl\(files)e4:name1:n12:piece lengthi16384e6:pieces20:\(digests)ee"
            return .string(Base64.encode(Array(text.utf8)))
        }
        let (link, file) = ("d4:attr1:l6:lengthi0e4:pathl1:lee", "d6:lengthi20e4:pathl1:aee")
        let id = try await bench.result(
            "aria2.addTorrent", [torrent(link + file), ["http://h/"], ["pause": "true"]])
        let status = try await bench.result("aria2.tellStatus", [id, ["files"]])
        let path = status["files"]?.array?.first?["path"]?.string ?? ""
        #expect(path.hasSuffix("n/a"), "\(status.text)")
        #expect(try await bench.result("aria2.tellWaiting", [.number(0), .number(10)]).array?.count == 1)
        await bench.close()
    }

    @Test func `a torrent has no URL that a rule could be about`() async throws {
        let bench = try await ServiceBench()
        _ = try await bench.result("pawl.setRules", [[["match": "type:video", "folder": "Films"]]])
        let digests = String(repeating: "x", count: 20)
        let info = "d6:lengthi20e4:name5:a.mkv12:piece lengthi16384e6:pieces20:\(digests)e"
        let text = "d4:info\(info)8:url-list9:http://h/e"
        let source = "torrent://a.torrent?" + Base64.encode(Array(text.utf8))
        let added = try await bench.result("pawl.add", [[["url": .string(source), "listing": [:], "start": "paused"]]])
        #expect(added.array?.first?["id"] != nil, "\(added.text)")
        await bench.close()
    }

    @Test func `a call over the port uses no secrets of the owner`() async throws {
        let bench = try await ServiceBench()
        func byPort(_ method: String, _ parameters: JSON) async throws -> JSON {
            var values = parameters.array ?? []
            values.insert("token:the-secret-word", at: 0)
            let message: JSON = ["id": .number(1), "method": .string(method), "params": .array(values)]
            let response = try JSON.parse(try await bench.post(message.text, status: false))
            return try #require(response["result"], "\(response.text)")
        }
        func usesSecrets(_ gid: JSON) async throws -> Bool {
            let id = try #require(try await bench.service.manager.ids(withPrefix: gid.string ?? "").first)
            return try #require(try await bench.service.manager.details(of: [id]).first).options.usesOwnersSecrets
        }
        let paused: JSON = ["pause": "true"]
        let foreign = try await byPort("aria2.addUri", [["http://127.0.0.1:1/a"], paused])
        #expect(try await !usesSecrets(foreign))
        let given = try await byPort(
            "pawl.add", [[["url": "http://127.0.0.1:1/b", "start": "paused", "options": ["ownerssecrets": "true"]]]])
        #expect(given.array?.isEmpty == false, "\(given.text)")
        let waiting = try await bench.result("aria2.tellWaiting", [.number(0), .number(10), ["gid"]])
        #expect(waiting.array?.count == 2)
        for download in waiting.array ?? [] {
            let gid = try #require(download["gid"])
            #expect(try await !usesSecrets(gid))
        }
        var owned: [JSON] = []
        for number in 0..<4 {
            let gid = try await bench.result("aria2.addUri", [[.string("http://127.0.0.1:1/\(number)")], paused])
            #expect(try await usesSecrets(gid))
            owned.append(gid)
        }
        _ = try await byPort("aria2.changeUri", [owned[0], .number(1), [], ["sftp://127.0.0.1:1/x"]])
        _ = try await byPort("pawl.url", [owned[1], "sftp://127.0.0.1:1/y"])
        _ = try await byPort("aria2.changeOption", [owned[2], ["all-proxy": "http://127.0.0.1:1"]])
        for gid in owned[..<3] { #expect(try await !usesSecrets(gid)) }
        #expect(try await usesSecrets(owned[3]))
        await bench.close()
    }

    @Test func `concurrent calls lose no change, and one of several removals succeeds`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/a.bin", payload)
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["pause": "true"]])
        let mirrors = (0..<6).map { "http://127.0.0.1:1/\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for mirror in mirrors {
                group.addTask {
                    let given: JSON = [.string(gid), .number(1), [], [.string(mirror)]]
                    let changed = try await bench.result("aria2.changeUri", given)
                    #expect(changed == [.number(0), .number(1)])
                }
            }
            try await group.waitForAll()
        }
        let uris = try await bench.result("aria2.getUris", [.string(gid)])
        #expect(Set((uris.array ?? []).compactMap { $0["uri"]?.string }) == Set(mirrors + [url]))
        let succeeded = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<6 { group.addTask { try await bench.call("aria2.remove", [.string(gid)])["result"] != nil } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(succeeded == 1)
        await bench.close()
    }

    @Test func `paused ones wait in order, and lists can be read from both ends`() async throws {
        let bench = try await ServiceBench()
        var gids: [String] = []
        for number in 0..<4 {
            let url = bench.origin.serve("/\(number)", payload)
            let selection: JSON = [[.string(url)], ["pause": "true", "split": .number(8), "nope": "1"]]
            gids.append(try await bench.gid("aria2.addUri", selection))
        }
        func waiting(_ offset: Int, _ count: Int) async throws -> [String] {
            let list = try await bench.result("aria2.tellWaiting", [.number(offset), .number(count), ["gid"]])
            return try #require(list.array).compactMap { $0["gid"]?.string }
        }
        #expect(try await waiting(0, 10) == gids)
        #expect(try await waiting(1, 2) == [gids[1], gids[2]])
        #expect(try await waiting(-1, 2) == [gids[3], gids[2]])
        #expect(try await waiting(-2, 9) == [gids[2], gids[1], gids[0]])
        #expect(try await waiting(100, 5) == [])
        #expect(
            try await bench.result("aria2.changePosition", [.string(gids[3]), .number(-5), "POS_SET"]) == .number(0))
        #expect(try await waiting(0, 10) == [gids[3], gids[0], gids[1], gids[2]])
        #expect(
            try await bench.result("aria2.changePosition", [.string(gids[3]), .number(1), "POS_CUR"]) == .number(1))
        #expect(
            try await bench.result("aria2.changePosition", [.string(gids[3]), .number(0), "POS_END"]) == .number(3))
        #expect(try await bench.refusal("aria2.pause", [.string(gids[0])]) == "GID#\(gids[0]) cannot be paused now")
        #expect(try await bench.result("aria2.remove", [.string(gids[0])]) == .string(gids[0]))
        #expect(try await bench.result("aria2.tellStopped", [.number(0), .number(9)]) == [])
        #expect(try await bench.result("aria2.unpause", [.string(gids[1])]) == .string(gids[1]))
        try await bench.finish(gids[1])
        #expect(try await bench.refusal("aria2.unpause", [.string(gids[1])]) == "GID#\(gids[1]) cannot be unpaused now")
        #expect(try await bench.result("aria2.unpauseAll") == "OK")
        for gid in [gids[2], gids[3]] { try await bench.finish(gid) }
        let stopped = try await bench.result("aria2.tellStopped", [.number(-1), .number(1000), ["gid"]])
        #expect(stopped.array?.count == 3)
        #expect(try await bench.result("aria2.removeDownloadResult", [.string(gids[1])]) == "OK")
        #expect(try await bench.result("aria2.purgeDownloadResult") == "OK")
        #expect(try await bench.result("aria2.tellStopped", [.number(0), .number(9)]) == [])
        #expect(FileSystem.exists(bench.root + "/1"))
        await bench.close()
    }

    @Test func `options are returned as they were given, and accepted again verbatim`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let selection: JSON = [
            [.string(url)],
            [
                "pause": "true", "max-download-limit": "10K", "header": ["A: 1", "B: 2"], "dir": "sub",
                "min-split-size": "2M", "lowest-speed-limit": "1K", "interface": "nonesuch0",
            ],
        ]
        let gid = try await bench.gid("aria2.addUri", selection)
        let options = try await bench.result("aria2.getOption", [.string(gid)])
        #expect(options["max-download-limit"] == "10240")
        #expect(options["header"] == "A: 1\nB: 2\n")
        #expect(options["min-split-size"] == "2097152")
        #expect(options["lowest-speed-limit"] == "1024")
        // The interface of connections is set where the service is started, not by callers.
        #expect(options["interface"] == nil)
        #expect(options["dir"]?.string == bench.root + "/sub")
        #expect(options["gid"] == nil)
        #expect(options["pause"] == nil)
        let again = try await bench.gid("aria2.addUri", [[.string(url)], options])
        #expect(try await bench.result("aria2.getOption", [.string(again)]) == options)
        #expect(try await bench.result("aria2.changeOption", [.string(again), ["max-download-limit": "0"]]) == "OK")
        try await bench.finish(again)
        #expect(FileSystem.difference(of: bench.root + "/sub/f", from: payload) == nil)
        await bench.close()
    }

    @Test func `a download that has not begun moves where its changed options say`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["pause": "true", "dir": "first"]])
        for (change, place) in [
            (["dir": "second"] as JSON, "second"), (["out": "sub/name"], "second"),
            (["dir": "third", "out": "other/name"], "third"),
        ] {
            #expect(try await bench.result("aria2.changeOption", [.string(gid), change]) == "OK")
            let status = try await bench.result("aria2.tellStatus", [.string(gid)])
            #expect(status["dir"]?.string == bench.root + "/" + place)
        }
        let refusal = try await bench.refusal("aria2.changeOption", [.string(gid), ["dir": "../x"]])
        #expect(refusal.contains("is not inside the download root"))
        _ = try await bench.result("aria2.unpause", [.string(gid)])
        try await bench.finish(gid)
        #expect(FileSystem.difference(of: bench.root + "/third/other/name", from: payload) == nil)
        await bench.close()
    }

    @Test(arguments: EquivalentNames.pairs) func `a folder that is only equivalent to the root is outside of it`(
        left: String, right: String
    ) throws {
        #expect(try Aria2Options.folder("/a/\(left)/\(right)/", root: "/a/\(left)").hasSameBytes(as: right))
        #expect(try Aria2Options.folder("/a/\(left)", root: "/a/\(left)").isEmpty)
        #expect(throws: RPCError.self) { try Aria2Options.folder("/a/\(right)/x", root: "/a/\(left)") }
        #expect(throws: RPCError.self) { try Aria2Options.folder("/a/\(right)", root: "/a/\(left)") }
    }

    @Test func `no folder outside the root can be written to`() async throws {
        let bench = try await ServiceBench()
        for folder in [
            "/etc", "..", "a/../../b", bench.root + "x", bench.root + "/../x",
            // A combining mark makes one character of itself and the slash.
            "../\u{301}x", "a/../../\u{301}b", "../\u{FE0F}x",
        ] {
            let refusal = try await bench.refusal("aria2.addUri", [["http://127.0.0.1:9/f"], ["dir": .string(folder)]])
            #expect(refusal.contains("is not inside the download root"))
        }
        for name in ["/etc/passwd", "../f", "a/../../f", "../\u{301}f"] {
            let refusal = try await bench.refusal("aria2.addUri", [["http://127.0.0.1:9/f"], ["out": .string(name)]])
            #expect(refusal == "We encountered a problem while processing the option '--out'.")
        }
        for folder in [".pawl", ".pawl/\u{301}x", "./.pawl/\u{200D}"] {
            let refusal = try await bench.refusal("aria2.addUri", [["http://127.0.0.1:9/f"], ["dir": .string(folder)]])
            #expect(refusal.contains("the queue keeps its own files there"), "\(refusal)")
        }
        let added = try await bench.result("pawl.add", [[["url": "http://127.0.0.1:9/f", "folder": "../\u{301}x"]]])
        #expect(added.array?.first?["error"] != nil, "\(added.text)")
        #expect(
            try await bench.result("aria2.changeGlobalOption", [["log": "/etc/x", "save-session": "/etc/y"]]) == "OK")
        #expect(try await bench.result("aria2.getGlobalOption")["log"] == nil)
        for folder in ["/etc", "../x", bench.root + "x", ".pawl/x"] {
            let change: JSON = [["dir": .string(folder), "split": "7"]]
            let refusal = try await bench.refusal("aria2.changeGlobalOption", change)
            #expect(refusal.contains("folder"), "\(refusal)")
        }
        let kept = try await bench.result("aria2.getGlobalOption")
        #expect(kept["dir"]?.string == bench.root && kept["split"] != "7", "\(kept.text)")
        let change: JSON = [["dir": .string(bench.root + "/films")]]
        #expect(try await bench.result("aria2.changeGlobalOption", change) == "OK")
        await bench.close()
    }

    @Test func `limits and slots change for all`() async throws {
        let bench = try await ServiceBench()
        let selection: JSON = [["max-concurrent-downloads": "7", "max-overall-download-limit": "1M"]]
        #expect(try await bench.result("aria2.changeGlobalOption", selection) == "OK")
        let options = try await bench.result("aria2.getGlobalOption")
        #expect(options["max-concurrent-downloads"] == "7")
        #expect(options["max-overall-download-limit"] == "1048576")
        #expect(options["rpc-secret"] == nil)
        #expect(try await bench.result("aria2.getVersion")["version"]?.string != nil)
        #expect(try await bench.result("aria2.getSessionInfo")["sessionId"]?.string?.count == 40)
        await bench.close()
    }
}
