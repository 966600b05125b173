import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The resources that browsers may read, and those that they may not.
@Suite struct PageServingTests {
    /// The session cookie that the secret is exchanged for.
    private func cookie(_ bench: ServiceBench, _ word: String) async throws -> String {
        let heads = try await bench.curl("-D", "-", "--data-binary", word, bench.base + "/login")
        let line = heads.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") }
        return line.map { String($0.dropFirst("set-cookie: ".count).split(separator: ";")[0]) } ?? ""
    }

    @Test func `every file of the page is served, with a policy that allows no other script`() async throws {
        let bench = try await ServiceBench()
        let folder = Checkout.root + "/Sources/Service/Server/Page/Assets"
        let names = FileSystem.names(in: folder)
        #expect(names.contains("index.html"))
        for name in names {
            let path = name == "index.html" ? "/" : "/" + name
            let got = bench.folder.path("got")
            let heads = try await bench.curl("-D", "-", "-o", got, bench.base + path)
            if path != "/" { #expect(FileSystem.contents(got) == FileSystem.contents("\(folder)/\(name)"), "\(name)") }
            let policy = heads.split(separator: "\r\n").first { $0.hasPrefix("content-security-policy: ") }
            let words = try #require(policy, "\(name)")
            #expect(words.contains("default-src 'none'; script-src 'self' 'sha256-"))
            #expect(words.contains("; style-src 'self' 'sha256-"))
            #expect(!words.contains("unsafe") && !words.contains("http"))
            let tag = try #require(heads.split(separator: "\r\n").first { $0.hasPrefix("etag: ") }).dropFirst(6)
            let again = try await bench.curl(
                "-o", "/dev/null", "-w", "%{http_code}", "-H", "If-None-Match: \(tag)", bench.base + path)
            #expect(again == "304")
        }
        await bench.close()
    }

    @Test func `the document has what its first rows need, and the policy names it by its digests`() async throws {
        let bench = try await ServiceBench()
        let got = bench.folder.path("got")
        let heads = try await bench.curl("-D", "-", "-o", got, bench.base + "/")
        let document = String(decoding: FileSystem.contents(got) ?? [], as: UTF8.self)
        #expect(
            document.contains("<noscript>") && !document.contains("<script src") && !document.contains("stylesheet"))
        let parts = document.matches(of: #/<(?:script|style)[^>]*>((?s:.*?))</(?:script|style)>/#).map { String($0.1) }
        #expect(parts.count == 3)
        for part in parts {
            try FileSystem.write(Array(part.utf8), to: bench.folder.path("part"))
            let digest = try await bench.run(
                "/bin/sh", ["-c", "openssl dgst -sha256 -binary '\(bench.folder.path("part"))' | base64 -w0"]
            ).output
            #expect(heads.contains("'sha256-\(digest)'"))
        }
        // Dialogs and other languages come when they are wanted.
        #expect(!document.contains("openAdding = ") && !document.contains("下载"))
        for name in ["later.js", "words.zh.js", "words.de.js"] {
            #expect(try await bench.curl(bench.base + "/page-" + name).hasPrefix("export const define"))
        }
        await bench.close()
    }

    @Test func `a code pairs one program, which gets the secret, and no page of another site can use it`() async throws
    {
        let bench = try await ServiceBench()
        let access = try await bench.result("pawl.access")
        #expect(access["secret"]?.string == bench.secret && access["isLocal"] == .bool(true))
        let code = try #require(access["code"]?.string)
        func pair(_ word: String, _ origin: String) async throws -> String {
            try await bench.curl(
                "-w", " %{http_code}", "-H", "Origin: \(origin)", "--data-binary", word, bench.base + "/pair")
        }
        #expect(try await pair(code, "https://evil.example").hasSuffix(" 403"))
        // The secret is no code.
        #expect(try await pair(bench.secret, "chrome-extension://abc").hasSuffix(" 401"))
        #expect(try await pair(code, "chrome-extension://abc") == #"{"secret":"\#(bench.secret)"} 200"#)
        #expect(try await pair(code, "chrome-extension://abc").hasSuffix(" 401"))
        #expect(try await bench.curl("-w", "%{http_code}", "-o", "/dev/null", bench.base + "/pair") == "404")
        await bench.close()
    }

    @Test func `where no secret is required there is nothing to pair with`() async throws {
        let bench = try await ServiceBench { $0.needsNoSecret = true }
        let access = try await bench.result("pawl.access")
        #expect(access["secret"] == .null && access["code"] == .null)
        #expect(
            try await bench.curl("-w", "%{http_code}", "-o", "/dev/null", "--data-binary", "", bench.base + "/pair")
                == "401")
        await bench.close()
    }

    @Test func `files and the live socket require the cookie, from the page's own origin`() async throws {
        let bench = try await ServiceBench()
        let gid = try await bench.gid("aria2.addUri", [[.string(bench.origin.serve("/a", Payload(text: "abc")))]])
        try await bench.finish(gid)
        let file = bench.base + "/files/" + gid
        func status(_ arguments: String...) async throws -> String {
            var all = ["-o", "/dev/null", "-w", "%{http_code}"]
            all += arguments
            return try await bench.curl(all)
        }
        let cookie = try await cookie(bench, bench.secret)
        #expect(cookie.hasPrefix("pawl-\(bench.service.port)="))
        #expect(try await status(file) == "401")
        #expect(try await status("-b", cookie, file) == "200")
        #expect(try await status("-b", cookie + "0", file) == "401")
        #expect(try await status("-b", cookie, "-H", "Origin: http://127.0.0.1:1", file) == "403")
        let upgrade = [
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
        ].flatMap { ["-H", $0] }
        let live = bench.base + "/live"
        func upgraded(_ arguments: [String]) async throws -> String {
            try await bench.curl(["-o", "/dev/null", "-w", "%{http_code}"] + upgrade + arguments + [live])
        }
        #expect(try await upgraded([]) == "401")
        #expect(try await upgraded(["-b", cookie, "-H", "Origin: http://evil.example"]) == "403")
        #expect(
            try await status("-H", "Origin: http://evil.example", "--data-binary", bench.secret, bench.base + "/login")
                == "403")
        #expect(try await self.cookie(bench, "wrong") == "")
        await bench.close()
    }

    @Test func `the further files of a stream are served by their names, and no other files`() async throws {
        let bench = try await ServiceBench { $0.needsNoSecret = true }
        let (packet, frame) = (
            [0x47, 0x40, 0x11, 0x10] + [UInt8](repeating: 7, count: 184),
            [UInt8]([0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7])
        )
        bench.origin.serve("/v/s.ts", Payload(packet + packet + packet))
        bench.origin.serve("/v/a.aac", Payload(frame + frame))
        func serve(_ text: String, at path: String) -> String {
            bench.origin.serve(path, Payload(text: "#EXTM3U\n" + text)) {
                $0.contentType = "application/vnd.apple.mpegurl"
            }
        }
        for (name, segment) in [("pictures", "s.ts"), ("sound", "a.aac")] {
            _ = serve("#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(segment)\n#EXT-X-ENDLIST\n", at: "/v/\(name).m3u8")
        }
        let url = serve(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            pictures.m3u8

            """, at: "/v/show.m3u8")
        let gid = try await bench.gid("aria2.addUri", [[.string(url)]])
        try await bench.finish(gid)
        let file = bench.base + "/files/" + gid
        let heads = try await bench.curl("-D", "-", "-o", "/dev/null", file + "?part=show.audio.en.aac")
        #expect(heads.contains("content-type: audio/aac\r\n") && heads.contains("content-length: 18\r\n"), "\(heads)")
        let first = try await bench.curl("-D", "-", "-o", "/dev/null", file + "?part=show.video.ts")
        #expect(first.contains("content-length: 564\r\n"), "\(first)")
        for name in ["show.audio.aac", "..%2Fqueue.db", ""] {
            #expect(
                try await bench.curl("-o", "/dev/null", "-w", "%{http_code}", file + "?part=" + name) == "404",
                "\(name)")
        }
        await bench.close()
    }

    @Test func `parts of a file are served, and only of the requested file`() async throws {
        let bench = try await ServiceBench { $0.needsNoSecret = true }
        let url = bench.origin.serve("/film.mp4", Payload(text: "0123456789")) { $0.contentType = "text/html" }
        let gid = try await bench.gid("aria2.addUri", [[.string(url)]])
        try await bench.finish(gid)
        let file = bench.base + "/files/" + gid
        #expect(try await bench.curl("-w", " %{http_code}", "-H", "Range: bytes=2-4", file) == "234 206")
        #expect(try await bench.curl("-w", " %{http_code}", "-H", "Range: bytes=-3", file) == "789 206")
        #expect(try await bench.curl("-w", " %{http_code}", "-H", "Range: bytes=10-", file) == " 416")
        #expect(
            try await bench.curl("-w", " %{http_code}", "-H", "Range: bytes=2-4", "-H", "If-Range: \"x\"", file)
                == "0123456789 200")
        let heads = try await bench.curl("-D", "-", "-o", "/dev/null", file)
        #expect(heads.contains("content-type: video/mp4\r\n"))
        #expect(heads.contains("content-disposition: inline; filename=\"film.mp4\""))
        #expect(try await bench.curl("-D", "-", "-o", "/dev/null", file + "?save").contains("attachment; filename="))
        // A link in its place is not followed.
        FileSystem.remove(bench.root + "/film.mp4")
        _ = try PawlProcess.run("/bin/ln", ["-s", "/etc/passwd", bench.root + "/film.mp4"])
        #expect(try await bench.curl("-o", "/dev/null", "-w", "%{http_code}", file) == "404")
        await bench.close()
    }

    @Test(arguments: [
        ("bytes=0-0", PageRange.part(0..<1)), ("bytes=5-", .part(5..<10)), ("bytes=5-99", .part(5..<10)),
        ("bytes=-4", .part(6..<10)), ("bytes=-99", .part(0..<10)), ("bytes=-0", .none), ("bytes=10-12", .none),
        ("bytes=0-9223372036854775807", .part(0..<10)), ("bytes=9-9223372036854775806", .part(9..<10)),
        ("bytes=9223372036854775807-9223372036854775807", .none), ("bytes=-9223372036854775807", .part(0..<10)),
        ("bytes=4-2", .whole), ("bytes=0-1,4-5", .whole), ("bytes=", .whole), ("bytes=-", .whole),
        ("lines=0-1", .whole), ("bytes=+1-2", .whole), ("bytes=99999999999999999999-", .whole),
    ]) func `a Range field requests one range, or the whole file`(field: String, meant: PageRange) {
        #expect(PageRange(field, length: 10) == meant)
        #expect(PageRange(nil, length: 10) == .whole)
    }
}
