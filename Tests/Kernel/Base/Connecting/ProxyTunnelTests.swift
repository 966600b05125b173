import Testing

@testable import PawlBase

@Suite struct ProxyTunnelTests {
    private let start = Instant(nanoseconds: 0)

    /// Feeds a response in pieces of many lengths, and returns what is the same for all.
    private func run(_ text: String, drains: Bool = true) -> (used: Int, step: ProxyTunnel.Step) {
        let bytes = Array(text.utf8)
        let whole = run(bytes, bytes.count, drains)
        for length in [1, 2, 3, 7, 40] { #expect(run(bytes, length, drains) == whole, "pieces of \(length)") }
        return whole
    }

    private func run(_ bytes: [UInt8], _ length: Int, _ drains: Bool) -> (used: Int, step: ProxyTunnel.Step) {
        var tunnel = ProxyTunnel(drains: drains)
        var total = 0
        for first in stride(from: 0, to: bytes.count, by: length) {
            let piece = Array(bytes[first..<min(bytes.count, first + length)])
            let (used, step) = unsafe piece.withUnsafeBytes { unsafe tunnel.received($0, at: start) }
            total += used
            if case .challenged(_, keeps: false) = step {
                // Nothing more is read over this connection.
                #expect(total <= HTTP1Limits.longestDrain + 200 + length)
                return (0, step)
            }
            if step != .more { return (total, step) }
            #expect(used == piece.count, "more is wanted, and bytes are left")
        }
        return (total, .more)
    }

    @Test func `the request is that of curl`() {
        let request = ProxyTunnel.request(to: "[::1]:443", authorization: "Basic eA==", userAgent: "pawl/1")
        let text = """
            CONNECT [::1]:443 HTTP/1.1\r
            Host: [::1]:443\r
            Proxy-Authorization: Basic eA==\r
            User-Agent: pawl/1\r
            Proxy-Connection: Keep-Alive\r
            \r

            """
        #expect(String(decoding: request, as: UTF8.self) == text)
        let plain = ProxyTunnel.request(to: "h:1", authorization: nil, userAgent: "")
        #expect(
            String(decoding: plain, as: UTF8.self)
                == "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\nProxy-Connection: Keep-Alive\r\n\r\n")
    }

    @Test(arguments: [
        "HTTP/1.0 200 Connection established\r\n\r\n", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]) func `after a 2xx everything is the host's, whatever length it states`(head: String) {
        let (used, step) = run(head + "bytes")
        #expect(step == .open && used == head.utf8.count)
    }

    @Test func `any other status refuses the tunnel`() {
        for status in [301, 403, 502, 101] { #expect(run("HTTP/1.1 \(status) x\r\n\r\n").step == .refused(status)) }
        guard case .failed(let fault) = run("SSH-2.0-OpenSSH\r\n").step else {
            Issue.record("not HTTP")
            return
        }
        #expect(fault == .notHTTP)
        #expect(run("HTTP/1.1 200").step == .more)
    }

    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nlogin", true, true), ("Content-Length: 5\r\n\r\nlogin", false, false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nlogin\r\n0\r\n\r\n", true, true),
        ("Content-Length: 0\r\n\r\n", true, true),
        ("Connection: close\r\nContent-Length: 5\r\n\r\nlogin", true, false), ("\r\nlogin", true, false),
        ("Content-Length: 99999\r\n\r\nlogin", true, false),
    ]) func `a short 407 keeps its connection`(rest: String, drains: Bool, keeps: Bool) {
        let head = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"
        let (used, step) = run(head + rest, drains: drains)
        guard case .challenged(let found, keeps) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(LoginChallenge.all(in: found).map(\.scheme) == ["basic"])
        if keeps { #expect(used == (head + rest).utf8.count) }
    }

    @Test func `a 407 that does not end is not read for long`() {
        let head = "HTTP/1.1 407 No\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunks = String(repeating: "400\r\n\(String(repeating: "x", count: 1024))\r\n", count: 100)
        guard case .challenged(_, false) = run(head + chunks).step else {
            Issue.record("it is read on")
            return
        }
        var tunnel = ProxyTunnel(drains: true)
        let bytes = Array("HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\nlo".utf8)
        #expect(unsafe bytes.withUnsafeBytes { unsafe tunnel.received($0, at: start) }.step == .more)
        #expect(tunnel.due == start + HTTP1Limits.drainTime)
        guard case .challenged(_, false) = tunnel.lost(.noResponse) else {
            Issue.record("the challenge is lost")
            return
        }
        #expect(ProxyTunnel(drains: true).lost(.noResponse) == .failed(.noResponse))
    }

    @Test func `a 407 as the final response has its challenges and no body`() throws {
        let lines = "HTTP/1.1 407 No\r\nX: y\r\nproxy-authenticate: Basic realm=\"r\"\r\nContent-Length: 5\r\n\r\n"
        guard case .challenged(let head, false) = run(lines, drains: false).step else {
            Issue.record("no head")
            return
        }
        let refusal = ProxyTunnel.refusal(head)
        #expect(refusal.status == 407 && refusal.contentLength == 0)
        #expect(refusal.fields.map(\.name) == ["Content-Length", "proxy-authenticate"])
    }
}
