import PawlCore
import Testing

@testable import PawlCommands

/// Output of the commands that call the service.
@Suite struct ServiceTextTests {
    private func download(_ members: (String, JSON)...) -> RemoteDownload? {
        var json: [JSON.Member] = [
            JSON.Member("id", "0123456789abcdef"), JSON.Member("state", "waiting"),
            JSON.Member("url", "http://h/f"),
        ]
        json += members.map { JSON.Member($0.0, $0.1) }
        return RemoteDownload(.object(json))
    }

    @Test func `a table has a line per download, with names shortened to the width`() throws {
        let long = String(repeating: "long", count: 30)
        let table = DownloadTable([
            try #require(
                download(("name", .string(long)), ("total", .number(1000)), ("written", .number(500)))
            ),
            try #require(
                download(("state", "failed"), ("error", ["code": .number(3), "message": "no\u{1B}[31m"]))
            ),
        ])
        let lines = table.text(width: 70).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.count < 70 })
        #expect(lines[1].contains(" 50.0%") && lines[1].contains(".."))
        #expect(lines[2].contains("f: no") && !lines[2].contains("\u{1B}"))
        #expect(table.text(width: nil).contains(long))
        #expect(DownloadTable([]).text(width: 80).isEmpty)
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
            Report(event: try JSON.parse(text), names: &names).map(PlainText.line)
        }
        let id = #""id":"00000000000000ab""#
        #expect(
            try line(#"{"event":"started",\#(id),"name":"f","total":2048,"resumedAt":1024}"#)
                == "f: resuming at 1.00 KiB of 2.00 KiB"
        )
        #expect(try line(#"{"event":"state",\#(id),"state":"paused"}"#) == "f: paused")
        #expect(try line(#"{"event":"state",\#(id),"state":"transferring"}"#) == nil)
        #expect(
            try line(#"{"event":"failed",\#(id),"code":3,"what":"no","place":"u","why":"404","remedy":""}"#)
                == "pawl: no u: 404"
        )
        #expect(try line(#"{"event":"changed",\#(id)}"#) == nil)
        #expect(try line(#"{"event":"paused"}"#) == nil)
    }

    @Test func `a download that is not running has a bar without animation`() throws {
        let renderer = ProgressRenderer(glyphs: .plain, width: 80, height: 24)
        let resting = ProgressRow(try #require(download()), digits: 6)
        #expect(
            renderer.lines([resting], totals: nil, tick: 1) == renderer.lines([resting], totals: nil, tick: 2)
        )
        let moving = ProgressRow(try #require(download(("state", "transferring"))), digits: 6)
        #expect(
            renderer.lines([moving], totals: nil, tick: 1) != renderer.lines([moving], totals: nil, tick: 2)
        )
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
        #expect(get.subtracting(names) == ["jobs", "quiet", "stdout", "deny-private-addresses"])
        let limit = AddOptions.table.first { $0.entry.long == "limit-rate" }
        #expect(limit?.setsOneDownload == true)
    }
}
