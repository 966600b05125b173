import Testing

@testable import PawlBase

@Suite struct FrameAllowanceTests {
    private static let start = Instant(nanoseconds: 0)

    private func frames(_ allowance: inout FrameAllowance, at now: Instant = Self.start) -> Int {
        var count = 0
        while allowance.frame(at: now) { count += 1 }
        return count
    }

    @Test func `requests and content allow frames`() {
        var plain = FrameAllowance(at: Self.start)
        same(frames(&plain), FrameAllowance.initial)
        var used = FrameAllowance(at: Self.start)
        for _ in 0..<3 { used.request() }
        for _ in 0..<9 { used.content(FrameAllowance.contentPerFrame / 2) }
        same(frames(&used), FrameAllowance.initial + 3 * FrameAllowance.perRequest + 4)
    }

    @Test func `a PING a second is always allowed, and time saves nothing up`() {
        var allowance = FrameAllowance(at: Self.start)
        var now = Self.start
        for _ in 0..<5000 {
            same(allowance.frame(at: now), true)
            now = now + .seconds(1)
        }
        same(frames(&allowance, at: now + .seconds(5000)), FrameAllowance.initial)
        same(frames(&allowance, at: now + .seconds(5000)), 0)
    }
}

@Suite struct ReceiveWindowTests {
    private static let start = Instant(nanoseconds: 0)

    /// One stream over a line, in steps of a millisecond; the server sends what the window allows, after a slow start.
    ///
    /// Returns the number of bytes that arrived within the time.
    private func transfer(
        milliseconds: Int, delay: Int, bytesPerMillisecond: Int, grows: Bool = true,
        first: Int = HTTP2Limits.streamWindow
    ) -> Int {
        let id = HTTP2StreamID(rawValue: 1)
        var connection = HTTP2Connection(at: Self.start)
        connection.open(id, refusals: 0, at: Self.start)
        _ = connection.head(id, Array("HTTP/2 200\r\n\r\n".utf8), size: 50)
        connection.wantsBody(id)
        var window = first
        var credit = window
        var unconsumed = 0
        var arrived = 0
        var congestion = 14_000
        // What arrives at a time: at the client, and at the server.
        var data: [Int: Int] = [:]
        var updates: [Int: Int] = [:]
        var pongs: [Int: UInt64] = [:]
        for time in 0..<milliseconds {
            credit += updates[time] ?? 0
            if time % delay == 0 { congestion = min(congestion * 2, 1 << 28) }
            let sent = min(credit, bytesPerMillisecond, congestion / delay)
            credit -= sent
            data[time + delay / 2] = sent
            let now = Self.start + .milliseconds(Int64(time))
            if let count = data[time], count > 0 {
                same(connection.data(id, count), .data)
                arrived += count
                unconsumed += connection.took(id, count)
                // nghttp2 sends an update when half of the window was used.
                if unconsumed * 2 >= window {
                    updates[time + delay / 2, default: 0] += unconsumed
                    unconsumed = 0
                }
                if grows, let value = connection.probe(at: now) { pongs[time + delay] = value }
            }
            guard let value = pongs[time] else { continue }
            for grown in connection.pong(value, at: now) {
                updates[time + delay / 2, default: 0] += grown.size - window
                window = grown.size
            }
        }
        return arrived
    }

    @Test func `a stream fills a line of 1 Gbit per second and 80 ms`() {
        let line = 125_000
        // As HTTP/1.1 does.
        let free = transfer(milliseconds: 10_000, delay: 80, bytesPerMillisecond: line, grows: false, first: 1 << 40)
        let reached = transfer(milliseconds: 10_000, delay: 80, bytesPerMillisecond: line)
        #expect(Double(reached) >= 0.9 * Double(free), "\(reached) of \(free)")
        let fixed = transfer(milliseconds: 10_000, delay: 80, bytesPerMillisecond: line, grows: false)
        #expect(Double(fixed) < 0.1 * Double(free), "without the window it is far from that")
    }

    @Test func `a short or a slow line does not grow the window`() {
        var window = ReceiveWindow()
        window.received(HTTP2Limits.streamWindow / 2 - 1)
        same(window.end(), nil)
        window.received(HTTP2Limits.streamWindow / 2)
        #expect(window.isFull)
        same(window.end(), 2 * HTTP2Limits.streamWindow)
        // What came before does not count.
        same(window.end(), nil)
        for _ in 0..<20 {
            window.received(window.size)
            _ = window.end()
        }
        #expect(window.size == HTTP2Limits.longestStreamWindow)
    }

    @Test func `a receiver that pauses does not grow its window`() {
        let id = HTTP2StreamID(rawValue: 1)
        var connection = HTTP2Connection(at: Self.start)
        connection.open(id, refusals: 0, at: Self.start)
        _ = connection.head(id, Array("HTTP/2 200\r\n\r\n".utf8), size: 50)
        connection.wantsBody(id)
        same(connection.data(id, HTTP2Limits.streamWindow), .data)
        let value = connection.probe(at: Self.start)
        #expect(value != nil)
        same(connection.probe(at: Self.start + .seconds(9)), nil)
        same(connection.data(id, HTTP2Limits.streamWindow), .data)
        connection.pause(id, holding: HTTP2Limits.streamWindow)
        same(connection.pong(value ?? 0, at: Self.start + .seconds(1)).count, 0)
        _ = connection.resume(id, at: Self.start + .seconds(9))
        same(connection.probe(at: Self.start + .seconds(9)), nil)
    }
}

@Suite struct HTTP2RequestTests {
    private func fields(_ head: String) -> [String]? {
        HTTP2Request(Array(head.utf8)).map { request in
            request.fields.map { field in
                let name = String(decoding: request.text[field.name], as: UTF8.self)
                let value = String(decoding: request.text[field.value], as: UTF8.self)
                return "\(name)=\(value)\(field.isSecret ? " secret" : "")"
            }
        }
    }

    @Test func `a request becomes fields in lower case, without those about the connection`() {
        let head =
            "GET /a%20b?c=D HTTP/1.1\r\nHost: example.com:8443\r\nRange: bytes=0-\r\nUser-Agent: Pawl/1\r\n"
            + "Authorization: Basic QQ==\r\nCookie: a=b\r\nX-Api-Key: K\r\nConnection: keep-alive\r\nTE: gzip\r\n"
            + "Upgrade: h2c\r\nKeep-Alive: 1\r\nX-Empty:\r\n\r\n"
        #expect(
            fields(head) == [
                ":method=GET", ":scheme=https", ":authority=example.com:8443", ":path=/a%20b?c=D", "range=bytes=0-",
                "user-agent=Pawl/1", "authorization=Basic QQ== secret", "cookie=a=b secret", "x-api-key=K secret",
                "x-empty=",
            ])
        #expect(fields("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n")?.last == "te=trailers")
    }

    @Test(arguments: ["", "GET", "GET /\r\n", "GET / HTTP/1.1\r\n\r\n", "GET /\r\nHost: a\r\n\r\n"])
    func `what is no request has no fields`(head: String) { #expect(fields(head) == nil) }
}
