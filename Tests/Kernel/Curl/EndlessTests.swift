import PawlBase
import Testing

@testable import PawlHTTP

/// Servers that send endlessly and never a byte of the file: the bytes read are bounded, by either HTTP client.
@Suite struct EndlessTests {
    /// Socket buffers and one round of libcurl's exceed what is read on purpose.
    private static let most = 64 << 20

    struct Flood: Sendable, CustomTestStringConvertible {
        var name: String
        var begin: String
        var flood: String
        var testDescription: String { name }
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let floods = [
        Flood(name: "trailers", begin: chunked + "5\r\nhello\r\n0\r\n", flood: "X-Trailer: abcdefghij\r\n"),
        Flood(name: "one trailer", begin: chunked + "5\r\nhello\r\n0\r\nX: ", flood: "abcdefghij"),
        Flood(name: "a chunk's extension", begin: chunked + "5\r\nhello\r\n5;", flood: "a=b;"),
        Flood(name: "a chunk's padding", begin: chunked + "5\r\nhello\r\n5", flood: "          "),
        Flood(name: "a chunk's zeros", begin: chunked, flood: "0000000000"),
        Flood(name: "interim heads", begin: "", flood: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
        Flood(name: "header lines", begin: "HTTP/1.1 200 OK\r\n", flood: "X-Filler: abcdefghij\r\n"),
        Flood(name: "one header line", begin: "HTTP/1.1 200 OK\r\nX: ", flood: "abcdefghij"),
        Flood(name: "a status line", begin: "HTTP/1.1 200 ", flood: "OK "),
        Flood(name: "empty lines", begin: "", flood: "\r\n"),
    ]

    @Test(arguments: floods) func `nothing but the body continues for long`(flood: Flood) throws {
        let server = try ScriptedServer { _ in .endless(flood.begin, then: flood.flood) }
        let recorder = try Bench().fetch(TransferRequest(port: server.port))
        server.waitForClients()
        #expect(recorder.fault != nil)
        #expect(server.flooded < Self.most)
        server.stop()
    }

    @Test(arguments: floods.filter { $0.name.contains("header line") }, [false, true])
    func `an endless head is reported as longer than the limit, through a proxy too`(
        flood: Flood, isProxied: Bool
    ) throws {
        let server = try ScriptedServer { _ in .endless(flood.begin, then: flood.flood) }
        let request = TransferRequest(port: isProxied ? 9 : server.port) {
            if isProxied { $0.proxy = "http://127.0.0.1:\(server.port)" }
        }
        let recorder = try Bench().fetch(request)
        server.waitForClients()
        #expect(recorder.fault?.kind == .malformed)
        #expect(recorder.fault?.text == "the response head is longer than the limit")
        server.stop()
    }

    /// Bodies of unwanted responses.
    static let pages = [
        Flood(name: "chunks", begin: "Transfer-Encoding: chunked\r\n\r\n", flood: "10\r\n0123456789abcdef\r\n"),
        Flood(name: "a length", begin: "Content-Length: 999999999999\r\n\r\n", flood: "0123456789abcdef"),
        Flood(name: "trailers", begin: "Transfer-Encoding: chunked\r\n\r\n0\r\n", flood: "X: abcdefghij\r\n"),
        Flood(name: "an extension", begin: "Transfer-Encoding: chunked\r\n\r\n5;", flood: "abcdefghij"),
        Flood(
            name: "chunks that are mostly extension", begin: "Transfer-Encoding: chunked\r\n\r\n",
            flood: "1;" + String(repeating: "x", count: 60_000) + "\r\ny\r\n"),
        Flood(name: "no length", begin: "\r\n", flood: "0123456789abcdef"),
    ]

    @Test(arguments: pages, ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
    func `the page of a 401 that leads to credentials is not read for long`(page: Flood, challenge: String) throws {
        let server = try ScriptedServer { request in
            let head = "HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\n"
            return request.header("Authorization") == nil ? .endless(head + page.begin, then: page.flood) : .body([1])
        }
        let request = TransferRequest(port: server.port) {
            $0.credentials = Credentials(user: "user", password: "secret")
        }
        let recorder = try Bench().fetch(request)
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        server.stop()
        #expect(server.flooded < Self.most)
    }

    @Test(arguments: pages) func `the page of a redirect is not read for long`(page: Flood) throws {
        let server = try ScriptedServer { _ in
            .endless("HTTP/1.1 302 There\r\nLocation: /b\r\n" + page.begin, then: page.flood)
        }
        let bench = try Bench()
        let recorder = try bench.fetchHead(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(302), .ended(.stopped)])
        bench.settle(rounds: 300)
        server.waitForClients()
        #expect(server.flooded < Self.most)
        server.stop()
    }

    @Test(arguments: pages.dropLast(), ["http", "https"]) func `a proxy's 407 is not read for long`(
        page: Flood, scheme: String
    ) throws {
        let proxy = try ScriptedServer { _ in
            .endless("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"r\"\r\n" + page.begin, then: page.flood)
        }
        let request = TransferRequest(port: 9, scheme: scheme == "http" ? .http : .https) {
            $0.proxy = "http://user:secret@127.0.0.1:\(proxy.port)"
        }
        let bench = try Bench()
        let recorder = try bench.fetchHead(request)
        #expect(recorder.events == [.head(407), .ended(.stopped)])
        bench.settle(rounds: 300)
        proxy.waitForClients()
        #expect(proxy.flooded < Self.most)
        proxy.stop()
    }

    @Test(arguments: ["X-Filler: abcdefghij\r\n", "abcdefghij"])
    func `a proxy's response to CONNECT is not read for long`(flood: String) throws {
        let proxy = try ScriptedServer { _ in .endless("HTTP/1.1 200 OK\r\nX: ", then: flood) }
        let request = TransferRequest(port: 9, scheme: .https) { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
        let recorder = try Bench().fetch(request)
        proxy.waitForClients()
        #expect(recorder.fault?.kind == .proxy)
        #expect(proxy.flooded < Self.most)
        proxy.stop()
    }

    @Test(arguments: ["220-Welcome\r\n", "Welcome ", "\r\n"]) func `an FTP server's replies are not read for long`(
        flood: String
    ) throws {
        let server = try ScriptedServer(greeting: .endless("220-", then: flood)) { _ in .init("") }
        let recorder = try Bench().fetch(TransferRequest(port: server.port, scheme: .ftp))
        server.waitForClients()
        #expect(recorder.fault != nil)
        #expect(server.flooded < Self.most)
        server.stop()
    }
}
