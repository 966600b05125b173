import PawlBase
import Testing

@testable import PawlHTTP

@Suite struct FaultTests {
    private func fault(of response: ScriptedServer.Response) throws -> TransferFault {
        let server = try ScriptedServer { _ in response }
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port))
        return try #require(recorder.fault)
    }

    private static let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `a body shorter than its length is truncated`() throws {
        #expect(try fault(of: .init(Self.half, .close)).kind == .truncated)
    }

    @Test func `chunks without their end are truncated`() throws {
        #expect(try fault(of: .init(Self.chunked + "5\r\nbytes\r\n", .close)).kind == .truncated)
    }

    @Test(arguments: ["zz\r\nnot a chunk\r\n", "5\r\nbytes\r\nzz\r\n", "5\r\nbytesXX5\r\nbytes\r\n0\r\n\r\n"])
    func `a broken chunk is an error and never success`(body: String) throws {
        #expect(try fault(of: .init(Self.chunked + body, .close)).kind == .truncated)
    }

    @Test func `a reset in the middle is a lost connection`() throws {
        #expect(try fault(of: .init(Self.half, .reset)).kind == .connectionLost)
    }

    @Test func `no response at all is a lost connection`() throws {
        #expect(try fault(of: .init("", .close)).kind == .connectionLost)
    }

    @Test(arguments: ["SSH-2.0-OpenSSH\r\n", "<html>no head</html>", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
    func `what is not HTTP is malformed`(text: String) throws {
        #expect(try fault(of: .init(text, .close)).kind == .malformed)
    }

    @Test(arguments: [
        ([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100], TransferFault.onlyHTTP2),
        ([0, 0, 8, 7, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8), .onlyHTTP2),
        ([0, 0, 6, 9, 0, 0, 0, 0, 0], .notHTTP), ([0x15, 3, 3, 0, 2, 2, 70], .speaksTLS),
    ]) func `what a server speaks instead of HTTP is named`(bytes: [UInt8], fault: TransferFault) throws {
        #expect(try self.fault(of: .init(bytes, .close)) == fault)
    }

    @Test func `a proxy that closes the connection is named`() throws {
        for part in ["", "HTTP/1.1 200 O"] {
            let proxy = try ScriptedServer { _ in .init(part, .close) }
            defer { proxy.stop() }
            let request = TransferRequest(port: 443, scheme: .https) {
                $0.proxy = "http://127.0.0.1:\(proxy.port)"
                $0.noProxy = ""
            }
            let fault = try #require(try Bench().fetch(request).fault)
            #expect(fault.kind == .proxy && fault.text.contains("the proxy http://127.0.0.1:\(proxy.port) failed"))
        }
    }

    @Test func `a port without a listener refuses`() throws {
        try Socket.withRefusingPort { port in
            let recorder = try Bench().fetch(TransferRequest(port: port))
            #expect(recorder.fault?.kind == .connectionRefused)
            #expect(recorder.fault?.text.contains("\(port)") == true)
        }
    }

    @Test func `a name that cannot exist is a failure of name resolution`() throws {
        var request = TransferRequest(port: 80)
        request.address = WebAddress(scheme: .http, host: "nowhere.invalid", port: 80, path: "/file", query: nil)
        // Without a resolver nobody knows that the name does not exist.
        let kind = try #require(try Bench().fetch(request).fault?.kind)
        #expect([.nameMissing, .nameResolution].contains(kind))
    }

    @Test func `a proxy that refuses the tunnel is the proxy's fault`() throws {
        let proxy = try ScriptedServer { _ in .init("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", .close) }
        defer { proxy.stop() }
        let request = TransferRequest(port: 443, scheme: .https) {
            $0.proxy = "http://user:secret@127.0.0.1:\(proxy.port)"
            $0.noProxy = ""
        }
        let fault = try #require(try Bench().fetch(request).fault)
        #expect(fault.kind == .proxy)
        #expect(!fault.text.contains("secret"))
    }

    @Test func `a CR within a field that libcurl reads is a malformed response`() throws {
        // Through a proxy, the request is libcurl's.
        let proxy = try ScriptedServer { _ in .init("HTTP/1.1 503 OK\r\nA\rB: c\r\nContent-Length: 0\r\n\r\n", .close) }
        defer { proxy.stop() }
        let request = TransferRequest(port: 80) {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
            $0.noProxy = ""
        }
        let fault = try #require(try Bench().fetch(request).fault)
        #expect(fault.kind == .malformed, "\(fault)")
    }

    @Test func `a peer that does not speak TLS is reported as such`() throws {
        let server = try ScriptedServer(greeting: "220 this is no TLS server\r\n") { _ in .init("", .close) }
        defer { server.stop() }
        let fault = try #require(try Bench().fetch(TransferRequest(port: server.port, scheme: .https)).fault)
        #expect(fault.kind == .tls)
    }

    @Test func `a kept connection that fails on reuse gets one silent retry`() throws {
        let server = try ScriptedServer { request in
            request.number == 1 ? .init("", .close) : .body(Array("response \(request.number)".utf8))
        }
        defer { server.stop() }
        let bench = try Bench()
        try bench.fetch(TransferRequest(port: server.port))
        let recorder = try bench.fetch(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.body == Array("response 2".utf8))
        #expect(server.connections == 2)
        #expect(server.requests[1].turn == 1)
    }

    @Test(arguments: ["/nowhere/cookies.txt"]) func `a missing cookie file is reported by name`(path: String) throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let fault = try Bench().fetch(TransferRequest(port: server.port) { $0.cookieFile = path }).fault
        #expect(fault?.text.contains(path) == true)
        #expect(server.requests.isEmpty)
    }
}
