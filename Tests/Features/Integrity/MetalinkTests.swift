import Testing

@testable import PawlBase
@testable import PawlIntegrity
@testable import PawlJournal
@testable import PawlSystem
@testable import PawlXML

@Suite struct MetalinkTests {
    private static let sha256 = String(repeating: "0a", count: 32)
    private static let sha1 = String(repeating: "1b", count: 20)

    private static let newest = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- of a distribution -->
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">
          <published>2026-11-21T12:00:00Z</published>
          <file name="iso/disk 1.iso">
            <size>14471447</size>
            <identity>Example</identity>
            <hash type="md5">00112233445566778899aabbccddeeff</hash>
            <hash type="sha-1">\(sha1)</hash>
            <hash type="sha-256">\(sha256)</hash>
            <hash type="sha-384">00</hash>
            <pieces length="1048576" type="sha-1"><hash>\(sha1)</hash></pieces>
            <metaurl mediatype="torrent">http://example.org/disk.torrent</metaurl>
            <url location="US" priority="3">ftp://ftp.example.net/disk.iso</url>
            <url priority="1">https://example.org/a?x=1&amp;y=2</url>
            <url>http://last.example.org/disk.iso</url>
            <url priority="3">http://second.example.org/disk.iso</url>
            <url priority="2">gopher://example.org/disk.iso</url>
          </file>
          <file name="b"><url>http://example.org/b</url></file>
          <file name="none"><url>magnet:?xt=1</url></file>
        </metalink>
        """

    @Test(arguments: [
        #"<hash type="sha-256">00</hash>"#, #"<hash type="sha-1"></hash>"#,
        #"<pieces length="1048576" type="sha-1"><hash>00</hash></pieces>"#,
        "<pieces length=\"0\" type=\"sha-1\"><hash>\(sha1)</hash></pieces>", "<size>-5</size>",
    ]) func `what is stated and malformed is not taken for nothing`(element: String) throws {
        func text(_ elements: String) -> [UInt8] {
            Array(
                #"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f">\#(elements)<url>http://h/f</url></file></metalink>"#
                    .utf8)
        }
        #expect(throws: Metalink.Fault.self) { try Metalink(text(element)) }
        let other = "<hash type=\"sha-256\">\(Self.sha256)</hash>"
        if !element.contains("size") { #expect(try Metalink(text(element + other)).files[0].checksums.count == 1) }
        let unknown = #"<hash type="sha-999">00</hash>"#
        #expect(try Metalink(text(unknown)).files[0].checksums.isEmpty)
    }

    private static let old = """
        <metalink version="3.0" xmlns="http://www.metalinker.org/"><files>
          <file name="a.tar.gz"><size> 5 </size>
            <verification>
              <hash type="sha1">\(sha1)</hash><hash type="sha256">\(sha256.uppercased())</hash>
              <pieces type="sha1" length="4"><hash piece="0">\(sha1)</hash></pieces>
            </verification>
            <resources maxconnections="2">
              <url type="bittorrent" preference="100">http://example.org/a.torrent</url>
              <url type="http" location="de" preference="10">http://example.de/a</url>
              <url type="ftp" preference="100">ftp://example.org/a</url>
            </resources>
          </file>
        </files></metalink>
        """

    private func addresses(_ file: Metalink.File) -> [String] { file.sources.map(\.address.text) }

    @Test func `pieces count without a size, and one that contradicts them only beside another digest`() throws {
        func pieces(_ size: String, _ hash: String = "") throws -> Int? {
            let text = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">\(size)\(hash)
                <pieces length="4" type="sha-1"><hash>\(Self.sha1)</hash><hash>\(Self.sha1)</hash></pieces>
                <url>http://example.org/a</url></file></metalink>
                """
            return try Metalink(Array(text.utf8)).files.first?.pieces?.count
        }
        let hash = "<hash type=\"sha-256\">\(Self.sha256)</hash>"
        #expect(try pieces("") == 2)
        #expect(try pieces("", hash) == 2)
        #expect(try pieces("<size>8</size>") == 2)
        #expect(try pieces("<size>9</size>") == 2, "nothing else proves the content")
        #expect(try pieces("<size>9</size>", hash) == nil)
    }

    @Test func `files without a usable URL count only where sources are not needed`() throws {
        let all = try Metalink(Array(Self.newest.utf8), needsSources: false)
        #expect(all.files.map(\.name) == ["disk 1.iso", "b", "none"])
        #expect(all.files[2].sources.isEmpty)
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">
            <hash type="sha-256">\(Self.sha256)</hash>
            <metaurl mediatype="torrent">http://example.org/a.torrent</metaurl></file></metalink>
            """
        let described = try Metalink(Array(text.utf8), needsSources: false)
        #expect(described.files.first?.checksums.first?.text == "sha-256=\(Self.sha256)")
        #expect(throws: Metalink.Fault.self) { try Metalink(Array(text.utf8)) }
    }

    @Test func `version 4 is parsed with its sources in order and its best checksum first`() throws {
        let metalink = try Metalink(Array(Self.newest.utf8))
        #expect(metalink.files.map(\.name) == ["disk 1.iso", "b"])
        let file = metalink.files[0]
        #expect(file.folders == ["iso"])
        #expect(file.size == 14_471_447)
        #expect(file.checksums.map(\.algorithm) == [.sha256, .sha1, .md5])
        #expect(file.checksums[0].text == "sha-256=\(Self.sha256)")
        #expect(
            addresses(file) == [
                "https://example.org/a?x=1&y=2", "ftp://ftp.example.net/disk.iso", "http://second.example.org/disk.iso",
                "http://last.example.org/disk.iso",
            ])
        #expect(file.sources.map(\.priority) == [1, 3, 3, 999_999])
        #expect(file.sources[1].location == "us")
    }

    @Test func `version 3 is parsed, with its preferences in reverse order`() throws {
        let file = try #require(try Metalink(Array(Self.old.utf8)).files.first)
        #expect(file.name == "a.tar.gz" && file.folders.isEmpty && file.size == 5)
        #expect(addresses(file) == ["ftp://example.org/a", "http://example.de/a"])
        #expect(file.checksums.map(\.algorithm) == [.sha256, .sha1])
    }

    @Test func `relative URLs are resolved against the document's URL`() throws {
        let text = "<metalink><file name='f'><url>../f</url></file></metalink>"
        let base = try WebAddress.parse("https://example.org/x/y/z.meta4").address
        #expect(addresses(try Metalink(Array(text.utf8), base: base).files[0]) == ["https://example.org/x/f"])
        #expect(throws: Metalink.Fault.self) { try Metalink(Array(text.utf8)) }
    }

    @Test(arguments: ["../f", "/etc/f", "a/../../f", "..", "", "a//f", "a/", "..\\f", "a\\..\\f", "a/./f"])
    func `a name that leads elsewhere is refused`(_ name: String) {
        let text = "<metalink><file name=\"\(name)\"><url>http://h/f</url></file></metalink>"
        let fault = #expect(throws: Metalink.Fault.self) { try Metalink(Array(text.utf8)) }
        #expect(fault?.words.contains("leads out of its folder") == true)
    }

    @Test func `names are kept, without what is invisible`() throws {
        let text =
            "<m:metalink xmlns:m='x'><m:file name='.ssh/-f&#10;g'><m:url>http://h/f</m:url></m:file></m:metalink>"
        let file = try #require(try Metalink(Array(text.utf8)).files.first)
        #expect(file.folders == [".ssh"])
        #expect(file.name == "fg")
        for name in [".bashrc", "back\\slash", "...", "-x", "a b "] {
            let text = "<metalink><file name='\(name)'><url>http://h/f</url></file></metalink>"
            #expect(try Metalink(Array(text.utf8)).files[0].name == name)
        }
    }

    @Test func `two files of one name are refused`() {
        let file = "<file name='f'><url>http://h/f</url></file>"
        #expect(throws: Metalink.Fault.self) { try Metalink(Array("<metalink>\(file)\(file)</metalink>".utf8)) }
    }

    @Test(arguments: [
        "", "x", "<metalink/>", "<html></html>", "<metalink><file name='f'/></metalink>",
        "<!DOCTYPE m [<!ENTITY a 'b'>]><metalink/>", "<metalink><file name='f'>",
    ]) func `a file without a source is refused`(_ text: String) {
        #expect(throws: Metalink.Fault.self) { try Metalink(Array(text.utf8)) }
    }

    @Test func `endless elements are refused`() {
        let open = String(repeating: "<file name='f'>", count: 100_000)
        #expect(throws: Metalink.Fault.self) { try Metalink(Array("<metalink>\(open)".utf8)) }
        let many = String(repeating: "<a/>", count: 300_000)
        #expect(throws: Metalink.Fault.self) { try Metalink(Array("<metalink>\(many)</metalink>".utf8)) }
    }
}

@Suite struct XMLElementTests {
    private static let limits = XMLElement.Limits(length: 100, depth: 3, elements: 4)

    private func parse(_ text: String) throws(XMLElement.Fault) -> XMLElement {
        try XMLElement.parse(Array(text.utf8), within: Self.limits)
    }

    @Test func `attributes, text and children are distinguished`() throws {
        let root = try parse("<a x='1&lt;2' y = \">'\" ><b/>t<!-- no --><![CDATA[<u>]]>&#x41;<b z=''>v</b></a >")
        #expect(root.attributes == ["x": "1<2", "y": ">'"])
        #expect(root.text == "t<u>A")
        #expect(root.children("b").map(\.text) == ["", "v"])
        #expect(root.child("b")?.attributes == [:])
        #expect(root.child("c") == nil)
    }

    @Test(arguments: [
        "<a><b></a></b>", "<a", "<a x>", "<a x=1/>", "<a x='1>", "<a/><b/>", "<a>&x;</a>", "</a>", "< a/>",
        "<a><b><c><d/></c></b></a>", "<a><b/><b/><b/><b/></a>", "<a/>x", "<a><!DOCTYPE b></a>",
    ]) func `damaged and oversized documents are refused`(_ text: String) {
        #expect(throws: XMLElement.Fault.self) { try parse(text) }
    }
}
