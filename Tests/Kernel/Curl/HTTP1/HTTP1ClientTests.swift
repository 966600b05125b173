import PawlBase
import PawlCurl
import Testing

@testable import PawlHTTP

/// HTTP by Pawl's own client; the suites that run twice cover what it shares with libcurl.
@Suite struct HTTP1ClientTests {
    private static let chunked = "Transfer-Encoding: chunked\r\n"

    private func settings(_ change: (inout TransferSettings.Values) -> Void = { _ in }) -> TransferSettings {
        var values = TransferSettings.Values()
        values.proxy = ""
        change(&values)
        return TransferSettings(values)
    }

    @Test func `nothing is read while a transfer is held back, and all of it after a resume`() throws {
        let bytes = payload(2_000_000)
        let server = try ScriptedServer { _ in .body(bytes) }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        recorder.onChunk = { _ in
            recorder.isHeldBack = true
            return .taken
        }
        let (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
        try bench.run { recorder.isHeldBack }
        var sizes: [Int] = []
        while recorder.end == nil {
            let before = recorder.body.count
            bench.settle(rounds: 3)
            #expect(recorder.body.count == before)
            sizes.append(before)
            recorder.isHeldBack = false
            bench.transport.resume(id)
            try bench.run { recorder.isHeldBack || recorder.end != nil }
        }
        #expect(recorder.end == .complete)
        #expect(recorder.body == bytes)
        #expect(recorder.pauses == 0)
        #expect(sizes.count > 2)
    }

    @Test func `a server that closes fresh connections too is not retried forever`() throws {
        let server = try ScriptedServer { $0.number == 0 ? .body([1]) : .init("", .close) }
        defer { server.stop() }
        let bench = try Bench()
        try bench.fetch(TransferRequest(port: server.port))
        #expect(try bench.fetch(TransferRequest(port: server.port)).fault?.kind == .connectionLost)
        #expect(server.requests.count == 3)
        #expect(server.connections == 2)
    }

    @Test func `a response that has started is never requested again`() throws {
        let server = try ScriptedServer { $0.number == 0 ? .body([1]) : .init("HTTP/1.1 200 OK\r\nCo", .close) }
        defer { server.stop() }
        let bench = try Bench()
        try bench.fetch(TransferRequest(port: server.port))
        let fault = try bench.fetch(TransferRequest(port: server.port)).fault
        #expect(fault?.kind == .truncated)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        ("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbody", ScriptedServer.Response.End.hold),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody", .hold),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more", .hold),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" + chunked + "\r\n4\r\nbody\r\n0\r\n\r\n", .hold),
        ("HTTP/1.1 200 OK\r\n" + chunked + "\r\n4\r\nbody\r\n0\r\n\r\nHTTP/1.1 200", .hold),
        ("HTTP/1.1 200 OK\r\n\r\nbody", .close), ("HTTP/1.0 200 OK\r\n\r\nbody", .close),
    ]) func `a body ends where its framing says, and its connection carries nothing else`(
        response: String, end: ScriptedServer.Response.End
    ) throws {
        let server = try ScriptedServer { $0.number == 0 ? .init(response, end) : .body([2]) }
        let bench = try Bench()
        let recorder = try bench.fetch(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.body == Array("body".utf8))
        #expect(try bench.fetch(TransferRequest(port: server.port)).body == [2])
        #expect(server.connections == 2)
        server.stop()
    }

    @Test(arguments: ["204 No Content", "304 Not Modified"])
    func `a response that cannot have a body ends with its head`(status: String) throws {
        let server = try ScriptedServer { request in
            request.number == 0 ? .init("HTTP/1.1 \(status)\r\nContent-Length: 9\r\n\r\n") : .body([2])
        }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = try bench.fetch(TransferRequest(port: server.port))
        #expect(recorder.body.isEmpty)
        #expect(recorder.end == .complete)
        #expect(try bench.fetch(TransferRequest(port: server.port)).body == [2])
        #expect(server.connections == 1)
    }

    @Test func `a redirect whose body is not wanted leaves its connection for the next hop`() throws {
        let server = try ScriptedServer { request in
            request.number == 0
                ? .init("HTTP/1.1 302 There\r\nLocation: /b\r\nContent-Length: 9\r\n\r\nover here") : .body([1])
        }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        recorder.onHead = { _ in false }
        try bench.fetch(TransferRequest(port: server.port), into: recorder)
        try bench.fetch(TransferRequest(port: server.port, path: "/b"))
        #expect(recorder.end == .stopped)
        #expect(server.connections == 1)
    }

    @Test func `a cookie set by a redirect is returned where it belongs and nowhere else`() throws {
        let server = try ScriptedServer { request in
            request.number == 0
                ? .init(
                    "HTTP/1.1 302 There\r\nLocation: /in/b\r\nSet-Cookie: login=1\r\nSet-Cookie: all=2; Path=/\r\n"
                        + "Set-Cookie: gone=3; Max-Age=0\r\nSet-Cookie: secure=4; Domain=other.example\r\n"
                        + "Content-Length: 0\r\n\r\n") : .body([1])
        }
        let other = try ScriptedServer { _ in .body([1]) }
        defer {
            server.stop()
            other.stop()
        }
        let bench = try Bench()
        let shared = settings()
        try bench.fetchHead(TransferRequest(port: server.port, path: "/in/a", settings: shared))
        for path in ["/in/b", "/out/b"] {
            try bench.fetch(TransferRequest(port: server.port, path: path, settings: shared))
        }
        try bench.fetch(TransferRequest(port: other.port, path: "/in/b", settings: shared))
        let sent = server.requests.map { Set(($0.header("Cookie") ?? "").split(separator: "; ").map(String.init)) }
        #expect(sent == [[], ["login=1", "all=2"], ["all=2"]])
        #expect(other.requests[0].header("Cookie") == nil)
    }

    @Test func `a head that arrives in many reads is complete`() throws {
        let line = "X-Filler: \(String(repeating: "a", count: 1_000))\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 220) + "ETag: \"last\"\r\n"
        let server = try ScriptedServer { _ in .init(head + "Content-Length: 4\r\n\r\nbody") }
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.head?.entityTag == EntityTag(opaque: "last", isWeak: false))
        #expect(recorder.body == Array("body".utf8))
    }

    @Test func `a response that is there before its request is discarded`() throws {
        let server = try ScriptedServer { .body([UInt8($0.number)]) }
        defer { server.stop() }
        let bench = try Bench()
        for number in 0..<4 as Range<UInt8> {
            let recorder = try bench.fetch(TransferRequest(port: server.port))
            #expect(recorder.body == [number])
            server.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        }
        #expect(server.connections == 4)
    }

    @Test func `a server that closes while idle is noticed before the next request`() throws {
        let server = try ScriptedServer { request in
            .body([UInt8(request.number)], lines: request.number == 0 ? "Keep-Alive: timeout=1\r\n" : "")
        }
        let bench = try Bench()
        try bench.fetch(TransferRequest(port: server.port))
        server.stop()
        bench.settle(rounds: 2)
        let again = try bench.fetch(TransferRequest(port: server.port))
        #expect(again.fault?.kind == .connectionRefused)
        #expect(server.requests.count == 1)
    }
}
