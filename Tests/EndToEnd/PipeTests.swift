import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The program in a pipe, against an origin on this machine.
final class PipeBench: Sendable {
    let origin: OriginServer
    let folder: TemporaryFolder
    /// How much larger each payload is than the one before it.
    private let growth: Int64
    private let environment: [String: String]

    init(growth: Int64 = 37, environment: [String: String] = [:]) throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
        self.growth = growth
        self.environment = environment.merging(["HOME": folder.path]) { $1 }
    }

    deinit { origin.stop() }

    /// Each of them keeps connections that are not in use.
    static let loops = 2

    static let local = ["--allow-private-addresses", "--robots", "ignore"]
    static let short = ["--timeout", "5", "--retry-delay", "0.01", "--retries", "2"]

    func write(_ lines: [String], to name: String = "jobs") throws {
        try FileSystem.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.path(name))
    }

    func start(_ options: [String], with defaults: [String] = local + short) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path, ["pipe", "-i", "jobs"] + defaults + options, environment: environment, folder: folder.path)
    }

    func run(_ options: [String], with defaults: [String] = local + short) throws -> (code: Int32?, results: [JSON]) {
        let process = try start(options, with: defaults)
        guard case .code(let code)? = process.wait() else { return (nil, []) }
        return (code, try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) })
    }

    /// `count` samples with their jobs.
    func serve(_ count: Int, _ adjust: (inout Behaviour) -> Void = { _ in }) throws {
        let lines = (0..<count).map { number in
            let url = origin.serve("/\(number).jpg", payload(number)) {
                $0.contentType = "image/jpeg"
                adjust(&$0)
            }
            return #"{"url":"\#(url)","id":"s\#(number)","n":\#(number)}"#
        }
        try write(lines)
    }

    func payload(_ number: Int) -> Payload { Payload(seed: UInt64(number), length: 900 + Int64(number) * growth) }

    func contents(_ name: String) -> [UInt8]? { FileSystem.contents(folder.path(name)) }
}

@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct PipeTests {
    @Test(arguments: [">&-", "<&-", ">&- 2>&- <&-"])
    func `a closed standard stream is none of the files that are opened later`(streams: String) throws {
        let bench = try PipeBench()
        try bench.serve(3)
        let options = (PipeBench.local + ["-q", "--to", "out", "--format", "tar", "--shard", "s"]).joined(
            separator: " ")
        let process = try PawlProcess(
            "/bin/sh", ["-c", "cat jobs | '\(PawlBinary.path)' pipe \(options) \(streams) 2>> errors; echo $?"],
            folder: bench.folder.path)
        process.wait()
        let code = streams.contains("<&-") ? "15" : "17"
        #expect(process.lines.first == code)
        #expect(
            bench.contents("errors").map { String(decoding: $0, as: UTF8.self) }?.contains("Bad file descriptor")
                ?? false)
        let isPublished = code == "17"
        #expect((bench.contents("out/s.tar") != nil) == isPublished)
    }

    @Test func `every job has one result, and files have the samples`() throws {
        let bench = try PipeBench()
        try bench.serve(40)
        let (code, results) = try bench.run(["--to", "out", "--ordered"])
        #expect(code == 0)
        #expect(results.compactMap { $0["id"]?.string } == (0..<40).map { "s\($0)" })
        for number in 0..<40 {
            #expect(results[number]["status"]?.string == "ok" && results[number]["n"]?.integer == Int64(number))
            #expect(bench.folder.difference("out/s\(number).jpg", from: bench.payload(number)) == nil)
        }
        let again = try bench.run(["--to", "out"])
        #expect(again.code == 0 && again.results.allSatisfy { $0["status"]?.string == "already" })
        #expect(Set(again.results.map { $0["sha256"]?.string }) == Set(results.map { $0["sha256"]?.string }))
        #expect(bench.origin.log.of("/0.jpg").count == 1, "a file that is there is not requested")
        #expect(FileSystem.names(in: bench.folder.path("out")).count == 40)
    }

    @Test func `what is no job, forbidden or wrong has a result of its own`() throws {
        let bench = try PipeBench()
        let good = bench.origin.serve("/a.png", Payload(text: "abc")) { $0.contentType = "image/png" }
        let page = bench.origin.serve("/b", Payload(text: "abcdef")) { $0.contentType = "text/plain" }
        let missing = bench.origin.serve("/c", Payload([])) { $0.instead = .status(404) }
        try bench.write([
            "", good, "nonsense", page, missing,
            #"{"url":"\#(good)","checksum":"md5=00000000000000000000000000000000"}"#,
        ])
        let options = ["--ordered", "--accept", "image/*", "--max-size", "5"]
        let (code, results) = try bench.run(options)
        #expect(results.map { $0["status"]?.string } == ["ok", "refused", "failed", "failed", "failed"])
        #expect(results.map { $0["code"]?.integer } == [0, 28, 22, 3, 32])
        #expect(results[1]["line"]?.integer == 3)
        #expect(results[3]["http"]?.integer == 404)
        #expect(code == 32, "the code of the last failure")
        let (_, refused) = try bench.run(["--ordered"], with: ["--robots", "ignore"])
        #expect(refused.first?["status"]?.string == "refused" && refused.first?["code"]?.integer == 33)
        let withoutContact = try bench.start([], with: [])
        #expect(withoutContact.wait() == .code(28) && withoutContact.errors.contains("--contact"))
    }

    @Test func `an address is requested once for all its jobs`() throws {
        let bench = try PipeBench()
        let url = bench.origin.serve("/a.bin", Payload(seed: 3, length: 400_000))
        try bench.write((0..<20).map { #"{"url":"\#(url)","id":\#($0)}"# })
        let (code, results) = try bench.run(["--to", "out"])
        #expect(code == 0 && results.count == 20)
        #expect(Set(results.compactMap { $0["id"]?.integer }).count == 20)
        #expect(bench.origin.ended("/a.bin").count == 1)
        for number in 0..<20 {
            #expect(bench.folder.difference("out/\(number).bin", from: Payload(seed: 3, length: 400_000)) == nil)
        }
    }

    @Test func `samples of one address are files of their own`() throws {
        let bench = try PipeBench()
        // Longer contents are in a file when they are stored.
        let url = bench.origin.serve("/large.jpg", Payload(seed: 1, length: 300_000))
        try bench.write((0..<5).map { #"{"url":"\#(url)","id":"\#($0)"}"# })
        #expect(try bench.run(["--to", "out"]).code == 0)
        let files = (0..<5).map { bench.folder.path("out/\($0).jpg") }
        #expect(files.allSatisfy { FileSystem.contents($0) == Payload(seed: 1, length: 300_000).bytes })
        for file in files {
            var status = stat()
            #expect(unsafe stat(file, &status) == 0 && status.st_nlink == 1, "\(file) is two samples")
        }
    }

    @Test func `a name that has other content is not replaced`() throws {
        let bench = try PipeBench()
        let one = bench.origin.serve("/1", Payload(text: "one"))
        let two = bench.origin.serve("/2", Payload(text: "two"))
        try bench.write([#"{"url":"\#(one)","out":"x"}"#, #"{"url":"\#(two)","out":"x"}"#])
        let (code, results) = try bench.run(["--to", "out"])
        #expect(code == 13)
        #expect(Set(results.map { $0["status"]?.string }) == ["ok", "failed"])
        #expect([Array("one".utf8), Array("two".utf8)].contains(bench.contents("out/x")))
    }

    @Test func `a signal ends it within the grace period, and a closed reader at once`() throws {
        let bench = try PipeBench()
        try bench.serve(3) { $0.delay = .untilReleased }
        let process = try bench.start(["--grace", "0.1"])
        bench.origin.wait(requests: 1, of: "/0.jpg")
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
        #expect(process.output.isEmpty)
        let script = "\"$0\" pipe -i jobs \(PipeBench.local.joined(separator: " ")) | true; exit ${PIPESTATUS[0]}"
        let closed = try PawlProcess.run("/bin/bash", ["-c", script, PawlBinary.path], folder: bench.folder.path)
        #expect(closed.exit == .code(17), "\(closed.errors)")
    }

    @Test(.enabled(if: ServerProcess.isInstalled("script")))
    func `the percentage of a stopped run is that of its results`()
        throws
    {
        let bench = try PipeBench()
        try bench.serve(40)
        for number in 10..<40 { bench.origin.adjust("/\(number).jpg") { $0.delay = .untilReleased } }
        let pipe = "\(PawlBinary.path) pipe -i jobs --grace 0.1 \(PipeBench.local.joined(separator: " "))"
        let script = "mkfifo go; \(pipe) >results & read word <go; kill -INT $!; wait $!"
        let process = try PawlProcess(
            "/usr/bin/script", ["-qec", script, "/dev/null"],
            environment: ["TERM": "xterm", "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8", "HOME": bench.folder.path],
            folder: bench.folder.path)
        #expect(process.hasShown { $0.contains("10 ok") })
        _ = try PawlProcess.run("/bin/sh", ["-c", "echo word >go"], folder: bench.folder.path)
        #expect(process.wait() == .code(7))
        let percentages = process.output.matches(of: /(\d+)%/).compactMap { Int($0.1) }
        #expect(try #require(percentages.max()) <= 25, "\(percentages)")
    }

    @Test func `a reader that does not read holds up no end`() throws {
        let bench = try PipeBench()
        // More results than a pipe holds.
        try bench.serve(500)
        let script = "mkfifo results; exec 3<>results; exec \"$0\" pipe -i jobs --grace 0.1 \"$@\" >results"
        let process = try PawlProcess(
            "/bin/bash", ["-c", script, PawlBinary.path] + PipeBench.local, folder: bench.folder.path)
        bench.origin.wait(requests: 1, of: "/499.jpg")
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
    }

    @Test func `one sample may not take longer than the limit`() throws {
        let bench = try PipeBench()
        try bench.serve(2) { $0.delay = .untilReleased }
        let (code, results) = try bench.run(["--sample-timeout", "0.2"])
        #expect(code == 2 && results.count == 2)
        #expect(results.allSatisfy { $0["code"]?.integer == 2 && $0["status"]?.string == "failed" })
    }

    @Test func `the rules of robots dot txt and its tags hold`() throws {
        let bench = try PipeBench()
        bench.origin.serve("/robots.txt", Payload(text: "User-agent: *\nDisallow: /private\n")) {
            $0.contentType = "text/plain"
        }
        let open = bench.origin.serve("/open", Payload(text: "abc"))
        let closed = bench.origin.serve("/private/x", Payload(text: "abc"))
        let tagged = bench.origin.serve("/tagged", Payload(text: "abc")) { $0.add(header: "X-Robots-Tag: NoAI") }
        try bench.write([open, closed, tagged])
        let options = ["--contact", "me@example.org", "--respect", "noai", "--allow-private-addresses", "--ordered"]
        let (code, results) = try bench.run(options, with: PipeBench.short)
        #expect(code == 36)
        #expect(results.map { $0["status"]?.string } == ["ok", "refused", "refused"])
        #expect(bench.origin.log.of("/private/x").isEmpty)
        #expect(bench.origin.log.of("/robots.txt").count == 1)
        let agent = bench.origin.log.of("/open").first?.request.header("User-Agent")
        #expect(agent?.hasSuffix("(+me@example.org)") == true)
        bench.origin.adjust("/robots.txt") { $0.instead = .status(503) }
        let (_, unknown) = try bench.run(options + ["--retries", "0"], with: [])
        #expect(unknown.count == 3 && unknown.allSatisfy { $0["status"]?.string == "refused" })
        #expect(bench.origin.log.of("/open").count == 1, "without its rules nothing is requested")
        // RFC 9309 §2.3.1.3: a 4xx is a server without rules.
        for status in [401, 403, 404, 410, 429] {
            bench.origin.adjust("/robots.txt") { $0.instead = .status(status) }
            let (code, all) = try bench.run(options + ["--retries", "0"], with: [])
            #expect(code == 36 && all.map { $0["status"]?.string } == ["ok", "ok", "refused"], "\(status)")
        }
    }

    @Test(arguments: ["noai noindex", "noai,,noindex", "", ",", "no:ai"])
    func `tags that no field can have are refused`(tags: String) throws {
        let bench = try PipeBench()
        try bench.write([])
        let process = try bench.start(["--respect", tags])
        #expect(process.wait() == .code(28) && process.errors.contains("must be tags"))
    }

    @Test func `metrics that cannot be written are a failure before the first request`() throws {
        let bench = try PipeBench()
        try bench.serve(1)
        let process = try bench.start(["--metrics", "none/here"])
        #expect(process.wait() == .code(16))
        #expect(process.errors.contains("cannot write metrics to none/here: No such file or directory"))
        #expect(process.errors.split(separator: "\n").count == 1)
        #expect(bench.origin.log.of("/0.jpg").isEmpty)
        #expect(try bench.run(["--metrics", "metrics"]).code == 0)
        #expect(FileSystem.contents(bench.folder.path("metrics"))?.isEmpty == false)
    }

    @Test func `a host is never used by more than its limit`() throws {
        let bench = try PipeBench()
        try bench.serve(30)
        let (code, results) = try bench.run(["--per-host", "2"])
        #expect(code == 0 && results.count == 30)
        #expect(bench.origin.log.mostOpen <= 2 * PipeBench.loops)
    }

    @Test func `the samples of a host that asks for a pause wait, and others run`() throws {
        let bench = try PipeBench()
        let slow = (0..<9).map { number in
            bench.origin.serve("/slow/\(number)", Payload(text: "slow")) {
                $0.instead = .status(429, retryAfter: "600")
            }
        }
        let fast = (0..<30).map { number in
            bench.origin.serve("/fast/\(number)", Payload(text: "fast")).replacing("127.0.0.1", with: "localhost")
        }
        try bench.write(slow + fast)
        // The host has every place at first.
        let process = try bench.start(["-j", "2", "--per-host", "2"])
        bench.origin.wait { log in log.records.count { $0.request.path.hasPrefix("/fast/") } == 30 }
        process.send(SIGTERM)
        #expect(process.wait() == .code(7))
        let results = try process.lines.filter { !$0.isEmpty }.map { try JSON.parse($0) }
        #expect(results.allSatisfy { $0["status"]?.string == "ok" })
        let requests = bench.origin.log.records.count { $0.request.path.hasPrefix("/slow/") }
        #expect(requests <= 2, "only what was under way")
    }

    @Test func `a sample is requested again after the pause`() throws {
        let bench = try PipeBench()
        let url = bench.origin.serve("/a", Payload(text: "abc")) { $0.instead = .status(429, retryAfter: "1") }
        try bench.write([url])
        let process = try bench.start(["--retries", "1"])
        bench.origin.wait(requests: 1, of: "/a")
        bench.origin.adjust("/a") { $0.instead = nil }
        #expect(process.wait() == .code(0), "\(process.errors)")
        #expect(try JSON.parse(process.lines.first ?? "")["attempts"]?.integer == 2)
        bench.origin.adjust("/a") { $0.instead = .status(429, retryAfter: "1") }
        let (code, results) = try bench.run(["--retries", "1"])
        #expect(code == 29 && results.first?["attempts"]?.integer == 2)
        #expect(try bench.run(["--retries", "1", "--sample-timeout", "0.2"]).code == 2)
    }

    @Test func `jobs that a killed writer cut off make no shard`() throws {
        let bench = try PipeBench()
        try bench.serve(3)
        let options = ["--to", "out", "--format", "tar", "--shard", "s", "--end", "no more"]
        let (code, results) = try bench.run(options)
        #expect(code == 7 && results.isEmpty)
        #expect(FileSystem.names(in: bench.folder.path("out")).isEmpty)
        let jobs = bench.contents("jobs") ?? []
        try FileSystem.write(jobs + Array("no more\nignored\n".utf8), to: bench.folder.path("jobs"))
        let whole = try bench.run(options)
        #expect(whole.code == 0 && whole.results.count == 3)
    }

    @Test func `workers on the lines of their numbers keep a host's limit together`() throws {
        let bench = try PipeBench()
        try bench.serve(40)
        let split = try bench.start(["--partition", "3"], with: [])
        #expect(split.wait() == .code(0))
        var parts: [String: [String]] = ["0": [], "1": [], "2": []]
        for line in split.lines where !line.isEmpty {
            let tab = try #require(line.firstIndex(of: "\t"))
            parts[String(line[..<tab]), default: []].append(String(line[line.index(after: tab)...]))
        }
        #expect(parts.count == 3 && parts.values.count { !$0.isEmpty } == 1)
        let workers = try parts.map { number, lines in
            try bench.write(lines, to: "part-\(number)")
            return try bench.start(["-i", "part-\(number)", "--per-host", "2", "--to", "out"])
        }
        for worker in workers { #expect(worker.wait() == .code(0), "\(worker.errors)") }
        #expect(bench.origin.log.mostOpen <= 2 * PipeBench.loops && bench.origin.log.records.count == 40)
    }

    @Test func `a line that is too long costs no other line its worker`() throws {
        let bench = try PipeBench()
        let url = bench.origin.serve("/p.jpg", Payload(seed: 1, length: 1000))
        try bench.write([url, String(repeating: "x", count: 100_000_000), url])
        let split = try bench.start(["--partition", "1"], with: [])
        #expect(split.wait() == .code(0))
        let lines = split.lines.filter { !$0.isEmpty }.map { String($0.dropFirst(2)) }
        #expect(lines.count == 3 && lines[0] == url && lines[2] == url)
        try bench.write(lines)
        let (code, results) = try bench.run(["--ordered"])
        #expect(code == 28)
        #expect(results.map { $0["status"]?.string } == ["ok", "refused", "ok"])
        #expect(results[1]["reason"]?.string == "the line has 64 MiB or more")
        #expect(results[1]["inputLine"]?.integer == 2)
    }

    @Test func `the limit of a host holds for all spellings of it`() throws {
        let bench = try PipeBench()
        let held = bench.origin.serve("/held.jpg", Payload(seed: 1, length: 3000)) { $0.delay = .untilReleased }
        let same = bench.origin.serve("/same.jpg", Payload(seed: 2, length: 3000))
        let other = bench.origin.serve("/other.jpg", Payload(seed: 3, length: 3000))
        try bench.write([
            held, same.replacing("127.0.0.1", with: "[::ffff:127.0.0.1]"),
            other.replacing("127.0.0.1", with: "localhost"),
        ])
        let process = try bench.start(["--per-host", "1"], with: PipeBench.local)
        bench.origin.wait(requests: 1, of: "/held.jpg")
        bench.origin.wait(requests: 1, of: "/other.jpg")
        #expect(bench.origin.log.of("/same.jpg").isEmpty)
        bench.origin.release("/held.jpg")
        #expect(process.wait() == .code(0), "\(process.errors)")
        #expect(bench.origin.log.of("/same.jpg").count == 1)
    }

    @Test func `lines are given to workers by their hosts`() throws {
        let bench = try PipeBench()
        try bench.write(["http://a.example.org/1", "http://b.example.org/2", "http://example.net/", "nonsense"])
        let process = try bench.start(["--partition", "16"], with: [])
        #expect(process.wait() == .code(0))
        let parts = process.lines.filter { !$0.isEmpty }.map { $0.split(separator: "\t") }
        #expect(
            parts.map { $0[1] } == [
                "http://a.example.org/1", "http://b.example.org/2", "http://example.net/", "nonsense",
            ])
        #expect(parts[0][0] == parts[1][0])
    }
}
