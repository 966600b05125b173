import PawlBase
import PawlTestKit
import Testing

/// The sentences of commands on terminals of several widths; tmux is the terminal.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("tmux"), "needs the built program and tmux"))
final class `Sentences on a terminal` {
    private let house: ServiceHouse

    init() throws { house = try ServiceHouse.serving() }

    /// A server of tmux that ends is not there at once: each screen has its own.
    @discardableResult private func tmux(_ server: String, _ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run(
            "/usr/bin/tmux", ["-f", "/dev/null", "-S", house.folder.path(server)] + arguments,
            environment: house.environment.merging(["TERM": "xterm-256color", "TMUX": ""]) { $1 },
            folder: house.folder.path)
    }

    /// What a terminal of so many columns shows of a command.
    private func screen(_ columns: Int, _ words: [String], on server: String) throws -> [String] {
        let command = "\(PawlBinary.path) \(words.joined(separator: " ")); echo the-end; cat"
        try tmux(server, "new-session", "-d", "-x", "\(columns)", "-y", "40", command)
        defer { _ = try? tmux(server, "kill-server") }
        for _ in 0..<3000 {
            let lines = try tmux(server, "capture-pane", "-p").output.split(separator: "\n").map(String.init)
            if let end = lines.firstIndex(of: "the-end") { return Array(lines[..<end]) }
        }
        Issue.record("\(words) does not end")
        return []
    }

    @Test(arguments: [50, 80, 120]) func `no word is broken, and nothing is left out`(columns: Int) throws {
        house.origin.serve("/gone", Payload(text: "")) { $0.instead = .status(404) }
        let url = house.origin.url("/gone")
        _ = try house.run("wait", house.add("--retries", "0", url))
        _ = try house.run("rules", "add", "type:video", "Films")
        try FileSystem.write([], to: house.folder.path("SHA256SUMS"))
        for (number, words) in [
            ["status"], ["limit"], ["timetable"], ["at-end"], ["rules"], ["rules", "test", "http://h/a.mkv"],
            ["rules", "remove", "9"], ["add", "-q", "ftp:/bad"], ["add", url], ["show", "zz"], ["wait", "--all"],
            ["get", "--retries", "0", url], ["verify", "SHA256SUMS"], ["verify", "missing"], ["repair", "missing"],
            ["pipe"], ["list", "--state", "nothing"], ["check", "zz"],
        ].enumerated() {
            let plain = try house.run(
                ["-c", "cd \"$0\"; exec \"$@\" 2>&1", house.folder.path, PawlBinary.path] + words)
            let expected = plain.split { " \n".contains($0) }
            let lines = try screen(columns, words, on: "tmux\(number)")
            #expect(lines.flatMap { $0.split(separator: " ") } == expected, "\(words) at \(columns): \(lines)")
            #expect(!expected.isEmpty && lines.allSatisfy { $0.count < columns }, "\(words) at \(columns): \(lines)")
        }
    }
}

extension ServiceHouse {
    /// The output of a shell with these arguments.
    fileprivate func run(_ arguments: [String]) throws -> String {
        try PawlProcess.run("/bin/sh", arguments, environment: environment).output
    }
}
