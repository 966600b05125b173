import PawlBase
import Testing

@testable import PawlRegistry

@Suite struct TokenTests {
    private let login = RegistryLogin(user: "me", password: "secret")

    private func question(
        _ field: String, from url: String = "https://registry.example.org/v2/a/manifests/x",
        _ login: RegistryLogin? = nil
    ) throws -> TokenQuestion {
        try TokenQuestion(LoginChallenge.parse(field), from: WebAddress.parse(url).address, of: "a/b", login)
    }

    private func asks(_ question: TokenQuestion) throws -> TokenQuestion.Request {
        guard case .token(let request) = question else { throw TokenQuestion.Flaw.unusable }
        return request
    }

    @Test func `a token is asked for with the service, and for the repository alone`() throws {
        let field =
            #"Bearer realm="https://auth.example/token",service="r.example",scope="repository:other/x:push,pull""#
        let request = try asks(question(field, login))
        #expect(request.address.text == "https://auth.example/token?service=r.example&scope=repository%3Aa%2Fb%3Apull")
        #expect(request.lines.isEmpty && request.body.isEmpty)
    }

    @Test(arguments: [
        ("https://registry.example.org/token", true), ("https://example.org/jwt", true), ("https://org/x", false),
        ("https://auth.example.org/token", false), ("https://evil.example/token", false),
        ("https://registry.example.org.evil.example/token", false), ("https://xregistry.example.org/token", false),
    ])
    func `the login goes to the registry's host and the domain above it, to no other one`(
        _ realm: String, _ isSent: Bool
    ) throws {
        let request = try asks(question("Bearer realm=\"\(realm)\"", login))
        let hasLogin = request.lines.contains { $0.hasPrefix("Authorization:") }
        #expect(hasLogin == isSent && request.address.text.contains("account=me") == isSent)
        let text = "\(request.address.text)\(request.lines)\(String(decoding: request.body, as: UTF8.self))"
        #expect(text.contains(LoginField.basic(Credentials(user: "me", password: "secret"))) == isSent)
    }

    @Test func `Docker Hub's own server of tokens gets the login`() throws {
        let field = #"Bearer realm="https://auth.docker.io/token",service="registry.docker.io""#
        let request = try asks(question(field, from: "https://registry-1.docker.io/v2/", login))
        #expect(request.lines.count == 1)
        let evil = #"Bearer realm="https://auth.docker.io.evil.example/token""#
        #expect(try asks(question(evil, from: "https://registry-1.docker.io/v2/", login)).lines.isEmpty)
    }

    @Test(arguments: [
        "Bearer", "Bearer realm=\"\"", "Bearer realm=\"http://auth.example/\"", "Bearer realm=\"/token\"",
        "Digest realm=\"x\"", "",
    ])
    func `a challenge that names no server that may be asked is not followed`(_ field: String) {
        #expect(throws: TokenQuestion.Flaw.unusable) { try question(field, login) }
    }

    @Test func `a registry without TLS may name a server of tokens without TLS`() throws {
        let request = try asks(
            question("Bearer realm=\"http://localhost:5001/t\"", from: "http://localhost:5000/v2/", login))
        #expect(request.lines.count == 1)
        let other = try asks(
            question("Bearer realm=\"http://elsewhere.example/t\"", from: "http://localhost:5000/v2/", login))
        #expect(other.lines.isEmpty)
    }

    @Test func `Basic sends the login itself, and a refresh token is exchanged`() throws {
        #expect(try question("Basic realm=\"x\"", login) == .basic("Basic bWU6c2VjcmV0"))
        #expect(throws: TokenQuestion.Flaw.noLogin) { try question("Basic realm=\"x\"") }
        var token = login
        token.identityToken = "refresh&me"
        let request = try asks(question("Bearer realm=\"https://registry.example.org/t\",service=\"s\"", token))
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(body.contains("grant_type=refresh_token") && body.contains("refresh_token=refresh%26me"))
        #expect(request.address.query == nil && !request.lines.contains { $0.hasPrefix("Authorization") })
    }

    @Test func `a token that cannot be sent is none`() {
        #expect(RegistryToken(Array(#"{"token":"t"}"#.utf8)) == RegistryToken(text: "t", life: .seconds(60)))
        #expect(RegistryToken(Array(#"{"access_token":"t","expires_in":300}"#.utf8))?.life == .seconds(300))
        for text in [#"{"token":""}"#, #"{"token":"a\r\nX: y"}"#, #"{"token":7}"#, "[]", "", "<html>"] {
            #expect(RegistryToken(Array(text.utf8)) == nil)
        }
    }

    @Test func `the login of the longest name counts, and an earlier file before a later one`() {
        var logins = RegistryLogins()
        func auth(_ text: String) -> String { Base64.encode(Array(text.utf8)) }
        logins.add(
            Array(
                """
                {"auths":{"https://index.docker.io/v1/":{"auth":"\(auth("hub:p"))"},"R.example:5000":{"auth":"\(auth("host:p:q"))"},
                "r.example:5000/team":{"auth":"\(auth("team:p"))"},"bad.example":{"auth":"!"},"id.example":{"identitytoken":"t"}}}
                """.utf8))
        logins.add(
            Array(#"{"auths":{"r.example:5000":{"auth":"\#(auth("late:p"))"}},"credsStore":"secretservice"}"#.utf8))
        #expect(logins.login(to: "registry-1.docker.io", "library/alpine")?.user == "hub")
        #expect(logins.login(to: "r.example:5000", "other/x") == RegistryLogin(user: "host", password: "p:q"))
        #expect(logins.login(to: "r.example:5000", "team/x")?.user == "team")
        #expect(logins.login(to: "r.example", "team/x") == nil && logins.login(to: "bad.example", "x") == nil)
        #expect(logins.login(to: "id.example", "x")?.identityToken == "t" && logins.hasHelpers)
    }
    @Test func `programs for logins have names, and are asked for a registry by its name`() throws {
        var logins = RegistryLogins()
        logins.add(
            Array(
                """
                {"credsStore":"pass","credHelpers":{"r.example":"ecr-login","docker.io":"hub","bad.example":"../x","long":"\(
                    String(repeating: "a", count: 65))"}}
                """.utf8))
        logins.add(Array(#"{"credsStore":"late","credHelpers":{"r.example":"late","s.example":"s"}}"#.utf8))
        for (registry, program, server) in [
            ("r.example", "docker-credential-ecr-login", "r.example"),
            ("s.example", "docker-credential-s", "s.example"),
            ("bad.example", "docker-credential-pass", "bad.example"),
            ("registry-1.docker.io", "docker-credential-hub", "https://index.docker.io/v1/"),
        ] {
            let helper = logins.helper(for: registry)
            #expect(helper?.program == program && helper?.server == server)
        }
        var only = RegistryLogins()
        only.add(Array(#"{"credsStore":"/bin/sh","credHelpers":{"r.example":"a b"}}"#.utf8))
        #expect(only.helper(for: "r.example") == nil && !only.hasHelpers)
    }

    @Test func `the answer of a program is a login, none, or a sentence`() throws {
        func login(_ text: String, _ code: Int32 = 0) throws -> RegistryLogin? {
            try CredentialHelper.login(Array(text.utf8), exitCode: code)
        }
        #expect(try login(#"{"Username":"u","Secret":"p"}"#) == RegistryLogin(user: "u", password: "p"))
        #expect(try login(#"{"Username":"<token>","Secret":"t"}"#)?.identityToken == "t")
        #expect(try login("credentials not found in native keychain", 1) == nil)
        for (text, code, why) in [
            ("locked\u{1B}[2J\nmore", Int32(1), "it ended with code 1: locked"), ("", 137, "it ended with code 137"),
            ("x", 0, "its answer is not a login"), (#"{"Username":"u"}"#, 0, "its answer is not a login"),
            (#"{"Username":"","Secret":"p"}"#, 0, "its answer has an empty user name"),
            (#"{"Username":"u\r\nX: y","Secret":"p"}"#, 0, "control characters"),
        ] {
            let flaw = try #require(#expect(throws: CredentialHelper.Flaw.self) { try login(text, code) })
            #expect(flaw.why.contains(why) && !flaw.why.utf8.contains(0x1B), "\(flaw.why)")
        }
    }
}
