import PawlBase
import PawlCurl
import PawlSystem
import Testing

@testable import PawlHTTP

@Suite struct CancellingTests {
    /// Cancels a transfer inside the callback for its header section, and waits until nothing more is due.
    private func cancelInHead(_ bench: Bench, _ server: ScriptedServer) throws -> Recorder {
        let recorder = Recorder()
        var id = TransferID(rawValue: 0)
        recorder.onHead = { _ in
            bench.transport.cancel(id)
            return true
        }
        (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
        try bench.run { !recorder.events.isEmpty }
        bench.settle()
        return recorder
    }

    @Test func `cancelled before the first round, nothing is requested`() throws {
        let server = try ScriptedServer { _ in .body(payload(1_000)) }
        defer { server.stop() }
        let bench = try Bench()
        let (id, recorder) = bench.start(TransferRequest(port: server.port))
        bench.transport.cancel(id)
        bench.settle()
        #expect(recorder.events.isEmpty)
        #expect(server.requests.isEmpty)
    }

    @Test func `cancelled inside the head callback, nothing follows`() throws {
        let server = try ScriptedServer { _ in .body(payload(100_000)) }
        defer { server.stop() }
        let bench = try Bench()
        #expect(try cancelInHead(bench, server).events == [.head(200)])
    }

    @Test func `cancelled inside the head callback, its connection is closed before the body has ended`() throws {
        for head in ["Content-Length: 9", "Transfer-Encoding: chunked"] {
            let server = try ScriptedServer { _ in .init("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n", .hold) }
            defer { server.stop() }
            // In its time no deadline passes.
            let clock = SetClock()
            let bench = try Bench(clock)
            let recorder = Recorder()
            var id = TransferID(rawValue: 0)
            recorder.onHead = { _ in
                bench.transport.cancel(id)
                return false
            }
            (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
            while recorder.events.isEmpty { bench.transport.round(on: bench.poller, until: nil) }
            #expect(recorder.events == [.head(200)])
            // The wait ends with the connection, in real time.
            for _ in 0..<2000 where server.abandoned == 0 {
                bench.transport.round(on: bench.poller, until: clock.now + .milliseconds(5))
            }
            #expect(server.abandoned == 1, "\(head)")
        }
    }

    @Test(arguments: [ChunkResult.taken, .pause, .stop]) func `cancelled inside the chunk callback, nothing follows`(
        result: ChunkResult
    ) throws {
        let server = try ScriptedServer { _ in .body(payload(1_000_000)) }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        var id = TransferID(rawValue: 0)
        var chunks = 0
        recorder.onChunk = { _ in
            chunks += 1
            bench.transport.cancel(id)
            return result
        }
        (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
        try bench.run { chunks > 0 }
        bench.transport.resume(id)
        bench.settle()
        #expect(chunks == 1)
        #expect(recorder.events == [.head(200), .body])
    }

    @Test func `cancelled inside its own end, and once more, it does no harm`() throws {
        let server = try ScriptedServer { _ in .body(payload(1_000)) }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        var id = TransferID(rawValue: 0)
        recorder.onEnd = { _ in bench.transport.cancel(id) }
        (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
        try bench.run { recorder.end != nil }
        bench.transport.cancel(id)
        bench.settle()
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
    }

    @Test func `cancelled inside a head that was held back, no end is reported`() throws {
        let server = try ScriptedServer { _ in .init("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n") }
        defer { server.stop() }
        let bench = try Bench()
        #expect(try cancelInHead(bench, server).events == [.head(401)])
        #expect(try bench.fetch(TransferRequest(port: server.port)).head?.status == 401)
    }

    @Test func `a callback can cancel all the others`() throws {
        let content = payload(1_000_000)
        let server = try ScriptedServer { _ in .body(content) }
        defer { server.stop() }
        let bench = try Bench()
        var others: [(TransferID, Recorder)] = []
        let first = Recorder()
        first.onChunk = { _ in
            for (id, _) in others { bench.transport.cancel(id) }
            return .taken
        }
        for _ in 0..<5 {
            let recorder = Recorder()
            recorder.onChunk = { _ in .pause }
            others.append(bench.start(TransferRequest(port: server.port), into: recorder))
        }
        try bench.run { others.allSatisfy { $0.1.pauses == 1 } }
        let before = others.map { $0.1.events }
        bench.start(TransferRequest(port: server.port), into: first)
        try bench.run { first.end != nil }
        #expect(first.body == payload(1_000_000))
        #expect(others.map { $0.1.events } == before)
    }

    @Test func `the server sees a cancelled connection end at once`() throws {
        let server = try ScriptedServer { _ in .init("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .hold) }
        let bench = try Bench()
        let (id, recorder) = bench.start(TransferRequest(port: server.port))
        try bench.run { recorder.body.count == 4 }
        bench.transport.cancel(id)
        server.waitForClients()
        #expect(server.abandoned == 1)
        #expect(recorder.end == nil)
        server.stop()
    }
}
