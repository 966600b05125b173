import PawlTestKit
import Testing

/// The source address of connections, and their lowest speed.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `Links` {
    private let content = Payload(seed: 71, length: 3_000_000)

    /// Serves ten bytes to any client and prints the address of each.
    private func peers(port: UInt16) throws -> PawlProcess {
        let script = """
            import http.server
            class H(http.server.BaseHTTPRequestHandler):
                def log_message(s,*a): pass
                def do_GET(s):
                    print(s.client_address[0],flush=True)
                    s.send_response(200); s.send_header('Content-Length','10'); s.end_headers(); s.wfile.write(b'0123456789')
            print('ready',flush=True)
            http.server.HTTPServer(('127.0.0.1',\(port)),H).serve_forever()
            """
        return try PawlProcess("/usr/bin/python3", ["-c", script])
    }

    @Test func `interface selects the source address, for get, the queue and aria2c alike`() throws {
        let port = try FreePort.choose()
        let server = try peers(port: port)
        try #require(server.line { $0 == "ready" } != nil)
        let bench = try Bench()
        let house = try ServiceHouse()
        let url = "http://127.0.0.1:\(port)/f"
        // It prints ready before it listens.
        #expect(try bench.get("--retries", "100", "--interface", "127.0.0.2", url).code == 0)
        #expect(try house.run("add", "--interface", "127.0.0.3", url).exit == .code(0))
        #expect(try house.run("wait", "--all").exit == .code(0))
        let stand = try PawlProcess.run(
            PawlBinary.path, ["aria2c", "-d", bench.folder.path, "-o", "g", "--interface=127.0.0.4", url])
        #expect(stand.exit == .code(0), "\(stand.errors)")
        #expect(Set(server.lines.dropFirst()) == ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        server.send(15)
    }

    @Test func `a missing interface is reported`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", content)
        let outcome = try bench.get("--retries", "0", "--interface", "nonesuch0", url)
        #expect(outcome.code == 6, "\(outcome)")
        #expect(outcome.errors.contains("nonesuch0"), "\(outcome)")
        let none = try bench.get("--interface", "if!lo", url)
        #expect(none.code == 28 && bench.origin.ended("/f").isEmpty)
    }

    @Test func `a server below the lowest speed fails with aria2's code, and the received bytes are kept`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", content) { $0.pace = 2_000 }
        let slow = try bench.get("-x", "1", "--retries", "0", "--lowest-speed-limit", "100K", url)
        #expect(slow.code == 5, "\(slow)")
        #expect(slow.errors.contains("no more than 102400 bytes per second for 10.0 s"), "\(slow)")
        bench.origin.adjust("/f") { $0.pace = nil }
        #expect(try bench.get("--lowest-speed-limit", "100K", url).code == 0)
        #expect(FileSystem.difference(of: bench.folder.path("f"), from: content) == nil)
        #expect(bench.origin.ended("/f").map(\.bodyStart).contains { $0 > 0 }, "it went on")
    }
}
