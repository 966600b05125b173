import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlServiceCommands
@testable import PawlSystem
@testable import PawlTerminal

/// Output of the commands that call the service.
@Suite struct ServiceTextTests {
    private func download(_ members: (String, JSON)...) -> RemoteDownload? {
        // Later members count.
        var json: [JSON.Member] = [
            JSON.Member("id", "0123456789abcdef"), JSON.Member("state", "waiting"), JSON.Member("url", "http://h/f"),
        ]
        json += members.map { JSON.Member($0.0, $0.1) }
        return RemoteDownload(.object(json))
    }

    @Test func `a resumed download that waits for a slot is said to be queued`() throws {
        let states = [("1", "transferring"), ("2", "waiting"), ("3", "preempted"), ("4", "paused")]
        let line = WaitingLine(
            try states.map { id, state in try #require(download(("id", .string(id)), ("state", .string(state)))) })
        #expect(line.words(for: "1") == nil && line.words(for: "4") == nil)
        #expect(line.words(for: "2") == "queued, position 1; 'pawl start 2' starts it now")
        #expect(line.words(for: "3")?.hasPrefix("queued, position 2;") == true)
    }

    @Test func `a download that waits for its disk has no slot, and is not queued`() throws {
        let waiting = try #require(
            download(
                ("state", "waitingForDisk"),
                (
                    "error",
                    ["code": .number(9), "what": "cannot write", "place": "/f", "why": "it is full", "message": "m"]
                )))
        #expect(!waiting.isRunning)
        #expect(WaitingLine([waiting]).words(for: waiting.id) == nil)
        let states = StateFilter.allCases.filter { $0.includes(waiting) }
        #expect(states == [.waiting])
        #expect(DownloadTable([waiting]).text(width: 80).contains("waiting for disk"))
        let status: JSON = ["running": .number(1), "waiting": .number(2), "waitingForDisk": .number(3)]
        #expect(status.activity == "1 running, 2 queued, 3 waiting for their disk")
        #expect((["running": .number(1), "waiting": .number(0)] as JSON).activity == "1 running, 0 queued")
    }

    @Test func `one that waits for a descriptor has a reason in the list`() throws {
        let waiting = try #require(
            download(
                ("state", "probing"), ("retryIn", .number(1)), ("retryAttempt", .number(0)), ("retryLimit", .number(8)),
                ("retryReason", "too many open files")))
        #expect(DownloadTable([waiting]).text(width: 80).contains("\n  waiting (too many open files)\n"))
    }

    @Test func `a table has a line per download, with names shortened to the width`() throws {
        let long = String(repeating: "long", count: 30)
        let table = DownloadTable([
            try #require(download(("name", .string(long)), ("total", .number(1000)), ("written", .number(500)))),
            try #require(
                download(
                    ("state", "failed"),
                    ("error", ["code": .number(3), "message": "cannot u: no", "why": "no\u{1B}[31m"]))),
        ])
        let lines = table.text(width: 70).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.count < 70 })
        #expect(lines[1].contains(" 50.0%") && lines[1].contains(".."))
        #expect(lines[2].hasSuffix("  f") && lines[3] == "  no\u{FFFD}[31m")
        #expect(table.text(width: nil).contains(long))
        #expect(DownloadTable([]).text(width: 80).isEmpty)
    }

    @Test(arguments: [50, 80]) func `names that differ at their end are told apart in a list`(width: Int) throws {
        let downloads = try (1...3).map { number in
            try #require(
                download(
                    (
                        "name",
                        .string("a rather long name of a release for another machine, part \(number) of 3.tar.xz")
                    ),
                    ("state", "transferring"), ("total", .number(1 << 30)), ("written", .number(1 << 29)),
                    ("speed", .number(5 << 20)), ("timeLeft", .number(100))))
        }
        let rows = DownloadTable(downloads).text(width: width).split(separator: "\n").dropFirst()
        #expect(rows.count == 3 && Set(rows).count == 3, "\(rows)")
    }

    @Test func `details name the folder of the file in full`() {
        let sheet: JSON = ["id": "0123456789abcdef", "state": "finished", "name": "f.bin", "folder": "films"]
        let lines = DownloadSheet(sheet, root: "/srv/downloads").text.split(separator: "\n")
        #expect(lines.contains("folder     /srv/downloads/films"))
    }

    @Test func `details tell that the finished file is gone`() {
        var sheet: JSON = ["id": "0123456789abcdef", "state": "finished", "name": "f.bin", "file": "there"]
        #expect(!DownloadSheet(sheet).text.contains("missing"))
        sheet = ["id": "0123456789abcdef", "state": "finished", "name": "f.bin", "file": "missing"]
        #expect(DownloadSheet(sheet).text.split(separator: "\n").contains { $0.hasPrefix("file       missing") })
    }

    @Test func `details are broken between words, URLs are not`() {
        let url = "http://h/" + String(repeating: "path/", count: 20) + "f.bin"
        let sheet: JSON = [
            "id": "0123456789abcdef", "state": "failed", "url": .string(url), "sources": [.string(url)],
            "error": [
                "code": .number(3), "message": "cannot fetch it: the server returned 404 Not Found; check the URL",
            ],
        ]
        let lines = DownloadSheet(sheet, width: 60).text.split(separator: "\n")
        #expect(lines.contains("name       f.bin") && lines.contains("size       unknown"))
        #expect(lines.contains { $0.hasSuffix(url) })
        #expect(
            lines.suffix(2) == [
                "error      cannot fetch it: the server returned 404 Not", "           Found; check the URL",
            ])
        #expect(DownloadSheet(sheet).text.hasSuffix("Found; check the URL"))
    }

    @Test func `a connection names its URL if there are several sources, an idle download has no speed`() {
        func sheet(_ sources: [JSON], _ more: JSON.Member...) -> [Substring] {
            let lane: JSON = [
                "offset": .number(0), "end": .number(1024), "isReceiving": .bool(false), "url": "http://a/f",
            ]
            let members = [
                JSON.Member("id", "0123456789abcdef"), JSON.Member("state", "transferring"),
                JSON.Member("url", "http://a/f"), JSON.Member("sources", .array(sources)),
                JSON.Member("lanes", .array([lane])),
            ]
            return DownloadSheet(.object(members + more)).text.split(separator: "\n")
        }
        let line = "connection 0 B to 1.00 KiB, waiting for response"
        #expect(sheet(["http://a/f"]).last.map(String.init) == line)
        #expect(sheet(["http://a/f", "http://b/f"]).last.map(String.init) == line + ", http://a/f")
        #expect(sheet(["http://a/f"]).contains { $0.hasPrefix("speed ") })
        let retry = JSON.Member("retryIn", .number(5))
        #expect(!sheet(["http://a/f"], retry).contains { $0.hasPrefix("speed ") })
    }

    @Test func `a narrow list has a short word for a wait, so that names keep their room`() throws {
        let held = try #require(
            download(("state", "probing"), ("waitsForHost", "h"), ("name", "lecture-07-introduction.mp4")))
        let narrow = DownloadTable([held]).text(width: 40).split(separator: "\n")
        #expect(narrow[1].hasPrefix("012345  waiting  lecture"))
        #expect(narrow[2] == "  waiting for h")
        #expect(DownloadTable([held]).text(width: 80).contains("waiting for host  lecture"))
    }

    @Test(arguments: [40, 60, 80, 120, 140]) func `a list keeps 30 columns for names and leaves out others`(
        width: Int
    ) throws {
        let name = "海贼王 第1000集 e\u{301}pisode final version.mkv"
        let table = DownloadTable([
            try #require(
                download(
                    ("name", .string(name)), ("state", "transferring"), ("total", .number(1 << 30)),
                    ("written", .number(1 << 29)), ("speed", .number(5 << 20)), ("timeLeft", .number(100)))),
            try #require(download(("id", "f123456789abcdef"), ("url", "http://h/%E6%B5%B7%E8%B4%BC%20x.mkv"))),
        ])
        let lines = table.text(width: width).split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        for line in lines { #expect(TerminalText.width(line) < width, "\(line)") }
        let head = try #require(lines.first)
        let start = TerminalText.width(head.prefix(head.count - 4))
        #expect(width - 1 - start >= min(30, width / 2 - 2), "\(head)")
        #expect(lines[1].contains("downloading") && lines[2].contains("queued"))
        #expect(lines[2].hasSuffix("海贼 x.mkv"))
        #expect(head.contains("SPEED") == (width >= 120))
    }

    @Test func `a retry says when, why and how often, in the longest form that fits`() throws {
        let waiting = try #require(
            download(
                ("state", "probing"), ("retryIn", .number("56.6")), ("retryAttempt", .number(2)),
                ("retryLimit", .number(8)), ("retryReason", "503")))
        #expect(waiting.stateText.word == "retrying")
        #expect(waiting.stateText.notes.first == "retrying in 57 s (503, 2 of 8)")
        let table = DownloadTable([waiting]).text(width: 80).split(separator: "\n")
        #expect(table.count == 3 && table[2] == "  retrying in 57 s (503, 2 of 8)")
        func line(_ width: Int) -> String? {
            ProgressRenderer(glyphs: .plain, width: width, height: 24).lines(
                [ProgressRow(waiting, digits: 6)], totals: nil, tick: 0
            ).first?.text
        }
        #expect(line(80)?.hasSuffix(" retrying in 57 s (503, 2 of 8)") == true)
        #expect(line(40)?.hasSuffix(" retrying in 57 s (503)") == true)
        #expect(line(30)?.hasSuffix(" retrying in 57 s") == true)
    }

    @Test(arguments: [
        ("waiting", "queued"), ("probing", "connecting"), ("transferring", "downloading"),
        ("waitingForNetwork", "waiting for network"), ("verifying", "verifying"), ("publishing", "finishing"),
        ("preempted", "queued"), ("paused", "paused"),
    ]) func `each state has one word`(state: String, word: String) throws {
        #expect(try #require(download(("state", .string(state)))).stateText.word == word)
    }

    @Test func `a download that waits for its host is not connecting`() throws {
        let held = try #require(
            download(("state", "probing"), ("waitsForHost", "h.example"), ("retryIn", .number("56.6"))))
        let full = try #require(download(("state", "probing"), ("waitsForHost", "h.example")))
        #expect(held.stateText.word == "waiting for host" && full.stateText.word == held.stateText.word)
        #expect(full.stateText.notes.first == "waiting for h.example")
        let table = DownloadTable([held]).text(width: 80).split(separator: "\n")
        #expect(table.last == "  waiting for h.example, which requested a wait: 57 s left")
        #expect(StateFilter("waiting")?.includes(held) == true)
        #expect(StateFilter("connecting")?.includes(held) == false)
    }

    @Test(arguments: [
        ("connecting", "probing"), ("downloading", "transferring"), ("verifying", "verifying"),
        ("finishing", "publishing"), ("queued", "preempted"), ("paused", "paused"),
    ]) func `each listed word selects its state alone`(word: String, state: String) throws {
        for other in DownloadState.allCases.map(\.rawValue) {
            let one = try #require(download(("state", .string(other))))
            let isWaiting = word == "queued" && other == "waiting"
            #expect(StateFilter(word)?.includes(one) == (other == state || isWaiting), "\(other)")
        }
        let retrying = try #require(
            download(("state", .string(state)), ("retryIn", .number("5")), ("retryAttempt", .number(1))))
        #expect(StateFilter("retrying")?.includes(retrying) == retrying.isRunning)
    }

    @Test func `a reason is wrapped, not cut`() throws {
        let why = String(repeating: "a long reason ", count: 12)
        let failed = try #require(
            download(("state", "failed"), ("error", ["code": .number(1), "message": "m", "why": .string(why)])))
        let lines = DownloadTable([failed]).text(width: 60).split(separator: "\n").dropFirst(2)
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix("  a") || $0.hasPrefix("  l") || $0.hasPrefix("  r") })
        #expect(lines.allSatisfy { TerminalText.width($0) < 60 })
        #expect(lines.joined().filter { $0 != " " } == why.filter { $0 != " " })
    }

    @Test func `what a list does not find is named`() {
        var options = VerbOptions()
        #expect(options.nothingFound == "the queue is empty")
        options.group = "g"
        options.text = "zz"
        #expect(options.nothingFound == "no download in the queue is in the group g and named like 'zz'")
    }

    @Test func `status counts what sleeps as waiting`() {
        let status: JSON = ["running": .number(3), "sleeping": .number(2), "waiting": .number(4)]
        #expect(status.activity == "3 running (2 waiting), 4 queued")
        let awake: JSON = ["running": .number(1), "sleeping": .number(0), "waiting": .number(0)]
        #expect(awake.activity == "1 running, 0 queued")
    }

    @Test func `removal asks only where bytes would be deleted`() throws {
        let finished = try #require(download(("state", "finished"), ("name", "a.iso"), ("written", .number(5))))
        let begun = try #require(download(("state", "paused"), ("name", "b.iso"), ("written", .number(2 << 20))))
        let new = try #require(download())
        #expect(RemovalQuestion([finished, new], deletesFiles: false) == nil)
        #expect(RemovalQuestion([finished], deletesFiles: true)?.text == "delete the file a.iso? [y/N] ")
        #expect(
            RemovalQuestion([finished, begun], deletesFiles: true)?.text
                == "delete the file a.iso and the 2.00 MiB received of b.iso? [y/N] ")
    }

    @Test func `enough digits are shown to distinguish the IDs`() {
        #expect(ShortIDs.digits(["0123456789abcdef", "1123456789abcdef"]) == 6)
        #expect(ShortIDs.digits(["0123456789abcdef", "0123456789000000"]) == 11)
        #expect(ShortIDs.digits(["0123456789abcdef", "0123456789abcdef"]) == 16)
        #expect(ShortIDs.digits([String]()) == 6)
    }

    @Test func `events are printed as get prints them`() throws {
        var names: [String: String] = [:]
        func line(_ text: String) throws -> String? {
            Report(event: try JSON.parse(text), names: &names).map { PlainText.line($0) }
        }
        let id = #""id":"00000000000000ab""#
        #expect(
            try line(#"{"event":"started",\#(id),"name":"f","total":2048,"resumedAt":1024}"#)
                == "f: resuming at 1.00 KiB of 2.00 KiB")
        #expect(
            try line(#"{"event":"started",\#(id),"name":"f","total":null,"resumedAt":1000}"#) == "f: resuming at 1000 B"
        )
        #expect(
            try line(#"{"event":"started",\#(id),"name":"f","total":1000,"resumedAt":1000}"#)
                == "f: all 1000 B are on disk already")
        #expect(try line(#"{"event":"state",\#(id),"state":"paused"}"#) == "f: paused")
        #expect(try line(#"{"event":"state",\#(id),"state":"transferring"}"#) == nil)
        #expect(
            try line(#"{"event":"failed",\#(id),"code":3,"what":"no","place":"u","why":"404","remedy":""}"#)
                == "pawl: no u: 404")
        #expect(try line(#"{"event":"changed",\#(id)}"#) == nil)
        #expect(try line(#"{"event":"paused"}"#) == nil)
    }

    @Test func `a download that is not running says why in place of its bar`() throws {
        let renderer = ProgressRenderer(glyphs: .plain, width: 80, height: 24)
        func line(_ download: RemoteDownload?, tick: Int = 1) throws -> String {
            renderer.lines([ProgressRow(try #require(download), digits: 6)], totals: nil, tick: tick)[0].text
        }
        #expect(try line(download()).hasSuffix(" queued"))
        let paused = download(("state", "paused"), ("written", .number(37)), ("total", .number(100)))
        #expect(try line(paused).hasSuffix(" 37.0%, paused"))
        let failed = download(
            ("state", "failed"),
            ("error", ["code": .number(3), "message": "m", "what": "w", "why": "the server said 404"]))
        #expect(try line(failed).hasSuffix(" failed: the server said 404"))
        let moving = download(("state", "transferring"))
        #expect(try line(moving, tick: 1) != line(moving, tick: 2))
    }

    @Test func `the state has a colour where there are colours`() throws {
        let failed = try #require(
            download(("state", "failed"), ("error", ["code": .number(3), "message": "m", "why": "no"])))
        let running = try #require(download(("id", "f123456789abcdef"), ("state", "transferring")))
        let terminal = TerminalState(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }
        let colored = DownloadTable([failed, running], terminal).text(width: 80)
        #expect(colored.contains("\u{1B}[31mfailed     \u{1B}[m  "))
        #expect(colored.contains("\u{1B}[32mdownloading\u{1B}[m"))
        #expect(!DownloadTable([failed, running]).text(width: 80).contains("\u{1B}"))
    }

    @Test func `details have a bar, and count the connections that they do not list`() {
        let lane: JSON = ["url": "http://a/f", "offset": .number(0), "end": .number(1), "isReceiving": .bool(true)]
        let sheet: JSON = [
            "id": "0123456789abcdef", "state": "transferring", "url": "http://a/f", "written": .number(1),
            "total": .number(2), "lanes": .array(Array(repeating: lane, count: 32)),
        ]
        let lines = DownloadSheet(sheet, width: 80).text.split(separator: "\n")
        #expect(lines.contains("progress   " + String(repeating: "#", count: 20) + String(repeating: "-", count: 20)))
        #expect(lines.count { $0.hasPrefix("connection ") } == 8)
        #expect(lines.last == "           and 24 more; 32 of 32 receive data")
    }

    @Test func `paths are made absolute and normalized`() {
        #expect(ServicePlace.absolute("/a//b/./c/") == "/a/b/c")
        #expect(ServicePlace.absolute("x").hasSuffix("/x") && ServicePlace.absolute("x").hasPrefix("/"))
    }

    @Test func `a number with a leading dash is not an option`() throws {
        var options = VerbOptions()
        let parser = OptionParser(VerbOptions.common, command: "move")
        #expect(try parser.parse(["ab", "-2"], into: &options) == ["ab", "-2"])
        #expect(throws: Failure.self) { try parser.parse(["-x2"], into: &options) }
    }

    @Test func `add takes every option of a download, and none of the process`() {
        let names = Set(AddOptions.table.map(\.entry.long))
        let get = Set(GetOptions.table.map(\.entry.long))
        #expect(
            get.subtracting(names) == [
                "jobs", "stdout", "deny-private-addresses", "progress", "verbose", "dry-run", "zsync", "seed",
                "save-cookies", "delete", "max-total", "live",
            ])
        let limit = AddOptions.table.first { $0.entry.long == "limit-rate" }
        #expect(limit?.setsOneDownload == true)
    }
}
