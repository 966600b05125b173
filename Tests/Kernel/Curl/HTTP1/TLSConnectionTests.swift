import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP
@testable import PawlSystem

/// TLS on dedicated connections: read by Pawl's client, and for comparison by libcurl.
@Suite(.serialized) struct TLSConnectionTests {
    private let server: SecureServer
    private let bench: Bench
    private let settings: TransferSettings

    init() throws {
        server = try SecureServer()
        bench = try Bench()
        var values = TransferSettings.Values()
        values.proxy = ""
        values.authorityFile = server.authority.authority
        settings = TransferSettings(values)
    }

    private func request(_ path: String, bufferSize: Int = 512 * 1024) -> TransferRequest {
        var request = TransferRequest(port: server.port, path: path, scheme: .https, settings: settings)
        request.connection = .separate
        request.bufferSize = bufferSize
        return request
    }

    @Test func `bytes that are decrypted already are read although the socket has no more`() throws {
        // The whole response arrives at once, and the server sends nothing more until the next request.
        for bufferSize in [1_024, 100_000, 512 * 1024] {
            let recorder = try bench.fetch(request("/burst", bufferSize: bufferSize))
            #expect(recorder.end == .complete && recorder.body == SecureServer.body)
        }
        #expect(server.connections.count == 1)
    }

    @Test func `it continues after a pause without new bytes from the server`() throws {
        let recorder = Recorder()
        var taken = 0
        recorder.onChunk = { count in
            if recorder.pauses <= taken / 500_000 { return .pause }
            taken += count
            return .taken
        }
        let (id, _) = bench.start(request("/burst", bufferSize: 16 * 1024), into: recorder)
        var resumed = 0
        while recorder.end == nil {
            try bench.run { recorder.end != nil || recorder.pauses > resumed }
            if recorder.pauses > resumed {
                resumed += 1
                bench.transport.resume(id)
            }
        }
        #expect(resumed >= 6)
        #expect(recorder.end == .complete && recorder.body == SecureServer.body)
    }

    @Test(arguments: ["/tiny", "/chunked"]) func `the size of records and chunks does not matter`(path: String) throws {
        for _ in 0..<2 {
            let recorder = try bench.fetch(request(path))
            #expect(recorder.events == [.head(200), .body, .ended(.complete)])
            #expect(recorder.body == Array(SecureServer.body[..<60_000]))
        }
        #expect(server.connections.count == 1)
    }

    @Test func `a body is complete only by its length or close_notify`() throws {
        let half = Array(SecureServer.body[..<50_000])
        for path in ["/short", "/farewell", "/endlesscut"] {
            let recorder = try bench.fetch(request(path))
            #expect([.truncated, .connectionLost].contains(recorder.fault?.kind), "\(path)")
            #expect(recorder.body == half, "\(path)")
        }
        let recorder = try bench.fetch(request("/endless"))
        #expect(recorder.end == .complete && recorder.body == half)
    }

    @Test func `many connections share the thread and nothing else`() throws {
        let paths = ["/burst", "/tiny", "/chunked", "/small", "/endless", "/short"]
        let recorders = paths.flatMap { path in (0..<3).map { _ in bench.start(request(path)).1 } }
        try bench.run { recorders.allSatisfy { $0.end != nil } }
        for (index, recorder) in recorders.enumerated() {
            #expect(recorder.body == Array(SecureServer.body[..<recorder.body.count]))
            #expect((recorder.end == .complete) == (paths[index / 3] != "/short"))
        }
        // The first goes ahead, and may be done when the others start: then one takes its connection.
        #expect((recorders.count - 1...recorders.count).contains(server.connections.count))
    }

    @Test(arguments: ["/dying", "/dyingcut"]) func `a kept connection that fails on reuse gets one silent retry`(
        path: String
    ) throws {
        #expect(try bench.fetch(request(path)).end == .complete)
        #expect(try bench.fetch(request(path)).end == .complete)
        #expect(server.requests(path) == 3)
        #expect(server.connections.count == 2)
        #expect(try bench.fetch(request("/dead")).fault?.kind == .connectionLost)
    }

    @Test func `a stalled transfer can be cancelled, and its connection is closed`() throws {
        let (id, recorder) = bench.start(request("/stall"))
        try bench.run { recorder.body.count == 50_000 }
        bench.transport.cancel(id)
        let limit = bench.clock.now + .seconds(300)
        while !server.log.contains("abandoned") {
            try #require(bench.clock.now < limit, "the server never heard of it")
            bench.settle(rounds: 1)
        }
        #expect(recorder.end == nil)
    }

    @Test func `a transfer that stops in the middle closes its connection`() throws {
        let recorder = Recorder()
        recorder.onChunk = { _ in recorder.body.count > 100_000 ? .stop : .taken }
        try bench.fetch(request("/burst"), into: recorder)
        #expect(recorder.end == .stopped)
        #expect(try bench.fetch(request("/small")).body == Array(SecureServer.body[..<1_000]))
        #expect(server.connections.count == 2)
    }

    @Test func `a connection serves only transfers with the same trust settings and credentials`() throws {
        var other = settings.values
        other.verifiesPeer = false
        var careless = request("/small")
        careless.settings = TransferSettings(other)
        var shy = request("/small")
        shy.carriesSecrets = false
        for one in [request("/small"), careless, shy, request("/small")] {
            #expect(try bench.fetch(one).end == .complete)
        }
        #expect(server.requests("/small") == 4)
        #expect(server.connections.count == 3)
    }

    @Test func `a transport that is released leaves nothing behind`() throws {
        weak var gone: HTTP1Client?
        do {
            let bench = try Bench()
            gone = bench.transport.http1
            #expect(try bench.fetch(request("/small")).end == .complete)
            let (_, recorder) = bench.start(request("/stall"))
            try bench.run { recorder.body.count == 50_000 }
        }
        #expect(gone == nil)
    }

    @Test(
        .enabled("the processor has instructions for AES") {
            String(decoding: FileSystem.contents("/proc/cpuinfo") ?? [], as: UTF8.self).contains(" aes ")
        }) func `the cheaper of two equal ciphers is chosen`() throws
    {
        try bench.fetch(request("/small"))
        #expect(server.connections == ["connection TLS_AES_128_GCM_SHA256"])
    }
}
