import PawlBase
import PawlCurl
import Testing

@testable import PawlHTTP

@Suite struct TransferOrderTests {
    @Test func `the head comes before the first byte and the end after the last`() throws {
        let bytes = payload(300_000)
        let server = try ScriptedServer { _ in .body(bytes, lines: "ETag: \"one\"\r\n") }
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(recorder.body == bytes)
        #expect(recorder.head?.contentLength == 300_000)
        #expect(recorder.head?.entityTag == EntityTag(opaque: "one", isWeak: false))
    }

    @Test func `a head without a body is delivered`() throws {
        let server = try ScriptedServer { _ in .body([]) }
        defer { server.stop() }
        let recorder = try Bench().fetch(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .ended(.complete)])
    }

    @Test func `a stop at the head accepts no byte`() throws {
        let server = try ScriptedServer { _ in .body(payload(100_000)) }
        defer { server.stop() }
        let recorder = try Bench().fetchHead(TransferRequest(port: server.port))
        #expect(recorder.events == [.head(200), .ended(.stopped)])
    }

    @Test func `a stop at a chunk ends the transfer with stopped`() throws {
        let server = try ScriptedServer { _ in .body(payload(1_000_000)) }
        defer { server.stop() }
        let recorder = Recorder()
        recorder.onChunk = { _ in recorder.body.count > 100_000 ? .stop : .taken }
        try Bench().fetch(TransferRequest(port: server.port), into: recorder)
        #expect(recorder.end == .stopped)
        #expect(recorder.body.count < 1_000_000)
    }

    @Test func `a paused transfer gets the same bytes once after resume`() throws {
        let bytes = payload(2_000_000)
        let server = try ScriptedServer { _ in .body(bytes) }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        var isOpen = false
        recorder.onChunk = { _ in
            // Accepts a chunk after each pause, so that pauses occur at every position.
            isOpen.toggle()
            return isOpen ? .taken : .pause
        }
        var request = TransferRequest(port: server.port)
        request.bufferSize = 64 * 1024
        let (id, _) = bench.start(request, into: recorder)
        var seen = 0
        try bench.run {
            if recorder.pauses > seen {
                seen = recorder.pauses
                bench.transport.resume(id)
            }
            return recorder.end != nil
        }
        #expect(recorder.end == .complete)
        #expect(recorder.body == bytes)
        #expect(recorder.heads.count == 1)
        #expect(seen > 10)
    }

    @Test func `a resume inside another transfer's callback works`() throws {
        let bytes = payload(500_000)
        let server = try ScriptedServer { _ in .body(bytes) }
        defer { server.stop() }
        let bench = try Bench()
        let waiting = Recorder()
        waiting.onChunk = { _ in waiting.pauses == 0 ? .pause : .taken }
        let (id, _) = bench.start(TransferRequest(port: server.port), into: waiting)
        try bench.run { waiting.pauses == 1 }
        let other = Recorder()
        other.onChunk = { _ in
            bench.transport.resume(id)
            return .taken
        }
        bench.start(TransferRequest(port: server.port), into: other)
        try bench.run { waiting.end != nil && other.end != nil }
        #expect(waiting.body == bytes)
        #expect(other.body == bytes)
    }

    @Test func `a stop after a pause ends with stopped`() throws {
        let server = try ScriptedServer { _ in .body(payload(500_000)) }
        defer { server.stop() }
        let bench = try Bench()
        let recorder = Recorder()
        recorder.onChunk = { _ in recorder.pauses == 0 ? .pause : .stop }
        let (id, _) = bench.start(TransferRequest(port: server.port), into: recorder)
        try bench.run { recorder.pauses == 1 }
        bench.transport.resume(id)
        try bench.run { recorder.end != nil }
        #expect(recorder.end == .stopped)
        #expect(recorder.body.isEmpty)
    }

    @Test func `a transfer can be started inside every callback`() throws {
        let server = try ScriptedServer { _ in .body(payload(1_000)) }
        defer { server.stop() }
        let bench = try Bench()
        let inner = [Recorder(), Recorder(), Recorder()]
        let outer = Recorder()
        outer.onHead = { _ in
            bench.start(TransferRequest(port: server.port), into: inner[0])
            return true
        }
        outer.onChunk = { _ in
            bench.start(TransferRequest(port: server.port), into: inner[1])
            return .taken
        }
        outer.onEnd = { _ in bench.start(TransferRequest(port: server.port), into: inner[2]) }
        bench.start(TransferRequest(port: server.port), into: outer)
        try bench.run { inner.allSatisfy { $0.end != nil } }
        #expect(outer.end == .complete)
        #expect(inner.allSatisfy { $0.end == .complete && $0.body == payload(1_000) })
    }
}
