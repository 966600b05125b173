import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The access rules, by listener.
@Suite struct ServiceListenerTests {
    @Test func `the port requires the secret, the Unix socket does not`() async throws {
        let bench = try await ServiceBench()
        let bare = try await bench.post(#"{"id":1,"method":"aria2.getVersion"}"#)
        #expect(bare == #"{"id":1,"jsonrpc":"2.0","error":{"code":1,"message":"Unauthorized"}} 400"#)
        let known = try await bench.post(#"{"id":1,"method":"aria2.getVersion","params":["token:the-secret-word"]}"#)
        #expect(known.hasSuffix(" 200"))
        #expect(try await bench.result("aria2.getVersion")["version"]?.string != nil)
        await bench.close()
    }

    @Test func `another name in Host and another origin are refused`() async throws {
        let bench = try await ServiceBench()
        let call = #"{"id":1,"method":"system.listMethods"}"#
        func status(_ field: String, _ second: String = "X-Note: 1") async throws -> String {
            try await bench.curl(
                "-o", "/dev/null", "-w", "%{http_code}", "-H", field, "-H", second, "--data-binary", call, bench.url)
        }
        #expect(try await status("Host: evil.example") == "403")
        #expect(try await status("Host: evil.example:6800") == "403")
        #expect(try await status("Host: localhost") == "200")
        #expect(try await status("Origin: http://evil.example") == "403")
        #expect(try await status("Origin: null") == "403")
        let own = "Origin: http://127.0.0.1:\(bench.service.port)"
        #expect(try await status(own) == "200")
        for other in ["Origin: http://evil.example", "Origin: null", own, "Origin;"] {
            #expect(try await status(own, other) == "400", "one Origin field decides nothing about another")
            #expect(try await status(other, own) == "400")
        }
        #expect(try await status("\(own), http://evil.example") == "403")
        await bench.close()
    }

    @Test func `a GET with a callback returns a script to an authenticated caller, and changes nothing`() async throws {
        let bench = try await ServiceBench()
        let shown = Base64.encode(Array("[\"token:\(bench.secret)\"]".utf8))
        func get(_ query: String, _ more: String...) async throws -> String {
            try await bench.curl(["-w", " %{http_code}"] + more + ["\(bench.url)?id=q&\(query)"])
        }
        let version = try await bench.curl(
            "-w", " %{content_type}", "\(bench.url)?method=aria2.getVersion&id=q&params=\(shown)&jsoncallback=cb")
        for method in ["aria2.getVersion", "aria2.tellActive", "system.listMethods"] {
            let text = try await get("method=\(method)&jsoncallback=cb")
            #expect(text.hasSuffix(" 403") && !text.contains("cb("), "\(text)")
        }
        let options = try await get("method=aria2.getGlobalOption&params=\(shown)&jsoncallback=cb")
        #expect(options.contains("is not available to JSONP callbacks"))
        let site = try await get("method=system.listMethods", "-H", "Sec-Fetch-Site: cross-site")
        #expect(site.hasSuffix(" 403"))
        #expect(try await get("method=system.listMethods", "-H", "Sec-Fetch-Site: none").hasSuffix(" 200"))
        #expect(version.hasPrefix(#"cb({"id":"q","jsonrpc":"2.0","result":{"version""#))
        #expect(version.hasSuffix(" text/javascript"))
        let change = try await get("method=aria2.pauseAll&params=\(shown)")
        #expect(change.contains("must be sent with POST"))
        let hostile = try await bench.curl(
            "-w", "%{http_code}", "\(bench.url)?method=aria2.getVersion&id=q&jsoncallback=alert(1)//")
        #expect(hostile.hasSuffix("400"))
        let preflight = try await bench.curl("-X", "OPTIONS", "-D", "-", bench.url)
        #expect(!preflight.lowercased().contains("access-control"))
        await bench.close()
    }

    @Test func `the port listens on its own address and on no other of this machine`() async throws {
        for (address, other) in [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")] {
            let bench = try await ServiceBench { $0.address = address }
            let tail = ":\(bench.service.port)/healthz"
            #expect(try await bench.curl("http://\(address)\(tail)") == "ok\n")
            #expect(try await bench.curl("-w", "%{http_code}", "http://\(other)\(tail)") == "000")
            await bench.close()
        }
    }

    @Test func `an open address without a secret is refused at the start`() async throws {
        await #expect(throws: Failure.self) {
            _ = try await ServiceBench { configuration in
                configuration.address = "0.0.0.0"
                configuration.needsNoSecret = true
            }
        }
    }

    @Test func `metrics and health are served, metrics to authenticated callers`() async throws {
        let bench = try await ServiceBench()
        let base = "http://127.0.0.1:\(bench.service.port)"
        #expect(try await bench.curl("\(base)/healthz") == "ok\n")
        #expect(try await bench.curl("-o", "/dev/null", "-w", "%{http_code}", "\(base)/metrics") == "401")
        let metrics = try await bench.curl("-H", "Authorization: Bearer the-secret-word", "\(base)/metrics")
        #expect(metrics.contains("\npawl_finished_total 0.0\n"))
        let lower = try await bench.curl("-H", "authorization: bearer  the-secret-word", "\(base)/metrics")
        #expect(lower.contains("\npawl_finished_total 0.0\n"))
        #expect(metrics.contains(#"pawl_downloads{state="running"} 0.0"#))
        await bench.close()
    }

    @Test func `metrics include each host, and the latency of the server's thread`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", Payload(seed: 9, length: 100_000)) { $0.cut = .stall(at: 50_000) }
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["split": "1"]])
        try await bench.begin(gid)
        let metrics = try await bench.curl("--unix-socket", bench.folder.path("socket"), "http://pawl/metrics")
        let host = url.dropLast("/f".count)
        #expect(metrics.contains("\npawl_host_connections{host=\"\(host)\"} 1.0\n"))
        #expect(metrics.contains("# TYPE pawl_host_connections_limit gauge\n"))
        let counts = metrics.split(separator: "\n").filter { $0.hasPrefix("pawl_loop_delay_seconds_") }.compactMap {
            $0.split(separator: " ").last.flatMap { Double($0) }
        }
        // Six buckets and +Inf, the sum, the count.
        try #require(counts.count == 9)
        #expect(counts[..<7] == counts[..<7].sorted()[...])
        #expect(counts[6] == counts[8] && counts[8] >= 1)
        await bench.close()
    }

    @Test func `a port in use is skipped if that is allowed, and reported`() async throws {
        let other = try await ServiceBench()
        let bench = try await ServiceBench {
            $0.port = other.service.port
            $0.canDoWithoutPort = true
        }
        #expect(bench.service.port == 0)
        let why = try #require(try await bench.result("pawl.status")["portRefusal"]?.string)
        #expect(why.contains("127.0.0.1:\(other.service.port)") && why.contains("in use"))
        #expect(try await bench.refusal("pawl.web") == why)
        #expect(try await other.result("pawl.status")["portRefusal"] == .null)
        await bench.close()
        await #expect(throws: Failure.self) { try await ServiceBench { $0.port = other.service.port } }
        await other.close()
    }

    @Test(arguments: ["netrc", "cookies", "authorities", "certificate", "key"])
    func `files to be read are named by callers of the Unix socket only`(option: String) async throws {
        let bench = try await ServiceBench()
        let selection: JSON = [
            [
                [
                    "url": "http://127.0.0.1:9/f", "options": .object([JSON.Member(option, ["/etc/hostname"])]),
                    "start": "paused",
                ]
            ]
        ]
        let message: JSON = [
            "id": "1", "method": "pawl.add",
            "params": .array([.string("token:" + bench.secret)] + (selection.array ?? [])),
        ]
        let response = try await bench.post(message.text)
        #expect(response.contains("over the Unix socket only") && !response.contains("result"))
        #expect(try await bench.result("pawl.list").array?.isEmpty == true)
        #expect(try await bench.result("pawl.add", selection).array?.first?["id"] != nil)
        await bench.close()
    }

    @Test func `a list continues after the download that it ended with`() async throws {
        let bench = try await ServiceBench()
        let selections = (1...5).map {
            JSON.object([JSON.Member("url", .string("http://127.0.0.1:9/\($0)")), JSON.Member("start", "paused")])
        }
        let added = try await bench.result("pawl.add", [.array(selections)]).array?.compactMap { $0["id"]?.string }
        var listed: [String] = []
        for _ in 0..<3 {
            var selection = [JSON.Member("limit", .number(2))]
            if let last = listed.last { selection.append(JSON.Member("after", .string(last))) }
            listed +=
                try await bench.result("pawl.list", [.object(selection)]).array?.compactMap { $0["id"]?.string } ?? []
        }
        #expect(listed == added && listed.count == 5)
        let message = try await bench.refusal("pawl.list", [["after": "no id"]])
        #expect(message.contains("no id is not an id"))
        await bench.close()
    }

    @Test func `the secret is generated once, in a file for its owner alone`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("secret")
        let first = try SecretFile.text(at: path)
        #expect(first.count == 32)
        #expect(try SecretFile.text(at: path) == first)
        #expect(FileSystem.mode(path) == 0o600)
        _ = try PawlProcess.run("/bin/chmod", ["644", path])
        #expect(throws: Failure.self) { try SecretFile.text(at: path) }
    }

    @Test(arguments: [[], [10], [UInt8](repeating: 0, count: 33)])
    func `a secret file that a power cut emptied is replaced, which is said`(left: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("secret")
        try FileSystem.write(left, to: path)
        _ = try PawlProcess.run("/bin/chmod", ["600", path])
        var notices: [String] = []
        let text = try SecretFile.text(at: path) { notices.append($0) }
        #expect(text.count == 32 && notices.count == 1 && notices.first?.contains(path) == true)
        #expect(try SecretFile.text(at: path) { notices.append($0) } == text && notices.count == 1)
    }

    @Test func `a service with an emptied secret and page key starts, and says so`() async throws {
        let folder = try TemporaryFolder()
        let root = folder.path("root")
        for name in ["secret", "page-key"] {
            _ = try PawlProcess.run("/bin/mkdir", ["-p", "\(root)/.pawl"])
            try FileSystem.write([], to: "\(root)/.pawl/\(name)")
            _ = try PawlProcess.run("/bin/chmod", ["600", "\(root)/.pawl/\(name)"])
        }
        let bench = try await ServiceBench(root: root) { $0.secret = nil }
        #expect(bench.service.notices.count == 2)
        let digits = FileSystem.contents("\(root)/.pawl/secret") ?? []
        #expect(digits.count == 33)
        let secret = String(decoding: digits.dropLast(), as: UTF8.self)
        let call = "{\"id\":1,\"method\":\"aria2.getVersion\",\"params\":[\"token:\(secret)\"]}"
        #expect(try await bench.post(call).hasSuffix(" 200"))
        await bench.close()
    }

    @Test func `what a killed check left is removed at the start`() async throws {
        let folder = try TemporaryFolder()
        let left = folder.path("root/.pawl/check-17/.pawl")
        _ = try PawlProcess.run("/bin/mkdir", ["-p", left])
        try FileSystem.write([1], to: "\(left)/queue.db")
        let bench = try await ServiceBench(root: folder.path("root"))
        #expect(!FileSystem.exists(folder.path("root/.pawl/check-17")))
        await bench.close()
    }
}
