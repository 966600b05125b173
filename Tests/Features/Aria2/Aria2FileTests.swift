import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlIntake
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Lists, configuration files and parameterized addresses as aria2c reads them.
@Suite struct Aria2FileTests {
    @Test func `a junk line in a list is skipped, and the rest is read`() {
        let text = "http://h/a\thttp://g/a\n dir=\n\tout = x\n  junk line\r\n\n# c\nword\n"
        let (entries, faults) = InputFile.parseLeniently(Array(text.utf8))
        #expect(entries.map(\.addresses) == [["http://h/a", "http://g/a"], ["word"]])
        #expect(entries[0].options.map(\.name) == ["dir", "out"])
        #expect(entries[0].options.map(\.value) == ["", "x"])
        #expect(faults == [InputFile.Fault(line: 4, text: "  junk line")])
        #expect(InputFile.parseLeniently([]).entries.isEmpty)
    }

    @Test func `an option before the first URL is read as a URL`() {
        let (entries, _) = InputFile.parseLeniently(Array("  out=lost\nhttp://h/\n".utf8))
        #expect(entries.map(\.addresses) == [["out=lost"], ["http://h/"]])
    }

    @Test func `a configuration file's home folder is replaced`() {
        let options = ConfigurationFile.parse(Array("\u{FEFF}# c\ndir=${HOME}/d\n\nquiet\n".utf8), home: "/h")
        #expect(options.map(\.name) == ["dir", "quiet"])
        #expect(options.map(\.value) == ["/h/d", ""])
    }

    @Test(arguments: [
        ("http://h/a", ["http://h/a"]), ("{a,b}c", ["ac", "bc"]), ("f[1-3]", ["f1", "f2", "f3"]),
        ("f[001-007:3]", ["f001", "f004", "f007"]), ("[y-z]{1,2}", ["y1", "y2", "z1", "z2"]),
        ("[AA-AC]", ["AA", "AB", "AC"]), ("[9-11]", ["9", "10", "11"]),
    ]) func `parameters are expanded in order`(text: String, addresses: [String]) throws {
        #expect(try ParameterizedAddress.expand(text) == addresses)
    }

    @Test(arguments: [
        "f[1-", "{a", "{}", "[3-1]", "[a-3]", "[1-3:0]", "[1-3:1:1]", "[]", "[a-Z]", "[1-999999999]",
        "[1-1000][1-1000]",
    ]) func `a damaged or endless parameter is refused`(text: String) {
        #expect(throws: ParameterizedAddress.Fault.self) { try ParameterizedAddress.expand(text) }
    }

    /// Made with gzip: dynamic codes, fixed codes, and stored bytes.
    private static let members: [[UInt8]] = [
        [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 200, 161, 13, 0, 32, 20, 67, 65, 255, 167, 96, 131, 122, 18, 134, 193,
            213, 129, 40, 9, 227, 51, 8, 239, 228, 57, 217, 93, 178, 102, 181, 117, 50, 110, 153, 97, 24, 134, 97, 24,
            134, 97, 24, 134, 249, 96, 30, 131, 12, 103, 28, 16, 14, 0, 0,
        ],
        [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 40, 41, 41, 176, 210, 215, 207, 208, 79, 4, 0, 39, 33, 203, 56, 10, 0,
            0, 0,
        ],
        [
            31, 139, 8, 0, 0, 0, 0, 0, 4, 3, 1, 10, 0, 245, 255, 104, 116, 116, 112, 58, 47, 47, 104, 47, 97, 39, 33,
            203, 56, 10, 0, 0, 0,
        ],
    ]

    @Test(arguments: members.indices) func `a gzip file is decompressed, and a damaged one is not`(index: Int) throws {
        let member = Self.members[index]
        let wanted = index == 0 ? String(repeating: "http://h/a\n out=x\n", count: 200) : "http://h/a"
        let content = try #require(Gzip.decompress(member, limit: 10_000))
        #expect(String(decoding: content, as: UTF8.self) == wanted)
        #expect(Gzip.decompress(member, limit: content.count - 1) == nil)
        #expect(Gzip.decompress(Array(member.dropLast(12)), limit: 10_000) == nil)
        for length in 0..<18 { #expect(Gzip.decompress(Array(member.prefix(length)), limit: 10_000) == nil) }
    }
}
