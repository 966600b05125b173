import CTLS
import Glibc
import PawlSystem
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// What a transfer brought, and what its receiver does.
private final class TestSink: TransferSink {
    var head: ResponseHead?
    var body: [UInt8] = []
    var end: TransferEnd?
    var result = ChunkResult.taken
    var wantsBody = true
    var chunks = 0
    var onHead: () -> Void = {}

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        self.head = head
        onHead()
        return wantsBody
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        if result == .taken {
            unsafe body.append(contentsOf: chunk)
            chunks += 1
        }
        return result
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) { self.end = end }
}

/// A client and its server in one thread, over TLS on a pair of sockets.
private final class ClientBench {
    /// The server's side of a connection.
    final class Server {
        let peer: HTTP2Peer
        let session: TLSSession
        let socket: Int32
        var unsent: [UInt8] = []
        var isClosed = false

        init(_ peer: HTTP2Peer, _ session: TLSSession, _ socket: Int32) {
            (self.peer, self.session, self.socket) = (peer, session, socket)
        }

        deinit { cut() }

        func cut() {
            guard !isClosed else { return }
            isClosed = true
            session.close()
            close(socket)
        }

        func work() {
            guard !isClosed else { return }
            while case (.bytes, let bytes) = session.receive(65_536) { #expect(peer.receive(bytes)) }
            unsent += peer.output()
            while !unsent.isEmpty, let count = session.send(unsent[...]), count > 0 { unsent.removeFirst(count) }
        }
    }

    let client: HTTP2Client
    let poller = EpollPollers(clock: SystemClock()).makePoller()
    private let contexts: (client: TLSContext, server: TLSContext)
    var servers: [Server] = []
    var sinks: [TestSink] = []
    var http1: [HTTP2Exchange] = []
    var mostStreams: UInt32?
    /// Whether the servers have HTTP/2.
    var hasHTTP2 = true
    private let settings: TransferSettings

    init(connectTimeout: Interval = .seconds(30)) throws {
        var values = TransferSettings.Values()
        values.connectTimeout = connectTimeout
        settings = TransferSettings(values)
        client = HTTP2Client(clock: SystemClock(), poller: poller)
        let bench = try TLSBench()
        contexts = (try bench.client(), try bench.server(protocols: ["h2"]))
    }

    func start(_ count: Int = 1, bufferSize: Int = 512 * 1024) throws {
        for _ in 0..<count {
            var request = TransferRequest(
                address: try WebAddress.parse("https://localhost/\(sinks.count)").address, bufferSize: bufferSize,
                settings: settings)
            request.isMeasured = true
            let (id, sink) = (TransferID(rawValue: UInt64(sinks.count)), TestSink())
            sinks.append(sink)
            let exchange = HTTP2Exchange(
                request, as: id, by: nil, sink: sink, settings: try RequestSettings(for: request), cookies: nil)
            client.start(try #require(exchange))
        }
    }

    /// Starts requests that share a connection: at once, each would open one to an unknown server.
    func startTogether(_ count: Int) throws {
        try start()
        try until { streams.count == 1 }
        try start(count - 1)
    }

    private func connect(_ exchange: HTTP2Exchange) throws {
        guard hasHTTP2 else {
            client.usesHTTP1(exchange)
            return http1.append(exchange)
        }
        let sockets = try SecureLink.pair()
        let target = TLSTarget(host: "localhost", port: 443, protocols: ["h2", "http/1.1"])
        let near = try TLSSession(contexts.client, over: .socket(sockets[0]), to: target)
        let far = try TLSSession(contexts.server, over: .socket(sockets[1]), to: nil)
        var progress = TLSSession.Progress.wantsRead
        for _ in 0..<8 where !progress.isDone {
            progress = near.handshake()
            _ = far.handshake()
        }
        guard case .done(protocol: "h2") = progress else { throw SetupFailure("\(progress)") }
        servers.append(Server(HTTP2Peer(mostStreams: mostStreams), far, sockets[1]))
        client.adopt(sockets[0], near, for: exchange)
    }

    func round() throws {
        let others = client.sendWaiting()
        http1 += others.http1
        for exchange in others.connecting { try connect(exchange) }
        for server in servers { server.work() }
        _ = client.deliverResumed()
        poller.wait(until: .past)
        client.work()
    }

    /// Rounds until it holds.
    func until(_ holds: () -> Bool) throws {
        for _ in 0..<20_000 {
            if holds() { return }
            try round()
        }
        Issue.record("it never happens")
    }

    /// Rounds until nothing moves any more.
    func settle() throws { for _ in 0..<50 { try round() } }

    /// The streams of the last server, in the order of their requests.
    var streams: [Int32] { servers.last?.peer.requests.keys.sorted() ?? [] }
    var ends: [TransferEnd?] { sinks.map(\.end) }
}

@Suite struct HTTP2ClientTests {
    @Test func `many requests share one connection`() throws {
        let bench = try ClientBench()
        try bench.startTogether(HTTP2Pool.busy)
        try bench.until { bench.streams.count == HTTP2Pool.busy }
        for stream in bench.streams {
            bench.servers[0].peer.respond(stream, [(":status", "200"), ("content-length", "4096")], body: 4096)
        }
        try bench.until { bench.ends.allSatisfy { $0 == .complete } }
        #expect(bench.servers.count == 1)
        #expect(bench.sinks.allSatisfy { $0.body.count == 4096 && $0.head?.status == 200 })
        #expect(Set(bench.sinks.map { $0.body.first }).count == HTTP2Pool.busy)
    }

    @Test func `more requests than the server allows wait for further connections, and for room`() throws {
        let bench = try ClientBench()
        bench.mostStreams = 2
        try bench.start()
        try bench.until { bench.streams.count == 1 }
        try bench.settle()
        try bench.start(8)
        var responded: Set<[Int32]> = []
        try bench.until {
            for (index, server) in bench.servers.enumerated() {
                for stream in server.peer.requests.keys where responded.insert([Int32(index), stream]).inserted {
                    server.peer.respond(stream, [(":status", "200")], body: 10)
                }
            }
            return bench.ends.allSatisfy { $0 == .complete }
        }
        #expect(bench.servers.count <= HTTP2Pool.mostConnections)
        #expect(responded.count == 9)
    }

    @Test func `a request that gets no room in time is sent over HTTP/1.1`() throws {
        let bench = try ClientBench(connectTimeout: .milliseconds(1))
        bench.mostStreams = 1
        for count in 1...HTTP2Pool.mostConnections {
            try bench.start()
            try bench.until { bench.servers.count == count && bench.streams.count == 1 }
            try bench.settle()
        }
        try bench.start()
        try bench.until { bench.http1.map(\.id) == [TransferID(rawValue: UInt64(HTTP2Pool.mostConnections))] }
        #expect(bench.servers.count == HTTP2Pool.mostConnections && bench.ends.allSatisfy { $0 == nil })
    }

    @Test func `a receiver that pauses holds back its own stream only, and gets everything`() throws {
        let bench = try ClientBench()
        try bench.startTogether(2)
        bench.sinks[0].result = .pause
        try bench.until { bench.streams.count == 2 }
        for stream in bench.streams { bench.servers[0].peer.respond(stream, [(":status", "200")], body: 8 << 20) }
        try bench.until { bench.ends[1] == .complete }
        #expect(bench.sinks[1].body.count == 8 << 20)
        #expect(bench.servers[0].peer.sent[1] == HTTP2Limits.streamWindow)
        bench.sinks[0].result = .taken
        #expect(bench.client.resume(TransferID(rawValue: 0)))
        try bench.until { bench.ends[0] == .complete }
        #expect(bench.sinks[0].body == [UInt8](repeating: 1, count: 8 << 20))
    }

    @Test func `chunks are no larger than the receiver wants`() throws {
        let bench = try ClientBench()
        try bench.start(bufferSize: 4096)
        try bench.until { bench.streams.count == 1 }
        bench.servers[0].peer.respond(1, [(":status", "200")], body: 40_960)
        try bench.until { bench.ends[0] == .complete }
        #expect(bench.sinks[0].chunks >= 10)
    }

    @Test func `one request ends without the others: stopped, unwanted or cancelled within a callback`() throws {
        let bench = try ClientBench()
        try bench.startTogether(4)
        bench.sinks[0].result = .stop
        bench.sinks[1].wantsBody = false
        let client = bench.client
        bench.sinks[2].onHead = { [weak client] in _ = client?.cancel(TransferID(rawValue: 2)) }
        try bench.until { bench.streams.count == 4 }
        for stream in bench.streams { bench.servers[0].peer.respond(stream, [(":status", "200")], body: 1 << 20) }
        try bench.until { bench.ends[3] == .complete && bench.servers[0].peer.resets.count == 3 }
        #expect(bench.ends == [.stopped, .stopped, nil, .complete])
        #expect(bench.sinks[2].body.isEmpty)
        #expect(!bench.client.cancel(TransferID(rawValue: 2)))
        #expect(bench.servers.count == 1)
    }

    @Test func `requests that GOAWAY leaves out are sent on another connection`() throws {
        let bench = try ClientBench()
        try bench.startTogether(3)
        try bench.until { bench.streams.count == 3 }
        bench.servers[0].peer.respond(1, [(":status", "200")], body: 5)
        bench.servers[0].peer.goAway(last: 1, HTTP2Code.none.rawValue)
        // The server is taken to close after one stream.
        try bench.until { bench.servers.count == 3 && bench.servers[1...].allSatisfy { $0.peer.requests.count == 1 } }
        for server in bench.servers[1...] { server.peer.respond(1, [(":status", "204")]) }
        try bench.until { bench.ends.allSatisfy { $0 == .complete } }
    }

    @Test func `a lost connection ends its requests, or lets them be sent again`() throws {
        let bench = try ClientBench()
        try bench.start()
        try bench.until { bench.streams.count == 1 }
        bench.servers[0].peer.respond(1, [(":status", "204")])
        try bench.until { bench.ends[0] == .complete }
        try bench.start(2)
        try bench.until { bench.streams.count == 3 }
        bench.servers[0].peer.respond(3, [(":status", "200"), ("content-length", "9000000")], body: 9_000_000)
        bench.servers[0].work()
        bench.servers[0].cut()
        try bench.until { bench.servers.count == 2 && bench.streams.count == 1 }
        bench.servers[1].peer.respond(1, [(":status", "204")])
        try bench.until { bench.ends[2] == .complete }
        guard case .failed(let fault) = bench.ends[1] else {
            Issue.record("\(String(describing: bench.ends[1]))")
            return
        }
        #expect(fault.kind == .truncated)
        #expect(!bench.sinks[1].body.isEmpty)
    }

    @Test func `servers of HTTP/1.1 get their requests from elsewhere`() throws {
        let bench = try ClientBench()
        bench.hasHTTP2 = false
        try bench.start(3)
        try bench.settle()
        #expect(bench.http1.count == 3)
        let other = try ClientBench()
        try other.startTogether(2)
        try other.until { other.streams.count == 2 }
        other.servers[0].peer.reset(1, HTTP2Code.requiresHTTP1.rawValue)
        other.servers[0].peer.respond(3, [(":status", "204")])
        try other.until { other.ends[1] == .complete && other.http1.count == 1 }
        try other.start()
        try other.settle()
        #expect(other.http1.map(\.id.rawValue) == [0, 2])
    }

    @Test func `idle connections are closed with a word, and nothing is left to wait for`() throws {
        let bench = try ClientBench()
        try bench.start()
        try bench.until { bench.streams.count == 1 }
        bench.servers[0].peer.respond(1, [(":status", "204")])
        try bench.until { bench.ends[0] == .complete }
        try bench.settle()
        #expect(!bench.client.isBusy)
        #expect(bench.client.deadline != nil)
        bench.client.closeIdle()
        #expect(bench.client.deadline == nil && !bench.client.isBusy)
        try bench.start()
        try bench.until { bench.servers.count == 2 && bench.streams.count == 1 }
    }
}
