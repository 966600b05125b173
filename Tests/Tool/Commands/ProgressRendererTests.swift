import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlTerminal

@Suite struct ProgressRendererTests {
    private let mib: Int64 = 1_048_576
    private var row: ProgressRow {
        ProgressRow(
            name: "debian-12.5.0-amd64-netinst.iso", written: 300 * mib, total: 629 * mib, speed: 12 * mib,
            timeLeft: 27.4, connections: 8)
    }

    private func lines(
        _ rows: [ProgressRow], totals: ProgressTotals? = nil, width: Int, height: Int = 24, tick: Int = 0
    ) -> [String] {
        ProgressRenderer(glyphs: .unicode, width: width, height: height).lines(rows, totals: totals, tick: tick).map(
            \.text)
    }

    @Test(arguments: [
        (20, "debia…st.iso  47.6%"), (40, "debian-12.…etinst.iso  47.6% 12.0 MiB/s"),
        (60, "debian-12.5.0-…64-netinst.iso  47.6% 12.0 MiB/s     28s  x8"),
        (80, "debian-12.5…-netinst.iso ━━━━╸─────  47.6%   300/629 MiB 12.0 MiB/s     28s  x8"),
        (
            200,
            "debian-12.5.0-amd64-netinst.iso ━━━━━━━━━━━━━━━━━━━─────────────────────"
                + "  47.6%   300/629 MiB 12.0 MiB/s     28s  x8"
        ),
    ]) func `a line drops columns as the terminal narrows`(width: Int, line: String) {
        #expect(lines([row], width: width) == [line])
    }

    @Test func `names that would look the same keep what differs`() {
        func names(_ names: String..., width: Int = 40, prefix: Int = 0) -> [String] {
            var renderer = ProgressRenderer(glyphs: .unicode, width: width, height: 24)
            renderer.prefix = prefix
            let rows = names.map { ProgressRow(name: $0, written: 0, total: nil, status: "queued") }
            return renderer.lines(rows, totals: nil, tick: 0).map { String($0.text.prefix { $0 != " " }) }
        }
        #expect(
            names("file-number-02-with-a-long-name.tar.gz", "file-number-13-with-a-long-name.tar.gz", "b.bin") == [
                "…er-02-wit…ame.tar.gz", "…er-13-wit…ame.tar.gz", "b.bin",
            ])
        let same = "file-number-02-with-a-long-name.tar.gz"
        #expect(names(same, same) == ["file-numbe…ame.tar.gz", "file-numbe…ame.tar.gz"])
        #expect(
            names("1a2b3c:film-number-02-with-a-long-name.mkv", "9f8e7d:film-number-13-with-a-long-name.mkv", prefix: 7)
                == ["1a2b3c:…er-02-w…-a-long-name.mkv", "9f8e7d:…er-13-w…-a-long-name.mkv"])
    }

    @Test func `no line reaches the last column, at any width`() {
        let rows = [
            row, ProgressRow(name: "日本語の長い名前のファイル🙂.tar.gz", written: 5, total: nil, status: "connecting"),
            ProgressRow(name: "", written: .max, total: .max, speed: .max, timeLeft: 1e12, connections: 64),
            ProgressRow(name: "z", written: 0, total: 0, status: "no network"),
        ]
        let totals = ProgressTotals(
            files: 10_000, finished: 9_999, failed: 12, written: 5, total: nil, speed: 3, timeLeft: nil)
        for width in 1...220 {
            for tick in 0..<9 {
                for line in lines(rows, totals: totals, width: width, tick: tick) {
                    #expect(TerminalText.width(line) <= max(1, width - 1), "\(width): \(line)")
                }
            }
        }
    }

    @Test func `A6 unknown size shows activity and no percent`() {
        let unknown = ProgressRow(name: "stream", written: 5 * mib, total: nil, speed: mib)
        let drawn = (0..<4).map { lines([unknown], width: 80, tick: $0)[0] }
        #expect(drawn.allSatisfy { !$0.contains("%") && $0.contains("5.00 MiB") })
        #expect(Set(drawn).count == 4)
    }

    @Test func `the activity moves to the end and back`() {
        let unknown = ProgressRow(name: "s", written: 0, total: nil)
        func start(_ tick: Int) -> Int {
            Array(lines([unknown], width: 80, tick: tick)[0]).firstIndex(of: "━").map { $0 } ?? -1
        }
        let starts = (0..<40).map(start)
        #expect(starts.min() == starts[0])
        for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(abs(earlier - later) == 1) }
    }

    @Test func `A6 B8 the bar is full at the end only and never beyond`() {
        func bar(_ written: Int64, _ total: Int64) -> String {
            lines([ProgressRow(name: "n", written: written, total: total)], width: 80)[0].filter { "━╸─".contains($0) }
        }
        #expect(!bar(0, 100).contains("━"))
        #expect(bar(999_999, 1_000_000).hasSuffix("╸"))
        #expect(bar(100, 100).allSatisfy { $0 == "━" })
        #expect(bar(200, 100) == bar(100, 100))
        #expect(lines([ProgressRow(name: "n", written: 200, total: 100)], width: 80)[0].contains("100.0%"))
    }

    @Test func `hidden files are counted, and the total line stays`() {
        let rows = (1...30).map { ProgressRow(name: "f\($0)", written: 0, total: 1) }
        let totals = ProgressTotals(files: 30, finished: 0, failed: 1, written: 0, total: 30, speed: 0, timeLeft: nil)
        let drawn = lines(rows, totals: totals, width: 80, height: 10)
        #expect(drawn.count == 9)
        #expect(drawn[6].hasPrefix("f7 "))
        #expect(drawn[7] == "and 23 more")
        #expect(drawn[8].hasPrefix("0/30 files, 1 failed"))
        #expect(lines(rows, totals: totals, width: 80, height: 1).count <= 2)
        var adapting = totals
        adapting.running = 12
        #expect(lines(rows, totals: adapting, width: 120, height: 10)[8].hasPrefix("0/30 files, 1 failed, 12 at once"))
        // Where there is no room, how many run is left out first.
        #expect(lines(rows, totals: adapting, width: 60, height: 10)[8].hasPrefix("0/30 files, 1 failed "))
    }

    @Test(arguments: [(30, 120, 40, 31), (30, 120, 20, 19), (8, 80, 12, 9), (8, 120, 8, 7), (60, 200, 40, 39)])
    func `lines have the whole width, however many there are`(files: Int, width: Int, height: Int, shown: Int) {
        let rows = (1...files).map { number in
            ProgressRow(
                name: "a rather long name of a file, number \(number).iso", written: 300 * mib, total: 629 * mib,
                speed: mib)
        }
        let totals = ProgressTotals(
            files: files, finished: 0, failed: 0, written: 0, total: nil, speed: 0, timeLeft: nil)
        let drawn = lines(rows, totals: totals, width: width, height: height)
        #expect(drawn.count == shown, "\(drawn)")
        #expect(drawn.allSatisfy { TerminalText.width($0) < width })
        #expect(drawn[0].contains("━") && drawn[0].contains("300/629 MiB"), "\(drawn[0])")
    }

    @Test(arguments: [(50, 31, false), (80, 39, false), (110, 69, false), (120, 70, true), (200, 70, true)])
    func `in a list names have what the columns leave, before a bar has any`(width: Int, columns: Int, hasBar: Bool) {
        let names = (1...3).map { "3f2a1b a rather long name of a file in the queue of the service, \($0).iso" }
        let layout = ColumnLayout(width: width, names: names, prefix: 7)
        #expect(layout.name == columns && (layout.bar != nil) == hasBar, "\(layout)")
    }

    @Test(arguments: [(7.0, "~7s"), (67, "~1:07"), (3599, "~59:59"), (3723, "~1h"), (90_000, "~1d 1h"), (1e9, "~>99d")])
    func `an estimated time says so, and fits its column`(seconds: Double, text: String) {
        var totals = ProgressTotals(
            files: 30, finished: 1, failed: 0, written: 0, total: nil, speed: 1, timeLeft: seconds)
        totals.isTimeEstimated = true
        let line = lines([row], totals: totals, width: 120)[1]
        #expect(line.hasSuffix(" \(text)"), "\(line)")
        #expect(text.count <= 7)
    }

    @Test func `the titles stand above their columns`() {
        let renderer = ProgressRenderer(glyphs: .unicode, width: 100, height: 24)
        let layout = renderer.layout([row.name])
        let (head, line) = (renderer.head(layout).text, renderer.lines([row], layout, tick: 0)[0].text)
        #expect(head.hasPrefix("NAME "))
        for (title, value) in [("DONE", "47.6%"), ("SIZE", "300/629 MiB"), ("SPEED", "12.0 MiB/s"), ("LEFT", "28s")] {
            let ends = [head.end(of: title), line.end(of: value)]
            #expect(ends[0] == ends[1] && ends[0] != nil, "\(head)\n\(line)")
        }
    }

    @Test func `what has failed is red, and what waits is yellow`() throws {
        let totals = ProgressTotals(
            files: 3, finished: 1, failed: 1, written: 0, total: nil, speed: 0, timeLeft: nil)
        let renderer = ProgressRenderer(glyphs: .plain, width: 80, height: 24)
        var waiting = row
        (waiting.notes, waiting.style) = (["retrying in 57 s"], .waiting)
        let drawn = renderer.lines([waiting], totals: totals, tick: 0)
        #expect(drawn[0].escaped().contains("\u{1B}[33m 47.6%, retrying in 57 s\u{1B}[m"))
        #expect(drawn[1].escaped().hasPrefix("1/3 files, \u{1B}[31m1 failed\u{1B}[m"))
        #expect(drawn[1].escaped(inColor: false) == drawn[1].text)
    }

    @Test func `the plain characters are ASCII`() {
        let renderer = ProgressRenderer(glyphs: .plain, width: 60, height: 24)
        #expect(renderer.lines([row], totals: nil, tick: 0)[0].text.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func `a row shows the state of its download`() {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "https://h/a/b.iso?x=1", state: .probing)
        snapshot.connections = 1
        #expect(ProgressRow(snapshot).name == "b.iso")
        #expect(ProgressRow(snapshot).status == "connecting")
        snapshot.retryIn = .seconds(57)
        snapshot.retry = DownloadSnapshot.Retry(attempt: 2, limit: 8, reason: "503")
        #expect(ProgressRow(snapshot).notes.first == "retrying in 57 s (503, 2 of 8)")
        snapshot.retryIn = nil
        snapshot.name = "e\u{1B}vil"
        snapshot.state = .transferring
        #expect(ProgressRow(snapshot).name == "e\u{FFFD}vil")
        #expect(ProgressRow(snapshot).status == nil)
        for state in DownloadState.allCases {
            snapshot.state = state
            #expect(ProgressRow(snapshot).status.map { $0.count <= 10 } ?? true)
        }
    }

    @Test(arguments: [
        ("https://h/a/b.iso?x=/y", "b.iso"), ("https://h/", "h"), ("ftp://h/dir/", "dir"), ("nonsense", "nonsense"),
        ("", ""),
    ]) func `until the server names the file, the URL does`(source: String, name: String) {
        #expect(ProgressRow.lastComponent(of: source) == name)
    }
}

extension String {
    /// The column behind the last occurrence of a text.
    fileprivate func end(of text: String) -> Int? {
        ranges(of: text).last.map { distance(from: startIndex, to: $0.upperBound) }
    }
}
