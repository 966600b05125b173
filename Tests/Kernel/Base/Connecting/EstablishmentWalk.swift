@testable import PawlBase

/// One event of an establishment, as the code with the sockets reports it.
enum EstablishmentEvent: Hashable {
    case resolved(HostResult)
    case connected(Int)
    case failed(Int, TransferFault.Kind)
    case read([UInt8])
    case authorize(String?)
    case secured
    case held
    case decided
    /// The time that the establishment asked for has come.
    case due
}

/// An establishment together with what the code with the sockets knows, and the laws between both.
struct EstablishmentWalkState: Hashable {
    private enum Awaited: Hashable {
        case resolver(HostQuery)
        case handshake(Establishment.Part)
        case field
    }

    private(set) var machine: Establishment
    private var now: Int64 = 0
    private var heldTime: Int64 = 0
    private var open: Set<Int> = []
    private var connection: Int?
    private var awaited: Awaited?
    private var tried: Set<Endpoint> = []
    private var parts: [Establishment.Part] = []
    private var attempts = 0
    private var holds = 0
    private var isHeld = false
    private var reads = 0
    private var demands = 0
    private(set) var outcome: String?

    init(_ terms: ConnectTerms) { machine = Establishment(terms, at: Instant(nanoseconds: 0)) }

    private static func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
    private static let heads = bytes([
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n?", "HTTP/1.1 4", "03 No\r\n\r\n", "?",
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"\"\r\nContent-Length: 2\r\n\r\n", "ab",
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"\", nonce=\"\", stale=true\r\n\r\n",
    ])
    private static let replies: [[UInt8]] = [
        [5, 0], [5, 2], [5, 0xFF], [1, 0], [1], [1, 1], [5, 0, 0, 1], [0, 0, 0, 0, 0, 0], [5, 0, 0, 3, 0, 0, 0, 9],
        [0, 90, 0, 0, 0, 0, 0, 0], [0, 91], [0], [0x48],
    ]

    /// What can happen now.
    var events: [EstablishmentEvent] {
        guard outcome == nil else { return [] }
        let isHTTP = machine.terms.route?.kind.isHTTP == true
        if isHeld { return [.decided] }
        // The field is computed at once.
        if awaited == .field { return [.authorize(nil), .authorize("Basic eA==")] }
        var events = machine.due == nil ? [] : [EstablishmentEvent.due]
        for attempt in open.sorted() {
            events.append(.failed(attempt, .connectionLost))
            if connection == nil { events += [.connected(attempt), .failed(attempt, .connectionRefused)] }
        }
        switch awaited {
        case .resolver:
            events += [.addresses([]), .missing, .unavailable, .addresses(["10.0.0.1"])].map { .resolved($0) }
            events.append(.resolved(.addresses(["203.0.113.1", "2001:db8::1"])))
        case .handshake:
            events.append(.secured)
            if let connection { events.append(.failed(connection, .tls)) }
            if holds < 2 { events.append(.held) }
        case .field, nil: break
        }
        if machine.wantsBytes, reads < (isHTTP ? 3 : 5) {
            events += (isHTTP ? Self.heads : Self.replies).map { .read($0) }
        }
        return events
    }

    /// Applies an event; returns the law that is broken.
    mutating func apply(_ event: EstablishmentEvent) -> String? {
        var instant: Instant { Instant(nanoseconds: now) }
        switch event {
        case .resolved(let result):
            awaited = nil
            machine.resolved(result, at: instant)
        case .connected(let attempt):
            connection = attempt
            tried = []
            machine.connected(attempt, at: instant)
        case .failed(let attempt, let kind):
            open.remove(attempt)
            if attempt == connection { leave() }
            machine.failed(attempt, TransferFault(kind, foreign: "x"), at: instant)
        case .read(let bytes):
            reads += 1
            unsafe bytes.withUnsafeBytes { unsafe machine.received($0, at: instant) }
        case .authorize(let field):
            awaited = nil
            machine.authorize(field, at: instant)
        case .secured:
            if case .handshake(let part) = awaited { parts.append(part) }
            awaited = nil
            machine.secured(at: instant)
        case .held:
            (isHeld, holds) = (true, holds + 1)
            machine.held(at: instant)
            if machine.due != nil { return "a judge is hurried" }
        case .decided:
            isHeld = false
            let waited: Int64 = 60_000_000_000
            (now, heldTime) = (now + waited, heldTime + waited)
            machine.decided(at: instant)
        case .due:
            guard let due = machine.due, due.nanoseconds >= now else { return "due in the past" }
            now = due.nanoseconds
            machine.passed(instant)
            if let again = machine.due, again <= instant { return "due again at once" }
        }
        return perform() ?? check()
    }

    private mutating func leave() { (connection, parts, awaited) = (nil, [], nil) }

    /// Carries out what is to be done.
    mutating func perform() -> String? {
        while let step = machine.next() {
            if outcome != nil { return "\(step) after the end" }
            switch step {
            case .resolve(let query):
                if machine.terms.route?.kind.resolves == true, query.host == machine.terms.host {
                    return "the host of the proxy was looked up"
                }
                awaited = .resolver(query)
            case .open(let attempt):
                if attempt.number != attempts || connection != nil { return "attempt \(attempt) of \(attempts)" }
                if !tried.insert(attempt.endpoint).inserted { return "\(attempt.endpoint) is tried twice" }
                if machine.terms.deniesPrivateAddresses, PrivateNetworks.contains(attempt.endpoint.bytes) {
                    return "a private address"
                }
                attempts += 1
                // Two addresses; two logins, and one server that did not wait for a judge.
                if attempts > 2 * 4 { return "it begins again and again" }
                open.insert(attempt.number)
            case .close(let attempt):
                if open.remove(attempt) == nil { return "\(attempt) is closed twice" }
                if attempt == connection { leave() }
            case .send(let bytes): if let law = send(bytes) { return law }
            case .secure(let part):
                if connection == nil || awaited != nil { return "TLS without a connection" }
                if parts != (part == .origin && isProxySecure ? [.proxy] : []) { return "TLS within \(parts)" }
                awaited = .handshake(part)
            case .authorize(_, let login, let target):
                demands += 1
                if demands > 2 || login.password != "secret" || target != "host.example:443" { return "a login" }
                awaited = .field
            case .ready(let attempt):
                if open != [attempt] || connection != attempt { return "ready with \(open)" }
                if parts.contains(.origin) != machine.terms.isSecure { return "ready without TLS" }
                (outcome, open) = ("ready", [])
            case .refused(let head): outcome = "refused \(head.status)"
            case .failed(let fault): outcome = "failed \(fault.kind)"
            }
        }
        return nil
    }

    private var isProxySecure: Bool { machine.terms.route?.kind == .http(isSecure: true) }

    private mutating func send(_ bytes: [UInt8]) -> String? {
        if connection == nil || awaited != nil || parts != (isProxySecure ? [.proxy] : []) { return "sent too early" }
        if bytes.starts(with: "CONNECT".utf8) {
            reads = 0
            let hasLogin = String(decoding: bytes, as: UTF8.self).contains("Proxy-Authorization")
            if hasLogin != (demands > 0) { return "a login without a demand, or none" }
        }
        return nil
    }

    private func check() -> String? {
        if now > machine.terms.timeout.nanoseconds + heldTime { return "longer than the time for connecting" }
        if outcome != nil { return open.isEmpty ? nil : "\(open) is left open" }
        let waits = awaited != nil || machine.wantsBytes || connection == nil && !open.isEmpty
        return waits ? nil : "nothing will happen"
    }
}

extension EstablishmentWalkState {
    /// The states within reach, breadth first; stops at the first broken law.
    static func walk(
        _ terms: ConnectTerms, most: Int
    ) -> (states: [EstablishmentWalkState], isWhole: Bool, broken: String?) {
        var first = EstablishmentWalkState(terms)
        if let law = first.perform() { return ([first], false, law) }
        var states = [first]
        var seen = Set(states)
        var ways: [[EstablishmentEvent]] = [[]]
        var next = 0
        while next < states.count, states.count < most {
            for event in states[next].events {
                var state = states[next]
                if let law = state.apply(event) { return (states, false, "\(law) after \(ways[next] + [event])") }
                guard seen.insert(state).inserted else { continue }
                states.append(state)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        return (states, next == states.count, nil)
    }
}
