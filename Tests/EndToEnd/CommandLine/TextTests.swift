import Glibc
import PawlTestKit
import Testing

/// Output for other programs: completions, the manual page, units.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `Output for other programs` {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ arguments: String...) throws -> String {
        let process = try PawlProcess.run(PawlBinary.path, arguments)
        #expect(process.exit == .code(0) && process.errors.isEmpty)
        try FileSystem.write(process.outputBytes, to: folder.path(name))
        return folder.path(name)
    }

    private func path(of program: String) -> String? {
        ServerProcess.searchPath.split(separator: ":").map { "\($0)/\(program)" }.first(where: FileSystem.exists)
    }

    private func said(_ program: String, _ arguments: String...) throws -> String {
        let path = program.hasPrefix("/") ? program : try #require(self.path(of: program))
        let process = try PawlProcess.run(path, arguments, environment: ["LC_ALL": "C.UTF-8", "HOME": folder.path])
        #expect(process.exit == .code(0), "\(process.errors)")
        return process.output
    }

    @Test func `bash completes commands, options and values`() throws {
        let script = try file("bash", "completions", "bash")
        let complete = #"""
            source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl; echo "${COMPREPLY[@]}"
            """#
        #expect(try said("bash", "-c", complete, script, "pawl", "sta") == "start start-over status\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "get", "--nam") == "--naming\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "get", "--naming", "ha") == "hash\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "get", "--naming", "=", "ha") == "hash\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "get", "--naming", "=") == "server url hash\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "help", "re") == "repair resume remove rename\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "move", "3f", "f") == "first\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "move", "--socket", "s", "3f", "l") == "last\n")
        #expect(try said("bash", "-c", complete, script, "pawl", "limit", "n") == "none\n")
    }

    @Test(.enabled(if: ServerProcess.isInstalled("fish"), "needs fish"))
    func `fish completes commands, options and values`() throws {
        let script = try file("fish", "completions", "fish")
        func completed(_ line: String) throws -> [String] {
            let text = try said("fish", "-c", "source \(script); complete -C '\(line)'")
            return text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try completed("pawl sta") == ["start", "start-over", "status"])
        #expect(try completed("pawl get --nam") == ["--naming"])
        #expect(try completed("pawl get --naming ") == ["hash", "server", "url"])
        #expect(try completed("pawl help ren") == ["rename"])
        #expect(try Set(completed("pawl move 3f ")) == ["+1", "-1", "1", "first", "last"])
    }

    @Test(.enabled(if: ServerProcess.isInstalled("zsh"), "needs zsh"))
    func `zsh accepts the completion and registers it`() throws {
        let script = try file("zsh", "completions", "zsh")
        _ = try said("zsh", "-n", script)
        let register = "autoload -Uz compinit; compinit -u -D; source \(script); echo $_comps[pawl]"
        #expect(try said("zsh", "-f", "-c", register) == "_pawl\n")
    }

    @Test(.enabled(if: ServerProcess.isInstalled("groff"), "needs groff"))
    func `the manual page is laid out without a warning`() throws {
        let page = try file("pawl.1", "help", "--man")
        let groff = try #require(path(of: "groff"))
        let process = try PawlProcess.run(groff, ["-man", "-ww", "-Tascii", "-P-cbou", page])
        #expect(process.exit == .code(0) && process.errors.isEmpty, "\(process.errors)")
        for words in ["pawl serve", "EXAMPLES", "EXIT STATUS", "checksum mismatch"] {
            #expect(process.output.contains(words))
        }
    }

    @Test(.enabled(if: ServerProcess.isInstalled("groff"), "needs groff"))
    func `every command has a manual page, laid out without a warning`() throws {
        let pages = folder.path("pages")
        _ = try PawlProcess.run("/bin/mkdir", [pages])
        _ = try said(PawlBinary.path, "help", "--man-pages", pages)
        let names = FileSystem.names(in: pages)
        #expect(names.contains("pawl.1") && names.contains("pawl-get.1") && names.contains("pawl-serve.1"))
        let groff = try #require(path(of: "groff"))
        for name in names {
            let process = try PawlProcess.run(groff, ["-man", "-ww", "-Tascii", "-P-cbou", "\(pages)/\(name)"])
            #expect(process.exit == .code(0) && process.errors.isEmpty, "\(name): \(process.errors)")
            #expect(process.output.contains("EXAMPLES"), "\(name) has no examples")
        }
        #expect(try said(PawlBinary.path, "help", "--man", "get").contains(".TH PAWL\\-GET 1"))
    }

    @Test func `install writes a unit that systemd accepts, and reports when systemd is not running`() throws {
        // A systemctl that records its arguments.
        let log = folder.path("output")
        try FileSystem.write(
            Array("#!/bin/sh\necho \"$*\" >>\(log)\n[ ! -e \(folder.path("broken")) ]\n".utf8),
            to: folder.path("systemctl"))
        _ = try PawlProcess.run("/bin/chmod", ["755", folder.path("systemctl")])
        let environment = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "XDG_RUNTIME_DIR": folder.path,
            "XDG_STATE_HOME": folder.path("state"), "PATH": folder.path + ":/usr/bin:/bin", "PAWL_SOCKET": "",
            "PAWL_ROOT": folder.path("root 1"),
        ]
        let arguments = ["serve", "--install", "--jobs", "7"]
        let process = try PawlProcess.run(PawlBinary.path, arguments, environment: environment)
        #expect(process.exit == .code(0), "\(process.errors)")
        let output = String(decoding: FileSystem.contents(log) ?? [], as: UTF8.self)
        #expect(output == "--user daemon-reload\n--user enable --now pawl.service\n")
        let path = folder.path("config/systemd/user/pawl.service")
        let unit = String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self)
        let sessions = folder.path("state/pawl/sessions")
        #expect(
            unit.contains(
                "--root \"\(folder.path("root 1"))\" --socket \(folder.path)/pawl.socket --sessions \(sessions) --jobs 7\n"
            ))
        #expect(unit.contains("\nReadWritePaths=-\(sessions)\n"))
        #expect(FileSystem.mode(sessions) == 0o700)
        if ServerProcess.isInstalled("systemd-analyze") {
            let verdict = try PawlProcess.run(
                try #require(self.path(of: "systemd-analyze")), ["verify", "--user", "--man=no", path],
                environment: ["XDG_RUNTIME_DIR": folder.path])
            #expect(!verdict.errors.contains("pawl.service:"), "\(verdict.errors)")
        }
        let removal = try PawlProcess.run(PawlBinary.path, ["serve", "--uninstall"], environment: environment)
        #expect(removal.exit == .code(0), "\(removal.errors)")
        #expect(FileSystem.contents(path) == nil)
        #expect(FileSystem.exists(folder.path("root 1")) && FileSystem.exists(sessions))
        let again = try PawlProcess.run(PawlBinary.path, ["serve", "--uninstall"], environment: environment)
        #expect(again.exit == .code(3))
        try FileSystem.write([], to: folder.path("broken"))
        let failed = try PawlProcess.run(PawlBinary.path, arguments, environment: environment)
        #expect(failed.exit == .code(1))
        #expect(failed.errors.contains("run that command where systemd is running"))
        #expect(FileSystem.contents(path) == nil)
    }

    @Test func `without systemctl install leaves nothing, and --print writes nothing`() throws {
        let environment = [
            "HOME": folder.path("home"), "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": "",
            "PATH": folder.path("none"), "PAWL_SOCKET": "", "PAWL_ROOT": "",
        ]
        let failed = try PawlProcess.run(PawlBinary.path, ["serve", "--install"], environment: environment)
        #expect(failed.exit == .code(3) && failed.errors.contains("systemctl"), "\(failed.errors)")
        let arguments = ["serve", "--install", "--print", "--jobs", "7"]
        let shown = try PawlProcess.run(PawlBinary.path, arguments, environment: environment)
        #expect(shown.exit == .code(0) && shown.output.contains("\nExecStart=/"))
        #expect(shown.output.contains("/pawl serve --root "))
        #expect(!FileSystem.exists(folder.path("home")))
        let alone = try PawlProcess.run(PawlBinary.path, ["serve", "--print"], environment: environment)
        #expect(alone.exit == .code(28))
    }
}
