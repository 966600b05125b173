import PawlTestKit
import Testing

/// A machine without a network, as sandboxes are: what leads to the machine itself works.
@Suite(.ownThreads, .enabled(if: NetworkNamespace.isAvailable, "needs root and iproute2")) struct LoopbackOnlyTests {
    private static let payload = Payload(seed: 96, length: 3_000_000)

    /// What a program that ran there with the origin has left.
    private struct Result: Sendable {
        var exit: PawlProcess.Exit?
        var output: String
        var errors: String
        var difference: String?
        var requests: Int
    }

    /// Runs the program where only `lo` is up; `PORT` in `arguments` and `environment` stands for the origin's port.
    private func run(
        _ arguments: [String], environment: [String: String] = [:], hosts: String? = nil, input: String = "",
        difference name: String? = "f"
    ) throws -> Result {
        let folder = try TemporaryFolder()
        try FileSystem.write(Array((hosts ?? "").utf8), to: folder.path("hosts"))
        let found = NetworkNamespace.run { () -> Result? in
            guard NetworkNamespace.shell("ip link set lo up"), let origin = try? OriginServer() else { return nil }
            defer { origin.stop() }
            for path in ["/f", "/bucket/f"] { _ = origin.serve(path, Self.payload) }
            let port = { (text: String) in text.replacing("PORT", with: "\(origin.port)") }
            try? FileSystem.write(Array(port(input).utf8), to: folder.path("input"))
            let cover = hosts == nil ? "" : "mount --bind hosts /etc/hosts || exit 99; "
            guard
                let process = try? PawlProcess.run(
                    "/usr/bin/unshare",
                    ["-m", "/bin/sh", "-c", cover + "exec \"$0\" \"$@\" <input", PawlBinary.path] + arguments.map(port),
                    environment: environment.mapValues(port), folder: folder.path)
            else { return nil }
            return Result(
                exit: process.exit, output: process.output, errors: process.errors,
                difference: name.flatMap { folder.difference($0, from: Self.payload) }, requests: origin.log.connections
            )
        }
        let result: Result? = found ?? nil
        return try #require(result)
    }

    private func expectFile(_ result: Result) {
        #expect(result.exit == .code(0) && result.difference == nil, "\(result)")
    }

    @Test(arguments: [
        ["--proxy", "http://127.0.0.1:PORT", "http://files.example/f"],
        ["--resolve", "files.example:PORT:127.0.0.1", "http://files.example:PORT/f"],
        ["--endpoint-url", "http://127.0.0.1:PORT", "--no-sign-request", "s3://bucket/f"], ["http://localhost:PORT/f"],
    ]) func `proxies, overrides and endpoints on this machine are used`(_ arguments: [String]) throws {
        expectFile(try run(["get", "--json", "--retries", "0"] + arguments))
    }

    @Test func `a proxy of the environment is used`() throws {
        let environment = ["http_proxy": "http://127.0.0.1:PORT"]
        expectFile(try run(["get", "--json", "--retries", "0", "http://files.example/f"], environment: environment))
    }

    @Test func `a name that leads to this machine is used`() throws {
        let get = ["get", "--json", "--retries", "0", "http://files.example:PORT/f"]
        expectFile(try run(get, hosts: "127.0.0.1 files.example localhost\n"))
    }

    @Test func `pipe fetches through a proxy, and reports what cannot be reached`() throws {
        let options = ["pipe", "--network-timeout", "0.5", "--robots", "ignore", "-q", "--allow-private-addresses"]
        let proxied = try run(
            options + ["--proxy", "http://127.0.0.1:PORT"], input: "http://files.example/f\n", difference: nil)
        #expect(proxied.exit == .code(0) && proxied.output.contains(#""status":"ok""#), "\(proxied)")
        let mixed = try run(
            options, hosts: "127.0.0.1 files.example localhost\n",
            input: "http://192.0.2.1/x\nhttp://files.example:PORT/f\n", difference: nil)
        let lines = mixed.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.contains { $0.contains(#""status":"ok""#) }, "\(mixed)")
        #expect(lines.contains { $0.contains("192.0.2.1") && $0.contains("no network for 0.5 s") }, "\(mixed)")
    }

    @Test func `what a server on this machine refuses is reported, not waited for`() throws {
        let refused = try run([
            "get", "--json", "--retries", "0", "--proxy", "http://127.0.0.1:PORT", "http://a.example/none",
        ])
        #expect(refused.exit == .code(3), "\(refused)")
    }
}
