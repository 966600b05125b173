import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Methods that change downloads and settings, and how the page's files are sent.
@Suite struct EditingMethodTests {
    private func addPaused(_ bench: ServiceBench, _ options: JSON = [:]) async throws -> JSON {
        let result = try await bench.result(
            "pawl.add", [[["url": .string(bench.origin.url("/a.bin")), "start": "paused", "options": options]]])
        return try #require(result.array?.first?["id"])
    }

    @Test func `a change replaces what is given, removes what is null, and leaves the rest`() async throws {
        let bench = try await ServiceBench()
        let id = try await addPaused(bench, ["user": "me", "password": "word", "header": ["X: 1"], "connections": "3"])
        let change: JSON = [
            "url": .string(bench.origin.url("/b.bin")), "mirrors": [.string(bench.origin.url("/c.bin"))],
            "folder": "films", "group": "evening", "priority": .number(4),
            "options": ["connections": .null, "header": ["Y: 2", "Z: 3"], "limit-rate": "1M"],
        ]
        #expect(
            try await bench.result("pawl.set", [id, change])
                == .object([JSON.Member(try #require(id.string), .bool(true))]))
        let item = try await bench.result("pawl.options", [id])
        #expect(item["url"]?.string == bench.origin.url("/b.bin"))
        #expect(item["mirrors"]?.array?.first?.string == bench.origin.url("/c.bin"))
        #expect(item["folder"] == "films")
        #expect(item["group"] == "evening")
        #expect(item["priority"] == .number(4))
        #expect(item["options"] == ["limit-rate": "1048576", "header": ["Y: 2", "Z: 3"], "user": "me"])
        #expect(item["hasPassword"] == .bool(true))
        #expect(try await bench.result("pawl.export").array?.first?["options"]?["password"] == "word")
        await bench.close()
    }

    @Test func `an invalid change is refused whole`() async throws {
        let bench = try await ServiceBench()
        let id = try await addPaused(bench)
        let before = try await bench.result("pawl.options", [id])
        for change in [
            ["options": ["connections": "many"], "group": "x"], ["options": ["nope": "1"], "group": "x"],
            ["folder": "../out", "group": "x"], ["folder": ".pawl", "group": "x"], ["color": "red"],
            ["options": ["connections": .number(3)]],
        ] as [JSON] {
            _ = try await bench.refusal("pawl.set", [id, change])
            #expect(try await bench.result("pawl.options", [id]) == before, "\(change.text)")
        }
        #expect(try await bench.call("pawl.set", ["ffffffffffffffff", [:]])["error"] != nil)
        await bench.close()
    }

    @Test func `a download that has begun stays in its folder`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 8 << 20)) { $0.pace = 200_000 }
        let added = try await bench.result("pawl.add", [[.string(url)]])
        let id = try #require(added.array?.first?["id"]?.string)
        try await bench.begin(id)
        let why = try await bench.refusal("pawl.set", [.string(id), ["folder": "films"]])
        #expect(why.contains("has begun"))
        await bench.close()
    }

    @Test func `settings are checked, and apply to calls of aria2's clients too`() async throws {
        let bench = try await ServiceBench()
        for settings in [
            ["options": ["connections": "0"]], ["options": ["output": "x"]], ["folder": "/etc"],
            ["options": ["cacert": "/x"]],
        ] as [JSON] { _ = try await bench.refusal("pawl.configure", [settings]) }
        let settings: JSON = ["options": ["user-agent": "Test/3", "retries": "2"], "folder": "new"]
        #expect(try await bench.result("pawl.configure", [settings]) == .bool(true))
        #expect(try await bench.result("pawl.settings")["options"] == ["retries": "2", "user-agent": "Test/3"])
        let gid = try await bench.gid(
            "aria2.addUri", [[.string(bench.origin.url("/a.bin"))], ["pause": "true", "max-tries": "8"]])
        let item = try await bench.result("pawl.options", [.string(gid)])
        #expect(item["folder"] == "new")
        #expect(item["options"]?["user-agent"] == "Test/3")
        #expect(item["options"]?["retries"] == "7")
        await bench.close()
    }

    @Test func `a check leaves no file, and tells the failure of its request`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/film.mkv", Payload(seed: 1, length: 5 << 20)) { $0.acceptRanges = nil }
        let found = try await bench.result("pawl.check", [["url": .string(url)]])
        #expect(found["name"] == "film.mkv")
        #expect(found["total"] == .number(5 << 20))
        let gone = bench.origin.serve("/gone", Payload([])) { $0.instead = .status(404) }
        #expect(try await bench.result("pawl.check", [["url": .string(gone)]])["error"]?["code"] == .number(3))
        #expect(try await bench.result("pawl.check", [["url": "magnet:?xt=1"]])["error"]?["code"] == .number(28))
        #expect(FileSystem.names(in: bench.root) == [".pawl"])
        #expect(FileSystem.names(in: bench.root + "/.pawl").filter { $0.hasPrefix("check") } == [])
        #expect(try await bench.service.manager.downloads().isEmpty)
        await bench.close()
    }

    @Test func `cookies and referer of a browser extension reach the server`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/a.bin", Payload(seed: 1, length: 1000))
        let gid = try await bench.gid(
            "aria2.addUri",
            [
                [.string(url)],
                [
                    "header": ["Cookie: session=1; b=2", "User-Agent: Browser/1"],
                    "referer": "https://example.org/page", "out": "b.bin",
                ],
            ])
        try await bench.finish(gid)
        let request = try #require(bench.origin.log.of("/a.bin").first)
        #expect(request.request.header("cookie") == "session=1; b=2")
        #expect(request.request.header("user-agent") == "Browser/1")
        #expect(request.request.header("referer") == "https://example.org/page")
        await bench.close()
    }

    @Test(arguments: ["/", "/page-later.js", "/list.css", "/words.zh.js", "/icon.svg"])
    func `files of the page are compressed for clients that accept it, and HEAD has their length`(
        path: String
    ) async throws {
        let bench = try await ServiceBench()
        let (plain, packed) = (bench.folder.path("plain"), bench.folder.path("packed.gz"))
        _ = try await bench.curl("-o", plain, bench.base + path)
        let heads = try await bench.curl(
            "-D", "-", "-o", packed, "-H", "Accept-Encoding: br, gzip;q=0.8", bench.base + path)
        #expect(heads.contains("content-encoding: gzip\r\n"))
        #expect(heads.contains("vary: accept-encoding\r\n"))
        #expect(
            try await bench.run("/bin/gzip", ["-cd", packed]).output
                == String(decoding: FileSystem.contents(plain) ?? [], as: UTF8.self))
        let refusing = try await bench.curl(
            "-D", "-", "-o", "/dev/null", "-H", "Accept-Encoding: gzip;q=0, identity", bench.base + path)
        #expect(!refusing.contains("content-encoding"))
        let head = try await bench.curl("-I", bench.base + path)
        #expect(head.hasPrefix("HTTP/1.1 200 OK"))
        #expect(head.contains("content-length: \((FileSystem.contents(plain) ?? []).count)\r\n"))
        let tag = try #require(heads.split(separator: "\r\n").first { $0.hasPrefix("etag: ") }).dropFirst(6)
        let again = try await bench.curl(
            "-o", "/dev/null", "-w", "%{http_code}", "-H", "Accept-Encoding: gzip", "-H", "If-None-Match: \(tag)",
            bench.base + path)
        #expect(again == "304")
        await bench.close()
    }
}
