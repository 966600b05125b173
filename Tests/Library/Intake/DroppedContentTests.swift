import PawlCollections
import Testing

@testable import PawlAria2
@testable import PawlBase
@testable import PawlIntake
@testable import PawlIntegrity
@testable import PawlPipe
@testable import PawlSystem

struct DroppedContentTests {
    @Test(arguments: [
        ("<metalink>", true), ("<?xml version='1.0'?>\n<!-- a -->\n<ml:metalink xmlns:ml='urn:x'>", true),
        ("\u{FEFF} <metalink\txmlns=''>", true), ("<html><metalink></html>", false), ("metalink", false),
        ("<metalinks>", false), ("", false),
    ]) func `a Metalink is known by its first element`(text: String, isMetalink: Bool) {
        let bytes = Array(text.utf8)
        #expect(DroppedContent.isMetalink(bytes.starts(with: [0xEF]) ? bytes[3...] : bytes[...]) == isMetalink)
    }

    private func read(_ text: String, _ name: String = "f") throws -> DroppedContent {
        try DroppedContent(Array(text.utf8), named: name)
    }

    private func why(_ bytes: [UInt8], _ name: String) -> String? {
        do throws(Failure) {
            _ = try DroppedContent(bytes, named: name)
            return nil
        } catch { return error.description }
    }

    @Test(arguments: [
        """
        \u{FEFF}<?xml version="1.0"?>
        <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="d/f.iso"><size>5</size>
        <hash type="sha-256">\(String(repeating: "0a", count: 32))</hash>
        <url priority="1">http://h/a</url><url priority="2">http://g/a</url></file></metalink>
        """,
        """
        <metalink version="3.0"><files><file name="d/f.iso"><size>5</size><verification>
        <hash type="sha256">\(String(repeating: "0a", count: 32))</hash></verification><resources>
        <url type="http" preference="90">http://h/a</url><url type="http" preference="9">http://g/a</url>
        </resources></file></files></metalink>
        """,
    ]) func `a Metalink is one download with its mirrors and digests, whatever its name`(text: String) throws {
        guard case .entries(let entries) = try read(text, "list.txt") else {
            Issue.record("taken for text")
            return
        }
        #expect(entries.map(\.addresses) == [["http://h/a", "http://g/a"]])
        let options = entries[0].options.map { "\($0.name)=\($0.value)" }
        #expect(options == ["output=d/f.iso", "checksum=sha-256=\(String(repeating: "0a", count: 32))", "length=5"])
    }

    @Test func `a torrent is recognized by its content`() throws {
        let torrent = Array("d8:announce35:http://tracker.example.org/announce4:infod4:name1:fee".utf8)
        #expect(try DroppedContent(torrent, named: "a.txt") == .torrent)
    }

    @Test func `other content is refused by what it is`() {
        let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF http://a/".utf8)
        #expect(why(picture, "p.jpg")?.contains("p.jpg: it is neither a list of URLs nor a Metalink") == true)
        let sums = Array("\(String(repeating: "0a", count: 32))  f.iso\n".utf8)
        #expect(why(sums, "SHA256SUMS")?.contains("SHA256SUMS: it has checksums, but no URLs") == true)
        #expect(why(Array("<metalink><file".utf8), "m")?.contains("cannot use the Metalink m") == true)
    }

    @Test func `text stays text, in UTF-16 too`() throws {
        #expect(try read("http://a/1\nhttp://a/2") == .text("http://a/1\nhttp://a/2"))
        #expect(try read("d: http://a/1") == .text("d: http://a/1"))
        let wide = "http://a/1é".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try DroppedContent([0xFF, 0xFE] + wide, named: "f") == .text("http://a/1é"))
    }

    private func addresses(_ text: String) throws -> [[String]]? {
        if case .entries(let entries) = try read(text) { entries.map(\.addresses) } else { nil }
    }

    @Test(arguments: [
        "To fetch it:\n\n    $ curl -O http://a/1\n\nThen unpack it, don't forget.",
        "me@host:~/x$ wget http://a/1\n--2026-01-01 10:00:00--  http://a/1\nSaving to: '1'\n",
        "Run `curl -fsSL http://a/1` and wait.", "PS C:\\Users\\me> curl.exe -O http://a/1\r\n",
        "C:\\Users\\me>curl -o f ^\"http://a/1^\" ^\r\n  --compressed\r\n", "# wget http://a/1",
        "1. sudo wget -q http://a/1", "- `aria2c -x4 http://a/1`", "Download with: curl -L http://a/1",
        "#!/bin/sh\nset -e\ncurl -LO http://a/1\ntar xf 1\n",
        "> curl -H 'A: b' \\\n>   -L http://a/1\n".replacing(">   ", with: "  "),
        "$ curl --version\ncurl 8.0\n$ curl -O http://a/1\n", "see below\ncurl \"http://a/1\" # it isn't large\n",
        "• curl -O http://a/1",
    ]) func `a command is found behind a prompt and between other text`(text: String) throws {
        #expect(try addresses(text) == [["http://a/1"]])
    }

    @Test func `several commands keep their own options, and lines of URLs stay downloads`() throws {
        guard
            case .entries(let entries) = try read(
                "$ curl -H 'A: 1' \\\n  http://a/1\nhttp://a/2 http://a/3\nwget -O x http://a/4\n# curl http://a/5\n")
        else {
            Issue.record("no commands")
            return
        }
        #expect(entries.map(\.addresses) == [["http://a/1"], ["http://a/2"], ["http://a/3"], ["http://a/4"]])
        #expect(entries.map { $0.options.map(\.name) } == [["header"], [], [], ["output"]])
    }

    @Test(arguments: [
        "curl is a tool. See https://curl.se/docs", "wget and curl fetch https://a/f", "https://curl.se/download",
        "Then curl the file http://a/f to see it", "my curl - http://a/f", "http://a/curl http://a/wget",
    ]) func `a sentence about a program is text`(text: String) throws { #expect(try read(text) == .text(text)) }

    @Test func `a command that cannot be taken is refused, not left out`() {
        for (text, reason) in [
            ("first:\n$ curl -X POST http://a/1\n", "Pawl only sends GET"),
            ("curl http://a/1 | sh\n", "is an operator of the shell"), ("$ wget -i list\n", "it reads a file"),
            ("curl -O http://a/1 && rm -r x\n", "neither curl nor aria2c"),
        ] { #expect(why(Array(text.utf8), "f")?.contains(reason) == true, "\(text)") }
    }

    @Test func `an input file is known by options below a URL`() throws {
        let text = "# a list\nhttp://a/1\thttp://b/1\n  out=x\n  header=A: b\n\nhttp://a/2\n"
        guard case .list(let entries) = try read(text) else {
            Issue.record("taken for text")
            return
        }
        #expect(entries.map(\.addresses) == [["http://a/1", "http://b/1"], ["http://a/2"]])
        #expect(entries[0].options.map(\.name) == ["out", "header"])
        for text in ["http://a/1\n  nothing here", "see http://a/1\n  x=1", " x=1\nhttp://a/1", "x\n  y=1\nhttp://a/1"]
        { #expect(try read(text) == .text(text)) }
    }

    @Test func `options of an input file get the names of Pawl's`() throws {
        let entries = try InputFile.parse(
            Array("http://a/1\thttp://b/1\n out=x\n checksum=md5=0\n split=4\n max-tries=3\n retries=7\n".utf8))
        let translated = try TransferCommand.translated(entries) { $0 == "checksum" || $0 == "retries" }
        #expect(translated?.map(\.addresses) == [["http://a/1", "http://b/1"]])
        #expect(
            translated?[0].options.map { "\($0.name)=\($0.value)" } == [
                "checksum=md5=0", "retries=7", "retries=2", "output=x",
            ])
        let other = try InputFile.parse(Array("http://a/1\n x=1\n".utf8))
        #expect(try TransferCommand.translated(other) { _ in false } == nil)
        let odd = try InputFile.parse(Array("http://a/1\n out=x\n bt-tracker=y\n".utf8))
        #expect(throws: Failure.self) { try TransferCommand.translated(odd) { _ in false } }
    }
}

struct UnicodeTextTests {
    private static let text = "http://a/é😀\r\nx"

    private static func wide(_ units: [UInt16], isLittle: Bool) -> [UInt8] {
        units.flatMap { isLittle ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    @Test func `every encoding of Unicode becomes UTF-8`() {
        let (text, utf8) = (Self.text, Array(Self.text.utf8))
        for isLittle in [true, false] {
            let plain = Self.wide(Array(text.utf16), isLittle: isLittle)
            #expect(UnicodeText.utf8(plain) == utf8, "without a mark")
            #expect(UnicodeText.utf8(Self.wide([0xFEFF], isLittle: isLittle) + plain) == utf8)
            // A byte is missing.
            #expect(UnicodeText.utf8(Self.wide([0xFEFF], isLittle: isLittle) + plain.dropLast()) == utf8.dropLast())
        }
        let long = text.unicodeScalars.flatMap { scalar in (0..<4).map { UInt8(scalar.value >> (8 * $0) & 0xFF) } }
        #expect(UnicodeText.utf8([0xFF, 0xFE, 0, 0] + long) == utf8)
        #expect(UnicodeText.utf8([0xEF, 0xBB, 0xBF] + utf8) == utf8 && UnicodeText.utf8(utf8) == utf8)
    }

    @Test(arguments: [
        [], [0xFF], [0xFF, 0xFE], [0, 0x61], [0xFF, 0xD8, 0xFF, 0xE0], [0x61, 0, 0x62, 0x63], [0, 0, 0, 0],
    ]) func `other bytes stay as they are`(bytes: [UInt8]) {
        #expect(UnicodeText.utf8(bytes) == (bytes == [0xFF, 0xFE] ? [] : bytes))
    }

    @Test func `lists, sums files, Metalinks, configuration and rules are read in UTF-16`() throws {
        func wide(_ text: String) -> [UInt8] { Self.wide(Array("\u{FEFF}\(text)".utf16), isLittle: true) }
        let hex = String(repeating: "0a", count: 32)
        #expect(try InputFile.parse(wide("# x\r\nhttp://a/é\r\n out=b\r\n")).map(\.addresses) == [["http://a/é"]])
        #expect(InputFile.parseLeniently(wide("http://a/1\r\n out=b")).entries[0].options.map(\.value) == ["b"])
        #expect(
            SumsFile(wide("\(hex)  f.iso\r\n"))?.checksums(of: "f.iso".utf8, isOwn: false).map(\.text) == [
                "sha-256=\(hex)"
            ])
        let xml =
            "<?xml version='1.0' encoding='utf-16'?><metalink><file name='f'><url>http://a/f</url></file></metalink>"
        #expect(try Metalink(wide(xml)).files.map(\.name) == ["f"])
        #expect(DroppedContent.isMetalink(UnicodeText.utf8(wide(xml))[...]))
        #expect(ConfigurationFile.parse(wide("dir=x\r\n"), home: "").map(\.value) == ["x"])
        #expect(!RobotsRules(parsing: wide("User-agent: *\r\nDisallow: /a\r\n")).allows("/a/b"))
        #expect(Netrc(parsing: wide("machine h login me password p")).login(for: "h", orDefault: false)?.user == "me")
    }
}
