import PawlBase
import Testing

@testable import PawlServiceCommands
@testable import PawlTerminal

/// The whole screen of `list --watch`.
@Suite struct WatchScreenTests {
    private static let mib: Int64 = 1 << 20

    private func download(_ number: Int, _ more: JSON.Member...) -> RemoteDownload {
        let digits = String(number, radix: 16)
        let id = String(repeating: "0", count: 6 - digits.count) + digits + "0123456789"
        let members = [
            JSON.Member("id", .string(id)), JSON.Member("url", .string("http://h/file-\(number).iso")),
            JSON.Member("state", "waiting"),
        ]
        let json = JSON.object(members.filter { old in !more.contains { $0.name == old.name } } + more)
        guard let download = RemoteDownload(json) else { preconditionFailure("it is a download") }
        return download
    }

    private func screen(_ rows: [RemoteDownload], more: Int? = 0) -> WatchScreen {
        var screen = WatchScreen()
        screen.take(
            rows, more: more,
            statuses: ["1 running, 2 queued, 1 paused, 1 failed, 5.00 MiB/s", "1 running, 2 queued, 5.00 MiB/s"])
        return screen
    }

    private func text(_ screen: inout WatchScreen, _ width: Int, _ height: Int) -> [String] {
        screen.lines(width: width, height: height, glyphs: .unicode, tick: 0).map(\.text)
    }

    private var mixed: [RemoteDownload] {
        [
            download(
                1, JSON.Member("state", "transferring"), JSON.Member("written", .number(300 * Self.mib)),
                JSON.Member("total", .number(629 * Self.mib)), JSON.Member("speed", .number(5 * Self.mib)),
                JSON.Member("timeLeft", .number(66)), JSON.Member("connections", .number(8))),
            download(2), download(3, JSON.Member("state", "paused")),
            download(
                4, JSON.Member("state", "failed"),
                JSON.Member("error", ["code": .number(3), "message": "m", "what": "w", "why": "the server said 404"])),
        ]
    }

    @Test func `at 50 columns there is neither a bar nor a size`() {
        var screen = screen(mixed)
        #expect(
            text(&screen, 50, 10) == [
                "1 running, 2 queued, 5.00 MiB/s", "  NAME                DONE      SPEED    LEFT",
                "> 000001 file-1.iso  47.6% 5.00 MiB/s    1:06  x8", "  000002 file-2.iso queued",
                "  000003 file-3.iso paused", "  000004 file-4.iso failed: the server said 404", "", "", "",
                "p pause  r resume  x remove  q quit",
            ])
    }

    @Test func `at 80 columns there are all columns`() {
        var screen = screen(mixed)
        #expect(
            text(&screen, 80, 10) == [
                "1 running, 2 queued, 1 paused, 1 failed, 5.00 MiB/s",
                "  NAME                                DONE          SIZE      SPEED    LEFT",
                "> 000001 file-1.iso ━━━━━━━────────  47.6%   300/629 MiB 5.00 MiB/s    1:06  x8",
                "  000002 file-2.iso queued", "  000003 file-3.iso paused",
                "  000004 file-4.iso failed: the server said 404", "", "", "",
                "p pause  r resume  x remove  q quit  arrows select",
            ])
    }

    @Test func `at 120 columns the bar is longer`() {
        var screen = screen(mixed)
        let lines = text(&screen, 120, 10)
        #expect(
            lines[2]
                == "> 000001 file-1.iso ━━━━━━━━━━━━━━━━━━━─────────────────────  47.6%   300/629 MiB 5.00 MiB/s    1:06  x8"
        )
        #expect(lines[1].hasPrefix("  NAME   ") && lines[1].hasSuffix("  DONE          SIZE      SPEED    LEFT"))
    }

    /// A failed download with a long name and a long reason.
    private var failed: RemoteDownload {
        download(
            4, JSON.Member("state", "failed"), JSON.Member("name", "distribution-13.2.0-amd64-netinst.iso"),
            JSON.Member(
                "error",
                [
                    "code": .number(6), "message": "m", "what": "cannot fetch", "place": "http://h/f",
                    "why": "no connection to mirror.example.org port 443: connection refused",
                    "remedy": "check the host and the port, or try again later",
                ]))
    }

    @Test(arguments: [
        (
            50,
            [
                "1 running, 2 queued, 5.00 MiB/s", "  NAME", "> 000004 distrib…64-netinst.iso failed: no conne…", "",
                "",
                "", "", "", "", "no connection to mirror.example.org port 443:",
                "connection refused; check the host and the port,…",
                "p pause  r resume  x remove  q quit",
            ]
        ),
        (
            80,
            [
                "1 running, 2 queued, 1 paused, 1 failed, 5.00 MiB/s", "  NAME",
                "> 000004 distributio…-amd64-netinst.iso failed: no connection to mirror.exampl…", "", "", "", "", "",
                "",
                "no connection to mirror.example.org port 443: connection refused; check the",
                "host and the port, or try again later", "p pause  r resume  x remove  q quit  arrows select",
            ]
        ),
        (
            120,
            [
                "1 running, 2 queued, 1 paused, 1 failed, 5.00 MiB/s", "  NAME",
                "> 000004 distribution-13.2.0-amd64-netinst.iso failed: no connection to mirror.example.org port 443: connection refused",
                "", "", "", "", "", "",
                "no connection to mirror.example.org port 443: connection refused; check the host and the port, or try again later",
                "", "p pause  r resume  x remove  q quit  arrows select",
            ]
        ),
    ]) func `below the list is why the selected download has failed`(width: Int, lines: [String]) {
        var screen = screen([failed])
        #expect(text(&screen, width, 12).map { $0.hasPrefix("  NAME") ? "  NAME" : $0 } == lines)
    }

    @Test func `a service that does not respond is told in the head, and gets no orders`() {
        var screen = screen(mixed)
        screen.trouble = "the service has not responded for 5 s"
        #expect(text(&screen, 80, 10)[0] == "the service has not responded for 5 s")
        #expect(screen.press([.character("p")]) == [])
        #expect(text(&screen, 80, 10)[8] == "cannot pause file-1.iso: the service does not respond")
        screen.trouble = nil
        #expect(screen.press([.character("p")]).count == 1)
    }

    @Test(arguments: [1, 2, 3, 5, 8, 24]) func `the screen is filled, and never overflows`(height: Int) {
        for width in [20, 50, 80, 120] {
            var screen = screen((1...40).map { download($0) })
            let lines = text(&screen, width, height)
            #expect(lines.count == height, "\(width)×\(height)")
            #expect(lines.allSatisfy { TerminalText.width($0) < width }, "\(lines)")
        }
    }

    @Test func `what does not fit is counted, and can be scrolled to`() {
        var screen = screen((1...40).map { download($0) }, more: 60)
        var lines = text(&screen, 80, 24)
        #expect(lines[2].hasPrefix("> ") && lines[2].contains("file-1.iso"))
        #expect(lines[21] == "  and 81 more")
        _ = screen.press([.end])
        lines = text(&screen, 80, 24)
        #expect(lines.contains { $0.hasPrefix("> ") && $0.contains("file-40.iso") })
        #expect(lines[21] == "  21 above, and 60 more")
        _ = screen.press([.home])
        #expect(text(&screen, 80, 24)[2].contains("> "))
        screen.take((1...40).map { download($0) }, more: nil, statuses: [])
        #expect(text(&screen, 80, 24)[21] == "  and more")
    }

    @Test func `the selected row stays selected when others come and go`() {
        var screen = screen((1...5).map { download($0) })
        _ = screen.press([.down, .character("j")])
        func selected() -> String? { text(&screen, 80, 24).first { $0.hasPrefix("> ") } }
        #expect(selected()?.contains("file-3") == true)
        screen.take((2...7).map { download($0) }, more: 0, statuses: [])
        #expect(selected()?.contains("file-3") == true)
        screen.take([download(2), download(5), download(6)], more: 0, statuses: [])
        #expect(selected()?.contains("file-5") == true, "the one at its place")
        screen.take([], more: 0, statuses: [])
        #expect(text(&screen, 80, 24)[2] == "  nothing is queued or running")
        #expect(screen.press([.down, .character("p"), .character("x")]) == [])
    }

    @Test func `keys pause, resume and remove the selected download, and quit`() throws {
        var screen = screen((1...3).map { download($0) })
        let id = download(2).id
        func call(_ actions: [WatchScreen.Action]) -> WatchScreen.Call? {
            if case .call(let call)? = actions.first { call } else { nil }
        }
        let pause = try #require(call(screen.press([.down, .character("p")])))
        #expect(pause.method == "pawl.pause" && pause.parameters == [.array([.string(id)])])
        #expect(call(screen.press([.character("r")]))?.method == "pawl.resume")
        #expect(screen.press([.character("x")]) == [])
        #expect(text(&screen, 80, 24)[22] == "remove file-2.iso from the list? [y/N] ")
        let removal = try #require(call(screen.press([.character("y")])))
        #expect(removal.method == "pawl.remove" && removal.id == id)
        #expect(removal.parameters == [.array([.string(id)]), ["keepFile": .bool(true)]])
        #expect(screen.press([.character("q")]) == [.quit])
    }

    @Test func `nothing that came with the question replies to it, and another key means no`() {
        var screen = screen([download(1)])
        #expect(screen.press([.character("x"), .character("y")]) == [])
        #expect(screen.press([.character("q")]) == [], "no")
        #expect(screen.press([.character("q")]) == [.quit])
        _ = screen.press([.character("x")])
        screen.take([download(2)], more: 0, statuses: [])
        #expect(screen.press([.character("y")]) == [], "the download of the question is gone")
    }

    @Test func `a message stays until the next key`() {
        var screen = screen([download(1)])
        screen.say("paused file-1.iso")
        #expect(text(&screen, 80, 24)[22] == "paused file-1.iso")
        #expect(text(&screen, 80, 5).last == "paused file-1.iso")
        _ = screen.press([.up])
        #expect(text(&screen, 80, 24)[22] == "")
    }

    @Test func `without a keyboard nothing is selected`() {
        var screen = screen([download(1)])
        screen.takesKeys = false
        let lines = text(&screen, 80, 24)
        #expect(!lines.contains { $0.hasPrefix(">") } && lines.last == "Ctrl-C ends")
    }
}
