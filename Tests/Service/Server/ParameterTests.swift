import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Parameters that no method of Pawl's own accepts.
@Suite struct ParameterTests {
    /// Arrays of parameters by method; `ID` stands for the id of a download.
    private static let bad: [String: [String]] = [
        "pawl.status": ["[1]"],
        "pawl.list": [
            "[1]", "[null]", #"[{"states": "failed"}]"#, #"[{"states": ["lost"]}]"#, #"[{"states": [1]}]"#,
            #"[{"group": 1}]"#, #"[{"text": []}]"#, #"[{"after": "?"}]"#, #"[{"limit": "9"}]"#, #"[{"limit": -1}]"#,
            #"[{"limit": 10001}]"#, #"[{"stats": ["failed"]}]"#, "[{}, 1]",
        ], "pawl.running": ["[1]"], "pawl.show": ["[]", "[1]", "[null]", #"[""]"#, #"["ID", 1]"#],
        "pawl.totals": ["[1]", #"[{"states": {}}]"#, #"[{"limit": 1}]"#, "[{}, 1]"],
        "pawl.source": ["[]", "[1]", #"[""]"#, #"["ID", 1]"#], "pawl.speeds": ["[]", "[1]", #"[""]"#, #"["ID", 1]"#],
        "pawl.web": ["[1]"],
        "pawl.add": [
            "[]", "[{}]", #"["URL"]"#, "[[1]]", "[[{}]]", #"[[{"url": 1}]]"#, #"[["URL"], 1]"#,
            #"[[{"url": "URL", "options": []}]]"#, #"[[{"url": "URL", "options": {"user": 1}}]]"#,
            #"[[{"url": "URL", "options": {"user": [1]}}]]"#, #"[[{"url": "URL", "options": {"usr": "a"}}]]"#,
            #"[[{"url": "URL", "options": {"usr": []}}]]"#, #"[[{"url": "URL", "options": {"newname": "a"}}]]"#,
            #"[[{"url": "URL", "options": {"output": "a/b", "usr": "a"}}]]"#, #"[[{"url": "URL", "mirrors": "URL"}]]"#,
            #"[[{"url": "URL", "mirrors": [1]}]]"#, #"[[{"url": "URL", "folder": 1}]]"#,
            #"[[{"url": "URL", "group": []}]]"#, #"[[{"url": "URL", "priority": "1"}]]"#,
            #"[[{"url": "URL", "start": 1}]]"#, #"[[{"url": "URL", "start": "later"}]]"#,
            #"[[{"url": "URL", "description": {}}]]"#, #"[[{"url": "URL", "dir": "a"}]]"#,
            #"[[{"url": "URL", "pieces": "md5 1 0"}]]"#, #"[[{"url": "URL", "checkExisting": 1}]]"#,
            #"[[{"url": "URL", "ownersSecrets": 0}]]"#, #"[[{"url": "URL", "privateAddresses": 0}]]"#,
            #"[[{"url": "URL", "pieces": 1}]]"#,
            #"[["URL", {"url": "URL", "start": "later"}]]"#, #"[[{"url": "URL", "startAt": "23:00"}]]"#,
            #"[[{"url": "URL", "startAt": -1}]]"#,
        ], "pawl.verify": ["[]", "[1]", "[null]", #"[""]"#, #"["ID", 1]"#],
        "pawl.repair": ["[]", "[1]", "[null]", #"[""]"#, #"["ID", 1]"#], "pawl.pause": each, "pawl.resume": each,
        "pawl.start": each, "pawl.startOver": each, "pawl.pauseAll": [#"["ID"]"#], "pawl.resumeAll": [#"["ID"]"#],
        "pawl.pauseGroup": ["[]", "[1]", "[null]", #"[""]"#, #"["a", "b"]"#],
        "pawl.resumeGroup": ["[]", "[1]", "[null]", #"[""]"#, #"["a", "b"]"#],
        "pawl.remove": each.filter { !$0.hasPrefix(#"["ID", "#) } + [
            #"["ID", true]"#, #"["ID", {"keepFile": "true"}]"#, #"["ID", {"keepfile": true}]"#,
            #"["ID", {"grace": "5"}]"#, #"["ID", {"grace": -1}]"#, #"["ID", {"grace": 61}]"#, #"["ID", {}, 1]"#,
        ], "pawl.restore": each, "pawl.forget": ["[]", "[1]", #"[""]"#, #"[["ID"]]"#, #"["ID", 1]"#],
        "pawl.rename": [
            "[]", #"["ID"]"#, #"["ID", 1]"#, #"["ID", null]"#, #"["ID", ""]"#, #"["", "a"]"#, #"["ID", "a", 1]"#,
        ],
        "pawl.move": [
            "[]", #"["ID"]"#, #"["ID", null]"#, #"["ID", -1]"#, #"["ID", "middle"]"#, #"["ID", "+"]"#, #"["ID", "1"]"#,
            #"["ID", "+99999999999999999999"]"#, #"["", 0]"#, #"["ID", 0, 1]"#,
        ], "pawl.priority": ["[]", #"["ID"]"#, #"["ID", "1"]"#, #"["ID", null]"#, #"["", 1]"#, #"["ID", 1, 1]"#],
        "pawl.url": ["[]", #"["ID"]"#, #"["ID", 1]"#, #"["ID", ""]"#, #"["", "URL"]"#, #"["ID", "URL", 1]"#],
        "pawl.limit": [
            "[]", "[0]", "[-1]", #"["1M"]"#, "[true]", #"[1, ""]"#, "[1, 1]", "[1, null]", #"[0, "ID"]"#,
            #"[1, "ID", 1]"#,
        ], "pawl.timetable": ["[]", "[1]", "[{}]", #"["08:00-18:00 1M, else none", 1]"#],
        "pawl.rules": ["[1]"], "rpc.discover": ["[1]"],
        "pawl.testRules": [
            "[]", "[1]", "[null]", #"[""]"#, #"["https://h/f", 1]"#, #"["https://h/f", [{}]]"#,
            #"["https://h/f", [], 1]"#,
        ],
        "pawl.setRules": [
            "[]", "[1]", "[[1]]", "[[{}]]", #"[[{"match": "type:video"}]]"#, #"[[{"match": 1, "folder": "a"}]]"#,
            #"[[{"match": "type:video", "folder": "a", "more": 1}]]"#, "[[], 1]",
        ], "pawl.atEnd": ["[]", "[1]", #"["sleep"]"#, #"["nothing", 1]"#],
        "pawl.slots": ["[]", "[0]", "[-1]", "[1001]", "[100000]", #"["3"]"#, "[null]", "[3, 1]"], "pawl.stop": ["[1]"],
        "pawl.forgetHostLimits": ["[]", "[1]", #"["h", 1]"#],
        "pawl.read": [
            "[]", "[1]", "[{}]", #"[{"content": 1}]"#, #"[{"content": "!"}]"#, #"[{"content": "", "name": 1}]"#,
            #"[{"content": "", "url": ""}]"#, #"[{"content": ""}, 1]"#,
        ], "pawl.groups": ["[1]"], "pawl.collections": ["[1]"], "pawl.limits": ["[1]"], "pawl.settings": ["[1]"],
        "pawl.access": ["[1]"],
        "pawl.export": ["[1]"],
        "pawl.options": ["[]", "[1]", "[null]", #"[""]"#, #"["ID", 1]"#],
        "pawl.check": [
            "[]", "[1]", "[{}]", #"[{"url": 1}]"#, #"[{"url": "URL", "options": []}]"#,
            #"[{"url": "URL", "options": {"usr": "a"}}]"#, #"[{"url": "URL"}, 1]"#,
        ],
        "pawl.configure": [
            "[]", "[1]", #"[{"options": []}]"#, #"[{"options": {"retries": 1}}]"#, #"[{"options": {"output": "a"}}]"#,
            #"[{"folder": 1}]"#, #"[{"folders": "a"}]"#, "[{}, 1]",
        ],
        "pawl.set": [
            "[]", #"["ID"]"#, #"["ID", 1]"#, #"["ID", {"options": []}]"#, #"["ID", {"options": {"usr": "a"}}]"#,
            #"["ID", {"options": {"user": 1}}]"#, #"["ID", {"options": {"user": [1]}}]"#,
            #"["ID", {"mirrors": "URL"}]"#, #"["ID", {"priority": "1"}]"#, #"["ID", {"group": 1}]"#,
            #"["ID", {"folder": 1}]"#, #"["ID", {"url": 1}]"#, #"[["ID", "ID"], {"url": "URL"}]"#,
            #"["ID", {"options": {"mirror": "URL"}}]"#, #"["ID", {"start": "now"}]"#, #"["", {"priority": 1}]"#,
            #"["ID", {}, 1]"#,
        ],
    ]

    private static let each = ["[]", "[1]", "[null]", #"[""]"#, #"[["ID", 1]]"#, #"[["ID", ""]]"#, #"["ID", 1]"#]

    @Test func `every method has its bad parameters`() {
        #expect(Set(Self.bad.keys) == Set(ServiceMethod.table.map(\.name)))
    }

    @Test func `bad parameters are refused with JSON-RPC's code and change nothing`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.url("/f")
        let item: JSON = ["url": .string(url), "start": "paused", "group": "g"]
        let added = try await bench.result("pawl.add", [[item]])
        let id = try #require(added.array?.first?["id"]?.string)
        _ = try await bench.result("pawl.limit", [.number(1_000_000)])
        let before = try await Self.state(of: bench)
        #expect(before.contains(url))
        for (method, cases) in Self.bad.sorted(by: { $0.key < $1.key }) {
            for text in cases {
                let filled = text.replacing("ID", with: id).replacing("URL", with: url)
                let response = try await bench.call(method, try JSON.parse(filled))
                #expect(response["error"]?["code"]?.integer == -32602, "\(method) \(text) returned \(response.text)")
            }
        }
        #expect(try await Self.state(of: bench) == before)
        await bench.close()
    }

    @Test(arguments: [
        ("output", "a/b"), ("limit-rate", "fast"), ("rate", "fast"), ("connections", "61"), ("if-exists", "ask"),
        ("header", "none"),
    ]) func `an invalid value of an option is the error of its download alone`(name: String, value: String) async throws
    {
        let bench = try await ServiceBench()
        let bad: JSON = .object([
            JSON.Member("url", .string(bench.origin.url("/bad"))),
            JSON.Member("options", .object([JSON.Member(name, .string(value))])),
        ])
        let good: JSON = ["url": .string(bench.origin.url("/good")), "start": "paused"]
        let added = try #require(try await bench.result("pawl.add", [[bad, good]]).array)
        try #require(added.count == 2)
        #expect(added[0]["id"] == nil && added[0]["error"]?["code"]?.integer == 28)
        #expect(added[0]["error"]?["message"]?.string?.hasPrefix("cannot use") == true)
        #expect(added[1]["id"]?.string != nil && added[1]["error"] == nil)
        #expect(try await bench.service.manager.downloads().count == 1)
        await bench.close()
    }

    @Test func `pawl.set changes options, group and priority of an unfinished download`() async throws {
        let bench = try await ServiceBench()
        let item: JSON = [
            "url": .string(bench.origin.url("/f")), "start": "paused",
            "options": ["header": ["X-Old: 1"], "connections": "2", "limit-rate": "1M"],
        ]
        let added = try await bench.result("pawl.add", [[item]])
        let id = try #require(added.array?.first?["id"]?.string)
        let change: JSON = [
            "options": ["header": ["X-New: 1", "X-Too: 2"], "connections": "5", "limit-rate": ""], "group": "films",
            "priority": .number(7), "mirrors": [.string(bench.origin.url("/g"))],
        ]
        #expect(try await bench.result("pawl.set", [.string(id), change])[id] == .bool(true))
        let known = try #require(Download.ID(id))
        let options = try #require(try await bench.service.manager.details(of: [known]).first?.options)
        #expect(options.headers == ["X-New: 1", "X-Too: 2"])
        #expect(options.connections == 5 && options.rateLimit == nil)
        #expect(options.mirrors == [bench.origin.url("/g")])
        let shown = try await bench.result("pawl.show", [.string(id)])
        #expect(shown["group"]?.string == "films" && shown["priority"]?.integer == 7)
        let groups = try await bench.result("pawl.groups", [])
        #expect(groups == [["name": "films", "paused": .bool(false), "count": .number(1)]])
        let refused = try await bench.call("pawl.set", [.string(id), ["options": ["connections": "61"]]])
        #expect(refused["error"]?["code"]?.integer == 28)
        let status = try await bench.result("pawl.status", [])
        #expect(status["paused"]?.integer == 1 && status["waiting"]?.integer == 0)
        let limits = try await bench.result("pawl.limits", [])
        #expect(limits["slots"]?.integer == 3 && limits["limit"] == .null)
        await bench.close()
    }

    @Test func `null removes a limit, and the bounds themselves are accepted`() async throws {
        let bench = try await ServiceBench()
        for rate in [JSON.number(1), .null] { #expect(try await bench.result("pawl.limit", [rate]) == .bool(true)) }
        for slots in [1, 1000] { #expect(try await bench.result("pawl.slots", [.number(slots)]) == .bool(true)) }
        for limit in [0, 10_000] { #expect(try await bench.result("pawl.list", [["limit": .number(limit)]]) == []) }
        await bench.close()
    }

    /// Downloads and limits, as text.
    private static func state(of bench: ServiceBench) async throws -> String {
        let all = JSON.array(["waiting", "paused", "finished", "failed", "removed"])
        let downloads = try await bench.result("pawl.list", [["states": all]])
        return downloads.text + "\(try await bench.service.manager.limits())"
    }
}
