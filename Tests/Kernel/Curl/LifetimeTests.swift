import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@testable import PawlHTTP

@Suite struct LifetimeTests {
    @Test func `a wake from another thread ends the wait`() throws {
        let bench = try Bench()
        let isWoken = Atomic(false)
        let wake = bench.poller.wake
        let thread = SystemThread.start {
            isWoken.store(true, ordering: .releasing)
            wake()
        }
        // Without the wake-up this wait would never end.
        while !isWoken.load(ordering: .acquiring) { bench.transport.round(on: bench.poller, until: nil) }
        thread.join()
    }

    @Test func `a wake before the wait is not lost, and one after the end does no harm`() throws {
        var bench: Bench? = try Bench()
        let wake = try #require(bench?.poller.wake)
        wake()
        if let bench { bench.transport.round(on: bench.poller, until: nil) }
        bench = nil
        wake()
    }

    @Test func `a transport leaves no connection behind, whatever was active`() throws {
        let server = try ScriptedServer { request in
            request.target == "/hold" ? .init("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .hold) : .body([1])
        }
        var bench: Bench? = try Bench()
        let running = Recorder()
        try #require(bench).fetch(TransferRequest(port: server.port))
        bench?.start(TransferRequest(port: server.port, path: "/hold"), into: running)
        bench?.start(TransferRequest(port: server.port, path: "/never"))
        let paused = Recorder()
        paused.onChunk = { _ in .pause }
        bench?.start(TransferRequest(port: server.port), into: paused)
        try bench?.run { running.body.count == 4 && paused.pauses == 1 }
        bench?.start(TransferRequest(port: server.port, path: "/joining"))
        bench = nil
        // Returns only when every connection is closed from this side.
        server.waitForClients()
        #expect(server.abandoned == 1)
        #expect(running.end == nil)
        server.stop()
    }

    @Test func `a sink is released after its end`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try Bench()
        weak var trace: Recorder?
        do {
            let recorder = try bench.fetch(TransferRequest(port: server.port))
            trace = recorder
            #expect(recorder.end == .complete)
        }
        #expect(trace == nil)
    }

    @Test func `connections of plain HTTP are reused, also by separate transfers`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        defer { server.stop() }
        let bench = try Bench()
        for turn in 0..<6 {
            var request = TransferRequest(port: server.port)
            request.connection = turn.isMultiple(of: 2) ? .shared : .separate
            try bench.fetch(request)
        }
        #expect(server.requests.count == 6)
        #expect(server.connections == 1)
    }

    @Test func `many simultaneous transfers all complete`() throws {
        let server = try ScriptedServer { request in .body(payload(3_000, seed: UInt64(request.target.utf8.count))) }
        defer { server.stop() }
        let bench = try Bench()
        let recorders = (0..<100).map { number in
            let path = "/" + String(repeating: "x", count: number)
            return bench.start(TransferRequest(port: server.port, path: path)).1
        }
        try bench.run { recorders.allSatisfy { $0.end != nil } }
        for (number, recorder) in recorders.enumerated() {
            #expect(recorder.end == .complete)
            #expect(recorder.body == payload(3_000, seed: UInt64(number + 1)))
        }
    }
}
