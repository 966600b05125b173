import PawlBase
import PawlSystem
import Synchronization
import Testing

@testable import PawlHTTP

/// The state that handles and connections of a transport keep, and must not keep.
@Suite struct PoolTests {
    private static func digest(_ nonce: String) -> ScriptedServer.Response {
        .init(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"\r\n"
                + "Content-Length: 0\r\n\r\n")
    }

    private var login: TransferSettings {
        var values = TransferSettings.Values()
        values.proxy = ""
        values.credentials = Credentials(user: "user", password: "secret")
        return TransferSettings(values)
    }

    @Test func `a nonce of one server is not used for another`() throws {
        let servers = try ["one", "two"].map { nonce in
            try ScriptedServer { request in
                request.header("Authorization")?.contains("nonce=\"\(nonce)\"") == true
                    ? .body([1]) : Self.digest(nonce)
            }
        }
        defer { for server in servers { server.stop() } }
        let bench = try Bench()
        let settings = login
        for server in servers + servers {
            let recorder = try bench.fetch(TransferRequest(port: server.port, settings: settings))
            #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        }
    }

    @Test func `a server with a new nonce for each request is authenticated each time`() throws {
        let server = try ScriptedServer { request in
            request.header("Authorization")?.contains("nonce=\"n\(request.number - 1)\"") == true
                ? .body([1]) : Self.digest("n\(request.number)")
        }
        defer { server.stop() }
        let bench = try Bench()
        let settings = login
        for _ in 0..<3 {
            let recorder = try bench.fetch(TransferRequest(port: server.port, settings: settings))
            #expect(recorder.head?.status == 200)
        }
    }

    @Test func `basic credentials are sent preemptively where they were accepted before, and nowhere else`() throws {
        let servers = try (0..<2).map { _ in
            try ScriptedServer { request in
                request.header("Authorization") == "Basic dXNlcjpzZWNyZXQ="
                    ? .body([1])
                    : .init("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { for server in servers { server.stop() } }
        let bench = try Bench()
        let settings = login
        for server in [servers[0], servers[0], servers[1], servers[0]] {
            let recorder = try bench.fetch(TransferRequest(port: server.port, settings: settings))
            #expect(recorder.head?.status == 200)
        }
        let sent = servers.map { $0.requests.map { $0.header("Authorization") != nil } }
        #expect(sent == [[false, true, true, true], [false, true]])
    }

    @Test func `a redirect with a short page leaves its connection for the next hop`() throws {
        let server = try ScriptedServer { request in
            request.number == 0
                ? .init("HTTP/1.1 302 There\r\nLocation: /b\r\nContent-Length: 9\r\n\r\nover here") : .body([1])
        }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        let next = Recorder()
        recorder.onHead = { _ in false }
        recorder.onEnd = { _ in bench.start(TransferRequest(port: server.port, path: "/b"), into: next) }
        try bench.fetch(TransferRequest(port: server.port), into: recorder)
        try bench.run { next.end != nil }
        #expect(recorder.events == [.head(302), .ended(.stopped)])
        #expect(next.end == .complete)
        #expect(server.connections == 1)
    }

    @Test func `a short chunked page leaves its connection too, and one that closes does not delay the next hop`()
        throws
    {
        for (lines, connections) in [("", 1), ("Connection: close\r\n", 2)] {
            let page = "Transfer-Encoding: chunked\r\n\(lines)\r\n4\r\nover\r\n5\r\n here\r\n0\r\n\r\n"
            let server = try ScriptedServer { request in
                request.number == 0 ? .init("HTTP/1.1 302 There\r\nLocation: /b\r\n\(page)") : .body([1])
            }
            defer { server.stop() }
            let bench = try Bench()
            let recorder = try bench.fetchHead(TransferRequest(port: server.port))
            #expect(recorder.events == [.head(302), .ended(.stopped)])
            try bench.fetch(TransferRequest(port: server.port, path: "/b"))
            #expect(server.connections == connections)
        }
    }

    @Test func `a short page that never ends is abandoned`() throws {
        let server = try ScriptedServer { _ in
            .init("HTTP/1.1 302 There\r\nLocation: /b\r\nContent-Length: 9\r\n\r\nover", .hold)
        }
        let clock = SetClock()
        let bench = try Bench(clock)
        let recorder = try bench.fetchHead(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(302), .ended(.stopped)])
        clock.advance(by: .seconds(10))
        bench.transport.round(on: bench.poller, until: clock.now)
        server.waitForClients()
        #expect(server.abandoned == 1)
        server.stop()
    }

    @Test func `a long page is not read in vain`() throws {
        let server = try ScriptedServer { _ in
            .init("HTTP/1.1 302 There\r\nLocation: /b\r\nContent-Length: 900000\r\n\r\nover", .hold)
        }
        let bench = try Bench()
        let recorder = try bench.fetchHead(TransferRequest(port: server.port))
        #expect(recorder.end == .stopped)
        server.waitForClients()
        #expect(server.abandoned == 1)
        server.stop()
    }
}

/// A clock that is stopped until it is advanced.
final class SetClock: Clock {
    private let nanoseconds = Atomic<Int64>(1_000_000_000)
    var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
    var wallTime: UnixTime { UnixTime(seconds: 0) }

    func advance(by span: Interval) { nanoseconds.add(span.nanoseconds, ordering: .relaxed) }
}
