import PawlBase
import PawlTestKit
import Testing

/// A head from its lines, terminated by CRLF and an empty line.
private func head(_ lines: String...) -> ResponseHead? {
    ResponseHead(parsing: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
}

/// A 200 with one field.
private func response(_ field: String) -> ResponseHead? { head("HTTP/1.1 200 OK", field) }

struct ResponseHeadTests {
    @Test func `two Location fields that differ contradict each other, copies do not`() {
        let same = head("HTTP/1.1 302 There", "Location: /a", "Location:", "location: /a")
        #expect(same?.location == "/a" && same?.hasContradictoryLocation == false)
        let other = head("HTTP/1.1 302 There", "Location: /a", "Location: /b")
        #expect(other?.hasContradictoryLocation == true)
    }

    @Test func `one pass parses every field that a decision needs`() throws {
        let response = try #require(
            head(
                "HTTP/1.1 206 Partial Content", "Server: nginx", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
                "Content-Type: application/zip", "Content-Length: 100", "Last-Modified: Sun, 06 Nov 1994 08:49:00 GMT",
                "ETag: \"5f-1\"", "Content-Range: bytes 500-599/1234", "Accept-Ranges: bytes", "Retry-After: 7",
                "Location: /x", "Link: </a>; rel=duplicate", "Link: </b>; rel=describedby",
                "Content-Disposition: attachment; filename=a.zip", "Content-Encoding: gzip"))
        var expected = ResponseHead(status: 206)
        expected.date = UnixTime(seconds: 784_111_777)
        expected.contentType = "application/zip"
        expected.contentLength = 100
        expected.lastModified = UnixTime(seconds: 784_111_740)
        expected.entityTag = EntityTag(opaque: "5f-1", isWeak: false)
        expected.contentRange = .range(ByteRange(500, 600), total: 1234)
        expected.acceptRanges = .bytes
        expected.retryAfter = "7"
        expected.location = "/x"
        expected.link = "</a>; rel=duplicate, </b>; rel=describedby"
        expected.contentDisposition = "attachment; filename=a.zip"
        expected.contentEncoding = "gzip"
        #expect(response == expected)
    }

    @Test func `every field of a head is available in order, and nothing is decided by it`() throws {
        let text = "HTTP/1.1 200 OK\r\nX-B:  two words \r\nx-a: 1\r\n 2\r\nX-A: \u{FF}\r\nno colon\r\n: x\r\nE:\r\n\r\n"
        var response = try #require(ResponseHead(parsing: Array(text.utf8)))
        #expect(response.fields.isEmpty)
        response.lines = Array(text.utf8)
        #expect(response.fields.map(\.name) == ["X-B", "x-a", "X-A", "E"])
        #expect(response.fields.map(\.value) == ["two words", "1 2", "\u{FF}", ""])
        #expect(ResponseHead(fileLength: 5, modified: nil).fields.isEmpty)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/2 206", 206), ("HTTP/2 206 ", 206),
        ("HTTP/3 200", 200), ("HTTP/1.1 503", 503), ("HTTP/1.1  200 OK", 200), ("HTTP/1.1\t200\tOK", 200),
        ("HTTP/1.1 999 Go away", 999), ("HTTP/1.1 200 \u{FF}", 200), ("HTTP/2.0 200", 200),
    ]) func `status lines of every version are parsed`(_ line: String, _ status: Int) {
        #expect(head(line)?.status == status)
        #expect(ResponseHead(parsing: Array(line.utf8))?.status == status)
    }

    @Test(arguments: [
        "", "ICY 200 OK", "http/1.1 200 OK", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099",
        "HTTP/1.1 -20", "HTTP/1.1 2OO", "HTTP/ 200", "HTTP/1.1.1 200", "HTTP/11 200", "HTTP/1. 200", "HTTP/x 200",
        "HTTP 200", "HTTP/1.1200", "<html>", " HTTP/1.1 200", "220 FTP ready", "\u{0}",
    ]) func `without a valid status line there is no head`(_ line: String) {
        #expect(head(line) == nil)
        #expect(head(line, "Content-Length: 5") == nil)
    }

    @Test func `lines may end in a bare LF, or not at all, but not in two CRs`() {
        let mixed = Array("HTTP/1.0 200 OK\nContent-Length: 5\nETag: \"a\"\nAccept-Ranges:bytes".utf8)
        let response = ResponseHead(parsing: mixed)
        #expect(response?.contentLength == 5)
        #expect(response?.entityTag == EntityTag(opaque: "a", isWeak: false))
        #expect(response?.acceptRanges == .bytes)
        #expect(head("HTTP/1.0 200 OK", "Content-Length: 5\r") == nil)
    }

    @Test func `nothing after the empty line is read`() {
        #expect(head("HTTP/1.1 200 OK", "ETag: \"a\"", "", "Content-Length: 5")?.contentLength == nil)
        #expect(ResponseHead(parsing: Array("HTTP/1.1 200\n\nContent-Length: 5".utf8))?.contentLength == nil)
    }

    @Test func `folded lines are joined`() {
        let response = head(
            "HTTP/1.1 200 OK", "Content-Disposition: attachment;", "\tfilename=a.zip;", "  ", "  size=1",
            "Content-Length: 5")
        #expect(response?.contentDisposition == "attachment; filename=a.zip; size=1")
        #expect(response?.contentLength == 5)
        #expect(head("HTTP/1.1 200", " OK", "Content-Length: 5")?.contentLength == 5)
        #expect(head("HTTP/1.1 200 OK", "Content-Length: 5", "  ")?.contentLength == 5)
    }

    @Test func `names match in any case, with blanks before the colon, and lines without one are skipped`() {
        let response = head(
            "HTTP/1.1 200 OK", "nonsense", "CONTENT-LENGTH : 5", ": x", "eTaG:\"a\"", "content-type:\t text/html \t")
        #expect(response?.contentLength == 5)
        #expect(response?.entityTag?.opaque == "a")
        #expect(response?.contentType == "text/html")
    }

    @Test func `fields of the same length are distinguished`() {
        let response = head(
            "HTTP/1.1 200 OK", "Vary: 1", "X-Length: 5", "Via-Content: x", "Xontent-Type: x",
            "Xontent-Range: bytes 0-1/2", "Xontent-Length: 5", "Xontent-Encoding: gzip", "Xransfer-Encoding: chunked",
            "Xontent-Disposition: x")
        #expect(response == ResponseHead(status: 200))
    }

    @Test(
        arguments: [
            (["5"], 5), (["0"], 0), (["5", "5"], 5), (["5, 5"], 5), (["5,5", "5"], 5), (["005"], 5),
            (["9223372036854775807"], Int64.max), (["5", "6"], nil), (["5, 6"], nil), (["5", "6", "5"], nil),
            (["x", "5"], nil), (["5", ""], nil), ([""], nil), (["-5"], nil), (["+5"], nil), (["5.0"], nil),
            (["0x5"], nil), (["5 6"], nil), (["9223372036854775808"], nil), (["99999999999999999999999999"], nil),
            (["5,"], nil), (["5 bytes"], nil), (["５"], nil),
        ] as [([String], Int64?)]) func `only one plain Content-Length counts`(_ values: [String], _ length: Int64?)
    {
        let lines = ["HTTP/1.1 200 OK"] + values.map { "Content-Length: \($0)" }
        #expect(ResponseHead(parsing: Array(lines.joined(separator: "\r\n").utf8))?.contentLength == length)
    }

    @Test(
        arguments: [("chunked", nil), ("gzip, chunked", nil), ("x", nil), ("identity", 5), ("", 5)]
            as [(String, Int64?)]) func `Transfer-Encoding overrules Content-Length`(_ coding: String, _ length: Int64?)
    {
        #expect(head("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: \(coding)")?.contentLength == length)
        #expect(head("HTTP/1.1 200 OK", "transfer-encoding: \(coding)", "Content-Length: 5")?.contentLength == length)
    }

    @Test func `two different Content-Ranges are malformed, copies are not`() {
        let range = "Content-Range: bytes 0-4/5"
        #expect(head("HTTP/1.1 206 x", range, range)?.contentRange == .range(ByteRange(0, 5), total: 5))
        #expect(head("HTTP/1.1 206 x", range, "Content-Range: bytes 0-3/5")?.contentRange == .malformed("bytes 0-3/5"))
    }

    @Test(arguments: [
        ("bytes", AcceptRanges.bytes), ("Bytes", .bytes), ("none", .none), ("NONE", .none), ("none, bytes", .bytes),
        ("bytes, none", .bytes), ("", .unstated), ("pages", .unstated),
    ]) func `Accept-Ranges is parsed`(_ value: String, _ ranges: AcceptRanges) {
        #expect(response("Accept-Ranges: \(value)")?.acceptRanges == ranges)
    }

    @Test func `no coding and identity are the same`() {
        #expect(response("Content-Encoding: identity")?.contentEncoding == nil)
        #expect(response("Content-Encoding: Identity")?.contentEncoding == nil)
        #expect(response("Content-Encoding:")?.contentEncoding == nil)
        #expect(response("Content-Encoding: GZIP")?.contentEncoding == "GZIP")
        #expect(
            head("HTTP/1.1 200 OK", "Content-Encoding: br", "Content-Encoding: gzip")?.contentEncoding == "br, gzip")
    }

    @Test(arguments: [
        ("multipart/byteranges; boundary=x", true), ("Multipart/ByteRanges", true), ("multipart/byteranges ;x", true),
        ("multipart/mixed", false), ("text/multipart/byteranges", false), ("multipart/byterangesx", false),
    ]) func `a multipart response is recognized`(_ type: String, _ isMultipart: Bool) {
        #expect(response("Content-Type: \(type)")?.isMultipart == isMultipart)
        #expect(ResponseHead(status: 206).isMultipart == false)
    }

    @Test func `values are UTF-8 if valid, else ISO-8859-1`() {
        func disposition(_ bytes: [UInt8]) -> String? {
            ResponseHead(parsing: Array("HTTP/1.1 200 OK\r\nContent-Disposition: ".utf8) + bytes)?.contentDisposition
        }
        #expect(disposition(Array("a; filename=日".utf8)) == "a; filename=日")
        #expect(disposition([0x63, 0xE9, 0x64]) == "céd")
    }

    @Test func `bytes of a Location that are not UTF-8 are sent back unchanged`() {
        let raw = Array("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + [0xE9, 0x2F, 0x20, 0x78]
        #expect(ResponseHead(parsing: raw)?.location == "/caf%E9/ x")
        #expect(response("Location: /日")?.location == "/日")
    }

    @Test func `the first of several single fields counts, an empty one does not`() {
        let response = head(
            "HTTP/1.1 302 Found", "Location:", "Location: /a", "Location: /b", "ETag:", "ETag: \"a\"", "ETag: \"b\"",
            "Date: x", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(response?.location == "/a")
        #expect(response?.entityTag?.opaque == "a")
        #expect(response?.date == UnixTime(seconds: 784_111_777))
    }

    @Test func `borrowed bytes are parsed like owned ones`() {
        let text = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
        let lent = unsafe text.withUnsafeBytes { bytes in unsafe ResponseHead(parsing: bytes) }
        #expect(lent == ResponseHead(parsing: text))
        #expect(lent?.contentLength == 5)
    }

    @Test func `an FTP server's facts are a head of status 0`() {
        let file = ResponseHead(fileLength: 5, modified: UnixTime(seconds: 9))
        #expect(file.status == 0)
        #expect(file.contentLength == 5)
        #expect(file.lastModified == UnixTime(seconds: 9))
        #expect(ResponseHead(fileLength: nil, modified: nil) == ResponseHead(status: 0))
    }

    @Test func `no bytes trap`() {
        var dice = Dice(seed: 3)
        let model = """
            HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\nContent-Range: bytes 500-599/1234\r\n\
            Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: W/"a"\r\n folded\r\nTransfer-Encoding: chunked\r\n\r\n
            """
        var heads = 0
        for round in 0..<10_000 {
            let bytes =
                round % 4 == 0 ? dice.bytes(upTo: 60, from: "HTTP/1.1 200\r\nDate: ETag\"") : dice.damaged(model)
            if ResponseHead(parsing: bytes) != nil { heads += 1 }
        }
        #expect(heads > 1000)
    }
}
