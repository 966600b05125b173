@testable import PawlBase

/// One event of a connection, as the code with the socket reports it.
enum HTTP2WalkEvent: Hashable {
    case open
    case head(Int, HTTP2WalkHead, HTTP2Receiver)
    case trailer(Int, size: Int)
    case data(Int, Int, HTTP2Receiver)
    case end(Int)
    /// By the server, or because it broke the rules.
    case closed(Int, HTTP2Code, byPeer: Bool)
    case goAway(Int, HTTP2Code)
    case settings(UInt32)
    case frame(UInt8)
    case resume(Int, HTTP2Receiver)
    case cancel(Int)
    case time(Int64)
    case lost(TransferFault.Kind)
}

/// What the receiver does with what it is offered.
enum HTTP2Receiver: Hashable, CaseIterable {
    case take
    case pause
    case stop
}

struct HTTP2WalkHead: Hashable {
    var text: String
    var length: Int64?
    var ends = false
    var size = 50

    static let all = [
        HTTP2WalkHead(text: "200\r\ncontent-length: 2", length: 2),
        HTTP2WalkHead(text: "200\r\ncontent-length: 0", length: 0, ends: true),
        HTTP2WalkHead(text: "200\r\ncontent-length: 2", length: 2, ends: true),
        HTTP2WalkHead(text: "200"), HTTP2WalkHead(text: "200\r\ncontent-length: 999999", length: 999_999),
        HTTP2WalkHead(text: "304\r\ncontent-length: 9", length: 0), HTTP2WalkHead(text: "103"),
        HTTP2WalkHead(text: "101"), HTTP2WalkHead(text: "20"),
        HTTP2WalkHead(text: "200", size: HTTP1Limits.longestHead + 1),
    ]
    var bytes: [UInt8] { Array("HTTP/2 \(text)\r\n\r\n".utf8) }
}

/// A connection together with what its users know, and the laws between both.
struct HTTP2WalkState: Hashable {
    private struct Request: Hashable {
        var isRetry: Bool
        var hasHead = false
        var length: Int64?
        var received: Int64 = 0
        var held = 0
        var credit: Int64 = 0
        var hasEnd = false
        /// The server ends the stream in another way, or the connection is lost: no more than an end is awaited.
        var isClosed = false
        var isOver = false
        var isReset = false
    }

    private static let start = Instant(nanoseconds: 0)
    var machine = HTTP2Connection(at: start)
    private var requests: [Request] = []
    private var limit = HTTP2Limits.mostStreams
    private var last = Int.max
    private var isLost = false
    private var isBroken = false
    private var now = start
    private var odd = 0
    /// What the last event has ended.
    private var endings: [HTTP2Connection.Ending] = []

    private static func id(_ index: Int) -> HTTP2StreamID { HTTP2StreamID(rawValue: Int32(index * 2 + 1)) }

    /// What can happen now.
    var events: [HTTP2WalkEvent] {
        if machine.isOver, requests.allSatisfy(\.isOver) { return [] }
        var events: [HTTP2WalkEvent] = []
        if requests.count < 3, machine.room > 0 { events.append(.open) }
        if !isLost { events += shared }
        for (index, request) in requests.enumerated() {
            if !request.isOver { events.append(.cancel(index)) }
            if !request.isOver, machine.isPaused(Self.id(index)) {
                events += HTTP2Receiver.allCases.map { .resume(index, $0) }
            }
            if !isLost, !request.isClosed, !request.isReset { events += sent(index, request) }
        }
        return events
    }

    private var shared: [HTTP2WalkEvent] {
        var events: [HTTP2WalkEvent] = [.lost(.connectionLost), .time(2)]
        guard odd < 2 else { return events }
        events += [.lost(.malformed), .settings(1), .settings(0), .frame(6), .time(30)]
        for code in [HTTP2Code.none, .enhanceYourCalm, .requiresHTTP1] {
            events += [-1, 0].map { .goAway($0, code) }
        }
        return events
    }

    private func sent(_ index: Int, _ request: Request) -> [HTTP2WalkEvent] {
        var events: [HTTP2WalkEvent] = []
        if !request.hasHead {
            events += HTTP2WalkHead.all.flatMap { head in
                [HTTP2Receiver.take, .stop].map { .head(index, head, $0) }
            }
        } else if !request.hasEnd {
            events += [.end(index), .trailer(index, size: 40)]
            if request.received < 3 {
                events += HTTP2Receiver.allCases.flatMap { [.data(index, 1, $0), .data(index, 2, $0)] }
            }
        }
        for code in [HTTP2Code.none, .refusedStream, .cancel, .enhanceYourCalm, .requiresHTTP1] {
            events.append(.closed(index, code, byPeer: true))
        }
        return events + [.closed(index, .protocolError, byPeer: false)]
    }

    /// Applies an event; returns the law that is broken.
    mutating func apply(_ event: HTTP2WalkEvent) -> String? {
        let wasRetired = machine.isRetired
        if let broken = carryOut(event) { return broken }
        if wasRetired, !machine.isRetired { return "a connection that was replaced takes requests again" }
        if machine.held != requests.reduce(0, { $0 + $1.held }) { return "other bytes are held than there are" }
        let open = requests.filter { !$0.isOver }.count
        if machine.room > 0, isLost || last != .max { return "room on a connection that takes no more" }
        if machine.room + open > max(limit, open) { return "more streams than the server allows" }
        if machine.isOver, open > 0, !isLost { return "the connection is over, a request is not" }
        if isLost, requests.contains(where: { !$0.isOver && $0.held == 0 }) {
            return "a request outlives its connection"
        }
        if !isLost, open > 0, requests.contains(where: { !$0.isOver && $0.held == 0 }), machine.deadline == nil {
            return "a silent connection is never noticed"
        }
        if machine.isIdle, open > 0 { return "a request was forgotten" }
        for request in requests where request.credit > request.received - Int64(request.held) {
            return "more is given back than was taken"
        }
        return nil
    }

    private mutating func carryOut(_ event: HTTP2WalkEvent) -> String? {
        switch event {
        case .open:
            machine.open(Self.id(requests.count), refusals: requests.count % 2, at: now)
            requests.append(Request(isRetry: requests.count % 2 == 1))
        case .head(let index, let head, let receiver): return take(head, index, receiver)
        case .trailer(let index, let size): return refuse(index, machine.trailer(Self.id(index), size: size))
        case .data(let index, let count, let receiver): return data(index, count, receiver)
        case .end(let index): return end(index)
        case .closed(let index, let code, let isByPeer):
            let ending = machine.closed(Self.id(index), code, byPeer: isByPeer, at: now)
            requests[index].isClosed = true
            return over(index, ending)
        case .goAway(let index, let code):
            odd += 1
            last = min(last, index)
            for ended in machine.goAway(last: HTTP2StreamID(rawValue: Int32(index * 2 + 1)), code, at: now) {
                let other = Int(ended.stream.rawValue) / 2
                if other <= index { return "a handled request ends because of GOAWAY" }
                if let broken = over(other, ended.ending) { return broken }
            }
            for other in requests.indices where other > index { requests[other].isClosed = true }
        case .settings(let most):
            odd += 1
            limit = Int(most)
            machine.settings(streams: most)
        case .frame(let kind):
            odd += 1
            return machine.frame(kind, at: now) == nil ? nil : "one frame is too many"
        case .resume(let index, let receiver): return resume(index, receiver)
        case .cancel(let index): leave(index, hasEnded: false)
        case .time(let seconds):
            odd += seconds > 2 ? 1 : 0
            return pass(seconds)
        case .lost(let kind): return lose(TransferFault(kind, foreign: ""))
        }
        return nil
    }

    private mutating func take(_ head: HTTP2WalkHead, _ index: Int, _ receiver: HTTP2Receiver) -> String? {
        let wasOver = requests[index].isOver
        switch machine.head(Self.id(index), head.bytes, size: head.size) {
        case .head(let parsed, _):
            if wasOver { return "a head for a request that is over" }
            if parsed.status < 200 { return "an interim head is final" }
            (requests[index].hasHead, requests[index].length) = (true, head.length)
            if receiver == .take { machine.wantsBody(Self.id(index)) } else { leave(index, hasEnded: head.ends) }
        case .nothing: return nil
        case .refused(let ending, _):
            requests[index].isReset = true
            return over(index, ending)
        case .data, .held: return "a head is data"
        }
        return head.ends ? end(index) : nil
    }

    private mutating func refuse(_ index: Int, _ verdict: HTTP2Connection.Verdict) -> String? {
        guard case .refused(let ending, _) = verdict else { return verdict == .nothing ? nil : "not refused" }
        requests[index].isReset = true
        return over(index, ending)
    }

    private mutating func data(_ index: Int, _ count: Int, _ receiver: HTTP2Receiver) -> String? {
        requests[index].received += Int64(count)
        let verdict = machine.data(Self.id(index), count)
        switch verdict {
        case .data: return offer(index, count, receiver)
        case .held:
            requests[index].held += count
            return requests[index].isOver ? "bytes are held for nobody" : nil
        case .nothing: return requests[index].isOver ? nil : "data got lost"
        case .refused:
            requests[index].held = 0
            guard let length = requests[index].length, requests[index].received > length else { return "good data" }
            return refuse(index, verdict)
        case .head: return "data is a head"
        }
    }

    private mutating func offer(_ index: Int, _ count: Int, _ receiver: HTTP2Receiver) -> String? {
        if requests[index].isOver { return "data for a request that is over" }
        if let length = requests[index].length, requests[index].received > length { return "more data than stated" }
        switch receiver {
        case .take: requests[index].credit += Int64(machine.took(Self.id(index), count))
        case .pause:
            machine.pause(Self.id(index), holding: count)
            requests[index].held += count
            if machine.took(Self.id(index), count) > 0 { return "a paused stream gets credit" }
        case .stop: leave(index, hasEnded: false)
        }
        return nil
    }

    private mutating func resume(_ index: Int, _ receiver: HTTP2Receiver) -> String? {
        let held = requests[index].held
        guard machine.resume(Self.id(index), at: now) else { return "not resumed" }
        requests[index].held = 0
        if held > 0, let broken = offer(index, held, receiver) { return broken }
        return over(index, machine.settled(Self.id(index), at: now))
    }

    private mutating func end(_ index: Int) -> String? {
        requests[index].hasEnd = true
        return over(index, machine.ended(Self.id(index), at: now))
    }

    private mutating func leave(_ index: Int, hasEnded: Bool) {
        requests[index].isOver = true
        requests[index].held = 0
        if case .reset = machine.leave(Self.id(index), hasEnded: hasEnded, at: now) { requests[index].isReset = true }
    }

    private mutating func pass(_ seconds: Int64) -> String? {
        now = now + .seconds(Double(seconds))
        let due = machine.deadline
        let orders = machine.passed(now)
        if !orders.isEmpty, due.map({ $0 > now }) ?? true { return "something happens before it is due" }
        for order in orders {
            switch order {
            case .ping: continue
            case .reset(let stream, _):
                let index = Int(stream.rawValue) / 2
                if !requests[index].isOver { return "a request is reset by time" }
                requests[index].isReset = true
            case .lost(let fault): return lose(fault)
            case .close:
                if requests.contains(where: { !$0.isOver }) { return "a connection with requests is idle" }
                return lose(TransferFault(.connectionLost, foreign: ""))
            }
        }
        return nil
    }

    private mutating func lose(_ fault: TransferFault) -> String? {
        (isLost, isBroken) = (true, fault.kind == .malformed)
        for ended in machine.lost(fault, at: now) {
            if let broken = over(Int(ended.stream.rawValue) / 2, ended.ending) { return broken }
        }
        return nil
    }

    /// A request ends.
    private mutating func over(_ index: Int, _ ending: HTTP2Connection.Ending?) -> String? {
        guard let ending else { return nil }
        endings.append(ending)
        let request = requests[index]
        if request.isOver { return "a request ended twice" }
        if request.held > 0 { return "a request ended before its receiver has everything" }
        (requests[index].isOver, requests[index].held) = (true, 0)
        switch ending {
        case .complete:
            if !request.hasHead || !request.hasEnd { return "complete without a head, or without an end" }
            if let length = request.length, length != request.received { return "complete with another length" }
        case .retry(let elsewhere):
            if request.hasHead { return "sent again after its response began" }
            guard case .anotherConnection = elsewhere, isLost else { break }
            if isBroken { return "sent again to a server that breaks the rules" }
            if request.isRetry { return "sent again twice" }
        case .failed: break
        }
        return nil
    }
}

extension HTTP2WalkState {
    /// The states within reach, breadth first; stops at the first broken law.
    static func walk(
        most: Int
    ) -> (count: Int, events: Set<HTTP2WalkEvent>, endings: Set<HTTP2Connection.Ending>, broken: String?) {
        var states = [HTTP2WalkState()]
        var seen = Set(states)
        var origins: [(from: Int, event: HTTP2WalkEvent)?] = [nil]
        var events: Set<HTTP2WalkEvent> = []
        var endings: Set<HTTP2Connection.Ending> = []
        var next = 0
        while next < states.count, states.count < most {
            for event in states[next].events {
                var state = states[next]
                events.insert(event)
                if let law = state.apply(event) {
                    var way = [event]
                    var index = next
                    while let (from, event) = origins[index] { (way, index) = ([event] + way, from) }
                    return (states.count, events, endings, "\(law) after \(way)")
                }
                endings.formUnion(state.endings)
                state.endings = []
                guard seen.insert(state).inserted else { continue }
                states.append(state)
                origins.append((next, event))
            }
            next += 1
        }
        return (states.count, events, endings, nil)
    }
}
