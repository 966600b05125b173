import PawlTestKit
import Testing

/// The output on a terminal; `script` of util-linux is the terminal.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("script"), "needs the built program and script"))
struct `The display` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 72, length: 500_001)

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    /// Runs `pawl get` on a terminal and returns its output.
    private func shown(_ arguments: String, _ environment: [String: String]) throws -> String {
        let process = try PawlProcess.run(
            "/usr/bin/script", ["-qec", "\(PawlBinary.path) get -d \(folder.path) \(arguments)", "/dev/null"],
            environment: ["TERM": "xterm", "NO_COLOR": "", "LC_ALL": "C.UTF-8"].merging(environment) { $1 })
        #expect(process.exit == .code(0))
        return process.output
    }

    @Test func `a terminal gets progress bars, and its cursor back`() throws {
        let url = origin.serve("/f", content)
        let text = try shown(url, [:])
        let hidden = try #require(text.range(of: "\u{1B}[?25l"))
        let back = try #require(text.range(of: "\u{1B}[?25h"))
        #expect(hidden < back)
        #expect(text.contains("f: finished, 488 KiB"))
        #expect(folder.difference("f", from: content) == nil)
    }

    @Test func `without escape codes there is one line per change`() throws {
        let text = try shown(origin.serve("/f", content), ["TERM": "dumb"])
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("f: started, 488 KiB"))
        #expect(text.contains("f: finished, 488 KiB"))
    }

    @Test func `NO_COLOR takes the colours, not the bar`() throws {
        let text = try shown(origin.serve("/f", content) { $0.pace = 1_000_000 }, ["NO_COLOR": "1"])
        #expect(text.contains("\u{1B}[J") && text.contains("─"))
        #expect(!text.contains("\u{1B}[32m") && !text.contains("\u{1B}[2m"))
    }

    @Test(arguments: ["plain", "none"]) func `progress as lines is a choice on a terminal too`(progress: String) throws
    {
        let text = try shown("--progress \(progress) \(origin.serve("/f", content))", [:])
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("f: finished, 488 KiB") == (progress == "plain"), "errors only: \(text)")
    }

    @Test(arguments: [("se:crex\u{7F}t\r", 0), ("\u{3}", 7)]) func `a missing password is prompted for, and not shown`(
        keys: String, code: Int
    ) throws {
        let url = origin.serve("/f", content) { $0.login = .basic(user: "me", password: "se:cret") }
        let script = """
            import os, pty, sys, termios
            program, folder, url, keys = sys.argv[1:]
            child, terminal = pty.fork()
            if child == 0: os.execv(program, ["pawl", "get", "-d", folder, "--user", "me", url])
            shown = b""
            while b"password for me: " not in shown: shown += os.read(terminal, 1000)
            os.write(terminal, keys.encode())
            try:
                while True: shown += os.read(terminal, 1000)
            except OSError: pass
            print("crex" in shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        let arguments = [PawlBinary.path, folder.path, url, keys]
        let process = try PawlProcess.run("/usr/bin/python3", ["-c", script] + arguments)
        #expect(process.lines == ["False \(code)"], "\(process.errors)")
        if code == 0 { #expect(folder.difference("f", from: content) == nil) }
    }

    @Test func `a signal at the prompt for a password gives the terminal its echo back`() throws {
        let script = """
            import os, pty, signal, sys, termios
            child, terminal = pty.fork()
            if child == 0: os.execv(sys.argv[1], ["pawl", "get", "--user", "me", "http://127.0.0.1:1/"])
            def echoes(): return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
            shown = b""
            while b"password for me: " not in shown: shown += os.read(terminal, 1000)
            before = echoes()
            os.kill(child, signal.SIGTERM)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(before, echoes(), code)
            """
        let process = try PawlProcess.run("/usr/bin/python3", ["-c", script, PawlBinary.path])
        #expect(process.lines == ["False True 7"], "\(process.errors)")
    }

    @Test func `a pipe gets no escape codes`() throws {
        let process = try PawlProcess.run(
            PawlBinary.path, ["get", "-d", folder.path, origin.serve("/f", content)], environment: ["TERM": "xterm"])
        #expect(process.exit == .code(0))
        #expect(!process.errors.contains("\u{1B}"))
        #expect(process.errors.contains("f: started, 488 KiB"))
    }

    @Test func `escape codes in a server's name do not reach the terminal`() throws {
        let url = origin.serve("/f", content) { behaviour in
            behaviour.disposition = Array("attachment; filename=\"a\u{1B}[31mb\"".utf8)
        }
        #expect(try !shown(url, [:]).contains("\u{1B}[31m"))
    }
}

extension String {
    /// The offset of the first occurrence, without Foundation.
    fileprivate func range(of part: String) -> Int? {
        let (whole, wanted) = (Array(utf8), Array(part.utf8))
        guard whole.count >= wanted.count else { return nil }
        return (0...(whole.count - wanted.count)).first { whole[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
