import Glibc
import PawlBase
import PawlTestKit
import Testing

/// The output of `list --watch` on a terminal; `script` of util-linux is the terminal.
@Suite(
    .ownThreads,
    .enabled(if: PawlBinary.isBuilt && ServerProcess.isInstalled("script"), "needs the built program and script"))
struct `The live table` {
    private let house: ServiceHouse
    private let content = Payload(seed: 85, length: 500_001)

    init() throws { house = try ServiceHouse.serving() }

    @Test func `shows running downloads, reports ended ones, and restores the cursor`() throws {
        let url = house.origin.serve("/film", content) { $0.cut = .stall(at: 250_000) }
        try house.run("add", "-x", "1", url)
        house.origin.wait(bytes: 250_000, of: "/film")
        let environment = house.environment.merging(["TERM": "xterm", "NO_COLOR": ""]) { $1 }
        let watch = try PawlProcess(
            "/usr/bin/script", ["-qec", "\(PawlBinary.path) list --watch", "/dev/null"], environment: environment)
        let counts = "0 queued, 0 paused, 0 failed"
        #expect(watch.hasShown { $0.contains("film") && $0.contains("1 running, \(counts)") })
        // The stalled connection is closed by a pause.
        try house.run("pause", "--all")
        house.origin.adjust("/film") { $0.cut = nil }
        try house.run("resume", "--all")
        #expect(watch.hasShown { $0.contains("film: finished, 488 KiB") })
        #expect(watch.hasShown { $0.contains("0 running, \(counts)") })
        // The service stops while it runs.
        try house.run("stop")
        #expect(watch.wait() == .code(7))
        #expect(watch.output.contains("\u{1B}[?25l") && watch.output.contains("\u{1B}[?25h"))
        #expect(watch.output.contains("the service has stopped"))
    }

    @Test func `a pipe gets a line for each change, or JSON, and no escape code`() throws {
        let watch = try house.start("list", "--watch")
        let events = try house.start("list", "--watch", "--json")
        let url = house.origin.serve("/film", content)
        // Both listen once they report a download; the first events may come too early for them.
        var number = 0
        while !watch.output.contains("finished") || !events.output.contains("finished") {
            number += 1
            try #require(number < 200)
            try house.run("add", "\(url)?\(number)")
            try house.run("wait", "--all")
        }
        try house.run("slots", "7")
        #expect(events.line(in: .out, atMost: .patience) { $0.contains(#""event":"queue""#) } != nil)
        try house.run("stop")
        #expect(watch.wait() == .code(7))
        #expect(events.wait() == .code(7))
        #expect(!watch.output.contains("\u{1B}"))
        for line in events.lines { #expect(try JSON.parse(line)["event"]?.string != nil) }
    }
}
