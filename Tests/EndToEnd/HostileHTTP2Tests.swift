import PawlTestKit
import Testing

/// Servers that break the rules of HTTP/2, or keep them in unusual ways.
@Suite(.ownThreads, .enabled(if: HostileHTTP2Server.isAvailable, "needs openssl, and hpack for python3"))
struct HostileHTTP2Tests {
    /// What is served in these ways is complete in the end.
    @Test(arguments: [
        "plain", "rst0", "rst0-at-end", "rst-after", "rst-once", "long", "interim", "long-head",
        "shrink", "streams-gone", "refused-once", "goaway-often", "calm-once", "required", "goaway-required",
        "window-zero", "interleaved", "late", "slow-head", "stalled", "closed",
    ]) func `G1 every file is complete and right`(way: String) throws {
        let bench = try HostileBench(["a", "b", "c", "d", "e", "f"].map { ($0, way) })
        let run = try bench.get("--retries", "5", "--timeout", way == "stalled" ? "2" : "10")
        #expect(run.exit == .code(0), "\(run.errors) \(run.output)")
        #expect(bench.downloads.names.filter { !$0.hasPrefix(".") } == bench.files.map(\.name))
        for file in bench.files { #expect(bench.downloads.difference(file.name, from: file.content) == nil) }
        let requests = bench.server.finish()
        #expect(requests.contains { $0.hasPrefix("h2 ") })
        if way.hasSuffix("required") { #expect(requests.contains { $0.hasPrefix("http/1.1 ") }) }
    }

    @Test func `G1 a connection without streams does not keep the next files waiting`() throws {
        let bench = try HostileBench((0..<8).map { ("\($0)", "streams-gone") })
        let run = try bench.get("-j", "2", "--retries", "0")
        #expect(run.exit == .code(0), "\(run.errors) \(run.output)")
        let requests = bench.server.finish()
        #expect(requests.allSatisfy { $0.hasPrefix("h2 ") }, "\(requests)")
    }

    /// A way that no file can come in.
    struct Fault: Sendable, CustomTestStringConvertible {
        var way: String
        var code: Int64
        var sentence: String
        /// Another reason, if it depends on how much arrives at once which limit is reached first.
        var otherSentence: String?
        /// Whether only one stream is concerned, so that other files of the connection must come.
        var sparesOthers = false

        var testDescription: String { way }
    }

    static let faults = [
        Fault(way: "early-end", code: 22, sentence: "broke the rules of HTTP/2 (PROTOCOL_ERROR)", sparesOthers: true),
        Fault(way: "short", code: 6, sentence: "does not have the length", sparesOthers: true),
        Fault(way: "two-heads", code: 6, sentence: "does not have the length", sparesOthers: true),
        Fault(way: "data-first", code: 22, sentence: "broke the rules of HTTP/2 (PROTOCOL_ERROR)"),
        Fault(way: "interim-flood", code: 22, sentence: "head is longer than the limit"),
        Fault(
            way: "continuations", code: 22, sentence: "head is longer than the limit", otherSentence: "(PROTOCOL_ERROR)"
        ),
        Fault(
            way: "empty-continuations", code: 22, sentence: "head is longer than the limit",
            otherSentence: "(PROTOCOL_ERROR)"),
        Fault(way: "bomb", code: 22, sentence: "head is longer than the limit", sparesOthers: true),
        Fault(way: "mixed-head", code: 22, sentence: "broke the rules of HTTP/2 (PROTOCOL_ERROR)"),
        Fault(way: "table-size", code: 22, sentence: "broke the rules of HTTP/2 (COMPRESSION_ERROR)"),
        Fault(way: "settings-flood", code: 22, sentence: "frames without content", otherSentence: "(PROTOCOL_ERROR)"),
        Fault(way: "ping-flood", code: 22, sentence: "frames without content", otherSentence: "(PROTOCOL_ERROR)"),
        Fault(way: "pong-flood", code: 22, sentence: "frames without content"),
        Fault(way: "empty-data", code: 22, sentence: "frames without content"),
        Fault(way: "padding-only", code: 22, sentence: "frames without content"),
        Fault(way: "unknown", code: 22, sentence: "frames without content"),
        Fault(way: "window-flood", code: 22, sentence: "frames without content"),
        Fault(way: "priority-flood", code: 22, sentence: "frames without content"),
        Fault(way: "no-streams", code: 6, sentence: "REFUSED_STREAM"),
        Fault(way: "goaway0", code: 6, sentence: "REFUSED_STREAM"),
        Fault(way: "goaway-calm", code: 6, sentence: "ENHANCE_YOUR_CALM"),
        Fault(way: "push", code: 22, sentence: "broke the rules of HTTP/2 (PROTOCOL_ERROR)"),
        Fault(way: "unrequested", code: 22, sentence: "broke the rules of HTTP/2 (PROTOCOL_ERROR)"),
        Fault(way: "window-overflow", code: 22, sentence: "broke the rules of HTTP/2 (FLOW_CONTROL_ERROR)"),
        Fault(way: "window-ignored", code: 22, sentence: "broke the rules of HTTP/2 (FLOW_CONTROL_ERROR)"),
        Fault(way: "frame-too-long", code: 22, sentence: "broke the rules of HTTP/2 (FRAME_SIZE_ERROR)"),
        Fault(way: "garbage", code: 22, sentence: "broke the rules of HTTP/2 (FRAME_SIZE_ERROR)"),
        Fault(way: "silent", code: 2, sentence: "no response", sparesOthers: true),
    ]

    @Test(arguments: faults) func `G1 a failure has a code and a reason, takes no memory and leaves no wrong file`(
        fault: Fault
    ) throws {
        let bench = try HostileBench([("bad", fault.way), ("b", "plain"), ("c", "plain"), ("d", "plain")])
        let run = try bench.get("--retries", "1", "--timeout", fault.way == "silent" ? "2" : "10")
        let failed = try #require(
            run.lines.map(Event.init).first { $0.word == "failed" && $0.text("url")?.hasSuffix("/bad") == true },
            "\(run.output)")
        #expect(failed.number("code") == fault.code, "\(failed.line)")
        let message = try #require(failed.text("message"))
        let sentences = [fault.sentence, fault.otherSentence].compactMap(\.self)
        #expect(sentences.contains { message.contains($0) }, "\(failed.line)")
        guard case .code(let code) = run.exit, code != 0 else {
            Issue.record("exit \(String(describing: run.exit))")
            return
        }
        #expect(!bench.downloads.names.contains("bad"))
        for file in bench.files.dropFirst() where fault.sparesOthers || bench.downloads.names.contains(file.name) {
            #expect(bench.downloads.difference(file.name, from: file.content) == nil, "\(run.output)")
        }
        if Sanitizer.isOn { return }
        #expect(try #require(bench.peak(of: run)) - (try bench.usualPeak()) < 64 << 10, "KiB")
    }
}

/// The hostile server, what is fetched from it, and the folder for it.
private struct HostileBench {
    let downloads: TemporaryFolder
    let server: HostileHTTP2Server
    private let site: ServedFolder
    let files: [(name: String, content: Payload)]
    private let urls: [String]
    private let authority: TestAuthority

    /// The names of files and the ways in which they are served.
    init(_ ways: [(name: String, way: String)]) throws {
        downloads = try TemporaryFolder()
        authority = try TestAuthority()
        site = try ServedFolder()
        files = ways.enumerated().map { ($1.name, Payload(seed: UInt64($0) + 1, length: 200_001 + Int64($0) * 999)) }
        for file in files { try site.add(file.name, file.content) }
        let server = try HostileHTTP2Server(site, authority)
        urls = ways.map { server.url($0.way, $0.name) }
        self.server = server
    }

    func get(_ options: String...) throws -> PawlProcess { try get(options, urls, in: downloads) }

    private func get(_ options: [String], _ urls: [String], in folder: TemporaryFolder) throws -> PawlProcess {
        let arguments = [
            "--json", "-j", "8", "--timeout", "10", "--retry-delay", "0.01", "--cacert", authority.authority,
        ]
        return try PawlProcess.run(
            "/usr/bin/python3", ["-c", Self.measuring, PawlBinary.path, "get"] + arguments + options + urls,
            environment: ["HOME": folder.path], folder: folder.path)
    }

    /// The peak of the resident memory of a run, in KiB.
    func peak(of run: PawlProcess) -> Int? {
        run.errors.split(separator: "\n").last { $0.hasPrefix("peak ") }.flatMap { Int($0.dropFirst(5)) }
    }

    /// The same for as many files that are served well.
    func usualPeak() throws -> Int {
        let folder = try TemporaryFolder()
        let run = try get([], files.map { server.url("plain", $0.name) }, in: folder)
        #expect(run.exit == .code(0), "\(run.errors)")
        return try #require(peak(of: run))
    }

    private static let measuring = """
        import os, sys
        child = os.fork()
        if child == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        _, status, usage = os.wait4(child, 0)
        print("peak", usage.ru_maxrss, file=sys.stderr)
        sys.exit(os.waitstatus_to_exitcode(status) % 256)
        """
}
