import PawlCore
import Testing

struct TransferCommandTests {
    private func entry(_ text: String) throws -> InputEntry {
        try #require(try TransferCommand.entries(in: text).first)
    }

    private func values(_ entry: InputEntry, _ name: String) -> [String] {
        entry.options.filter { $0.name == name }.map(\.value)
    }

    private func why(_ text: String) -> String? {
        do throws(Failure) {
            _ = try TransferCommand.entries(in: text)
            return nil
        } catch { return error.description }
    }

    @Test func `what a browser copies keeps its header fields, cookies and referrer`() throws {
        let entry = try entry(
            #"""
            curl 'https://example.org/f.iso?a=1&b=2' \
              -H 'accept: */*' \
              -H 'accept-encoding: gzip, deflate, br' \
              -H $'x-note: it\'s \u0021 \x41' \
              -H 'range: bytes=0-' \
              -H 'user-agent: Mozilla/5.0 (X11)' \
              -H 'referer: https://example.org/' \
              -b 'session=abc; theme=dark' --compressed -L -sS --insecure
            """#
        )
        #expect(entry.addresses == ["https://example.org/f.iso?a=1&b=2"])
        #expect(
            values(entry, "header") == ["accept: */*", "x-note: it's ! A", "Cookie: session=abc; theme=dark"]
        )
        #expect(values(entry, "user-agent") == ["Mozilla/5.0 (X11)"])
        #expect(values(entry, "referer") == ["https://example.org/"])
        #expect(values(entry, "insecure") == ["true"])
    }

    @Test func `the form for Windows is read`() throws {
        let entry = try entry(
            "curl ^\"https://example.org/f?a=1^&b=^%^20c^\" ^\r\n  -H ^\"x: a ^\\^\"b^\\^\" c^\" ^\r\n  -b ^\"s=1^\" --compressed"
        )
        #expect(entry.addresses == ["https://example.org/f?a=1&b=%20c"])
        #expect(values(entry, "header") == ["x: a \"b\" c", "Cookie: s=1"])
        let firefox = try self.entry(
            "curl \"https://example.org/a?x=1&y\" ^\n  -H \"Accept: */*\" ^\n -A \"M^x\""
        )
        #expect(firefox.addresses == ["https://example.org/a?x=1&y"])
        #expect(values(firefox, "user-agent") == ["M^x"])
    }

    @Test func `options of curl and aria2c become those of Pawl`() throws {
        let curl = try entry(
            "$ curl -Lo name.bin -u me:pa:ss -e 'http://r/;auto' -x http://p:1 -k --limit-rate=1M http://a/b?c&d"
        )
        #expect(curl.addresses == ["http://a/b?c&d"])
        #expect(values(curl, "output") == ["name.bin"] && values(curl, "referer") == ["http://r/"])
        #expect(values(curl, "user") == ["me"] && values(curl, "password") == ["pa:ss"])
        #expect(values(curl, "proxy") == ["http://p:1"] && values(curl, "limit-rate").isEmpty)
        let aria2 = try entry(
            "/usr/bin/aria2c -x16 -s 16 -c -d films --out=a.iso --header='Cookie: a=b' -U M http://a/1 http://b/1"
        )
        #expect(aria2.addresses == ["http://a/1", "http://b/1"])
        #expect(values(aria2, "connections") == ["16"] && values(aria2, "dir") == ["films"])
        #expect(values(aria2, "header") == ["Cookie: a=b"] && values(aria2, "output") == ["a.iso"])
    }

    @Test func `each URL and each command is a download`() throws {
        let two = try TransferCommand.entries(
            in: "curl -H 'A: 1' -o x http://a/1 -o y http://a/2 ;\ncurl.exe http://a/3 &\n"
        )
        #expect(two.map(\.addresses) == [["http://a/1"], ["http://a/2"], ["http://a/3"]])
        #expect(two.map { values($0, "output") } == [["x"], ["y"], []])
        #expect(values(two[2], "header").isEmpty)
    }

    @Test func `names belong to URLs in their order, also those that URLs have`() throws {
        let files = try TransferCommand.entries(in: "curl -O http://a/1 -o x http://a/2 -O http://a/3")
        #expect(files.map { values($0, "output") } == [[], ["x"], []])
    }

    @Test func `values without a limit are left out, and tries are one more than retries`() throws {
        for command in ["curl --connect-timeout 0 --max-redirs -1 http://a/", "aria2c -t 0 http://a/"] {
            #expect(try entry(command).options.isEmpty, "\(command)")
        }
        for (tries, retries) in [("1", "0"), ("6", "5"), ("0", "1000000")] {
            #expect(values(try entry("aria2c -m \(tries) http://a/"), "retries") == [retries])
        }
        #expect(try entry("curl -H 'Host: a.example' http://a.example/").options.isEmpty)
    }

    @Test(arguments: [
        ("curl -H 'Host: other' http://a/", "another host"), ("curl -H @file http://a/", "it reads a file"),
        ("curl http://a/ --data-raw 'x=1'", "it sends a body"),
        ("curl -X POST http://a/", "Pawl only sends GET"),
        ("curl -F f=@x http://a/", "it sends a body"), ("curl -I http://a/", "header section only"),
        ("curl http://a/ | sh", "| is an operator of the shell"), ("curl http://a/ > f", "> is an operator"),
        ("curl 'http://a/", "a quote is not closed"),
        ("curl -H \"A: $TOKEN\" http://a/", "it contains a variable"),
        ("curl http://a/$(date)", "it contains a variable"), ("curl -H", "it needs a value"),
        ("curl -L", "the command has no URL"), ("curl --unheard-of http://a/", "no equivalent"),
        ("curl http://a/; rm -r x", "neither curl nor aria2c"),
        ("aria2c -T x.torrent", "torrents are not supported"),
    ])
    func `what is more than a download is refused with the reason`(command: String, reason: String) {
        #expect(why(command)?.contains(reason) == true, "\(why(command) ?? "taken")")
    }

    @Test func `GET is no other method, and only commands are commands`() throws {
        #expect(try entry("curl -X GET http://a/").addresses == ["http://a/"])
        #expect(
            TransferCommand.isCommand("  $ curl http://a/") && TransferCommand.isCommand("/bin/curl.exe x")
        )
        #expect(!TransferCommand.isCommand("curl") && !TransferCommand.isCommand("http://curl /x"))
    }
}

struct DroppedContentTests {
    @Test(arguments: [
        ("<metalink>", true), ("<?xml version='1.0'?>\n<!-- a -->\n<ml:metalink xmlns:ml='urn:x'>", true),
        ("\u{FEFF} <metalink\txmlns=''>", true), ("<html><metalink></html>", false), ("metalink", false),
        ("<metalinks>", false), ("", false),
    ])
    func `a Metalink is known by its first element`(text: String, isMetalink: Bool) {
        let bytes = Array(text.utf8)
        #expect(
            DroppedContent.isMetalink(bytes.starts(with: [0xEF]) ? bytes[3...] : bytes[...]) == isMetalink
        )
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
    ])
    func `a Metalink is one download with its mirrors and digests, whatever its name`(text: String) throws {
        guard case .entries(let entries) = try read(text, "list.txt") else {
            Issue.record("taken for text")
            return
        }
        #expect(entries.map(\.addresses) == [["http://h/a", "http://g/a"]])
        let options = entries[0].options.map { "\($0.name)=\($0.value)" }
        #expect(
            options == [
                "output=d/f.iso", "checksum=sha-256=\(String(repeating: "0a", count: 32))", "length=5",
            ]
        )
    }

    @Test func `other content is refused by what it is`() {
        let torrent = Array("d8:announce35:http://tracker.example.org/announce4:infod4:name1:fee".utf8)
        #expect(why(torrent, "a.txt")?.contains("a.txt: torrents are not supported") == true)
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
}
