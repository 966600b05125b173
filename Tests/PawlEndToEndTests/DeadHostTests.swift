import Glibc
import PawlCore
import PawlTestKit
import Testing

/// Servers of samples that cannot be connected to, and a machine without a network.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program"))
struct DeadHostTests {
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
            ["pipe", "-q", "-i", folder.path("jobs"), "--robots", "ignore", "--network-timeout", "0.5"]
                + shard
        )
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
