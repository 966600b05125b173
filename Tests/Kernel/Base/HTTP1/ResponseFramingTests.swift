import PawlBase
import Testing

@Suite struct ResponseFramingTests {
    private func framing(_ lines: String...) throws(TransferFault) -> ResponseFraming {
        try ResponseFraming.read(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)).framing
    }

    @Test func `a length frames the body and keeps the connection`() throws {
        let framing = try framing("HTTP/1.1 200 OK", "Content-Length: 5")
        #expect(framing.body == .length(5))
        #expect(framing.keepsConnection)
    }

    @Test(arguments: ["5, 5", "5,5 ,\t5", " 5 "]) func `copies of one length are one length`(value: String) throws {
        #expect(try framing("HTTP/1.1 200 OK", "content-length: \(value)").body == .length(5))
        #expect(try framing("HTTP/1.1 200 OK", "Content-Length: 5", "CONTENT-LENGTH:\(value)").body == .length(5))
    }

    @Test(arguments: ["", "x", "-1", "+5", "5, 6", "5,", "0x5", "5 5", "9223372036854775808"])
    func `an invalid length, or two that differ, are malformed`(value: String) throws {
        let fault = #expect(throws: TransferFault.self) {
            try self.framing("HTTP/1.1 200 OK", "Content-Length: \(value)")
        }
        #expect(fault?.kind == .malformed)
    }

    @Test func `chunked coding overrides a length, and its connection is not kept`() throws {
        let framing = try framing("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: Chunked")
        #expect(framing.body == .chunked)
        #expect(!framing.keepsConnection)
        #expect(try self.framing("HTTP/1.1 200 OK", "Transfer-Encoding: chunked").keepsConnection)
    }

    @Test(arguments: ["chunked, chunked", "Chunked ,\tchunked", "chunked, identity", "identity, chunked,"])
    func `chunked twice is chunked once`(value: String) throws {
        let framing = try framing("HTTP/1.1 200 OK", "Transfer-Encoding: \(value)")
        #expect(framing.body == .chunked)
        #expect(framing.keepsConnection)
        let twice = try self.framing("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: \(value)")
        #expect(twice.body == .chunked)
    }

    @Test func `a head with NUL in it is malformed`() {
        #expect(throws: TransferFault.self) { try framing("HTTP/1.1 200 OK", "X: a\0b", "Content-Length: 5") }
    }

    @Test(arguments: ["gzip, chunked", "gzip", "chunked, identity, br"])
    func `a coding that was not requested is never taken for content`(value: String) throws {
        #expect(throws: TransferFault.self) { try self.framing("HTTP/1.1 200 OK", "Transfer-Encoding: \(value)") }
    }

    @Test func `identity is no coding`() throws {
        let framing = try framing("HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 7")
        #expect(framing.body == .length(7))
    }

    @Test(arguments: ["204 No Content", "304 Not Modified"])
    func `some statuses have no body regardless of their fields`(status: String) throws {
        let framing = try framing("HTTP/1.1 \(status)", "Content-Length: 5", "Transfer-Encoding: chunked")
        #expect(framing.body == .none)
    }

    @Test func `without a length the end of the connection ends the body`() throws {
        let framing = try framing("HTTP/1.1 200 OK", "Connection: keep-alive")
        #expect(framing.body == .untilClose)
        #expect(!framing.keepsConnection)
    }

    @Test(arguments: [
        ("HTTP/1.1", "close", false), ("HTTP/1.1", "keep-alive, CLOSE", false), ("HTTP/1.1", "x", true),
        ("HTTP/1.0", "x", false), ("HTTP/1.0", "Keep-Alive", true), ("HTTP/1.0", "keep-alive, close", false),
    ]) func `the Connection field and the version decide whether another request may follow`(
        version: String, value: String, keeps: Bool
    ) throws {
        let framing = try framing("\(version) 200 OK", "Connection: \(value)", "Content-Length: 1")
        #expect(framing.keepsConnection == keeps)
    }

    @Test func `a folded field is one field, and bare line feeds end lines`() throws {
        let head = "HTTP/1.1 200 OK\nTransfer-Encoding:\n chunked\nX: y\n\tContent-Length: 9\n\n"
        #expect(try ResponseFraming.read(Array(head.utf8)).framing.body == .chunked)
    }

    @Test func `interim responses are distinguished from final ones`() throws {
        #expect(try framing("HTTP/1.1 103 Early Hints").isInterim)
        #expect(try !framing("HTTP/1.1 101 Switching Protocols").isInterim)
        #expect(try !framing("HTTP/1.1 200").isInterim)
    }

    @Test(arguments: [
        "HTTP/2 200", "HTTP/1.x 200 OK", "HTTP/1.1200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "ICY 200 OK",
        "HTTP/1.1 OK", "http/1.1 200 OK",
    ]) func `another first line is not HTTP`(line: String) throws {
        let fault = #expect(throws: TransferFault.self) { try self.framing(line, "Content-Length: 0") }
        #expect(fault?.kind == .malformed)
    }

    @Test func `the values of Set-Cookie come out in order`() throws {
        let framing = try framing("HTTP/1.1 200 OK", "Set-Cookie: a=1; Path=/", "set-cookie:b=2", "Cookie: c=3")
        #expect(framing.cookies == ["a=1; Path=/", "b=2"])
    }
}
