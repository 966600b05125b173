import Testing

@testable import PawlBase

/// As `#expect`, which does not take a call that changes a value.
func same<Value: Equatable>(
    _ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) { #expect(value == expected, sourceLocation: sourceLocation) }

@Suite struct HTTP2ConnectionTests {
    private static let start = Instant(nanoseconds: 0)
    private static let lost = TransferFault(.connectionLost, foreign: "reset")
    private let now = Self.start

    @Test func `every reachable state keeps the laws of a connection`() {
        let (count, events, endings, broken) = HTTP2WalkState.walk(most: 60_000)
        #expect(broken == nil)
        #expect(count >= 60_000)
        // Everything has happened.
        #expect(
            endings.isSuperset(of: [
                .complete, .retry(.http1), .retry(.anotherConnection(isFree: true)),
                .retry(.anotherConnection(isFree: false)), .failed(.wrongStreamLength), .failed(.calm),
                .failed(.streamEndedEarly), .failed(.longHead), .failed(.tooLong),
                .failed(.brokenHTTP2(.protocolError)),
                .failed(.streamReset(.truncated, .cancel)),
            ]))
        #expect(
            events.isSuperset(of: [
                .open, .cancel(1), .resume(0, .pause), .resume(1, .stop), .time(30), .lost(.malformed),
                .goAway(-1, .none),
            ]))
    }

    private func id(_ number: Int) -> HTTP2StreamID { HTTP2StreamID(rawValue: Int32(number)) }

    private func connection(_ streams: [Int], served: Bool = false) -> HTTP2Connection {
        var connection = HTTP2Connection(at: now)
        if served {
            connection.open(id(1), refusals: 0, at: now)
            respond(&connection, 1, "204")
            same(connection.ended(id(1), at: now), .complete)
        }
        for stream in streams { connection.open(id(stream), refusals: 0, at: now) }
        return connection
    }

    private func respond(_ connection: inout HTTP2Connection, _ stream: Int, _ text: String) {
        guard case .head = connection.head(id(stream), Array("HTTP/2 \(text)\r\n\r\n".utf8), size: 50) else {
            Issue.record("no head")
            return
        }
        connection.wantsBody(id(stream))
    }

    @Test func `a response is complete with the end of its stream and the stated length only`() {
        var connection = connection([1, 3, 5, 7])
        for stream in [1, 3] { respond(&connection, stream, "200\r\ncontent-length: 2") }
        for stream in [5, 7] { respond(&connection, stream, "200") }
        for stream in [1, 5, 7] { same(connection.data(id(stream), 2), .data) }
        same(connection.data(id(3), 1), .data)
        let ends = [1, 3, 5].map { connection.ended(id($0), at: now) }
        #expect(ends == [.complete, .failed(.wrongStreamLength), .complete])
        same(connection.closed(id(7), .none, byPeer: true, at: now), .failed(.streamEndedEarly))
        // What follows the end of a stream changes nothing.
        same(connection.closed(id(1), .cancel, byPeer: true, at: now), nil)
    }

    @Test func `a paused receiver gets everything before the end, also of a connection that is lost`() {
        var connection = connection([1])
        respond(&connection, 1, "200")
        same(connection.data(id(1), 5), .data)
        connection.pause(id(1), holding: 5)
        same(connection.data(id(1), 7), .held)
        same(connection.ended(id(1), at: now), nil)
        same(connection.lost(Self.lost, at: now), [])
        #expect(connection.held == 12)
        let isResumed = connection.resume(id(1), at: now)
        #expect(isResumed)
        same(connection.took(id(1), 12), 0)
        same(connection.settled(id(1), at: now), .complete)
    }

    @Test func `requests that the server has not handled are sent again, twice where nothing is served`() {
        let refused = HTTP2Connection.Ending.retry(.anotherConnection(isFree: false))
        var fresh = connection([1, 3])
        same(fresh.closed(id(3), .refusedStream, byPeer: true, at: now), refused)
        // As many as it takes.
        #expect(fresh.room == 0)
        same(fresh.closed(id(1), .refusedStream, byPeer: true, at: now), refused)
        #expect(fresh.isOver)
        var last = HTTP2Connection(at: now)
        last.open(id(1), refusals: 2, at: now)
        same(last.closed(id(1), .refusedStream, byPeer: true, at: now), .failed(.refusedStream))
        var used = connection([3], served: true)
        let ending = used.closed(id(3), .refusedStream, byPeer: true, at: now)
        #expect(ending == .retry(.anotherConnection(isFree: true)))
    }

    @Test func `GOAWAY tells which requests were not handled`() {
        var connection = connection([3, 5, 7], served: true)
        #expect(connection.learned(last: id(3), .none) == 2)
        let ended = connection.goAway(last: id(3), .none, at: now)
        #expect(ended.map(\.stream) == [id(5), id(7)])
        #expect(ended.allSatisfy { $0.ending == .retry(.anotherConnection(isFree: true)) })
        #expect(connection.room == 0 && !connection.isOver)
        respond(&connection, 3, "200")
        same(connection.ended(id(3), at: now), .complete)
        #expect(connection.isOver)
    }

    @Test(arguments: [
        (HTTP2Code.enhanceYourCalm, HTTP2Connection.Ending.failed(.calm)), (.requiresHTTP1, .retry(.http1)),
        (.cancel, .failed(.streamReset(.connectionLost, .cancel))),
    ])
    func `a code of the server decides what becomes of a request`(code: HTTP2Code, ending: HTTP2Connection.Ending) {
        var connection = connection([1])
        same(connection.closed(id(1), code, byPeer: true, at: now), ending)
        guard code != .cancel else { return }
        var other = self.connection([1])
        same(other.goAway(last: id(-1), code, at: now).map(\.ending), [ending])
        var late = self.connection([1])
        same(late.goAway(last: id(1), code, at: now), [])
        same(late.lost(Self.lost, at: now).map(\.ending), [ending])
    }

    @Test func `a lost connection that has served lets a request be sent again once`() {
        var fresh = connection([1])
        same(fresh.lost(Self.lost, at: now).map(\.ending), [.failed(Self.lost)])
        var used = connection([3], served: true)
        used.open(id(5), refusals: 1, at: now)
        used.open(id(7), refusals: 0, at: now)
        respond(&used, 7, "200")
        let endings = used.lost(Self.lost, at: now).map(\.ending)
        #expect(
            endings == [
                .retry(.anotherConnection(isFree: false)), .failed(Self.lost),
                .failed(TransferFault(.truncated, Self.lost.cause)),
            ])
    }

    @Test func `the server's settings may shrink below what is open`() {
        var connection = connection([1, 3, 5])
        connection.settings(streams: 2)
        #expect(connection.room == 0)
        for stream in [1, 3] {
            respond(&connection, stream, "204")
            same(connection.ended(id(stream), at: now), .complete)
        }
        #expect(connection.room == 1)
    }

    @Test func `a connection that allows no stream, and has none, makes room for another`() {
        var connection = connection([1])
        connection.settings(streams: 0)
        #expect(!connection.isRetired)
        respond(&connection, 1, "204")
        same(connection.ended(id(1), at: now), .complete)
        #expect(connection.isRetired && connection.isOver)
        // The other may have been opened by now.
        connection.settings(streams: 100)
        #expect(connection.room == 0 && connection.isOver)
    }

    @Test func `a further connection begins with what the server allows on the first`() {
        var first = connection([1])
        for (most, room) in [(2, 2), (0, 1), (500, 100)] as [(UInt32, Int)] {
            first.settings(streams: most)
            #expect(HTTP2Connection(at: now, like: first).room == room)
        }
    }

    @Test func `no more streams than a server that closes after some of them`() {
        var connection = HTTP2Connection(at: now, mostOpened: 2)
        connection.open(id(1), refusals: 0, at: now)
        #expect(connection.room == 1 && !connection.isRetired)
        connection.open(id(3), refusals: 0, at: now)
        #expect(connection.room == 0 && connection.isRetired && !connection.isOver)
    }

    @Test func `unwanted bodies are ignored or reset, but not too many of them reset`() {
        var connection = HTTP2Connection(at: now)
        var rests: [HTTP2Connection.Rest] = []
        for stream in 0..<101 {
            let id = id(2 * stream + 1)
            connection.open(id, refusals: 0, at: now)
            _ = connection.head(id, Array("HTTP/2 200\r\n\r\n".utf8), size: 50)
            rests.append(connection.leave(id, at: now))
        }
        #expect(rests == Array(repeating: .reset(.cancel), count: 100) + [.left])
        #expect(connection.deadline == now + HTTP2Limits.resetTime)
        same(connection.passed(now + HTTP2Limits.resetTime), [.reset(id(201), .cancel)])
        var short = self.connection([1])
        _ = short.head(id(1), Array("HTTP/2 301\r\ncontent-length: 65536\r\n\r\n".utf8), size: 50)
        same(short.leave(id(1), at: now), .left)
        same(short.data(id(1), 65536), .nothing)
        same(short.ended(id(1), at: now), nil)
        #expect(short.isIdle)
    }

    @Test func `a connection that brings nothing is tried with a PING, then lost; without requests it is closed`() {
        var connection = connection([1])
        #expect(connection.deadline == now + HTTP2Limits.silence)
        let late = now + HTTP2Limits.silence
        same(connection.passed(late), [.ping(0)])
        same(connection.passed(late + HTTP2Limits.pingTime), [.lost(.silentConnection)])
        connection.arrived(at: late)
        same(connection.passed(late + HTTP2Limits.pingTime), [])
        _ = connection.closed(id(1), .cancel, byPeer: true, at: late)
        same(connection.passed(late + HTTP1Limits.idleTime), [.close])
    }

    @Test func `header sections of one request together have a limit`() {
        var connection = connection([1])
        let hint = Array("HTTP/2 103\r\n\r\n".utf8)
        same(connection.head(id(1), hint, size: 200_000), .nothing)
        same(connection.head(id(1), hint, size: 100_000), .refused(.failed(.longHead), .protocolError))
        #expect(connection.isIdle)
        for _ in 0..<HTTP2Limits.mostContinuations { same(connection.frame(9, at: now), nil) }
        same(connection.frame(9, at: now), .longHead)
    }

    @Test func `a connection whose receivers hold much is not read`() {
        var connection = connection([1, 3])
        for stream in [1, 3] {
            respond(&connection, stream, "200")
            same(connection.data(id(stream), 3 << 20), .data)
            connection.pause(id(stream), holding: 3 << 20)
        }
        #expect(!connection.reads)
        same(connection.passed(now + .seconds(60)), [])
        let isResumed = connection.resume(id(1), at: now + .seconds(60))
        #expect(isResumed && connection.reads)
        same(connection.took(id(1), 3 << 20), 3 << 20)
        same(connection.passed(now + .seconds(61)), [])
    }
}
