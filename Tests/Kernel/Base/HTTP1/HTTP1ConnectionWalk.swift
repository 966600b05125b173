@testable import PawlBase

/// One event of a connection, as the code with the socket reports it.
enum HTTP1Event: Hashable {
    case begin(isRetry: Bool)
    case sent(Int)
    case peerClosed
    /// These bytes were read; the peer has not acknowledged so many of those that were sent.
    case read(String, unacknowledged: Int)
    /// More than an unwanted body may have.
    case flood
    case scan(HTTP1Receiver)
    case wants(Bool)
    case resume
    case ended
    case lost
    case probe(HTTP1Connection.Probe)
    case time(Int64)
    case close
}

/// What the receiver does with the data that it is offered.
enum HTTP1Receiver: Hashable {
    case take
    case pause
    case stop
}

/// A connection together with what its users know, and the laws between both.
struct HTTP1WalkState: Hashable {
    static let length = 2
    /// The length of each request's body.
    private let body: Int
    var machine = HTTP1Connection()
    /// Bytes that were read and not scanned yet; `nil` outside of a read.
    var pending: [UInt8]?
    var held: [UInt8] = []
    private var requests = 0
    private var reads = 0
    private var unsent = 0
    private var hasRequest = false
    private var hasHead = false
    private var isJudged = false
    private var drained = 0
    /// Whether the response refuses a request that was not sent completely.
    private var isRefused = false

    init(body: Int) { self.body = body }

    private static let heads = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab?", "HTTP/1.1 204 No\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 103 Hints\r\n\r\n", "HTTP/1.1 2",
        "04 No\r\n\r\n", "?",
    ]
    private static let refusals = ["HTTP/1.1 413 Large\r\nContent-Length: 2\r\n\r\nab"]
    private static let bodies = ["a", "ab", "ab?", "1\r\na\r\n", "0\r\n\r\n", "0\r\n\r\n?"]

    /// What can happen now.
    var events: [HTTP1Event] {
        var events = [HTTP1Event.close]
        if !machine.isPeerClosed { events.append(.peerClosed) }
        if unsent > 0, machine.sendsRest { events += (1...unsent).map { .sent($0) } }
        switch machine.state {
        case .closed: return []
        case .idle:
            guard requests < 3 else { return events }
            events += [.probe(.nothing), .probe(.bytes), .probe(.end), .begin(isRetry: false)]
            if requests == 0 { events.append(.begin(isRetry: true)) }
            return events
        case .judging: return events + [.wants(true), .wants(false)]
        case .paused: return events + [.resume]
        case .sending, .head, .body, .draining: break
        }
        guard pending == nil else { return [.scan(.take), .scan(.pause), .scan(.stop)] }
        events += [.ended, .lost]
        if case .draining = machine.state { events += [.time(0), .time(2), .flood] }
        guard reads < 4 else { return events }
        let pieces = machine.awaitsHead ? Self.heads + (body > 0 ? Self.refusals : []) : Self.bodies
        let unacknowledged = machine.needsUnacknowledged ? 0...sent : 0...0
        return events + pieces.flatMap { piece in unacknowledged.map { .read(piece, unacknowledged: $0) } }
    }

    private var sent: Int { Self.length + body - unsent }

    /// Applies an event; returns the law that is broken.
    mutating func apply(_ event: HTTP1Event) -> String? {
        let before = self
        let broken = carryOut(event)
        if case .closed = before.machine.state, machine.state != .closed { return "closed is not final" }
        if (machine.deadline != nil) != isDraining { return "a deadline without draining, or the reverse" }
        if isDraining, hasRequest { return "a request whose body is drained is not over" }
        if machine.state == .idle, hasRequest { return "an idle connection has a request" }
        if machine.state == .closed, hasRequest { return "a request ended without a result" }
        if isDraining, unsent > 0 { return "an unwanted body is drained before the request was sent" }
        if machine.sendsRest != (unsent > 0 && !isRefused && machine.state != .closed) {
            return "a request is sent on after its refusal, or it is not sent"
        }
        return broken
    }

    var isDraining: Bool { if case .draining = machine.state { true } else { false } }

    private mutating func carryOut(_ event: HTTP1Event) -> String? {
        switch event {
        case .begin(let isRetry):
            machine.begin(length: Self.length, body: body, isRetry: isRetry)
            guard !hasRequest else { return "two requests at once" }
            requests += 1
            (unsent, hasRequest, hasHead, isJudged) = (Self.length + body, true, false, false)
            (reads, drained, isRefused) = (0, 0, false)
        case .sent(let count):
            unsent -= count
            machine.sent(count)
        case .peerClosed: machine.peerClosed()
        case .read(let text, let count): return read(Array(text.utf8), unacknowledged: count)
        case .flood: return read([UInt8](repeating: 0x61, count: HTTP1Limits.longestDrain + 1), unacknowledged: 0)
        case .scan(let receiver): return scan(receiver)
        case .wants(let isWanted): return judge(isWanted)
        case .resume:
            machine.resume()
            pending = held
            held = []
        case .ended: return end(machine.ended(), rest: 0)
        case .lost: return end(machine.lost(TransferFault(.connectionLost, foreign: "")), rest: 0)
        case .probe(let found):
            let stays = machine.probed(found)
            return stays == (found == .nothing && !machine.isPeerClosed) ? nil : "a probe was ignored"
        case .time(let seconds):
            let isLate = machine.isLate(at: Instant(nanoseconds: seconds * 1_000_000_000))
            return isLate == (seconds > 1) ? nil : "draining ends at the wrong time"
        case .close:
            machine.close()
            hasRequest = false
        }
        return nil
    }

    private mutating func read(_ bytes: [UInt8], unacknowledged: Int) -> String? {
        let isSeen = sent - unacknowledged >= (body > 0 ? Self.length : 1)
        let mustRefuse = machine.state == .sending && requests > 1 && (unsent > body || !isSeen)
        let wasDraining = isDraining
        reads += 1
        if let ending = machine.received(bytes.count, unacknowledged: unacknowledged) {
            return end(ending, rest: bytes.count)
        }
        if mustRefuse { return "bytes from before the request became its response" }
        if wasDraining { drained += bytes.count }
        if drained > HTTP1Limits.longestDrain { return "an unwanted body was read for long" }
        pending = bytes
        return nil
    }

    private mutating func scan(_ receiver: HTTP1Receiver) -> String? {
        let bytes = pending ?? []
        let (used, step) = unsafe bytes.withUnsafeBytes { unsafe machine.scan($0) }
        let rest = Array(bytes[used...])
        pending = rest
        switch step {
        case .more:
            pending = nil
            return rest.isEmpty ? nil : "bytes were left without a reason"
        case .head(let head):
            isRefused = unsent > 0 && head.status >= 300
            if hasHead { return "a second head" }
            if !hasRequest { return "a head without a request" }
            hasHead = true
        case .data(let count):
            if !isJudged { return "data before its head was judged" }
            if !hasRequest { return "data without a request" }
            if count < 1 || count > rest.count { return "data that is not there" }
            return offer(rest, count, receiver)
        case .end(let ending): return end(ending, rest: rest.count)
        }
        return nil
    }

    private mutating func offer(_ rest: [UInt8], _ count: Int, _ receiver: HTTP1Receiver) -> String? {
        switch receiver {
        case .take:
            machine.took(count)
            pending = Array(rest[count...])
        case .pause:
            machine.pause()
            (held, pending) = (rest, nil)
        case .stop:
            machine.close()
            (pending, hasRequest) = (nil, false)
        }
        return nil
    }

    private mutating func judge(_ isWanted: Bool) -> String? {
        if isWanted {
            machine.wantsBody()
            isJudged = true
            return nil
        }
        hasRequest = false
        let drains = machine.wantsNoBody(at: Instant(nanoseconds: 0))
        if !drains { pending = nil }
        return drains == isDraining ? nil : "draining, or not"
    }

    /// A request ends, and perhaps its connection.
    private mutating func end(_ ending: HTTP1Connection.Ending, rest: Int) -> String? {
        pending = nil
        var keeps = false
        var isDrained = false
        switch ending {
        case .complete(let isKept):
            if !isJudged { return "complete without a head that was judged" }
            keeps = isKept
        case .drained(let isKept): (keeps, isDrained) = (isKept, true)
        case .retry:
            if requests < 2 { return "the first request of a connection is sent again" }
            if hasHead { return "sent again after its response began" }
        case .stopped, .failed: break
        }
        if isDrained == hasRequest { return "a request ended twice or never" }
        hasRequest = false
        guard keeps else { return machine.state == .closed ? nil : "an unusable connection stays open" }
        if rest > 0 { return "a kept connection has bytes left" }
        if unsent > 0 { return "a kept connection has a part of its request left" }
        if machine.isPeerClosed { return "a closed connection is kept" }
        return machine.state == .idle ? nil : "a kept connection is not idle"
    }
}

extension HTTP1WalkState {
    /// The states within reach, breadth first; stops at the first broken law.
    static func walk(body: Int, most: Int) -> (states: [HTTP1WalkState], events: Set<HTTP1Event>, broken: String?) {
        var states = [HTTP1WalkState(body: body)]
        var seen = Set(states)
        var ways: [[HTTP1Event]] = [[]]
        var events: Set<HTTP1Event> = []
        var next = 0
        while next < states.count, states.count < most {
            for event in states[next].events {
                var state = states[next]
                events.insert(event)
                if let law = state.apply(event) { return (states, events, "\(law) after \(ways[next] + [event])") }
                guard seen.insert(state).inserted else { continue }
                states.append(state)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        return (states, events, nil)
    }
}
