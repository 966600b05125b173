import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlIntake
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Responses that aria2's clients expect, byte by byte.
@Suite struct Aria2VectorTests {
    private let payload = Payload(seed: 612, length: 3_000_000)

    /// The response to a POST of this text: the body, a blank, the status.
    private func post(_ bench: ServiceBench, _ text: String) async throws -> String {
        try await bench.post(text.replacing("TOKEN", with: "token:\(bench.secret)"))
    }

    @Test func `messages and their statuses`() async throws {
        let bench = try await ServiceBench()
        let version = #""method":"aria2.getVersion","params":["TOKEN"]"#
        let good = try await post(bench, #"{"id":1,\#(version)}"#)
        #expect(good.hasPrefix(#"{"id":1,"jsonrpc":"2.0","result":{"version":"#) && good.hasSuffix(" 200"))
        for (message, id, code, status) in [
            (#"{\#(version)}"#, "null", -32600, 400),
            (#"{"id":2,"method":"aria2.getVersion","params":{}}"#, "2", -32602, 500), ("{", "null", -32700, 500),
            ("5", "null", -32600, 400), ("", "null", -32700, 500),
        ] {
            let response = try await post(bench, message)
            #expect(response.hasPrefix(#"{"id":\#(id),"jsonrpc":"2.0","error":{"code":\#(code),"#), "\(message)")
            #expect(response.hasSuffix(" \(status)"), "\(message)")
        }
        let unknown = try await post(bench, #"{"id":3,"method":"x","params":["TOKEN"]}"#)
        #expect(unknown == #"{"id":3,"jsonrpc":"2.0","error":{"code":1,"message":"No such method: x"}} 400"#)
        let batch = try await post(bench, #"[1,{"id":4,\#(version)}]"#)
        #expect(batch.hasPrefix(#"[{"id":4,"#) && batch.hasSuffix("}] 200"))
        #expect(batch.components(of: #""id""#) == 1)
        await bench.close()
    }

    @Test func `the response to a wrong secret comes after a second, whatever was called`() async throws {
        let bench = try await ServiceBench()
        let time = try await bench.curl("-w", " %{time_total}", "--data-binary", #"{"id":1,"method":"x"}"#, bench.url)
        #expect(time.contains(#""message":"Unauthorized""#))
        #expect(try #require(time.split(separator: " ").last.flatMap { Double($0) }) >= 1)
        await bench.close()
    }

    @Test func `without a configured secret a token is ignored`() async throws {
        let bench = try await ServiceBench { $0.needsNoSecret = true }
        let response = try await bench.post(#"{"id":1,"method":"aria2.getSessionInfo","params":["token:x"]}"#)
        #expect(response.contains("sessionId") && response.hasSuffix(" 200"))
        await bench.close()
    }

    @Test func `several calls in one have their own responses`() async throws {
        let bench = try await ServiceBench()
        let calls = #"""
            [[{"methodName":"aria2.tellStatus","params":["TOKEN","zz"]},
            {"methodName":"system.multicall","params":[[]]}]]
            """#
        #expect(
            try await post(bench, #"{"id":1,"method":"system.multicall","params":\#(calls)}"#)
                == #"{"id":1,"jsonrpc":"2.0","result":[{"code":1,"message":"Invalid GID zz"},"#
                + #"{"code":1,"message":"Recursive system.multicall forbidden."}]} 200"#)
        let outer = try await post(bench, #"{"id":1,"method":"system.multicall","params":["TOKEN",[]]}"#)
        #expect(outer.contains("The parameter at 0 has wrong type."))
        await bench.close()
    }

    @Test func `preflights get a response, with CORS fields only if every origin is allowed`() async throws {
        for allows in [false, true] {
            let bench = try await ServiceBench { $0.allowsEveryOrigin = allows }
            let fields = try await bench.curl(
                "-X", "OPTIONS", "-D", "-", "-o", "/dev/null", "-H", "Access-Control-Request-Headers: content-type",
                bench.url
            ).lowercased()
            #expect(fields.hasPrefix("http/1.1 200"))
            #expect(fields.contains("access-control-allow-origin: *") == allows)
            #expect(fields.contains("access-control-allow-headers: content-type") == allows)
            #expect(fields.contains("access-control-max-age: 1728000") == allows)
            await bench.close()
        }
    }

    @Test func `an ambiguous prefix of a GID is not found`() async throws {
        let bench = try await ServiceBench()
        let gids = ["20aaaaaaaaaaaaaa", "20bbbbbbbbbbbbbb"]
        for gid in gids {
            let selection: JSON = [["http://127.0.0.1:9/f"], ["gid": .string(gid), "pause": "true"]]
            #expect(try await bench.gid("aria2.addUri", selection) == gid)
        }
        #expect(try await bench.refusal("aria2.tellStatus", ["20"]) == "GID 20 is not unique")
        #expect(try await bench.gid("aria2.unpause", ["20b"]) == gids[1])
        let taken: JSON = [["http://127.0.0.1:9/g"], ["gid": .string(gids[0])]]
        #expect(try await bench.refusal("aria2.addUri", taken).contains("there is a download of that name"))
        for gid in ["20", "0000000000000000", "zzzzzzzzzzzzzzzz"] {
            let selection: JSON = [["http://127.0.0.1:9/g"], ["gid": .string(gid)]]
            #expect(
                try await bench.refusal("aria2.addUri", selection)
                    == "We encountered a problem while processing the option '--gid'.")
        }
        await bench.close()
    }

    @Test func `a pause shows in the very next response, and so does a removal`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/slow", payload) { $0.pace = 100 }
        let waits: JSON = [["http://127.0.0.1:9/f"], ["pause": "true"]]
        let waiting = try await bench.gid("aria2.addUri", waits)
        for round in 0..<5 {
            let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["out": .string("f\(round)")]])
            try await bench.begin(gid)
            let calls: JSON = [
                [
                    ["methodName": "aria2.tellStatus", "params": [.string(gid), ["status", "errorCode"]]],
                    ["methodName": "aria2.pause", "params": [.string(gid)]],
                    ["methodName": "aria2.tellActive", "params": [["gid"]]],
                    ["methodName": "aria2.tellWaiting", "params": [.number(0), .number(1), ["gid", "status"]]],
                    ["methodName": "aria2.getGlobalStat"],
                    ["methodName": "aria2.forceRemove", "params": [.string(gid)]],
                    ["methodName": "aria2.tellWaiting", "params": [.number(0), .number(9), ["gid"]]],
                    ["methodName": "aria2.tellActive", "params": [["gid"]]],
                ]
            ]
            let nested = try await bench.result("system.multicall", calls).array ?? []
            let results = nested.map { $0.array?.first ?? $0 }
            try #require(results.count == 8)
            #expect(results[0] == ["status": "active"])
            #expect(results[2] == [])
            #expect(results[3] == [["gid": .string(gid), "status": "paused"]])
            #expect(results[4]["numActive"] == "0")
            #expect(results[4]["numWaiting"] == "2")
            #expect(results[5] == .string(gid))
            #expect(results[6] == [["gid": .string(waiting)]])
            #expect(results[7] == [])
        }
        #expect(try await bench.result("aria2.getGlobalStat")["numStoppedTotal"] == "0")
        await bench.close()
    }

    @Test func `a stopped download is in the history, newest first from the end`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/slow", payload) { $0.pace = 100 }
        var gids: [String] = []
        for number in 0..<3 {
            let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["out": .string("\(number)")]])
            try await bench.begin(gid)
            #expect(try await bench.gid("aria2.remove", [.string(gid)]) == gid)
            gids.append(gid)
        }
        func stopped(_ offset: Int, _ count: Int) async throws -> [String] {
            let list = try await bench.result("aria2.tellStopped", [.number(offset), .number(count)])
            #expect(list.array?.allSatisfy { $0["status"] == "removed" && $0["errorCode"] == "31" } == true)
            return try #require(list.array).compactMap { $0["gid"]?.string }
        }
        #expect(try await stopped(-1, 2) == [gids[2], gids[1]])
        #expect(try await stopped(-1, 1000) == gids.reversed())
        #expect(try await stopped(0, 2) == [gids[0], gids[1]])
        #expect(
            try await bench.refusal("aria2.remove", [.string(gids[0])])
                == "Active Download not found for GID#\(gids[0])")
        #expect(
            try await bench.refusal("aria2.getUris", [.string(gids[0])])
                == "No URI data is available for GID#\(gids[0])")
        #expect(
            try await bench.refusal("aria2.getServers", [.string(gids[0])]) == "No active download for GID#\(gids[0])")
        await bench.close()
    }

    @Test func `a removed download leaves its bytes to one added in its place, as uGet does`() async throws {
        let bench = try await ServiceBench()
        let content = Payload(seed: 617, length: 1_000_000)
        let url = bench.origin.serve("/f", content) { $0.cut = .stall(at: 400_000) }
        let selection: JSON = [[.string(url)], ["dir": "sub", "out": "got", "split": "1"]]
        let first = try await bench.gid("aria2.addUri", selection)
        try await bench.begin(first)
        _ = try await bench.result("aria2.remove", [.string(first)])
        #expect(FileSystem.names(in: bench.root + "/sub").sorted() == ["got.part", "got.pawl"])
        bench.origin.adjust("/f") { $0.cut = nil }
        try await bench.finish(try await bench.gid("aria2.addUri", selection))
        #expect(FileSystem.difference(of: bench.root + "/sub/got", from: content) == nil)
        #expect(FileSystem.names(in: bench.root + "/sub") == ["got"])
        #expect(bench.origin.ended("/f").map(\.bodyStart).contains { $0 > 0 }, "it continued")
        // Pawl's own method removes everything.
        bench.origin.adjust("/f") { $0.cut = .stall(at: 400_000) }
        let gone = try await bench.gid("aria2.addUri", [[.string(url)], ["dir": "sub", "out": "gone"]])
        try await bench.begin(gone)
        _ = try await bench.result("pawl.remove", [.string(gone)])
        #expect(FileSystem.names(in: bench.root + "/sub") == ["got"])
        await bench.close()
    }

    @Test func `a name with folders is reported so that it can be sent again`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let selection: JSON = [[.string(url)], ["out": "a/b.bin", "dir": .string(bench.root + "/c"), "pause": "true"]]
        let gid = try await bench.gid("aria2.addUri", selection)
        let options = try await bench.result("aria2.getOption", [.string(gid)])
        #expect(options["dir"]?.string == bench.root + "/c")
        #expect(options["out"] == "a/b.bin")
        _ = try await bench.result("aria2.remove", [.string(gid)])
        let again = try await bench.gid("aria2.addUri", [[.string(url)], options])
        try await bench.finish(again)
        #expect(FileSystem.difference(of: bench.root + "/c/a/b.bin", from: payload) == nil)
        await bench.close()
    }

    @Test func `URLs are replaced one occurrence at a time`() async throws {
        let bench = try await ServiceBench()
        let (first, second, third) = ("http://127.0.0.1:9/1", "http://127.0.0.1:9/2", "http://127.0.0.1:9/3")
        let uris: JSON = [.string(first), .string(second), .string(second)]
        let gid = try await bench.gid("aria2.addUri", [uris, ["pause": "true"]])
        let change: JSON = [.string(gid), .number(1), [.string(second)], [.string(third), "no:address"], .number(0)]
        #expect(try await bench.result("aria2.changeUri", change) == [.number(1), .number(1)])
        let listed = try await bench.result("aria2.getUris", [.string(gid)]).array ?? []
        #expect(listed.compactMap { $0["uri"]?.string } == [third, first, second])
        #expect(
            try await bench.refusal("aria2.changeUri", [.string(gid), .number(2), [], []])
                == "fileIndex is out of range")
        await bench.close()
    }

    @Test func `the URLs of a complete download are not changed, and its URL is waiting again`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let gid = try await bench.gid("aria2.addUri", [[.string(url)]])
        try await bench.finish(gid)
        let change: JSON = [.string(gid), .number(1), [], [.string(url + "2")]]
        #expect(try await bench.refusal("aria2.changeUri", change) == "Cannot remove URIs from GID#\(gid)")
        let files = try await bench.result("aria2.getFiles", [.string(gid)])
        let statuses = files.array?.first?["uris"]?.array?.compactMap { $0["status"]?.string }
        #expect(statuses == ["used", "waiting"], "\(files.text)")
        for (method, message) in [
            ("getPeers", "No peer data is available for GID#"), ("getUris", "No URI data is available for GID#"),
            ("getServers", "No active download for GID#"),
        ] { #expect(try await bench.refusal("aria2.\(method)", [.string(gid.uppercased())]) == message + gid) }
        await bench.close()
    }

    @Test func `the first wrong parameter is named, and whole numbers may have a fraction`() async throws {
        let bench = try await ServiceBench()
        let gid = try await bench.gid("aria2.addUri", [["http://127.0.0.1:9/a"], ["pause": "true"]])
        for method in ["changeOption", "changePosition", "changeUri"] {
            #expect(try await bench.refusal("aria2.\(method)") == "The parameter at 0 is required but missing.")
        }
        #expect(
            try await bench.refusal("aria2.changeUri", [.string(gid), .number(0), [], []])
                == "The integer parameter at 1 has invalid value: the value must be greater than or equal to 1.")
        let waiting = try await bench.call("aria2.tellWaiting", try JSON.parse("[0.0, 1e1]"))
        #expect(waiting["result"]?.array?.count == 1, "\(waiting.text)")
        await bench.close()
    }

    @Test func `the session has the digests of fragments`() async throws {
        let folder = try TemporaryFolder()
        let bench = try await ServiceBench(aria2: { $0.sessionFile = folder.path("session") })
        let fragment = "#md5=00112233445566778899aabbccddeeff"
        _ = try await bench.gid("aria2.addUri", [[.string("http://127.0.0.1:9/a" + fragment)], ["pause": "true"]])
        _ = try await bench.result("aria2.saveSession")
        let saved = try #require(FileSystem.contents(folder.path("session")))
        #expect(String(decoding: saved, as: UTF8.self).hasPrefix("http://127.0.0.1:9/a\(fragment)\n"))
        await bench.close()
    }

    @Test func `a download has none of the service's options, and the session neither`() async throws {
        let folder = try TemporaryFolder()
        let bench = try await ServiceBench(aria2: {
            $0.sessionFile = folder.path("session")
            $0.options = Aria2Options(["enable-rpc": "true", "max-concurrent-downloads": "5", "split": "3"])
        })
        let gid = try await bench.gid("aria2.addUri", [["http://127.0.0.1:9/a"], ["pause": "true"]])
        _ = try await bench.result("aria2.changeGlobalOption", [["max-concurrent-downloads": "7"]])
        let options = try await bench.result("aria2.getOption", [.string(gid)])
        #expect(options["enable-rpc"] == nil && options["max-concurrent-downloads"] == nil, "\(options.text)")
        #expect(options["split"] == "3")
        _ = try await bench.result("aria2.saveSession")
        let saved = try #require(FileSystem.contents(folder.path("session")))
        #expect(String(decoding: saved, as: UTF8.self) == "http://127.0.0.1:9/a\n gid=\(gid)\n pause=true\n")
        await bench.close()
    }

    @Test func `the session keeps unfinished downloads, with their options`() async throws {
        let folder = try TemporaryFolder()
        let bench = try await ServiceBench(aria2: { $0.sessionFile = folder.path("session") })
        let selection: JSON = [
            ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"], ["pause": "true", "header": ["A: 1", "B: 2"]],
        ]
        let gid = try await bench.gid("aria2.addUri", selection)
        #expect(try await bench.result("aria2.saveSession") == "OK")
        let saved = try #require(FileSystem.contents(folder.path("session")))
        #expect(
            String(decoding: saved, as: UTF8.self)
                == "http://127.0.0.1:9/a\thttp://127.0.0.1:9/b\n gid=\(gid)\n pause=true\n header=A: 1\n header=B: 2\n")
        await bench.close()
        let other = try await ServiceBench()
        #expect(try await other.refusal("aria2.saveSession") == "Filename is not given.")
        await other.close()
    }

    @Test func `an entry of a session is added with its headers, or logged`() async throws {
        let folder = try TemporaryFolder()
        let log = try ServiceLog(path: folder.path("log"), format: .text)
        let entries = try InputFile.parse(
            Array(
                """
                http://127.0.0.1:9/a
                 pause=true
                 header=Authorization : x
                http://127.0.0.1:9/b
                 pause=true
                 header=X Y: z
                """.utf8))
        let bench = try await ServiceBench {
            $0.log = log
        } aria2: {
            $0.entries = entries
        }
        let manager = bench.service.manager
        let added = try await manager.downloads()
        #expect(added.map(\.source) == ["http://127.0.0.1:9/a"])
        let options = try await manager.details(of: added.map(\.id)).first?.options
        #expect(options?.headers == ["Authorization: x"])
        await bench.close()
        let text = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(text.contains("cannot add http://127.0.0.1:9/b: cannot use"))
    }

    @Test func `a session that cannot be saved is logged`() async throws {
        let folder = try TemporaryFolder()
        let log = try ServiceLog(path: folder.path("log"), format: .text)
        let bench = try await ServiceBench {
            $0.log = log
        } aria2: {
            $0.sessionFile = folder.path("none/session")
        }
        await bench.close()
        let text = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(text.contains("cannot create") && text.contains("none/session"))
    }

    @Test func `an unsupported method is reported, not left out`() async throws {
        let bench = try await ServiceBench()
        for option in ["dry-run", "hash-check-only"] {
            let selection: JSON = [["http://127.0.0.1:9/f"], .object([JSON.Member(option, "true")])]
            #expect(try await bench.refusal("aria2.addUri", selection) == "The option '--\(option)' is not supported.")
        }
        await bench.close()
    }
}

extension String {
    /// The number of occurrences of `part`.
    fileprivate func components(of part: String) -> Int {
        split(separator: part, omittingEmptySubsequences: false).count - 1
    }
}
