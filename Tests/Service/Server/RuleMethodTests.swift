import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer

/// Rules, starts at a time and the end of the last download, over RPC.
@Suite struct RuleMethodTests {
    private let content = Payload(seed: 4905, length: 2000)

    @Test func `rules are replaced, kept and obeyed by aria2's clients too`() async throws {
        let bench = try await ServiceBench()
        let rules: JSON = [["match": "type:video", "folder": "Films"], ["match": "*.iso", "folder": "Images"]]
        #expect(try await bench.result("pawl.setRules", [rules]) == .bool(true))
        let shown = try await bench.result("pawl.rules")
        #expect(shown.array?.map { $0["match"]?.string } == ["type:video", "name:*.iso"])
        #expect(try await bench.result("pawl.settings")["rules"] == shown)
        let refused = try await bench.refusal("pawl.setRules", [[["match": "type:film", "folder": "a"]]])
        #expect(refused.contains("cannot use the rule type:film"))
        #expect(try await bench.result("pawl.rules") == shown, "a refused change changes nothing")

        try await bench.service.manager.perform(.pauseAll)
        _ = try await bench.result("pawl.configure", [["folder": "other"]])
        let url = JSON.string(bench.origin.url("/film.mkv"))
        let plain = try await bench.result("pawl.add", [[["url": url, "start": "paused"]]])
        let id = try #require(plain.array?.first?["id"]?.string)
        #expect(try await bench.result("pawl.show", [.string(id)])["folder"] == "Films")
        let gid = try await bench.gid("aria2.addUri", [[url], ["pause": "true"]])
        #expect(try await bench.result("pawl.show", [.string(gid)])["folder"] == "Films")
        let chosen = try await bench.gid("aria2.addUri", [[url], ["pause": "true", "dir": "mine"]])
        #expect(try await bench.result("pawl.show", [.string(chosen)])["folder"] == "mine")
        let text = JSON.string(bench.origin.url("/a.txt"))
        let unmatched = try await bench.result("pawl.add", [[["url": text, "start": "paused"]]])
        let other = try #require(unmatched.array?.first?["id"]?.string)
        #expect(try await bench.result("pawl.show", [.string(other)])["folder"] == "other")
        await bench.close()
    }

    @Test func `the rule that gives a URL its folder is told, of the kept rules and of others`() async throws {
        let bench = try await ServiceBench()
        _ = try await bench.result("pawl.setRules", [[["match": "type:video", "folder": "Films"]]])
        func fitting(_ parameters: JSON) async throws -> JSON { try await bench.result("pawl.testRules", parameters) }
        #expect(
            try await fitting(["https://h/a.mkv"])
                == ["index": .number(0), "match": "type:video", "folder": "Films"])
        #expect(try await fitting(["https://h/a.iso", .null]) == .null)
        let others: JSON = [["match": "host:example.org", "folder": "A"], ["match": "*.iso", "folder": "B"]]
        #expect(try await fitting(["https://h/a.iso", others])["index"] == .number(1))
        #expect(try await fitting(["https://www.example.org/a.iso", others])["folder"] == "A")
        #expect(try await bench.refusal("pawl.testRules", ["nothing"]).contains("nothing"))
        await bench.close()
    }

    @Test func `private addresses of one download are denied, kept and exported`() async throws {
        let bench = try await ServiceBench()
        let url = JSON.string(bench.origin.serve("/f", content))
        let added = try await bench.result(
            "pawl.add", [[["url": url, "start": "paused", "privateAddresses": .bool(false)]]])
        let id = JSON.string(try #require(added.array?.first?["id"]?.string))
        #expect(try await bench.result("pawl.export").array?.first?["privateAddresses"] == .bool(false))
        // Who adds it again without that does not lift it.
        _ = try await bench.result("pawl.add", [[["url": url, "start": "paused"]]])
        #expect(try await bench.result("pawl.export").array?.first?["privateAddresses"] == .bool(false))
        _ = try await bench.result("pawl.resume", [id])
        await #expect(throws: PawlError.self) { try await bench.finish(id.string ?? "") }
        #expect(bench.origin.ended("/f").isEmpty)
        await bench.close()
    }

    @Test func `a start at a time is set, shown and changed`() async throws {
        let bench = try await ServiceBench()
        let url = JSON.string(bench.origin.serve("/f", content))
        let added = try await bench.result("pawl.add", [[["url": url, "startAt": .number(4_000_000_000)]]])
        let id = JSON.string(try #require(added.array?.first?["id"]?.string))
        let shown = try await bench.result("pawl.show", [id])
        #expect(shown["state"] == "paused" && shown["startAt"]?.integer == 4_000_000_000)
        let exported = try await bench.result("pawl.export").array?.first
        #expect(exported?["startAt"]?.integer == 4_000_000_000)
        _ = try await bench.result("pawl.set", [id, ["startAt": .number(4_000_000_001)]])
        #expect(try await bench.result("pawl.show", [id])["startAt"]?.integer == 4_000_000_001)
        _ = try await bench.result("pawl.resume", [id])
        try await bench.finish(id.string ?? "")
        #expect(try await bench.result("pawl.show", [id])["startAt"] == .null)
        await bench.close()
    }

    @Test func `the methods are there as an OpenRPC document`() async throws {
        let bench = try await ServiceBench()
        let document = try await bench.result("rpc.discover")
        #expect(document["openrpc"]?.string?.hasPrefix("1.") == true && document["info"]?["title"] == "Pawl")
        let methods = try #require(document["methods"]?.array)
        #expect(methods.compactMap { $0["name"]?.string } == ServiceMethod.table.map(\.name))
        for method in methods {
            let parameters = try #require(method["params"]?.array)
            #expect(
                Set(parameters.compactMap { $0["name"]?.string }).count == parameters.count,
                "\(method["name"]?.text ?? "")")
            #expect(parameters.allSatisfy { $0["schema"]?.members != nil } && method["result"]?["schema"] != nil)
        }
        func parameters(_ name: String) -> [JSON] {
            methods.first { $0["name"]?.string == name }?["params"]?.array ?? []
        }
        #expect(parameters("pawl.rename").map { $0["schema"]?["type"] } == ["string", "string"])
        #expect(parameters("pawl.slots").first?["schema"]?["type"] == "integer")
        #expect(parameters("pawl.list").first?["schema"]?["properties"]?["states"] != nil)
        #expect(parameters("pawl.pause").first?["schema"]?["anyOf"]?.array?.count == 2)
        #expect(parameters("pawl.status").isEmpty)
        await bench.close()
    }

    @Test func `the results that the document describes are those that are returned`() async throws {
        let bench = try await ServiceBench()
        let url = JSON.string(bench.origin.serve("/f.mkv", content))
        _ = try await bench.result("pawl.setRules", [[["match": "type:video", "folder": "Films"]]])
        let added = try await bench.result("pawl.add", [[["url": url, "group": "g"], ["url": "nothing"]]])
        let id = JSON.string(try #require(added.array?.first?["id"]?.string))
        try await bench.finish(id.string ?? "")
        let schemas = Dictionary(uniqueKeysWithValues: ServiceMethod.table.map { ($0.name, $0.resultSchema) })
        #expect(schemas.values.allSatisfy { !($0.members ?? []).isEmpty })
        #expect(Self.fits(added, schemas["pawl.add"] ?? [:]), "\(added.text)")
        for (method, parameters) in [
            ("pawl.status", []), ("pawl.list", []), ("pawl.collections", []), ("pawl.running", []),
            ("pawl.show", [id]), ("pawl.totals", []), ("pawl.speeds", [id]), ("pawl.groups", []), ("pawl.limits", []),
            ("pawl.source", [id]), ("pawl.options", [id]), ("pawl.export", []), ("pawl.settings", []),
            ("pawl.rules", []), ("pawl.testRules", [url]), ("pawl.testRules", ["http://h/a.txt"]),
            ("pawl.access", []), ("pawl.priority", [id, .number(2)]), ("pawl.pause", [id]), ("pawl.pauseAll", []),
            ("pawl.check", [["url": url]]), ("pawl.check", [["url": "nothing"]]),
            ("pawl.read", [["content": "aHR0cHM6Ly9leGFtcGxlLm9yZy9hCg=="]]), ("pawl.limit", [.null]),
            ("pawl.slots", [.number(3)]), ("pawl.remove", [id, ["keepFile": .bool(true)]]),
        ] as [(String, JSON)] {
            let result = try await bench.result(method, parameters)
            #expect(Self.fits(result, schemas[method] ?? [:]), "\(method): \(result.text)")
        }
        await bench.close()
    }

    /// Whether a value fits a schema; objects with properties have no others, and all of them.
    private static func fits(_ value: JSON, _ schema: JSON) -> Bool {
        if let choices = schema["anyOf"]?.array { return choices.contains { fits(value, $0) } }
        if let constant = schema["const"] { return value == constant }
        let types = schema["type"]?.array ?? schema["type"].map { [$0] } ?? []
        let isOfType =
            types.isEmpty
            || types.contains { type in
                switch type.string {
                case "array": value.array != nil
                case "object": value.members != nil
                case "boolean": value.bool != nil
                case "null": value == .null
                case "string": value.string != nil
                case _: Double(value.text) != nil
                }
            }
        guard isOfType else { return false }
        if let items = schema["items"] { return (value.array ?? []).allSatisfy { fits($0, items) } }
        guard let properties = schema["properties"]?.members else { return true }
        return Set(properties.map(\.name)) == Set((value.members ?? []).map(\.name))
            && properties.allSatisfy { fits(value[$0.name] ?? .null, $0.value) }
    }

    @Test func `a program runs when the last download has ended, unless that is suspended`() async throws {
        let folder = try TemporaryFolder()
        // A named pipe: reading it waits for the program.
        let pipe = folder.path("pipe")
        _ = try PawlProcess.run("/usr/bin/mkfifo", [pipe])
        try FileSystem.write(Array("#!/bin/sh\necho \"$#\" >>\(pipe)\n".utf8), to: folder.path("idle"))
        _ = try PawlProcess.run("/bin/chmod", ["755", folder.path("idle")])
        let bench = try await ServiceBench { $0.hooks.idle = folder.path("idle") }
        #expect(try await bench.result("pawl.settings")["atEnd"] == "command")
        #expect(try await bench.result("pawl.settings")["hooks"]?["idle"]?.string == folder.path("idle"))
        _ = try await bench.result("pawl.atEnd", ["nothing"])
        let first = try await bench.gid("aria2.addUri", [[.string(bench.origin.serve("/a", content))]])
        try await bench.finish(first)
        #expect(try await bench.result("pawl.settings")["atEnd"] == "nothing")
        _ = try await bench.result("pawl.atEnd", ["command"])
        async let reader = bench.run("/usr/bin/head", ["-n", "1", pipe])
        // One that is paused does not count, and one that fails does.
        _ = try await bench.gid("aria2.addUri", [[.string(bench.origin.url("/paused"))], ["pause": "true"]])
        let failing = try await bench.gid("aria2.addUri", [[.string(bench.origin.url("/missing"))]])
        _ = try? await bench.finish(failing)
        #expect(try await reader.output == "0\n")
        await bench.close()
    }
}
