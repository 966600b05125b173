import Testing

@testable import PawlBase
@testable import PawlWeb

/// Requests as a server reads them: one at a time, and nothing ambiguous.
@Suite struct RequestReaderTests {
    /// The reader's output for bytes in pieces of `size`.
    private func steps(_ text: String, pieces size: Int = .max, head: Int = 1000) -> [RequestReader.Step] {
        var reader = RequestReader(longestHead: head)
        var steps: [RequestReader.Step] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(piece.count)
            unsafe piece.withUnsafeBytes { unsafe reader.take($0) }
            while true {
                let step = reader.next()
                if step == .incomplete { break }
                steps.append(step)
                if case .broken = step { return steps }
            }
        }
        return steps
    }

    private func head(_ text: String) -> RequestHead? {
        guard case .head(let head) = steps(text).first else { return nil }
        return head
    }

    private func status(_ text: String, head: Int = 1000) -> Int? {
        guard case .broken(let fault) = steps(text, head: head).last else { return nil }
        return fault.status
    }

    @Test(arguments: [1, 2, 7, .max]) func `consecutive requests are separated, in pieces of any size`(size: Int) throws
    {
        let text =
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\r\nGET /b?x=%41&y HTTP/1.1\r\nHost: h\r\n\r\nGET /c HTTP/1.0\r\n\r\n"
        let steps = steps(text, pieces: size)
        let heads = steps.compactMap { if case .head(let head) = $0 { head } else { nil } }
        let bodies = steps.compactMap { if case .body(let body) = $0 { body } else { nil } }
        try #require(heads.count == 3)
        #expect(heads.map(\.path) == ["/a", "/b", "/c"])
        #expect(heads.map(\.keepsConnection) == [true, true, false])
        #expect(heads[1].query == [.init(name: "x", value: "A"), .init(name: "y", value: "")])
        #expect(bodies == [Array("abc".utf8), [], []])
        #expect(steps.count == 6)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: \0\r\n\r\n", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "GET /%0a HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", "\u{16}\u{3}\u{1}",
    ]) func `invalid and ambiguous HTTP is refused`(text: String) { #expect(status(text) == 400) }

    @Test func `each kind of rejection has its status`() {
        #expect(status("POST / HTTP/1.1\r\nHost: h\r\n\r\n") == 411)
        #expect(status("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n") == 411)
        #expect(status("GET / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n") == 417)
        #expect(status("PRI * HTTP/2.0\r\n\r\n") == 505)
        #expect(status("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 1000)) == 431)
        let many = String(repeating: "X: y\r\n", count: 150)
        #expect(status("GET / HTTP/1.1\r\n" + many + "\r\n", head: 10_000) == 431)
        let old = "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        #expect(status("GET / HTTP/1.1\r\nHost: h\r\n" + old + "Sec-WebSocket-Version: 8\r\n\r\n") == 426)
    }

    /// All clients of a server wait meanwhile.
    @Test(arguments: [
        ("GET /?\(String(repeating: "a=b&", count: 101)) HTTP/1.1\r\nHost: h\r\n\r\n", 414),
        ("GET /\(String(repeating: "a", count: 1024)) HTTP/1.1\r\nHost: h\r\n\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: \(String(repeating: "h", count: 1025))\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: h\r\nOrigin: \(String(repeating: "o", count: 1025))\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: \(String(repeating: "a,", count: 513))\r\n\r\n", 431),
        (
            "GET / HTTP/1.1\r\nHost: h\r\n"
                + String(repeating: "Connection: \(String(repeating: ",", count: 99))\r\n", count: 11) + "\r\n", 431
        ),
    ]) func `what takes long to interpret is refused`(text: String, expected: Int) {
        #expect(status(text, head: 16_384) == expected)
    }

    @Test func `what is interpreted may be as long as the limits`() throws {
        let path = "/" + String(repeating: "a", count: RequestHead.longestPath - 1)
        let query = String(repeating: "a=b&", count: RequestHead.mostParameters)
        let cookie = String(repeating: "c", count: 5000)
        let text = "GET \(path)?\(query) HTTP/1.1\r\nHost: h\r\nCookie: \(cookie)\r\n\r\n"
        let first = try #require(steps(text, head: 16_384).first)
        guard case .head(let head) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(head.path == path && head.query.count == RequestHead.mostParameters)
        #expect(head.fields["cookie"] == cookie)
    }

    /// Else empty lines in packets of their own would keep a connection open for ever.
    @Test(arguments: [1, 2, 3, 7, .max]) func `one empty line before a request is ignored, in pieces of any size`(
        size: Int
    ) {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(steps("\r\n" + request + "\r\n" + request, pieces: size).count == 4)
        for text in ["\r\n\r\n", "\r\n\r\n" + request, "\r\n\rG"] {
            let last = steps(text, pieces: size).last
            #expect(last == .broken(.malformed("this is not HTTP/1.1")))
        }
    }

    @Test func `an impossible length does not trap`() {
        let head = head("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n")
        #expect(head?.bodyLength == .max)
    }

    @Test func `a handshake of a WebSocket has its key`() {
        let head = head(
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        #expect(head?.webSocketKey == "dGhlIHNhbXBsZSBub25jZQ==")
    }
}
