import PawlBase
import PawlTestKit
import Testing

@testable import PawlHTTP

@Suite struct HeadTests {
    private func fetch(
        _ respond: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response,
        change: (inout TransferSettings.Values) -> Void = { _ in }
    ) throws -> (Recorder, [ScriptedServer.Request]) {
        let server = try ScriptedServer(respond)
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port, change: change))
        return (recorder, server.requests)
    }

    @Test func `heads of 1xx responses are not delivered`() throws {
        let (recorder, _) = try fetch { _ in
            .init(
                """
                HTTP/1.1 100 Continue\r
                ETag: "wrong"\r
                \r
                HTTP/1.1 103 Early Hints\r
                Link: </wrong>\r
                \r
                HTTP/1.1 200 OK\r
                Content-Length: 4\r
                \r
                body
                """)
        }
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.head?.entityTag == nil)
        #expect(recorder.head?.link == nil)
        #expect(recorder.head?.fields.map(\.name) == ["Content-Length"])
    }

    @Test(arguments: [
        "5\r\nbytes\r\n0\r\nETag: \"late\"\r\n\r\n", "0\r\nContent-Range: bytes 0-1/2\r\nETag: \"late\"\r\n\r\n",
    ]) func `trailers are not taken for a head`(body: String) throws {
        let (recorder, _) = try fetch { _ in
            .init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: ETag\r\n\r\n\(body)")
        }
        #expect(recorder.heads.count == 1)
        #expect(recorder.head?.entityTag == nil)
        #expect(recorder.head?.contentRange == .absent)
        #expect(recorder.end == .complete)
    }

    @Test func `a head with bare line feeds is accepted`() throws {
        let (recorder, _) = try fetch { _ in .init("HTTP/1.1 200 OK\nContent-Length: 4\nETag: \"x\"\n\nbody") }
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.head?.entityTag == EntityTag(opaque: "x", isWeak: false))
    }

    @Test func `basic credentials are sent after a 401 and only the final head is reported`() throws {
        let (recorder, requests) = try fetch { request in
            guard request.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=" else {
                return .init(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 9\r\n\r\nlog in!!!")
            }
            return .body(Array("content".utf8))
        } change: {
            $0.credentials = Credentials(user: "user", password: "secret")
        }
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.body == Array("content".utf8))
        #expect(requests.count == 2)
    }

    @Test func `digest credentials are sent after a 401 and the password is not sent`() throws {
        let (recorder, requests) = try fetch { request in
            guard let field = request.header("Authorization"), field.hasPrefix("Digest ") else {
                return .init(
                    """
                    HTTP/1.1 401 No\r
                    WWW-Authenticate: Digest realm="r", nonce="abc", qop="auth", algorithm=MD5\r
                    WWW-Authenticate: Basic realm="r"\r
                    Content-Length: 9\r
                    \r
                    log in!!!
                    """)
            }
            return .body(Array("content".utf8))
        } change: {
            $0.credentials = Credentials(user: "user", password: "secret")
        }
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(requests.last?.header("Authorization")?.contains("username=\"user\"") == true)
        #expect(requests.allSatisfy { $0.header("Authorization")?.hasPrefix("Basic") != true })
    }

    @Test func `a 401 to rejected credentials is the final head`() throws {
        let (recorder, requests) = try fetch { _ in
            .init("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 9\r\n\r\nlog in!!!")
        } change: {
            $0.credentials = Credentials(user: "user", password: "secret")
        }
        #expect(recorder.events == [.head(401), .body, .ended(.complete)])
        #expect(requests.count == 2)
    }

    @Test func `a 401 without credentials is delivered at once`() throws {
        let (recorder, requests) = try fetch { _ in
            .init("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(recorder.events == [.head(401), .ended(.complete)])
        #expect(requests.count == 1)
    }

    @Test func `a redirect is reported and not followed`() throws {
        let (recorder, requests) = try fetch { _ in
            .init("HTTP/1.1 302 There\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(recorder.events == [.head(302), .ended(.complete)])
        #expect(recorder.head?.location == "/other")
        #expect(requests.map(\.target) == ["/file"])
    }

    @Test func `a compressed body is passed on unchanged`() throws {
        let bytes = payload(500)
        let (recorder, _) = try fetch { _ in .body(bytes, lines: "Content-Encoding: gzip\r\n") }
        #expect(recorder.body == bytes)
        #expect(recorder.head?.contentEncoding == "gzip")
    }

    @Test func `a head of half a megabyte is malformed`() throws {
        let line = "X-Filler: \(String(repeating: "a", count: 1_000))\r\n"
        let (recorder, _) = try fetch { _ in
            .init("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 500) + "Content-Length: 0\r\n\r\n")
        }
        #expect(recorder.heads.isEmpty)
        guard case .failed(let fault) = recorder.end else {
            Issue.record("ended with \(String(describing: recorder.end))")
            return
        }
        #expect(fault.kind == .malformed)
    }
}
