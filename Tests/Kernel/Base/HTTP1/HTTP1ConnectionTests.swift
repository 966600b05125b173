import Testing

@testable import PawlBase

@Suite struct HTTP1ConnectionTests {
    @Test(arguments: [0, 2]) func `every reachable state keeps the laws of a connection`(body: Int) {
        let (states, events, broken) = HTTP1WalkState.walk(body: body, most: 20_000)
        #expect(broken == nil)
        #expect(states.count >= 20_000)
        // The walk has come everywhere, and everything has happened.
        let names = Set(states.map { "\($0.machine.state)".prefix { $0 != "(" } })
        #expect(names == ["idle", "sending", "head", "judging", "body", "paused", "draining", "closed"])
        #expect(events.isSuperset(of: [.ended, .lost, .flood, .resume, .time(2), .scan(.stop), .probe(.end)]))
    }

    /// A connection that has carried a response, and has another request of 10 bytes under way.
    private func reused() -> HTTP1Connection {
        var connection = HTTP1Connection()
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        let first = run(&connection, "HTTP/1.1 204 No\r\n\r\n")
        #expect(first == .complete(keeps: true))
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        return connection
    }

    /// Feeds a response whose body is wanted.
    private func run(
        _ connection: inout HTTP1Connection, _ text: String, unacknowledged: Int = 0, isWanted: Bool = true
    ) -> HTTP1Connection.Ending? {
        let bytes = Array(text.utf8)
        if let ending = connection.received(bytes.count, unacknowledged: unacknowledged) { return ending }
        var rest = bytes[...]
        while true {
            let (used, step) = unsafe rest.withUnsafeBytes { unsafe connection.scan($0) }
            rest = rest.dropFirst(used)
            switch step {
            case .more: return nil
            case .head:
                if isWanted {
                    connection.wantsBody()
                } else if !connection.wantsNoBody(at: Instant(nanoseconds: 0)) {
                    return .stopped
                }
            case .data(let count):
                connection.took(count)
                rest = rest.dropFirst(count)
            case .end(let ending): return ending
            }
        }
    }

    @Test func `a reused connection that is lost before its response is replaced, a new one fails`() {
        let fault = TransferFault(.connectionLost, foreign: "reset")
        var (closed, lost) = (reused(), reused())
        let endings = [closed.ended(), lost.lost(fault)]
        #expect(endings == [.retry, .retry])
        var (fresh, other) = (HTTP1Connection(), HTTP1Connection())
        fresh.begin(length: 10, isRetry: true)
        other.begin(length: 10, isRetry: true)
        let failures = [fresh.ended(), other.lost(fault)]
        #expect(failures == [.failed(.noResponse), .failed(fault)])
    }

    @Test func `a response that has begun is never requested again`() {
        var connection = reused()
        let part = run(&connection, "HTTP/1.1 200 OK\r\nCo")
        #expect(part == nil)
        let ending = connection.lost(TransferFault(.connectionLost, foreign: "reset"))
        #expect(ending == .failed(TransferFault(.connectionLost, foreign: "reset")))
    }

    @Test(arguments: [(10, 0, true), (10, 9, true), (10, 10, false), (9, 0, false)])
    func `bytes that arrive before a reused connection's request are no response`(
        sent: Int, unacknowledged: Int, isSeen: Bool
    ) {
        var connection = HTTP1Connection()
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        _ = run(&connection, "HTTP/1.1 204 No\r\n\r\n")
        connection.begin(length: 10, isRetry: false)
        connection.sent(sent)
        let ending = run(&connection, "HTTP/1.1 204 No\r\n\r\n", unacknowledged: unacknowledged)
        #expect(ending == (isSeen ? .complete(keeps: true) : .retry))
    }

    @Test func `a response to a request that was not sent completely closes the connection`() {
        var connection = HTTP1Connection()
        connection.begin(length: 10, isRetry: false)
        connection.sent(4)
        let ending = run(&connection, "HTTP/1.1 431 Too Long\r\nContent-Length: 0\r\n\r\n")
        #expect(ending == .complete(keeps: false))
        #expect(connection.isClosed)
    }

    @Test(arguments: [
        (9, 0, false), (10, 0, true), (10, 1, false), (15, 5, true), (15, 6, false), (30, 20, true), (30, 30, false),
    ]) func `a body that the server does not read may be refused once its head has arrived`(
        sent: Int, unacknowledged: Int, isSeen: Bool
    ) {
        var connection = reused()
        _ = run(&connection, "HTTP/1.1 204 No\r\n\r\n")
        connection.begin(length: 10, body: 20, isRetry: false)
        connection.sent(sent)
        let head = "HTTP/1.1 413 Large\r\nContent-Length: 4\r\n\r\n"
        let early = run(&connection, head, unacknowledged: unacknowledged)
        guard isSeen else {
            #expect(early == .retry)
            return
        }
        #expect(early == nil && connection.deliversBody && !connection.sendsRest)
        let ending = run(&connection, "body")
        #expect(ending == .complete(keeps: sent == 30))
    }

    @Test func `after an early success the rest is sent, and its connection is kept once that is done`() {
        for isSent in [true, false] {
            var connection = HTTP1Connection()
            connection.begin(length: 10, body: 20, isRetry: false)
            connection.sent(15)
            let early = run(&connection, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo")
            #expect(early == nil && connection.sendsRest)
            if isSent { connection.sent(15) }
            let ending = run(&connection, "dy")
            #expect(ending == .complete(keeps: isSent))
        }
    }

    @Test func `a refused request whose response is not wanted closes the connection`() {
        var connection = HTTP1Connection()
        connection.begin(length: 10, body: 20, isRetry: false)
        connection.sent(15)
        let ending = run(&connection, "HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\n", isWanted: false)
        #expect(ending == .stopped && connection.isClosed)
    }

    @Test func `a response to HEAD has no body, whatever it states`() {
        var connection = HTTP1Connection()
        for fields in ["Content-Length: 99\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n"] {
            connection.begin(length: 10, isHead: true, isRetry: false)
            connection.sent(10)
            let ending = run(&connection, "HTTP/1.1 200 OK\r\n\(fields)\r\n")
            #expect(ending == .complete(keeps: true))
        }
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        let part = run(&connection, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")
        #expect(part == nil)
    }

    @Test func `what follows a body of known length is left in the socket`() {
        var connection = HTTP1Connection()
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        #expect(connection.readSize(atMost: 1 << 20) == HTTP1Limits.firstRead)
        #expect(connection.readSize(atMost: 1000) == 1000)
        let part = run(&connection, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")
        #expect(part == nil)
        #expect(connection.readSize(atMost: 1000) == 6)
        #expect(connection.readSize(atMost: 5) == 5)
        let ending = run(&connection, "other.")
        #expect(ending == .complete(keeps: true))
        connection.begin(length: 10, isRetry: false)
        connection.sent(10)
        let chunk = run(&connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfo")
        #expect(chunk == nil)
        #expect(connection.readSize(atMost: 1000) == 1000)
    }

    @Test func `early hints are no response, and 101 ends the connection`() {
        var hinted = reused()
        let hints = run(&hinted, "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n")
        #expect(hints == nil && hinted.awaitsHead)
        let ending = run(&hinted, "HTTP/1.1 204 No\r\n\r\n")
        #expect(ending == .complete(keeps: true))
        var switched = reused()
        let upgrade = run(&switched, "HTTP/1.1 101 Switching\r\n\r\n")
        #expect(upgrade == .complete(keeps: false))
    }

    @Test(arguments: [
        ("Content-Length: 4\r\n\r\nbody", true), ("Content-Length: 4\r\n\r\nbody?", false),
        ("Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", true), ("Content-Length: 65537\r\n\r\n", false),
        ("Connection: close\r\nContent-Length: 4\r\n\r\nbody", false), ("X: y\r\n\r\n", false),
    ]) func `a short unwanted body is drained, and any other closes the connection`(text: String, keeps: Bool) {
        var connection = reused()
        let ending = run(&connection, "HTTP/1.1 302 There\r\n\(text)", isWanted: false)
        #expect(ending == (keeps ? .drained(keeps: true) : text.hasSuffix("?") ? .drained(keeps: false) : .stopped))
        #expect(connection.isIdle == keeps)
    }

    @Test func `draining ends at its limit of bytes and of time`() {
        let head = "HTTP/1.1 302 There\r\nTransfer-Encoding: chunked\r\n\r\n"
        var (long, slow) = (reused(), reused())
        let endings = [run(&long, head, isWanted: false), run(&slow, head, isWanted: false)]
        #expect(endings == [nil, nil])
        let before = long.received(HTTP1Limits.longestDrain, unacknowledged: 0)
        let after = long.received(1, unacknowledged: 0)
        #expect(before == nil && after == .drained(keeps: false))
        let deadline = slow.deadline
        #expect(deadline == Instant(nanoseconds: 0) + HTTP1Limits.drainTime)
        let isLate = [999, 1_000].map { slow.isLate(at: Instant(nanoseconds: $0 * 1_000_000)) }
        #expect(isLate == [false, true] && slow.isClosed)
    }
}
