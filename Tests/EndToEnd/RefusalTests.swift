import PawlTestKit
import Testing

/// Servers that reject, defer or redirect requests.
@Suite(.ownThreads) struct RefusalTests {
    private let payload = Payload(seed: 61, length: 3_000_000)

    @Test(arguments: [(404, 3), (410, 3), (401, 24), (403, 24), (400, 22), (500, 22)])
    func `C6 a rejection is final and quick, and its page never reaches a file`(status: Int, code: Int32) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.instead = .status(status) }
        let outcome = try bench.get(url, "--retries", status == 500 ? "1" : "5", "--retry-delay", "0.01")
        #expect(outcome.code == code, "\(outcome)")
        #expect(bench.folder.names.isEmpty)
        if status != 500 { #expect(bench.origin.log.of("/f").count == 1) }
        #expect(outcome.message.contains("\(status)"), "\(outcome)")
    }

    @Test(arguments: [429, 503], [nil, "0", "1", "date"] as [String?])
    func `G4 a busy server is requested again at the time that it sets`(status: Int, wait: String?) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        bench.origin.vary("/f") { facts, behaviour in
            guard facts.ordinal < 2 else { return }
            let text = wait == "date" ? HTTPDate.text(HTTPDate.now + 1) : wait
            behaviour.instead = .status(status, retryAfter: text)
        }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
        #expect(bench.origin.log.of("/f").count >= 3)
        let delays = outcome.events("retry").compactMap { $0.line.split(separator: "\"delay\":").last?.first }
        if wait == "1" { #expect(delays.allSatisfy { $0 == "1" } && !delays.isEmpty, "\(outcome)") }
    }

    @Test func `G4 a server that stays busy ends with code 29`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.instead = .status(503) }
        let outcome = try bench.get(url, "--retries", "2")
        #expect(outcome.code == 29, "\(outcome)")
        #expect(bench.origin.log.of("/f").count == 3)
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `secrets are sent only to the origins that the caller named`() throws {
        let bench = try Bench()
        let other = try OriginServer()
        defer { other.stop() }
        let target = other.serve("/b", payload)
        let url = bench.origin.redirect("/a", to: target)
        let headers = ["X-Api-Key: k", "PRIVATE-TOKEN: k", "X-Anything: k", "Accept-Language: de"]
        let options = headers.flatMap { ["-H", $0] } + ["--referer", url + "?token=1", "--user", "u:p", "-x", "1"]
        for isTrusted in [false, true] {
            let outcome = try bench.get([url] + options + (isTrusted ? ["--location-trusted"] : []))
            #expect(outcome.code == 0, "\(outcome)")
            let request = try #require(other.log.of("/b").last)
            #expect((request.request.header("x-api-key") != nil) == isTrusted)
            #expect((request.request.header("private-token") != nil) == isTrusted)
            #expect((request.request.header("x-anything") != nil) == isTrusted)
            #expect((request.request.header("referer")?.contains("token") == true) == isTrusted)
            #expect(request.request.header("accept-language") == "de")
            #expect(request.request.header("referer")?.hasPrefix(bench.origin.url("/")) == true)
        }
    }

    @Test(arguments: ["--user-agent", "--referer", "--user", "--header", "--proxy", "--no-proxy"])
    func `a line break in a part of a request is refused`(option: String) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        for evil in ["\r\nX-Evil: 1", "\nX-Evil: 1", "\r"] {
            let outcome = try bench.get(url, option, "A: b" + evil)
            #expect(outcome.code == 28, "\(outcome)")
        }
        #expect(bench.origin.log.of("/f").isEmpty)
    }

    @Test func `a chain of redirects is followed, with and without a length`() throws {
        let bench = try Bench()
        let url = bench.origin.redirect("/a", to: "/b", status: 301)
        bench.origin.redirect("/b", to: bench.origin.url("/c"), status: 307)
        bench.origin.serve("/c", payload) {
            $0.instead = .init(308, lines: ["Location: d/f.bin"], body: "moved", hasLength: false)
        }
        bench.origin.serve("/d/f.bin", payload)
        let outcome = try bench.get(url)
        #expect(outcome.code == 0, "\(outcome)")
        let name = try #require(bench.folder.names.first)
        #expect(bench.folder.difference(name, from: payload) == nil)
        #expect(bench.folder.names.count == 1)
    }

    @Test func `a redirect loop ends with code 23`() throws {
        let bench = try Bench()
        let url = bench.origin.redirect("/a", to: "/b")
        bench.origin.redirect("/b", to: "/a")
        let outcome = try bench.get(url, "--max-redirects", "7", "--retries", "0")
        #expect(outcome.code == 23, "\(outcome)")
        #expect(bench.origin.log.records.count <= 9)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "sftp://127.0.0.1/x"])
    func `a redirect never leads to another scheme`(target: String) throws {
        let bench = try Bench()
        let outcome = try bench.get(bench.origin.redirect("/a", to: target), "--retries", "0")
        let code = try #require(outcome.code)
        #expect(code > 0, "\(outcome)")
        #expect(bench.folder.names.isEmpty)
    }

    @Test(arguments: [403, 410, 404, 401]) func `A8 an expired signed URL is fetched again from the first URL`(
        status: Int
    ) throws {
        let bench = try Bench()
        let store = try OriginServer()
        defer { store.stop() }
        store.serve("/signed", payload)
        store.vary("/signed") { facts, behaviour in
            // Each signature is valid for one request, which is cut before the end.
            let number = facts.request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
            behaviour.cut = number < 2 ? .close(after: 1_200_000) : nil
            if facts.ordinal != number + number { behaviour.instead = .status(status) }
        }
        let url = bench.origin.serve("/f.bin", payload)
        let base = store.url("/signed")
        bench.origin.vary("/f.bin") { facts, behaviour in
            behaviour.instead = .redirect(to: "\(base)?signature=\(facts.ordinal)")
        }
        let outcome = try bench.get(url, "-x", "1", "-o", "f.bin")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil, "\(outcome)")
        #expect(bench.origin.log.of("/f.bin").count >= 2)
        _ = store.ended("/signed")
        #expect(store.log.sentTwice("/signed") == 0)
        #expect(!outcome.errors.contains("signature="), "secrets of a query are not printed: \(outcome)")
    }

    @Test func `credentials, cookies and login never cross to another origin`() throws {
        let bench = try Bench()
        let other = try OriginServer()
        defer { other.stop() }
        other.serve("/f.bin", payload)
        let first = bench.origin.redirect("/here", to: "/there")
        bench.origin.redirect("/there", to: other.url("/f.bin"))
        let jar = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsecret-cookie\n"
        try FileSystem.write(Array(jar.utf8), to: bench.folder.path("jar"))
        let outcome = try bench.get(
            first, "--user", "me:secret", "-H", "Authorization: Bearer secret", "-H", "Cookie: mine=secret", "-H",
            "X-Plain: kept", "-o", "f.bin", "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f.bin", from: payload) == nil)
        let near = try #require(bench.origin.log.of("/there").first).request
        #expect(near.header("Authorization") != nil)
        #expect(near.header("Cookie")?.contains("mine=secret") == true)
        let far = other.log.of("/f.bin")
        #expect(!far.isEmpty)
        for record in far {
            #expect(record.request.header("Authorization") == nil)
            #expect(record.request.header("Cookie") == nil)
            #expect(!record.request.headers.contains { $0.value.contains("secret") })
        }
    }

    @Test func `cookies of a file are sent to their host and secrets stay out of all output`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.instead = .status(404) }
        let jar =
            "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tcrumb\nexample.org\tFALSE\t/\tFALSE\t0\tx\tother\n"
        try FileSystem.write(Array(jar.utf8), to: bench.folder.path("jar"))
        let outcome = try bench.get(url + "?token=hush", "--load-cookies", "jar", "--user", "me:hush")
        #expect(outcome.code == 3, "\(outcome)")
        #expect(bench.origin.log.of("/f").first?.request.header("Cookie") == "session=crumb")
        #expect(!outcome.description.contains("hush"), "\(outcome)")
    }

    @Test(arguments: [false, true]) func `basic and digest challenges are met, and a wrong password ends with code 24`(
        isDigest: Bool
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) {
            $0.login = isDigest ? .digest(user: "me", password: "good") : .basic(user: "me", password: "good")
        }
        let wrong = try bench.get(url, "--user", "me:bad")
        #expect(wrong.code == 24, "\(wrong)")
        #expect(bench.folder.names.isEmpty)
        let outcome = try bench.get(url, "--user", "me:good", "-x", "2")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: payload) == nil)
    }

    @Test func `a server that never responds ends with code 2`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload) { $0.delay = .untilReleased }
        let outcome = try bench.get(url, "--timeout", "0.5", "--retries", "0")
        #expect(outcome.code == 2, "\(outcome)")
        #expect(bench.folder.names.isEmpty)
    }

    @Test func `a port without a listener is code 6 and an unknown host code 19`() throws {
        let bench = try Bench()
        let gone = try OriginServer()
        gone.stop()
        try #expect(bench.get(gone.url("/f"), "--retries", "1").code == 6)
        try #expect(bench.get("http://no-such-host.invalid/f", "--retries", "0").code == 19)
    }
}
