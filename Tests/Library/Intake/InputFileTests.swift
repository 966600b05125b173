import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlIntake
@testable import PawlSystem

struct InputFileTests {
    @Test func `files, mirrors, options and comments are distinguished`() throws {
        let entries = try InputFile.parse(
            Array(
                """
                # my list
                https://a.example/f#frag
                  out=name with spaces.iso
                \tchecksum = sha-256=abc=
                  # a comment among options

                https://a.example/g\thttps://b.example/g \t\thttps://c.example/g?x=1\t
                https://a.example/h
                 header=X: 1
                 header=Y: 2
                 empty=
                """.utf8))
        #expect(
            entries.map(\.addresses) == [
                ["https://a.example/f#frag"],
                ["https://a.example/g", "https://b.example/g", "https://c.example/g?x=1"], ["https://a.example/h"],
            ])
        #expect(entries.map(\.line) == [2, 7, 8])
        #expect(entries[0].options.map(\.name) == ["out", "checksum"])
        #expect(entries[0].options.map(\.value) == ["name with spaces.iso", "sha-256=abc="])
        #expect(entries[0].options.map(\.line) == [3, 4])
        #expect(entries[1].options.isEmpty)
        #expect(entries[2].options.map(\.value) == ["X: 1", "Y: 2", ""])
    }

    @Test(arguments: ["", "\n", "\r\n\r\n", "# only\n#comments", "   \n\t\n", "\u{FEFF}", "\u{FEFF}# x"])
    func `an empty list is no error`(_ text: String) throws { #expect(try InputFile.parse(Array(text.utf8)).isEmpty) }

    @Test func `a byte order mark, CRLF and a last line without an end are fine`() throws {
        let entries = try InputFile.parse(
            Array("\u{FEFF}http://a/\r\n  out=x\r\nhttp://b/\thttp://c/\r\n#\r\nhttp://d/ü".utf8))
        #expect(entries.map(\.addresses) == [["http://a/"], ["http://b/", "http://c/"], ["http://d/ü"]])
        #expect(entries[0].options.map(\.value) == ["x"])
        #expect(entries.map(\.line) == [1, 3, 5])
    }

    @Test(arguments: [
        ("http://a/\n  out", "line 2 of the list: "), ("http://a/\n\n  =x", "line 3 of the list: "),
        ("  out=x\nhttp://a/", "line 1 of the list: it sets an option before"),
        ("#\r\n out=x", "line 2 of the list: it sets"), ("\n http://a/", "line 2 of the list: an indented line"),
    ]) func `errors name their line, with code 28`(_ text: String, _ why: String) {
        let error = #expect(throws: Failure.self) { try InputFile.parse(Array(text.utf8), name: "the list") }
        #expect(error?.code == .badOption)
        #expect(error?.description.contains(why) == true, "\(String(describing: error))")
    }

    @Test func `ten thousand lines are ten thousand files`() throws {
        let lines = (0..<10_000).map { "https://h.example/\($0)\n out=\($0 * 7)" }
        let entries = try InputFile.parse(Array(lines.joined(separator: "\n").utf8))
        #expect(entries.count == 10_000)
        #expect(entries[9999].addresses == ["https://h.example/9999"])
        #expect(entries[9999].options.map(\.value) == ["69993"])
    }

    @Test func `no text traps`() {
        var dice = Dice(seed: 8)
        for _ in 0..<5000 { _ = try? InputFile.parse(dice.bytes(upTo: 40, from: "# \t\r\n=ab\u{0}ü")) }
    }
}
