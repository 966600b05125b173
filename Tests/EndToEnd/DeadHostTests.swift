import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Servers of samples that cannot be connected to, and a machine without a network.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct DeadHostTests {
    /// A port of this machine on which nothing listens; as long as `socket` is open no other program gets it.
    private static func closedPort() throws -> (socket: Int32, port: UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        try #require(isBound)
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// A port whose connections are never accepted: the queue of the listening socket is full.
    private final class SilentPort {
        let port: UInt16
        private var sockets: [Int32] = []

        init() throws {
            let (socket, port) = try DeadHostTests.closedPort()
            self.port = port
            sockets = [socket]
            try #require(listen(socket, 0) == 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            for _ in 0..<4 {
                let client = Glibc.socket(AF_INET, type, 0)
                sockets.append(client)
                unsafe withUnsafePointer(to: &address) { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }
        }

        deinit { for socket in sockets { close(socket) } }
    }

    private static let polite = ["--contact", "me@example.org", "--allow-private-addresses"]

    @Test func `after some samples that could not connect, others of the server fail at once`() throws {
        let bench = try PipeBench()
        let (socket, port) = try Self.closedPort()
        defer { close(socket) }
        let dead = (0..<40).map { "http://127.0.0.1:\(port)/\($0)" }
        let alive = (0..<10).map { bench.origin.serve("/\($0)", Payload(text: "abc")) }
        try bench.write(dead + alive)
        let options = ["--per-host", "1", "--retries", "1", "--retry-delay", "0.01", "-q"]
        let (code, results) = try bench.run(options + ["--host-failures", "3"], with: PipeBench.local)
        #expect(code == 6 && results.count == 50)
        #expect(results.count { $0["status"]?.string == "ok" } == 10, "another port is another server")
        let failed = results.filter { $0["status"]?.string == "failed" }
        #expect(failed.count == 40 && failed.allSatisfy { $0["code"]?.integer == 6 })
        #expect(failed.map { $0["attempts"]?.integer == 2 } == (0..<40).map { $0 < 3 })
        #expect(failed.last?["attempts"]?.integer == 0)
        let reason = failed.last?["reason"]?.string ?? ""
        #expect(reason.contains("it was not tried, since 127.0.0.1:\(port) could not be connected to"))
        let all = try bench.run(options + ["--host-failures", "0"], with: PipeBench.local)
        #expect(all.results.filter { $0["attempts"]?.integer == 2 }.count == 40)
    }

    @Test func `a server that accepts no connection within the time of a sample is tried no more`() throws {
        let bench = try PipeBench()
        let silent = try SilentPort()
        try bench.write((0..<40).map { "http://127.0.0.1:\(silent.port)/\($0)" })
        let options = ["--per-host", "1", "--sample-timeout", "0.5", "--host-failures", "2", "-q"]
        let (code, results) = try bench.run(options, with: PipeBench.local)
        #expect(code == 2 && results.count == 40)
        let reasons = results.map { $0["reason"]?.string ?? "" }
        #expect(reasons.prefix(2).allSatisfy { $0.contains("it took longer than 0.5 s") })
        // On a busy machine one may have ended before it was known that it could not connect.
        #expect(reasons.count { $0.contains("it was not tried, since 127.0.0.1:\(silent.port)") } > 30)
    }

    @Test func `a slow response is no failure to connect`() throws {
        let bench = try PipeBench()
        try bench.write(
            (0..<6).map { number in bench.origin.serve("/\(number)", Payload(text: "abc")) { $0.delay = .untilReleased }
            })
        let options = ["--per-host", "1", "--sample-timeout", "0.2", "--host-failures", "1", "-q"]
        let (code, results) = try bench.run(options, with: PipeBench.local)
        #expect(code == 2 && results.count == 6)
        #expect(results.allSatisfy { $0["reason"]?.string?.contains("it took longer than 0.2 s") == true })
    }

    @Test func `objects of a store that cannot be connected to fail at once after some`() throws {
        let (socket, port) = try Self.closedPort()
        defer { close(socket) }
        let bench = try PipeBench()
        try bench.write((0..<40).map { "s3://bucket/\($0)" })
        let options = [
            "--endpoint-url", "http://127.0.0.1:\(port)", "--no-sign-request", "--per-host", "1", "--retries", "1",
            "--retry-delay", "0.01", "--host-failures", "3", "-q",
        ]
        let (code, results) = try bench.run(options, with: PipeBench.local)
        #expect(code == 6 && results.count == 40)
        let reasons = results.map { $0["reason"]?.string ?? "" }
        #expect(reasons.count { $0.contains("it was not tried, since the store of s3://bucket could not be") } == 37)
    }

    @Test func `a robots dot txt that cannot be fetched for lack of a connection counts for all`() throws {
        let bench = try PipeBench()
        let (socket, port) = try Self.closedPort()
        defer { close(socket) }
        try bench.write((0..<2_000).map { "http://127.0.0.1:\(port)/\($0)" })
        let options = ["--retries", "0", "-q"]
        for limit in ["5", "0"] {
            let (code, results) = try bench.run(options + ["--host-failures", limit], with: Self.polite)
            #expect(code == 6 && results.count == 2_000)
            #expect(results.allSatisfy { $0["status"]?.string == "failed" && $0["code"]?.integer == 6 })
        }
    }

    @Test func `responses with an error status are no failures to connect`() throws {
        let bench = try PipeBench()
        let urls = (0..<20).map { number in
            bench.origin.serve("/\(number)", Payload(text: "abc")) { $0.instead = .status(500) }
        }
        try bench.write(urls)
        let (code, results) = try bench.run(["--host-failures", "1", "--retries", "0"])
        #expect(code == 22 && results.allSatisfy { $0["http"]?.integer == 500 })
    }

    @Test func `a robots dot txt that does not come is given up with the time of a sample`() throws {
        let bench = try PipeBench()
        bench.origin.serve("/robots.txt", Payload(text: "")) { $0.delay = .untilReleased }
        try bench.write((0..<3).map { bench.origin.serve("/\($0)", Payload(text: "abc")) })
        let (code, results) = try bench.run(["--sample-timeout", "0.3"], with: Self.polite)
        #expect(code == 2 && results.count == 3)
        #expect(results.allSatisfy { $0["reason"]?.string?.contains("longer than 0.3 s") == true })
        #expect(results.allSatisfy { $0["reason"]?.string?.contains("/robots.txt") == true })
        bench.origin.adjust("/robots.txt") { ($0.delay, $0.instead) = (.none, .status(503)) }
        let options = ["--sample-timeout", "5", "--retries", "100", "--retry-delay", "0.01"]
        let (unavailable, refused) = try bench.run(options, with: Self.polite)
        #expect(unavailable == 29 && refused.count == 3)
        #expect(refused.allSatisfy { $0["status"]?.string == "refused" && $0["http"]?.integer == 503 })
        #expect(bench.origin.log.of("/robots.txt").count > 2 && bench.origin.log.of("/0").isEmpty)
    }

    private static let canLoseNetwork = Namespace.isAvailable

    @Test(.enabled(if: canLoseNetwork, "needs root and iproute2"), arguments: [true, false])
    func `without a network the samples fail after a time`(isShard: Bool) throws {
        let namespace = try Namespace(number: isShard ? 15 : 16)
        try namespace.unplug()
        let folder = try TemporaryFolder()
        let lines = (0..<200).map { "http://192.0.2.\($0 % 9)/\($0)" } + ["http://h.example/x"]
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let shard = isShard ? ["--to", folder.path("out"), "--format", "tar", "--shard", "s"] : []
        let process = try namespace.start(
            PawlBinary.path,
            ["pipe", "-q", "-i", folder.path("jobs"), "--robots", "ignore", "--network-timeout", "0.5"] + shard)
        #expect(process.wait() == .code(6), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        guard !isShard else {
            #expect(results.isEmpty && process.errors.contains("no network for 0.5 s"))
            #expect(FileSystem.names(in: folder.path("out")).isEmpty)
            return
        }
        #expect(results.count == 201 && results.allSatisfy { $0["code"]?.integer == 6 })
        #expect(results.allSatisfy { $0["reason"]?.string?.contains("no network for 0.5 s") == true })
    }
}
