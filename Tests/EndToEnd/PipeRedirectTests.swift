import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Redirects of `pawl pipe`, and files with rules that are no ordinary ones.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct PipeRedirectTests {
    private static let polite = ["--contact", "me@example.org", "--allow-private-addresses", "--ordered"]

    private func serve(rules: String, at origin: OriginServer) {
        origin.serve("/robots.txt", Payload(text: rules)) { $0.contentType = "text/plain" }
    }

    @Test func `the target of a redirect has rules of its own`() throws {
        let bench = try PipeBench()
        let other = try OriginServer()
        defer { other.stop() }
        serve(rules: "User-agent: *\nDisallow: /private\n", at: other)
        for name in ["/private/a", "/open/b"] {
            let target = other.serve(name, Payload(text: "abc")).replacing("127.0.0.1", with: "localhost")
            bench.origin.serve("/to\(name)", Payload(text: "x")) { $0.instead = .redirect(to: target) }
        }
        // A rule of the job's own server, for a redirect within it.
        serve(rules: "User-agent: *\nDisallow: /closed\n", at: bench.origin)
        bench.origin.serve("/closed/c", Payload(text: "abc"))
        bench.origin.serve("/to/closed", Payload(text: "x")) { $0.instead = .redirect(to: "/closed/c") }
        let jobs = ["/to/private/a", "/to/open/b", "/to/closed"].map { bench.origin.url($0) }
        try bench.write(jobs)
        let (code, results) = try bench.run(Self.polite, with: PipeBench.short)
        #expect(code == 36)
        #expect(results.map { $0["status"]?.string } == ["refused", "ok", "refused"])
        #expect(results[0]["reason"]?.string?.contains("/private/a: robots.txt disallows it") == true)
        #expect(other.log.of("/private/a").isEmpty && bench.origin.log.of("/closed/c").isEmpty)
        #expect(other.log.of("/robots.txt").count == 1 && other.log.of("/open/b").count == 1)
    }

    @Test func `a chain of redirects takes a place of each host, and gives it back`() throws {
        let bench = try PipeBench()
        let other = try OriginServer()
        defer { other.stop() }
        let jobs = (0..<40).map { number in
            let target = other.serve("/b\(number)", Payload(seed: 1, length: 5_000))
            other.serve("/a\(number)", Payload(text: "x")) { $0.instead = .redirect(to: "/b\(number)") }
            bench.origin.serve("/\(number)", Payload(text: "x")) {
                let next = target.replacing("/b", with: "/a").replacing("127.0.0.1", with: "localhost")
                $0.instead = .redirect(to: next)
            }
            return bench.origin.url("/\(number)")
        }
        try bench.write(jobs)
        let options = ["--per-host", "1", "-j", "8"]
        let (code, results) = try bench.run(options)
        #expect(code == 0 && results.count == 40)
        // One place; each thread keeps a connection, and may have one more whose page is still being read.
        #expect(other.log.mostOpen <= 2 * PipeBench.loops)
        #expect(other.log.records.count == 80)
    }

    @Test func `a redirect to a host that asks for a pause holds up no other`() throws {
        let bench = try PipeBench()
        let other = try OriginServer()
        defer { other.stop() }
        let jobs = (0..<12).map { number in
            let target = other.serve("/\(number)", Payload(text: "x")) { $0.instead = .status(429, retryAfter: "600") }
            bench.origin.serve("/to\(number)", Payload(text: "x")) {
                $0.instead = .redirect(to: target.replacing("127.0.0.1", with: "localhost"))
            }
            return bench.origin.url("/to\(number)")
        }
        let others = (0..<20).map { bench.origin.serve("/own\($0)", Payload(text: "abc")) }
        try bench.write(jobs + others)
        let process = try bench.start(["-j", "2", "--per-host", "2"])
        bench.origin.wait { log in log.records.count { $0.request.path.hasPrefix("/own") } == 20 }
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.count == 20 && results.allSatisfy { $0["status"]?.string == "ok" })
        // One that was refused alone says nothing of the host; then those under way, again after each doubt of a second.
        #expect(other.log.records.count <= jobs.count / 2, "only what was under way")
    }

    @Test func `an endless file with rules is read to its limit`() throws {
        let bench = try PipeBench()
        let rules = "User-agent: *\nDisallow: /private\n" + String(repeating: "# nothing\n", count: 3_000_000)
        serve(rules: rules, at: bench.origin)
        let jobs = ["/private/a", "/open"].map { bench.origin.serve($0, Payload(text: "abc")) }
        try bench.write(jobs)
        let (_, results) = try bench.run(Self.polite, with: PipeBench.short)
        #expect(results.map { $0["status"]?.string } == ["refused", "ok"])
        let sent = bench.origin.log.of("/robots.txt").map(\.bodySent)
        #expect(sent.count == 1 && sent[0] < 12 << 20, "only what buffers hold is sent on: \(sent)")
    }

    @Test(arguments: [
        (204, true), (205, true), (300, false), (301, false), (304, false), (401, true), (404, true), (418, true),
        (451, true), (407, false), (500, false), (501, false), (520, false), (599, false),
    ]) func `a status instead of rules allows everything or nothing`(status: Int, isAllowed: Bool) throws {
        let bench = try PipeBench()
        bench.origin.serve("/robots.txt", Payload(text: "x")) { $0.instead = Behaviour.SubstituteResponse(status) }
        try bench.write([bench.origin.serve("/a", Payload(text: "abc"))])
        let options = Self.polite + ["--retries", "0"]
        let (_, results) = try bench.run(options, with: [])
        #expect((results.first?["status"]?.string == "ok") == isAllowed, "\(results)")
        #expect(bench.origin.log.of("/a").isEmpty == !isAllowed)
    }

    @Test(
        arguments: [
            (200, nil), (201, nil), (202, nil), (203, nil), (206, nil), (226, nil), (299, nil), (206, "0-26/27"),
            (206, "nonsense"),
        ] as [(Int, String?)]) func `rules come with every status of success`(status: Int, range: String?) throws
    {
        let bench = try PipeBench()
        let lines = range.map { ["Content-Range: bytes \($0)"] } ?? []
        bench.origin.serve("/robots.txt", Payload(text: "x")) {
            $0.instead = .init(status, lines: lines, body: "User-agent: *\nDisallow: /p\n")
        }
        try bench.write(["/p", "/open"].map { bench.origin.serve($0, Payload(text: "abc")) })
        let (_, results) = try bench.run(Self.polite + ["--retries", "0"], with: [])
        #expect(results.map { $0["status"]?.string } == ["refused", "ok"], "\(results)")
        #expect(results.first?["reason"]?.string?.contains("robots.txt disallows it") == true)
    }

    @Test func `a part of the rules is none`() throws {
        let bench = try PipeBench()
        bench.origin.serve("/robots.txt", Payload(text: "x")) {
            $0.instead = .init(206, lines: ["Content-Range: bytes 3-12/27"], body: "r-agent: *")
        }
        try bench.write([bench.origin.serve("/open", Payload(text: "abc"))])
        let (_, results) = try bench.run(Self.polite + ["--retries", "0"], with: [])
        #expect(results.map { $0["status"]?.string } == ["failed"])
        #expect(bench.origin.log.of("/open").isEmpty)
    }

    @Test(arguments: [5, 6]) func `rules are found behind five redirects, also on other hosts`(hops: Int) throws {
        let bench = try PipeBench()
        let other = try OriginServer()
        defer { other.stop() }
        serve(rules: "User-agent: *\nDisallow: /\n", at: other)
        var next = other.url("/robots.txt").replacing("127.0.0.1", with: "localhost")
        for hop in 1..<hops {
            bench.origin.serve("/hop\(hop)", Payload(text: "x")) { [next] in $0.instead = .redirect(to: next) }
            next = bench.origin.url("/hop\(hop)")
        }
        bench.origin.serve("/robots.txt", Payload(text: "x")) { [next] in $0.instead = .redirect(to: next) }
        try bench.write([bench.origin.serve("/a", Payload(text: "abc"))])
        // Fewer for samples are no reason to know no rules.
        let (_, results) = try bench.run(Self.polite + ["--max-redirects", "1"], with: PipeBench.short)
        #expect(results.map { $0["status"]?.string } == [hops == 5 ? "refused" : "ok"])
    }

    @Test func `rules may come in gzip, with a byte order mark`() throws {
        let bench = try PipeBench()
        bench.origin.serve("/robots.txt", Payload(text: "\u{FEFF}User-agent: *\r\nSitemap: /s.xml\r\nDisallow: /\r\n"))
        {
            $0.contentType = "text/plain"
            $0.coding = .gzip
        }
        try bench.write([bench.origin.serve("/a", Payload(text: "abc"))])
        let (_, results) = try bench.run(Self.polite, with: PipeBench.short)
        #expect(results.map { $0["status"]?.string } == ["refused"])
    }

    @Test func `the reasons of refused and failed samples are said at the end`() throws {
        let bench = try PipeBench()
        let jobs = (0..<7).map { bench.origin.serve("/\($0)", Payload(text: "abc")) }
        try bench.write(jobs + ["http://localhost:1/x", "no job"])
        let process = try bench.start([], with: ["--robots", "ignore", "--retries", "0"])
        process.wait()
        #expect(
            process.errors.contains("8 refused: private address; use --allow-private-addresses"), "\(process.errors)")
        #expect(process.errors.split(separator: "\n").count == 2)
        let quiet = try bench.start(["-q"], with: ["--robots", "ignore", "--retries", "0"])
        quiet.wait()
        #expect(quiet.errors.isEmpty)
    }
}
