import Glibc
import PawlJournal
import PawlTestKit
import Testing

/// Standard output, devices and named pipes: in order, over one connection, and no other file.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct StreamTests {
    private let payload = Payload(seed: 91, length: 9_000_000)
    private static let plain = ["--timeout", "5", "--retry-delay", "0.01", "--retries", "3"]

    private func stream(_ bench: Bench, _ arguments: [String], into shell: String = "cat") throws -> PawlProcess {
        let script = "set -o pipefail; \"$0\" get \"$@\" | \(shell)"
        return try PawlProcess(
            "/bin/bash", ["-c", script, PawlBinary.path] + StreamTests.plain + arguments,
            environment: ["HOME": bench.folder.path], folder: bench.folder.path)
    }

    /// The difference of the bytes: a full description for millions of bytes would take minutes.
    private func difference(_ bytes: [UInt8], _ expected: some Collection<UInt8>) -> String? {
        if bytes.count == expected.count, bytes.elementsEqual(expected) { return nil }
        let same = zip(bytes, expected).prefix { $0 == $1 }.count
        return "\(bytes.count) bytes, not \(expected.count), and they differ at \(same)"
    }

    private func left(_ bench: Bench) -> [String] { bench.folder.names.filter { !$0.hasPrefix(".") } }

    @Test(arguments: [["-o", "-"], ["--stdout"], ["-o", "/dev/stdout"]])
    func `all bytes are written to standard output and nowhere else`(options: [String]) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        let run = try stream(bench, options + [url])
        #expect(run.wait() == .code(0), "\(run.errors)")
        #expect(difference(run.outputBytes, payload.bytes) == nil)
        #expect(left(bench).isEmpty)
        bench.origin.waitUntilQuiet("/f.bin")
        #expect(bench.origin.ended("/f.bin").count == 1)
    }

    @Test(arguments: [["--range", "100-5000099"], ["--range", "-70000"]]) func `a range of it`(options: [String]) throws
    {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        let run = try stream(bench, options + ["-o", "-", url])
        #expect(run.wait() == .code(0), "\(run.errors)")
        let bytes = payload.bytes
        let expected = options[1] == "-70000" ? bytes.suffix(70_000) : bytes[100...5_000_099]
        #expect(difference(run.outputBytes, expected) == nil)
    }

    @Test func `a pipe's reader and a device receive it, and no file is created`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try #require(unsafe mkfifo(bench.folder.path("pipe"), 0o600) == 0)
        let reader = try PawlProcess("/bin/cat", [bench.folder.path("pipe")])
        try #expect(bench.get("-o", "pipe", url).code == 0)
        #expect(reader.wait() == .code(0))
        #expect(difference(reader.outputBytes, payload.bytes) == nil)
        #expect(left(bench) == ["pipe"])
        try #expect(bench.get("-o", "/dev/null", url).code == 0)
        #expect(!FileSystem.exists("/dev/null (1)"))
        let full = try bench.get("-o", "/dev/full", url)
        #expect(full.code == 17, "\(full)")
        #expect(full.message.contains("/dev/full: No space left on device"), "\(full)")
    }

    /// The tag is strong, weak, or there is only a date or nothing: the stream is continued after a comparison.
    @Test(arguments: [Behaviour.Validators.strong, .weakTagOnly, .lastModifiedOnly, .none])
    func `a lost connection is continued`(validators: Behaviour.Validators) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload) { $0.validators = validators }
        // A comparison requests again what comes before the position.
        bench.origin.vary("/f.bin") { if $0.ordinal == 0 { $1.cut = .reset(after: 6_000_000) } }
        let run = try stream(bench, ["-o", "-", url])
        #expect(run.wait() == .code(0), "\(run.errors)")
        #expect(difference(run.outputBytes, payload.bytes) == nil)
        #expect(bench.origin.log.sentTwice("/f.bin") < 300_000)
    }

    @Test func `a stream that cannot be continued fails with the reason`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload) {
            $0.cut = .reset(after: 6_000_000)
            $0.ranges = .ignored
        }
        let run = try stream(bench, ["-o", "-", url])
        #expect(run.wait() == .code(17), "\(run.errors)")
        #expect(run.errors.contains("bytes were already written to it"), "\(run.errors)")
        #expect(difference(run.outputBytes, payload.bytes.prefix(run.outputBytes.count)) == nil)
    }

    @Test func `a checksum is verified`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        try FileSystem.write(payload.bytes, to: bench.folder.path("copy"))
        let sum = try PawlProcess.run("/usr/bin/sha256sum", [bench.folder.path("copy")])
        let digest = String(sum.output.prefix(64))
        let right = try stream(bench, ["--checksum", "sha-256=\(digest)", "-o", "-", url])
        #expect(right.wait() == .code(0), "\(right.errors)")
        #expect(difference(right.outputBytes, payload.bytes) == nil)
        let other = String(repeating: "0", count: 64)
        let wrong = try stream(bench, ["--checksum", "sha-256=\(other)", "-o", "-", url])
        #expect(wrong.wait() == .code(32), "\(wrong.errors)")
    }

    @Test func `a closed reader ends it`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", Payload(seed: 92, length: 60_000_000))
        let run = try stream(bench, ["-o", "-", url], into: "head -c 1000 >/dev/null")
        #expect(run.wait() == .code(17), "\(run.errors)")
        #expect(run.errors.contains("standard output: its reader has closed it"), "\(run.errors)")
    }

    /// The network waits, but Ctrl-C still ends the download.
    @Test func `a reader that does not read slows the server, and nothing else`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", Payload(seed: 93, length: 400_000_000))
        try #require(unsafe mkfifo(bench.folder.path("pipe"), 0o600) == 0)
        // Open for reading, and never read.
        let held = unsafe open(bench.folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(held) }
        let run = try bench.start("-o", "pipe", url)
        #expect(bench.origin.wait(bytes: 4_000_000, of: "/f.bin"))
        run.send(SIGINT)
        #expect(run.wait() == .code(7), "\(run.errors)")
        bench.origin.waitUntilQuiet("/f.bin")
        #expect(bench.origin.ended("/f.bin").reduce(0) { $0 + $1.bodySent } < 200_000_000)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a pipe without a reader does not delay the exit`(signal: Int32) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", Payload(seed: 94, length: 100_000))
        try #require(unsafe mkfifo(bench.folder.path("pipe"), 0o600) == 0)
        let run = try bench.start("-o", "pipe", url)
        bench.origin.wait(bytes: 100_000, of: "/f.bin")
        bench.origin.waitUntilQuiet("/f.bin")
        run.send(signal)
        #expect(run.wait() == .code(7), "\(run.errors)")
        #expect(run.errors.contains("the output is incomplete and cannot be resumed"), "\(run.errors)")
        #expect(left(bench) == ["pipe"])
    }

    @Test func `only one URL of pawl get is written there`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", payload)
        for arguments in [["-o", "-", url, url], ["--json", "-o", "-", url]] {
            let run = try PawlProcess(PawlBinary.path, ["get"] + arguments)
            #expect(run.wait() == .code(28), "\(run.errors)")
            #expect(run.outputBytes.isEmpty)
        }
    }
}
