import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP

/// Credentials in requests.
@Suite struct LoginTests {
    private static let login = Credentials(user: "user", password: "secret")

    private static func refusal(_ challenges: String...) -> ScriptedServer.Response {
        let fields = challenges.map { "WWW-Authenticate: \($0)\r\n" }.joined()
        return .init("HTTP/1.1 401 No\r\n\(fields)Content-Length: 9\r\n\r\nlog in!!!")
    }

    /// Accepts the login for `challenge` if it is computed as the RFC requires.
    private static func checked(_ request: ScriptedServer.Request, _ challenge: String) -> Bool {
        guard let field = request.header("Authorization"), let sent = LoginChallenge.parse(field).first,
            let challenge = LoginChallenge.parse(challenge).first.flatMap(DigestChallenge.init)
        else { return false }
        let wanted = challenge.response(
            login, target: request.target, clientNonce: sent.parameters["cnonce"] ?? "", hash: Logins.hash)
        return field == wanted
    }

    @Test(arguments: [
        "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-512-256",
        "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-512-256-sess, opaque=\"o\"",
        "Digest realm=\"r\", nonce=\"abc\", qop=\"auth,auth-int\", algorithm=SHA-256",
        "Digest realm=\"r\", nonce=\"abc\", qop=\"auth-int\", algorithm=MD5, userhash=true",
        "Digest realm=\"r \\\"q\\\" r\", nonce=\"abc\"", "digest  realm=r , nonce=abc,qop=auth",
    ]) func `a digest of each kind authenticates`(challenge: String) throws {
        let server = try ScriptedServer { request in
            Self.checked(request, challenge) ? .body([1]) : Self.refusal(challenge, "Basic realm=\"r\"")
        }
        defer { server.stop() }
        let request = TransferRequest(port: server.port, path: "/a?b=c&d") { $0.credentials = Self.login }
        let recorder = try Bench().fetch(request)
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(server.requests.count == 2)
        #expect(server.connections == 1)
    }

    @Test func `the strongest of several challenges is used`() throws {
        let strongest = "Digest realm=\"r\", nonce=\"c\", qop=\"auth\", algorithm=SHA-512-256"
        let others = ["MD5", "SHA-256", "SHA-1024"].map {
            "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=\($0)"
        }
        let server = try ScriptedServer { request in
            Self.checked(request, strongest)
                ? .body([1]) : Self.refusal(others[0], "Basic realm=\"r\", \(strongest)", others[1], others[2])
        }
        defer { server.stop() }
        let request = TransferRequest(port: server.port) { $0.credentials = Self.login }
        #expect(try Bench().fetch(request).head?.status == 200)
    }

    @Test func `a stale nonce is replaced, a wrong password is not`() throws {
        let stale = "Digest realm=\"r\", nonce=\"new\", qop=\"auth\", stale=true"
        let server = try ScriptedServer { request in
            guard request.header("Authorization") != nil else {
                return Self.refusal("Digest realm=\"r\", nonce=\"old\", qop=\"auth\"")
            }
            return Self.checked(request, stale) ? .body([1]) : Self.refusal(stale)
        }
        defer { server.stop() }
        let request = TransferRequest(port: server.port) { $0.credentials = Self.login }
        #expect(try Bench().fetch(request).head?.status == 200)
        #expect(server.requests.count == 3)
        let wrong = TransferRequest(port: server.port) { $0.credentials = Credentials(user: "user", password: "wrong") }
        #expect(try Bench().fetch(wrong).head?.status == 401)
        #expect(server.requests.count == 6)
    }

    @Test func `the examples of RFC 7616 match, with SHA-512 truncated as in FIPS 180-4`() throws {
        let mufasa = Credentials(user: "Mufasa", password: "Circle of Life")
        let common =
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", algorithm="
        for (name, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = try #require(LoginChallenge.parse(common + name).first.flatMap(DigestChallenge.init))
            let authorization = challenge.response(
                mufasa, target: "/dir/index.html", clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
                hash: Logins.hash)
            #expect(authorization?.contains("response=\"\(response)\"") == true)
        }
        let field =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", userhash=true"
        let challenge = try #require(LoginChallenge.parse(field).first.flatMap(DigestChallenge.init))
        let authorization = challenge.response(
            Credentials(user: "Jäsøn Doe", password: "Secret, or not?"), target: "/doe.json",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", hash: Logins.hash)
        let user = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"
        let response = "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c"
        #expect(authorization?.contains("username=\"\(user)\"") == true)
        #expect(authorization?.contains("response=\"\(response)\"") == true)
    }

    // MARK: netrc

    private func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            request.header("Authorization") == nil ? Self.refusal("Basic realm=\"r\"") : .body([1])
        }
    }

    private enum Way { case named, otherHost, elsewhere }

    /// The last field sent.
    private func sent(_ netrc: String, to way: Way = .named) throws -> String? {
        let server = try server()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.file("netrc", netrc)
        var request = TransferRequest(port: server.port) { $0.netrc = file }
        request.carriesSecrets = way == .named
        request.leadsToOtherHost = way == .otherHost
        try Bench().fetch(request)
        return server.requests.last?.header("Authorization")
    }

    @Test func `an entry for the exact host is sent there after any redirects`() throws {
        let entry = "machine 127.0.0.1 login user password secret\n"
        #expect(try sent(entry) == "Basic dXNlcjpzZWNyZXQ=")
        #expect(try sent(entry, to: .otherHost) == "Basic dXNlcjpzZWNyZXQ=")
        // Another port of a named host, or one where anyone can read what TLS would have protected.
        #expect(try sent(entry, to: .elsewhere) == nil)
        #expect(try sent("machine 127.0.0.2 login user password secret\n") == nil)
    }

    @Test func `the default entry is sent to named hosts only`() throws {
        let entry = "machine other login a password b\r\ndefault login user password secret\r\n"
        #expect(try sent(entry) == "Basic dXNlcjpzZWNyZXQ=")
        #expect(try sent(entry, to: .otherHost) == nil)
    }

    @Test func `a netrc file that changed is read again, and an unreadable one is reported`() throws {
        let server = try server()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.file("netrc", "machine 127.0.0.1 login a password b\n")
        let bench = try Bench()
        let request = TransferRequest(port: server.port) { $0.netrc = file }
        try bench.fetch(request)
        #expect(server.requests.last?.header("Authorization") == "Basic YTpi")
        try FileSystem.write(Array("machine 127.0.0.1 login user password secret\n".utf8), to: file)
        let other = TransferRequest(port: server.port) { $0.netrc = file }
        try bench.fetch(other)
        #expect(server.requests.last?.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        let missing = TransferRequest(port: server.port) { $0.netrc = file + ".none" }
        let fault = try bench.fetch(missing).fault
        #expect(fault?.text.contains(file + ".none") == true)
    }

    // MARK: cookies

    @Test func `a cookie that a redirect expires is removed`() throws {
        let server = try ScriptedServer { request in
            let change =
                switch request.number {
                case 0: "Set-Cookie: login=1; Path=/\r\nSet-Cookie: here=2\r\nSet-Cookie: kept=3; Path=/\r\n"
                case 1:
                    "Set-Cookie: login=; Path=/; Expires=Thu, 01-Jan-1970 00:00:01 GMT\r\n"
                        + "Set-Cookie: here=gone; Max-Age=0\r\n"
                default: ""
                }
            return .init("HTTP/1.1 302 There\r\nLocation: /in/b\r\n\(change)Content-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let bench = try Bench()
        var values = TransferSettings.Values()
        values.proxy = ""
        let settings = TransferSettings(values)
        for _ in 0..<3 { try bench.fetchHead(TransferRequest(port: server.port, path: "/in/a", settings: settings)) }
        let sent = server.requests.map { Set(($0.header("Cookie") ?? "").split(separator: "; ").map(String.init)) }
        #expect(sent == [[], ["login=1", "here=2", "kept=3"], ["kept=3"]])
    }
}
