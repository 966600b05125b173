import Glibc
import PawlTestKit
import Testing

/// The display on a terminal whose width changes; tmux is the terminal.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("tmux"), "needs the built program and tmux"))
final class `The display on a terminal that is resized` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 73, length: 40_001)

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit {
        _ = try? tmux("kill-server")
        origin.stop()
    }

    @discardableResult private func tmux(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run(
            "/usr/bin/tmux", ["-f", "/dev/null", "-S", folder.path("tmux")] + arguments,
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TMUX": ""])
    }

    /// The lines of the screen and of what has left it at its top.
    private func screen() throws -> [String] {
        try tmux("capture-pane", "-p", "-J", "-S", "-").output.split(separator: "\n").map(String.init)
    }

    /// The empty rows above the last line, also those that have left the screen.
    private func emptyRows() throws -> Int {
        let rows = try tmux("capture-pane", "-p", "-S", "-").output.split(
            separator: "\n", omittingEmptySubsequences: false)
        let last = rows.lastIndex { !$0.isEmpty } ?? 0
        return rows[..<last].count(where: \.isEmpty)
    }

    /// A redraw may be under way: it draws the rows from the last to the first.
    private func waitForEmptyRows(atMost most: Int) throws {
        for _ in 0..<3000 where try emptyRows() <= most { return }
        Issue.record("\(try emptyRows()) empty rows")
    }

    /// Waits until the screen shows something.
    private func wait(until isThere: ([String]) -> Bool) throws -> [String] {
        var lines: [String] = []
        for _ in 0..<3000 {
            lines = try screen()
            if isThere(lines) { return lines }
        }
        Issue.record("not shown: \(lines)")
        return lines
    }

    @Test func `no finished line is lost or doubled at 120, 60 and 140 columns`() throws {
        // What they wrap to at 60 columns has room on the screen.
        let files = 24
        let names = (0..<files).map { "\($0)-海贼王-a name that is long enough to be cut e\u{301}.tar.gz" }
        for (number, name) in names.enumerated() {
            origin.serve("/\(number)", content) { behaviour in
                behaviour.disposition = Array("attachment; filename*=UTF-8''\(Self.encoded(name))".utf8)
                if number >= 10 { behaviour.cut = .stall(after: 20_000) }
            }
        }
        let urls = (0..<files).map { origin.url("/\($0)") + "\n" }.joined()
        try FileSystem.write(Array(urls.utf8), to: folder.path("list"))
        let command = "\(PawlBinary.path) get -x1 -j30 -d \(folder.path("out")) -i \(folder.path("list")); cat"
        try tmux("new-session", "-d", "-x", "120", "-y", "40", command)
        func finished(_ lines: [String]) -> Int { lines.count { $0.contains(": finished, ") } }
        _ = try wait {
            finished($0) == 10 && $0.contains { $0.hasPrefix("10/\(files) files") && $0.count > 60 }
        }
        try tmux("resize-window", "-x", "60")
        for number in 10..<17 { origin.release("/\(number)") }
        _ = try wait { finished($0) == 17 && $0.contains { $0.hasPrefix("17/\(files) files") } }
        try tmux("resize-window", "-x", "140")
        _ = try wait { $0.contains { $0.hasPrefix("17/\(files) files") && $0.count > 60 } }
        for number in 17..<files { origin.release("/\(number)") }
        let lines = try wait { $0.contains { $0.hasPrefix("\(files) finished") } }
        for name in names {
            let own = lines.filter { $0.contains("/\(name): finished, ") }
            #expect(own.count == 1, "\(name): \(own)")
        }
        #expect(lines.count == files + 1, "\(lines)")
        // Those that kept its rows from staying behind left the screen in their place.
        try waitForEmptyRows(atMost: 16)
    }

    @Test(arguments: [(8, "120", "14"), (8, "80", "10"), (30, "120", "40")])
    func `every row of a low terminal shows a file`(files: Int, columns: String, rows: String) throws {
        for number in 0..<files { origin.serve("/\(number)-low", content) { $0.cut = .stall(after: 20_000) } }
        let urls = (0..<files).map { origin.url("/\($0)-low") + "\n" }.joined()
        try FileSystem.write(Array(urls.utf8), to: folder.path("list"))
        let command = "\(PawlBinary.path) get -x1 -j30 -d \(folder.path("out")) -i \(folder.path("list")); cat"
        try tmux("new-session", "-d", "-x", columns, "-y", rows, command)
        let lines = try wait { $0.last?.hasPrefix("0/\(files) files") == true && $0.count > files }
        for number in 0..<files { #expect(lines.contains { $0.hasPrefix("\(number)-low ") }, "\(lines)") }
    }

    @Test(arguments: [(8, "80", "30"), (8, "60", "40"), (12, "60", "40")])
    func `nothing of a display stays behind when the terminal shrinks and grows`(
        files: Int, columns: String, rows: String
    ) throws {
        for number in 0..<files { origin.serve("/\(number)-of-many", content) { $0.cut = .stall(after: 20_000) } }
        let urls = (0..<files).map { origin.url("/\($0)-of-many") + "\n" }.joined()
        try FileSystem.write(Array(urls.utf8), to: folder.path("list"))
        let command = "seq 5; \(PawlBinary.path) get -x1 -j30 -d \(folder.path("out")) -i \(folder.path("list")); cat"
        try tmux("new-session", "-d", "-x", "120", "-y", "40", command)
        func isDrawn(_ lines: [String], isLarge: Bool) -> Bool {
            guard let last = lines.last, last.hasPrefix("0/\(files) files") else { return false }
            return (last.count > 80) == isLarge
        }
        _ = try wait { isDrawn($0, isLarge: true) }
        try tmux("resize-window", "-x", columns, "-y", rows)
        _ = try wait { isDrawn($0, isLarge: false) }
        try tmux("resize-window", "-x", "120", "-y", "40")
        let lines = try wait { isDrawn($0, isLarge: true) }
        #expect(lines.prefix(5) == ["1", "2", "3", "4", "5"])
        for number in 0..<files { #expect(lines.count { $0.hasPrefix("\(number)-of-many ") } <= 1, "\(lines)") }
        #expect(lines.count { $0.hasPrefix("0/\(files) files") } == 1)
    }

    @Test(arguments: [(30, "120", "20"), (30, "120", "8"), (6, "70", "5")])
    func `a run that ends on a smaller screen than it began leaves no row of its display`(
        files: Int, columns: String, rows: String
    ) throws {
        for number in 0..<files { origin.serve("/\(number)-small", content) { $0.cut = .stall(after: 20_000) } }
        let urls = (0..<files).map { origin.url("/\($0)-small") + "\n" }.joined()
        try FileSystem.write(Array(urls.utf8), to: folder.path("list"))
        let command = "seq 5; \(PawlBinary.path) get -x1 -j30 -d \(folder.path("out")) -i \(folder.path("list")); cat"
        try tmux("new-session", "-d", "-x", "120", "-y", "40", command)
        _ = try wait { $0.last?.hasPrefix("0/\(files) files") == true && $0.count > files + 5 }
        try tmux("resize-window", "-x", columns, "-y", rows)
        _ = try wait { $0.last?.hasPrefix("0/\(files) files") == true && $0.contains { $0.hasPrefix("and ") } }
        for number in 0..<files {
            origin.serve("/\(number)-small", content)
            origin.release("/\(number)-small")
        }
        let lines = try wait { $0.contains { $0.hasPrefix("\(files) finished") } }
        #expect(lines.prefix(5) == ["1", "2", "3", "4", "5"])
        #expect(lines.count == 5 + files + 1, "\(lines)")
        #expect(lines.dropFirst(5).dropLast().allSatisfy { $0.contains("-small: finished, ") }, "\(lines)")
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 0x80 && byte != 0x20
                ? String(UnicodeScalar(byte)) : "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}
