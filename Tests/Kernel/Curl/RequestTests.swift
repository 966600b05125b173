import PawlBase
import PawlTestKit
import Testing

@testable import PawlHTTP

@Suite struct RequestTests {
    private func server() throws -> ScriptedServer { try ScriptedServer { _ in .body([1, 2, 3]) } }

    private func settings(_ change: (inout TransferSettings.Values) -> Void) -> TransferSettings {
        var values = TransferSettings.Values()
        values.proxy = ""
        change(&values)
        return TransferSettings(values)
    }

    @Test func `the plain request contains what it must and no more`() throws {
        let server = try server()
        defer { server.stop() }
        try Bench().fetch(TransferRequest(port: server.port) { $0.userAgent = "Pawl/1" })
        #expect(
            server.requests.first?.head == """
                GET /file HTTP/1.1\r
                Host: 127.0.0.1:\(server.port)\r
                User-Agent: Pawl/1\r
                Accept: */*\r
                Accept-Encoding: identity\r
                \r

                """)
    }

    @Test(
        arguments: [
            (RequestedRange.whole, nil), (.from(0), "bytes=0-"), (.from(500), "bytes=500-"),
            (.closed(ByteRange(500, 1_000)), "bytes=500-999"), (.suffix(100), "bytes=-100"),
        ] as [(RequestedRange, String?)]) func `A1 a range is sent in the inclusive form`(
            range: RequestedRange, field: String?
        ) throws
    {
        let server = try server()
        defer { server.stop() }
        var request = TransferRequest(port: server.port)
        request.range = range
        try Bench().fetch(request)
        #expect(server.requests.first?.header("Range") == field)
    }

    @Test func `E4 caches are bypassed on request`() throws {
        let server = try server()
        defer { server.stop() }
        var request = TransferRequest(port: server.port)
        request.bypassesCaches = true
        try Bench().fetch(request)
        #expect(server.requests.first?.header("Cache-Control") == "no-cache")
        #expect(server.requests.first?.header("Pragma") == "no-cache")
    }

    @Test func `a path is sent as it is written`() throws {
        let server = try server()
        defer { server.stop() }
        try Bench().fetch(TransferRequest(port: server.port, path: "/a/../b/./%2e%2e//c"))
        #expect(server.requests.first?.target == "/a/../b/./%2e%2e//c")
    }

    @Test func `nothing of one request is carried into the next`() throws {
        let server = try server()
        defer { server.stop() }
        let bench = try Bench()
        let rich = settings {
            $0.headers = ["X-Mark: rich", "Cookie: c=1"]
            $0.userAgent = "Rich"
            $0.referer = "http://before.example/"
            $0.credentials = Credentials(user: "user", password: "secret")
        }
        var request = TransferRequest(port: server.port, settings: rich)
        request.range = .from(7)
        request.bypassesCaches = true
        try bench.fetch(request)
        let plain = settings { _ in }
        try bench.fetch(TransferRequest(port: server.port, settings: plain))
        let bare = "GET /file HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept: */*\r\n"
        #expect(server.requests[1].head == bare + "Accept-Encoding: identity\r\n\r\n")
        request.range = .whole
        try bench.fetch(request)
        #expect(server.requests[2].header("Range") == nil)
        #expect(server.requests[2].header("X-Mark") == "rich")
    }

    @Test func `secrets are not sent to an origin that was not named`() throws {
        let server = try ScriptedServer { request in
            request.header("Authorization") == nil && request.header("Cookie") == nil
                ? .init("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")
                : .body([1])
        }
        defer { server.stop() }
        let bench = try Bench()
        let folder = try TemporaryFolder()
        let jar = try folder.file("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsecret\n")
        let netrc = try folder.file("netrc", "machine 127.0.0.1 login user password secret\n")
        let all = settings {
            $0.headers = [
                "Authorization: Bearer t", "cookie: a=b", "Proxy-Authorization: Basic x", "X-Api-Key: k",
                "PRIVATE-TOKEN: k", "X-Anything: k", "Accept-Language: de",
            ]
            $0.referer = "http://user:word@a.example:81/secret/path?token=1"
            $0.userAgent = "Agent/1"
            $0.credentials = Credentials(user: "user", password: "secret")
            $0.cookieFile = jar
            $0.netrc = netrc
        }
        var request = TransferRequest(port: server.port, settings: all)
        try bench.fetch(request)
        request.carriesSecrets = false
        let recorder = try bench.fetch(request)
        #expect(recorder.events == [.head(401), .ended(.complete)])
        let secret = ["authorization", "cookie", "proxy-authorization", "x-api-key", "private-token", "x-anything"]
        #expect(secret.allSatisfy { server.requests[0].header($0) != nil })
        #expect(secret.allSatisfy { server.requests[1].header($0) == nil })
        #expect(server.requests[1].header("Accept-Language") == "de")
        #expect(server.requests[1].header("User-Agent") == "Agent/1")
        #expect(server.requests[1].header("Referer") == "http://a.example:81/")
    }

    @Test(arguments: ["\r\nX-Evil: 1", "\n", "\u{0}", "a\rb", "\u{7F}"])
    func `nothing that ends a line is written to a server`(evil: String) throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try Bench()
        let changes: [(inout TransferSettings.Values) -> Void] = [
            { $0.userAgent = "a" + evil }, { $0.referer = "http://a/" + evil }, { $0.headers = ["A: b" + evil] },
            { $0.credentials = Credentials(user: "u" + evil, password: "p") },
            { $0.credentials = Credentials(user: "u", password: "p" + evil) },
        ]
        for (index, change) in changes.enumerated() {
            let recorder = try bench.fetch(TransferRequest(port: server.port, settings: settings(change)))
            guard case .ended(.failed(let fault)) = recorder.events.last else {
                Issue.record("\(index): \(recorder.events)")
                continue
            }
            #expect(fault.text.contains("cannot be sent"), "\(fault)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `credentials of netrc are sent after a 401`() throws {
        let server = try ScriptedServer { request in
            request.header("Authorization") == "Basic dXNlcjpzZWNyZXQ="
                ? .body([1])
                : .init("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let netrc = try folder.file("netrc", "machine 127.0.0.1 login user password secret\n")
        let recorder = try Bench().fetch(TransferRequest(port: server.port) { $0.netrc = netrc })
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
    }

    @Test func `cookies of a file are sent to their host, and a cookie set by a redirect is returned`() throws {
        let server = try ScriptedServer { _ in .body([1], lines: "Set-Cookie: hop=2\r\n") }
        defer { server.stop() }
        let bench = try Bench()
        let folder = try TemporaryFolder()
        let jar = try folder.file(
            "cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tfile\t1\nother.example\tFALSE\t/\tFALSE\t0\tforeign\t3\n")
        let shared = settings { $0.cookieFile = jar }
        let request = TransferRequest(port: server.port, settings: shared)
        try bench.fetch(request)
        try bench.fetch(request)
        #expect(server.requests[0].header("Cookie") == "file=1")
        let second = try #require(server.requests[1].header("Cookie"))
        #expect(Set(second.split(separator: "; ")) == ["file=1", "hop=2"])
    }

    @Test func `cookies of the user's own and those of the server are in one field`() throws {
        let server = try ScriptedServer { _ in .body([1], lines: "Set-Cookie: hop=2\r\n") }
        defer { server.stop() }
        let bench = try Bench()
        let shared = settings { $0.headers = ["Cookie: own=1; more=3"] }
        for _ in 0..<2 { try bench.fetch(TransferRequest(port: server.port, settings: shared)) }
        var other = TransferRequest(port: server.port, settings: shared)
        other.fields = ["Cookie: signed=4"]
        try bench.fetch(other)
        try bench.fetch(TransferRequest(port: server.port, settings: shared))
        let sent = server.requests.map { $0.headers("Cookie").map { Set($0.split(separator: "; ")) } }
        let both: Set<Substring> = ["own=1", "more=3", "hop=2"]
        #expect(sent == [[["own=1", "more=3"]], [both], [["signed=4", "hop=2"]], [both]])
    }

    @Test func `a cookie is not sent to another port`() throws {
        let first = try ScriptedServer { _ in .body([1], lines: "Set-Cookie: hop=2\r\n") }
        let second = try server()
        defer {
            first.stop()
            second.stop()
        }
        let bench = try Bench()
        let shared = settings { _ in }
        for server in [first, second, first] { try bench.fetch(TransferRequest(port: server.port, settings: shared)) }
        #expect(second.requests[0].header("Cookie") == nil)
        #expect(first.requests[1].header("Cookie") == "hop=2")
    }

    @Test(arguments: ["X-A: b\r\nHost: evil", "X-A: b\nX-B: c", "X-A: b\rX-B: c", "X-A: b\0c"])
    func `a header line that could begin another is refused`(line: String) throws {
        let server = try server()
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port) { $0.headers = [line] })
        #expect(recorder.fault?.kind == .other)
        #expect(server.requests.isEmpty)
    }

    @Test func `a Range header of the user's own does not reach the server`() throws {
        let server = try server()
        defer { server.stop() }
        let lines = ["Range: bytes=5-", "If-Range: x", "Accept-Encoding: gzip"]
        try Bench().fetch(TransferRequest(port: server.port) { $0.headers = lines })
        #expect(server.requests.first?.header("Range") == nil)
        #expect(server.requests.first?.header("If-Range") == nil)
        #expect(server.requests.first?.headers("Accept-Encoding") == ["identity"])
    }

    @Test(arguments: ["Content-Length: 5", "content-length : 5", "Transfer-Encoding: chunked"])
    func `a header line cannot announce a body, as which the next request would be read`(line: String) throws {
        let server = try server()
        defer { server.stop() }
        try Bench().fetch(TransferRequest(port: server.port) { $0.headers = [line, "X-Last: y"] })
        #expect(server.requests.first?.header("X-Last") == "y")
        #expect(server.requests.first?.header("Content-Length") == nil)
        #expect(server.requests.first?.header("Transfer-Encoding") == nil)
    }
}
