import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The program as a user runs it: exit codes, messages, signals, and terminal output.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) final class `The command line` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 71, length: 3_000_001)

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit { origin.stop() }

    private func start(_ arguments: [String]) throws -> PawlProcess {
        try PawlProcess(PawlBinary.path, ["get", "-d", folder.path] + arguments)
    }

    private func finish(_ arguments: String...) throws -> PawlProcess {
        let process = try start(arguments)
        process.wait()
        return process
    }

    @Test func `help and version are printed at once, without a download`() throws {
        let version = try PawlProcess.run(PawlBinary.path, ["--version"])
        #expect(version.exit == .code(0))
        #expect(version.output.hasPrefix("pawl "))
        let help = try PawlProcess.run(PawlBinary.path, ["help", "get"])
        #expect(help.exit == .code(0))
        #expect(try PawlProcess.run(PawlBinary.path, ["get", "--help"]).output == help.output)
    }

    @Test func `the program without a command prints the short help`() throws {
        let process = try PawlProcess.run(PawlBinary.path, [])
        #expect(process.exit == .code(0))
        #expect(process.output.hasPrefix("Pawl ") && process.errors.isEmpty)
    }

    @Test func `an invalid command ends with 28 and one sentence`() throws {
        for arguments in [["add"], ["get"], ["get", "--colour", "u"], ["get", "-x", "none", "u"]] {
            let process = try PawlProcess.run(PawlBinary.path, arguments)
            #expect(process.exit == .code(28), "\(arguments)")
            #expect(process.errors.hasPrefix("pawl: "), "\(arguments)")
            #expect(process.errors.filter { $0 == "\n" }.count == 1, "\(arguments)")
            #expect(process.output.isEmpty)
        }
    }

    @Test func `the code is that of the last failure, and the rest is downloaded`() throws {
        let url = origin.serve("/f", content)
        let process = try finish("-j1", origin.url("/none"), url, "gopher://h/f", "--retries", "0")
        #expect(process.exit == .code(3))
        #expect(folder.difference("f", from: content) == nil)
        #expect(process.errors.contains("pawl: ") && process.errors.contains("404 Not Found"))
        #expect(try finish("-q", "gopher://h/f").exit == .code(28))
    }

    @Test(arguments: ["-q", "--progress=none"]) func `quiet, and no progress, mean errors only`(option: String) throws {
        let process = try finish(option, origin.serve("/f", content), origin.serve("/g", content))
        #expect(process.exit == .code(0))
        #expect(process.errors.isEmpty && process.output.isEmpty)
        let failed = try finish(option, origin.url("/none"))
        #expect(failed.errors.hasPrefix("pawl: ") && failed.errors.contains("404"))
    }

    @Test func `only JSON is written to standard output, and it ends with a summary`() throws {
        let process = try finish("--json", origin.serve("/f", content), origin.url("/none"))
        #expect(process.exit == .code(3))
        #expect(process.lines.allSatisfy { $0.hasPrefix("{\"event\":\"") && $0.hasSuffix("}") })
        #expect(process.lines.count { $0.contains("\"event\":\"finished\"") } == 1)
        #expect(process.lines.last?.hasPrefix("{\"event\":\"summary\",\"finished\":1,\"failed\":1,") == true)
        #expect(process.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `A5 a signal pauses with 7, and the same command resumes`(
        signal: Int32
    ) throws {
        let url = origin.serve("/f", content) { $0.cut = .stall(after: 2_000_000) }
        let first = try start(["-x1", "--json", url])
        #expect(first.line { $0.contains("\"written\":2000000,") } != nil)
        first.send(signal)
        #expect(first.wait() == .code(7))
        #expect(first.errors.contains("run the same command again"))
        #expect(first.lines.last?.contains("\"unfinished\":1") == true)
        #expect(folder.names == ["f.part", "f.pawl"])

        origin.adjust("/f") { $0.cut = nil }
        let second = try finish("-x1", "--json", url)
        #expect(second.exit == .code(0))
        #expect(second.lines.contains { $0.contains("\"resumedAt\":2000000") })
        #expect(folder.names == ["f"])
        #expect(folder.difference("f", from: content) == nil)
    }

    @Test func `a closed reader of the events does not end the download`() throws {
        let url = origin.serve("/f", content)
        let script = "\"$0\" get -d \"$1\" --json \"$2\" | true; exit ${PIPESTATUS[0]}"
        let process = try PawlProcess.run("/bin/bash", ["-c", script, PawlBinary.path, folder.path, url])
        #expect(process.exit == .code(0))
        #expect(folder.difference("f", from: content) == nil)
    }

    @Test(arguments: [
        "get --json", "get --dry-run", "help", "help --man get", "completions bash", "--version", "verify",
        "verify --json",
    ]) func `output that cannot be written is a failure`(command: String) throws {
        let url = origin.serve("/f", content)
        try FileSystem.write([1, 2, 3], to: folder.path("there"))
        var words = command.split(separator: " ").map(String.init)
        if words[0] == "get" { words += ["-d", folder.path, url] }
        let digest = "sha-256=" + String(repeating: "0", count: 64)
        if words[0] == "verify" { words += ["--checksum", digest, folder.path("there")] }
        for output in [">/dev/full", ">&-"] {
            let script = "\"$@\" \(output)"
            let process = try PawlProcess.run("/bin/bash", ["-c", script, "sh", PawlBinary.path] + words)
            #expect(process.exit == .code(words[0] == "verify" ? 32 : 17), "\(command) \(output): \(process.errors)")
            #expect(process.errors.contains("standard output"), "\(process.errors)")
        }
        if command == "get --json" { #expect(folder.difference("f", from: content) == nil) }
    }

    @Test func `a name given with -o is shown before the first response`() throws {
        let url = "http://127.0.0.1:1/f"
        let refused = try finish("-o", "chosen", "--retries", "1", "--retry-delay", "0", url)
        #expect(refused.errors.contains("chosen: cannot fetch"), "\(refused.errors)")
    }

    @Test func `ten thousand URLs from standard input need little memory`() throws {
        origin.serve("/f", Payload(seed: 3, length: 10))
        let list = (1...10_000).map { "\(origin.url("/f"))?\($0)\n  out=f\($0)\n" }.joined()
        try FileSystem.write(Array(list.utf8), to: folder.path("list"))
        // The last of the list does not end before the memory was measured.
        origin.vary("/f") { facts, behaviour in
            if facts.request.target.hasSuffix("?10000") { behaviour.cut = .stall(after: 5) }
        }
        let script = "\"$0\" get -d \"$1\" -j8 --json -i - < \"$1/list\" & echo $!; wait $!"
        let shell = try PawlProcess("/bin/bash", ["-c", script, PawlBinary.path, folder.path])
        let identifier = shell.line { !$0.hasPrefix("{") }
        #expect(shell.line(atMost: .seconds(120)) { $0.contains("\"name\":\"f9999\",\"path\"") } != nil)
        let status = FileSystem.contents("/proc/\(identifier ?? "none")/status") ?? []
        let peak = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = peak.flatMap { Int($0.filter(\.isNumber)) }
        #expect(try #require(kilobytes) < 80 * 1024)
        kill(Int32(identifier ?? "") ?? shell.identifier, SIGINT)
        #expect(shell.wait() == .code(7))
        #expect(folder.names.count { $0.hasPrefix("f") && !$0.contains(".") } == 9_999)
    }
}
