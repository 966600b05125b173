import Glibc
import PawlBase
import PawlTestKit
import Testing

/// `list --watch` on the whole screen, with keys; tmux is the terminal.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("tmux"), "needs the built program and tmux"))
final class `The live screen` {
    private let house: ServiceHouse

    init() throws { house = try ServiceHouse.serving() }

    deinit { _ = try? tmux("kill-server") }

    @discardableResult private func tmux(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run(
            "/usr/bin/tmux", ["-f", "/dev/null", "-S", house.folder.path("tmux")] + arguments,
            environment: house.environment.merging(["TERM": "xterm-256color", "TMUX": ""]) { $1 })
    }

    private func screen() throws -> [String] {
        try tmux("capture-pane", "-p").output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Waits until the screen shows something.
    @discardableResult private func wait(until isThere: ([String]) -> Bool) throws -> [String] {
        var lines: [String] = []
        for _ in 0..<3000 {
            lines = try screen()
            if isThere(lines) { return lines }
        }
        Issue.record("not shown: \(lines)")
        return lines
    }

    private func open(columns: Int, rows: Int) throws {
        let command = "echo before; \(PawlBinary.path) list --watch; echo \"code $?\"; cat"
        try tmux("new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command)
    }

    private func add(_ count: Int) throws {
        let urls = (1...count).map { "\(house.origin.url("/file-\($0).iso"))\n" }.joined()
        try FileSystem.write(Array(urls.utf8), to: house.folder.path("list"))
        try house.run("add", "--paused", "-q", "-i", house.folder.path("list"))
    }

    @Test(arguments: [(50, 15), (80, 24), (120, 40)]) func `the screen has a head, rows, what does not fit, and keys`(
        columns: Int, rows: Int
    ) throws {
        try add(60)
        try open(columns: columns, rows: rows)
        let lines = try wait { $0.first?.hasPrefix("0 running") == true }
        let fitting = rows - 5
        #expect(lines[1].hasPrefix("  NAME"))
        #expect(lines[2].hasPrefix("> ") && lines[2].contains("file-1.iso") && lines[2].contains("paused"), "\(lines)")
        #expect(lines.count { $0.contains("file-") } == fitting, "\(lines)")
        #expect(lines[rows - 3] == "  and \(60 - fitting) more", "\(lines)")
        #expect(lines[rows - 1].hasPrefix("p pause  r resume  x remove  q quit"))
        try tmux("send-keys", "End")
        try wait { $0.contains { $0.hasPrefix("> ") && $0.contains("file-60.iso") } }
        try tmux("resize-window", "-x", "70", "-y", "12")
        try wait {
            $0.count >= 12 && $0[11].hasPrefix("p pause")
                && $0.contains { $0.hasPrefix("> ") && $0.contains("file-60") }
        }
        try tmux("send-keys", "q")
        let after = try wait { $0.contains("code 0") }
        #expect(after.contains("before") && !after.contains { $0.contains("p pause") }, "\(after)")
    }

    @Test func `keys resume, pause and remove the selected download`() throws {
        house.origin.serve("/file-2.iso", Payload(seed: 4908, length: 500_001)) { $0.cut = .stall(at: 250_000) }
        try add(3)
        try open(columns: 100, rows: 20)
        try wait { $0.contains { $0.hasPrefix("> ") } }
        try tmux("send-keys", "Down")
        try wait { $0.contains { $0.hasPrefix("> ") && $0.contains("file-2.iso") } }
        try tmux("send-keys", "r")
        try wait { $0.contains("resumed file-2.iso") && $0.first?.hasPrefix("1 running") == true }
        try tmux("send-keys", "p")
        try wait { $0.contains("paused file-2.iso") && $0.first?.hasPrefix("0 running") == true }
        try tmux("send-keys", "x")
        try wait { $0.contains { $0.hasPrefix("delete the ") && $0.hasSuffix("received of file-2.iso? [y/N]") } }
        try tmux("send-keys", "n")
        try wait { !$0.contains { $0.contains("[y/N]") } }
        #expect(try house.ask("list").count == 3)
        try tmux("send-keys", "x")
        try wait { $0.contains { $0.contains("[y/N]") } }
        try tmux("send-keys", "y")
        try wait { $0.contains("removed file-2.iso") && !$0.dropLast(3).contains { $0.contains("file-2.iso") } }
        #expect(try house.ask("list").count == 2)
    }

    @Test func `a terminal that was stopped gets its mode and its screen back`() throws {
        try add(1)
        let command = "bash --norc -i"
        try tmux("new-session", "-d", "-x", "100", "-y", "20", command)
        try tmux("send-keys", "\(PawlBinary.path) list --watch", "Enter")
        try wait { $0.contains { $0.hasPrefix("> ") } }
        try tmux("send-keys", "C-z")
        try wait { $0.contains { $0.contains("Stopped") } }
        try tmux("send-keys", "echo a-word", "Enter")
        try wait { $0.contains("a-word") }
        try tmux("send-keys", "fg", "Enter")
        try wait { $0.contains { $0.hasPrefix("> ") } && !$0.contains("a-word") }
        try tmux("send-keys", "C-c")
        try wait { $0.contains("a-word") && !$0.contains { $0.hasPrefix("> ") } }
    }

    @Test func `a service that is stopped is reported, gets no orders, and does not keep q from ending`() throws {
        try add(2)
        try open(columns: 80, rows: 20)
        try wait { $0.contains { $0.hasPrefix("> ") } }
        let service = try house.servicePID()
        kill(service, SIGSTOP)
        try wait { $0.first?.hasPrefix("the service has not responded for") == true }
        try tmux("send-keys", "p")
        try wait { $0.contains("cannot pause file-1.iso: the service does not respond") }
        kill(service, SIGCONT)
        try wait { $0.first?.hasPrefix("0 running") == true }
        kill(service, SIGSTOP)
        defer { kill(service, SIGCONT) }
        try tmux("send-keys", "q")
        try wait { $0.contains("code 0") }
    }

    @Test func `the reason of a failure is read at 80 columns, and the number of failures at 50`() throws {
        let name = "a-name-that-takes-most-of-the-columns-of-a-terminal.iso"
        _ = try house.add("--retries", "0", house.origin.url("/\(name)"))
        try house.run("wait", "--all")
        try open(columns: 80, rows: 20)
        let lines = try wait { $0.contains { $0.hasPrefix("> ") } }
        #expect(lines.contains { $0.hasPrefix("> ") && $0.contains(" failed: the ser") }, "\(lines)")
        #expect(lines[17].hasPrefix("the server returned 404 Not Found"), "\(lines)")
        try tmux("resize-window", "-x", "50", "-y", "15")
        try wait { $0.first == "0 running, 0 queued, 0 paused, 1 failed, 0 B/s" }
    }
}
