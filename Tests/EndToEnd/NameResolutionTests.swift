import PawlBase
import PawlTestKit
import Testing

/// A resolver that sustains few queries, in a network and with a resolv.conf of its own.
@Suite(
    .ownThreads, .serialized,
    .enabled(
        if: PawlBinary.isBuilt && Namespace.isAvailable && ServerProcess.isInstalled("python3"),
        "needs the built program, root, iproute2 and python3")) struct `Name resolution`
{
    private static let origin = """
        import http.server
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                if self.path.startswith("/to/"):
                    self.send_response(302)
                    self.send_header("Location", f"http://{self.path[4:]}:8000/x")
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                self.send_response(200)
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"bytes")
            def log_message(self, *words): pass
        http.server.ThreadingHTTPServer.request_queue_size = 512
        server = http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Handler)
        print("ready", flush=True)
        server.serve_forever()
        """

    /// Starts resolver and origin, and when they are ready the program with these options.
    private static let script = """
        mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf || exit 99
        mkfifo "$FOLDER/ready"
        python3 "$RESOLVER" 127.0.0.53 200 --log "$FOLDER/log" > "$FOLDER/ready" &
        resolver=$!
        read -r word < "$FOLDER/ready"
        python3 -c "$ORIGIN" > "$FOLDER/ready" &
        origin=$!
        read -r word < "$FOLDER/ready"
        "$PAWL" "$@"
        code=$?
        kill $resolver $origin
        wait $resolver
        exit $code
        """

    private func run(_ folder: TemporaryFolder, _ arguments: [String]) throws -> PawlProcess {
        let namespace = try Namespace(number: 14)
        try FileSystem.write(Array("nameserver 127.0.0.53\n".utf8), to: folder.path("resolv.conf"))
        let resolver = Checkout.root + "/Scripts/slow_resolver.py"
        let process = try PawlProcess(
            "/usr/bin/env",
            [
                "ORIGIN=\(Self.origin)", "FOLDER=\(folder.path)", "PAWL=\(PawlBinary.path)", "RESOLVER=\(resolver)",
                "/bin/sh", "-c",
                """
                exec "$(command -v ip || echo /usr/sbin/ip)" netns exec \(namespace.name) unshare -m sh -c "$0" sh "$@"
                """, Self.script,
            ] + arguments, folder: folder.path)
        process.wait()
        return process
    }

    @Test func `all names are resolved although the resolver sustains few of them at once`() throws {
        let folder = try TemporaryFolder()
        let count = 250
        let lines = (0..<count).map { "http://h\($0).example:8000/x" }
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["--robots", "ignore", "--allow-private-addresses", "-q", "-i", "jobs"]
        let process = try run(folder, ["pipe"] + options)
        #expect(process.exit == .code(0), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.count(where: { $0["status"]?.string == "ok" }) == count)
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(!log.contains("failed 0\n") && !log.contains("dropped 0\n"), "it was overloaded: \(log)")
    }

    @Test func `a name that does not exist fails at once and is requested once`() throws {
        let folder = try TemporaryFolder()
        let lines = (0..<50).map { "http://dead.example:8000/\($0)" }
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["--robots", "ignore", "--allow-private-addresses", "-q", "-i", "jobs"]
        let process = try run(folder, ["pipe"] + options)
        #expect(process.exit == .code(19), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.count == 50 && results.allSatisfy { $0["attempts"]?.integer == 1 })
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(log.hasPrefix("resolved 2\n"), "IPv4 and IPv6: \(log)")
    }

    @Test(arguments: [[], ["--to", "out", "--format", "tar", "--shard", "s"]])
    func `names without a response from DNS take no place, and fail with code 19`(shard: [String]) throws {
        let folder = try TemporaryFolder()
        let lines = ["silent", "h"].flatMap { name in (0..<8).map { "http://\(name)\($0).example:8000/x" } }
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = [
            "-j", "2", "--retries", "0", "--robots", "ignore", "--allow-private-addresses", "-q", "--connect-timeout",
            "60",
        ]
        let process = try run(folder, ["pipe", "-i", "jobs"] + options + shard)
        #expect(process.exit == .code(19), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        let statuses = [[String](repeating: "ok", count: 8), [String](repeating: "failed", count: 8)]
        let expected = shard.isEmpty ? statuses : statuses.reversed()
        #expect(results.map { $0["status"]?.string } == expected.flatMap(\.self))
        #expect(shard.isEmpty || results.compactMap { $0["url"]?.string } == lines)
        for failed in results where failed["status"]?.string == "failed" {
            #expect(failed["code"]?.integer == 19 && failed["attempts"]?.integer == 1)
            #expect(failed["reason"]?.string?.contains("DNS did not respond") == true)
        }
    }

    @Test func `the limit for a sample holds while its host is looked up`() throws {
        let folder = try TemporaryFolder()
        let lines = (0..<3).map { "http://silent0.example:8000/\($0)" } + ["http://h0.example:8000/x"]
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["--sample-timeout", "1", "--robots", "ignore", "--allow-private-addresses", "-q"]
        let process = try run(folder, ["pipe", "-i", "jobs"] + options)
        #expect(process.exit == .code(2), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.map { $0["code"]?.integer } == [0, 2, 2, 2])
    }

    @Test func `a redirect to a host whose name server is silent holds up no other sample`() throws {
        let folder = try TemporaryFolder()
        let lines =
            (0..<2).map { "http://127.0.0.1:8000/to/silent\($0).example" } + [
                "http://127.0.0.1:8000/to/h0.example", "http://127.0.0.1:8000/to/dead0.example",
            ] + (0..<4).map { "http://127.0.0.2:8000/\($0)" }
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["-j", "2", "--retries", "0", "--robots", "ignore", "--allow-private-addresses", "-q"]
        let process = try run(folder, ["pipe", "-i", "jobs"] + options)
        #expect(process.exit == .code(19), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.count == 8)
        let silent = results.filter { $0["url"]?.string?.contains("silent") == true }
        #expect(silent.allSatisfy { $0["code"]?.integer == 19 && $0["attempts"]?.integer == 1 })
        #expect(silent == results.suffix(2), "the others did not wait for their lookups")
        #expect(results.count { $0["status"]?.string == "ok" } == 5)
        #expect(results.filter { $0["url"]?.string?.contains("dead0") == true }.map { $0["code"]?.integer } == [19])
    }

    @Test func `where one of two queries of a name is lost, the next names wait for it once`() throws {
        let folder = try TemporaryFolder()
        // One after another: the redirects of one sample.
        let lines = ["http://half0.example:8000/to/half1.example"]
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["--robots", "ignore", "--allow-private-addresses", "-q"]
        let process = try run(folder, ["pipe", "-i", "jobs"] + options)
        #expect(process.exit == .code(0), "\(process.errors)")
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        // Six for the first name, two for the second one; three times six when all were sent at once.
        let queries = log.split(separator: "\n").first.flatMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(queries == 8, "\(log)")
    }

    @Test(arguments: [["--robots", "ignore"], ["--contact", "me@example.org"]])
    func `names that cannot be resolved do not delay other hosts`(robots: [String]) throws {
        let folder = try TemporaryFolder()
        let lines = ["broken", "h"].flatMap { name in (0..<8).map { "http://\(name)\($0).example:8000/x" } }
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path("jobs"))
        let options = ["-j", "4", "--retries", "2", "--retry-delay", "0.8", "--allow-private-addresses", "-q"]
        let process = try run(folder, ["pipe", "-i", "jobs"] + robots + options)
        #expect(process.exit == .code(19), "\(process.errors)")
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(
            results.map { $0["status"]?.string } == [String](repeating: "ok", count: 8)
                + [String](repeating: "failed", count: 8))
        if robots[0] == "--robots" { #expect(results.suffix(8).allSatisfy { $0["attempts"]?.integer == 3 }) }
    }
}
