import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlJournal

/// What wrappers of aria2c parse.
@Suite struct Aria2cTextTests {
    @Test(arguments: [
        (0, "0"), (921, "921"), (922, "0.9Ki"), (1023, "0.9Ki"), (1024, "1.0Ki"), (100_001, "97Ki"),
        (2_500_000, "2.3Mi"), (5 << 20, "5.0Mi"), (1 << 30, "1.0Gi"), (3 << 41, "6,144Gi"),
    ]) func `sizes are abbreviated`(bytes: Int64, text: String) { #expect(Aria2cText.size(bytes) == text) }

    private func row(_ gid: String, _ written: Int64, _ total: Int64, speed: Int64 = 0) -> Aria2cText.Progress {
        Aria2cText.Progress(gid: gid, written: written, total: total, connections: 1, speed: speed, path: "d/f")
    }

    @Test func `the readout shows one download, or the sums of several`() {
        let one = row("2089b05ecca3d829", 1 << 20, 5 << 20, speed: 1 << 20)
        let two = row("0123456789abcdef", 5, 0)
        func text(_ rows: [Aria2cText.Progress]) -> String { Aria2cText.readout(rows, isHumanReadable: true) }
        #expect(text([one]) == "[#2089b0 1.0MiB/5.0MiB(20%) CN:1 DL:1.0MiB ETA:4s]")
        #expect(text([two]) == "[#012345 5B/0B CN:1 DL:0B]")
        #expect(text([one, two]) == "[DL:1.0MiB][#2089b0 1.0MiB/5.0MiB(20%)][#012345 5B/0B]")
        #expect(text(Array(repeating: two, count: 7)).hasSuffix("(+2)"))
        #expect(
            Aria2cText.readout([one], isHumanReadable: false)
                == "[#2089b0 1048576B/5242880B(20%) CN:1 DL:1048576B ETA:4s]")
    }

    @Test func `the readout shows how much of a file was compared with its digests`() {
        var one = row("2089b05ecca3d829", 0, 5 << 20)
        (one.checked, one.connections) = (1 << 20, 0)
        let two = row("0123456789abcdef", 5, 0)
        let comparison = " [Checksum:#2089b0 1.0MiB/5.0MiB(20%)]"
        func text(_ rows: [Aria2cText.Progress]) -> String { Aria2cText.readout(rows, isHumanReadable: true) }
        #expect(text([one]) == "[#2089b0 5.0MiB/5.0MiB(100%) CN:0]" + comparison)
        #expect(text([two, one]) == "[DL:0B][#012345 5B/0B][#2089b0 5.0MiB/5.0MiB(100%)]" + comparison)
    }

    @Test func `the results are a table with a legend of what occurs in it`() {
        let done = Aria2cText.Result(
            gid: "2089b05ecca3d829", outcome: .complete, speed: 607 << 10, percent: 100, place: "d/f")
        var failed = done
        (failed.outcome, failed.speed, failed.percent, failed.place) = (.failed, nil, nil, "http://h/f")
        #expect(
            Aria2cText.results([done], isFull: false, isColored: false) == """

                Download Results:
                gid   |stat|avg speed  |path/URI
                ======+====+===========+=======================================================
                2089b0|OK  |   607KiB/s|d/f

                Status Legend:
                (OK):download completed.

                """)
        let full = Aria2cText.results([done, failed], isFull: true, isColored: false)
        #expect(full.contains("\n2089b0|OK  |   607KiB/s|100|d/f\n2089b0|ERR |        n/a|  -|http://h/f\n"))
        #expect(full.hasSuffix("(OK):download completed.(ERR):error occurred.\n"))
        #expect(Aria2cText.results([done], isFull: false, isColored: true).contains("|\u{1B}[1;32mOK\u{1B}[0m  |"))
    }

    @Test(arguments: [(4, "4s"), (154, "2m34s"), (3_723, "1h2m3s"), (3_600, "1h0s")])
    func `durations have hours, minutes and seconds`(seconds: Int64, text: String) {
        #expect(Aria2cText.duration(seconds) == text)
    }

    /// Which of both codes it is, and why: aria2c's, unless it has none.
    @Test(arguments: [
        (403, 22), (410, 22), (429, 22), (400, 22), (500, 22), (304, 22), (404, 3), (401, 24), (407, 22), (502, 29),
        (503, 29), (504, 29),
    ]) func `a status has aria2c's exit code`(status: Int, code: UInt8) {
        let error = PawlError(Failure(.unknown, "cannot fetch", at: "http://h/", because: .httpStatus(status)))
        #expect(Aria2cExit.code(of: error) == code)
        #expect(Aria2cExit.code(of: error, mostNotFound: 2) == (status == 404 ? 4 : code))
    }

    private static let codes: [(failure: Failure.Code, code: UInt8)] = [
        // aria2c has no code of its own for a lost or refused connection, a failed handshake, a bad URL.
        (.network, 1), (.insecure, 1), (.badOption, 1), (.timeout, 2), (.tooSlow, 5), (.cannotResume, 8),
        (.diskFull, 9), (.alreadyDownloading, 11), (.fileExists, 13), (.cannotMakeFolder, 18), (.nameResolution, 19),
        (.tooManyRedirects, 23), (.checksumMismatch, 32),
        // Pawl's own stay.
        (.newerJournal, 34),
    ]

    @Test(arguments: codes.indices) func `another failure has aria2c's code if it has one`(index: Int) {
        let (failure, code) = Self.codes[index]
        let error = PawlError(Failure(failure, "cannot fetch", at: "http://h/", because: "x"))
        #expect(Aria2cExit.code(of: error) == code)
    }

    @Test(arguments: [
        ("a.1.bin", "a.bin"), ("tiny.12", "tiny"), ("a.tar.3.gz", "a.tar.gz"), ("a.bin", nil), ("v1.2", "v1"),
    ]) func `a numbered name is recognized`(name: String, former: String?) {
        #expect(Aria2cDownload.unnumbered(name) == former)
    }

    @Test func `files are selected by numbers and ranges`() {
        #expect(Aria2Option.fileNumbers("1-3,5")?.flatMap(Array.init) == [1, 2, 3, 5])
        #expect(Aria2Option.fileNumbers("x") == nil && Aria2Option.fileNumbers("3-1") == [])
    }

    @Test func `a taken name gets a number before its last extension`() {
        #expect(FileName.numbered("a.tar.gz", 2, as: .dotted) == "a.tar.2.gz")
        #expect(FileName.numbered("tiny", 1, as: .dotted) == "tiny.1")
        #expect(FileName.numbered("a.tar.gz", 2) == "a (2).tar.gz")
    }

    @Test func `help is in aria2c's form, by tag and by a part of names`() {
        let basic = Aria2cHelp.text(on: "")
        let first = basic.split(separator: "\n").map(String.init)
        #expect(first[0].hasPrefix("Usage: aria2c [OPTIONS]"))
        #expect(first[1] == "Printing options tagged with '#basic'.")
        #expect(first[2] == "See 'aria2c -h#help' to know all available tags.")
        #expect(first[3] == "Options:")
        #expect(first.contains { $0.hasPrefix(" -d, --dir=") } && !basic.contains("--retry-wait"))
        #expect(basic.hasSuffix("Refer to man page for more information.\n"))
        #expect(Aria2cHelp.text(on: "#basic") == basic)
        let margin = String(repeating: " ", count: 30)
        let wait = Aria2cHelp.text(on: "retry-wait")
        #expect(wait.contains("Printing options whose name includes 'retry-wait'."))
        #expect(wait.contains("\n\(margin)Possible Values: 0-"))
        #expect(wait.contains("\n\(margin)Default: 0\n\(margin)Tags: #http, #ftp\n"))
        #expect(Aria2cHelp.text(on: "#nope").split(separator: "\n").count == 5)
        #expect(Aria2cHelp.text(on: "zzz").contains("No option matching with 'zzz'.\n -h, --help[=TAG|KEYWORD]"))
        for line in Aria2cHelp.text(on: "#all").split(separator: "\n") where line.hasPrefix(margin + "Tags") {
            #expect(!line.hasSuffix(", "))
        }
        let listed = Aria2cHelp.text(on: "#all").split(separator: "\n").count { $0.hasPrefix(" -") }
        #expect(listed == Aria2cRow.table.count { $0.role != .nothing })
    }
}
