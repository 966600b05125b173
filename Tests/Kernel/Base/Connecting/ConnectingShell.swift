@testable import PawlBase

/// Carries out what an establishment decides, as the code with the sockets does, in a world without any; and the laws
/// between both.
struct ConnectingShell {
    enum Outcome: Hashable {
        case ready, refused
        case failed(TransferFault)
    }

    private enum Event {
        case resolved(HostResult)
        case connected(Int)
        case failed(Int, TransferFault)
        case read(Int, [UInt8])
        case secured(Int)
        case held(Int)
        case decided(Int)
    }

    private struct Socket {
        var proxy: FakeProxy
        var isConnected = false
        var parts: [Establishment.Part] = []
    }

    let world: ConnectingWorld
    private(set) var machine: Establishment
    private(set) var outcome: Outcome?
    private(set) var broken: String?
    /// What happened, for the test's own completeness.
    private(set) var notes: Set<String> = []

    private var now: Int64 = 0
    private var queue: [(at: Int64, order: Int, event: Event)] = []
    private var count = 0
    private var sockets: [Int: Socket] = [:]
    private var memory = FakeProxy.Memory()
    private var attempts = 0
    private var tried: Set<Endpoint> = []
    private var heldTime: Int64 = 0
    private var isHeld = false
    /// The judge's decision is remembered: nobody is asked twice.
    private var judged: Set<Establishment.Part> = []

    init(_ world: ConnectingWorld) {
        self.world = world
        machine = Establishment(world.terms, at: Instant(nanoseconds: 0))
    }

    private var instant: Instant { Instant(nanoseconds: now * 1_000_000) }

    /// Returns the law that is broken.
    mutating func run() -> String? {
        for _ in 0..<4000 {
            perform()
            if let broken { return "\(broken), at \(now) ms" }
            if machine.isOver { return judge() }
            let due = machine.due.map { ($0.nanoseconds + 999_999) / 1_000_000 }
            let first = queue.indices.min { (queue[$0].at, queue[$0].order) < (queue[$1].at, queue[$1].order) }
            if let first, queue[first].at <= due ?? .max {
                let event = queue.remove(at: first)
                now = max(now, event.at)
                deliver(event.event)
            } else if let due {
                guard due >= now else { return "due in the past" }
                now = due
                machine.passed(instant)
            } else {
                return "nothing will happen"
            }
        }
        return "it never ends"
    }

    private mutating func expect(_ condition: Bool, _ law: String) {
        if !condition, broken == nil { broken = law }
    }

    private mutating func later(_ delay: Int64, _ event: Event) {
        count += 1
        queue.append((now + delay, count, event))
    }

    // MARK: steps

    private mutating func perform() {
        while let step = machine.next(), broken == nil {
            expect(outcome == nil, "\(step) after the end")
            switch step {
            case .resolve(let query): resolve(query)
            case .open(let attempt): open(attempt)
            case .close(let attempt): expect(sockets.removeValue(forKey: attempt) != nil, "\(attempt) is closed twice")
            case .send(let bytes): send(bytes)
            case .secure(let part): secure(part)
            case .authorize(let challenges, let login, let target):
                notes.insert("login")
                machine.authorize(Self.field(challenges, login, target), at: instant)
            case .ready(let attempt):
                outcome = .ready
                checkReady(attempt)
                sockets[attempt] = nil
            case .refused(let head):
                expect(head.status == 407 && head.contentLength == 0, "refused by \(head.status)")
                expect(!LoginChallenge.all(in: head).isEmpty, "a 407 without a challenge")
                outcome = .refused
            case .failed(let fault): outcome = .failed(fault)
            }
        }
    }

    private mutating func resolve(_ query: HostQuery) {
        expect(query.needsLookup, "a lookup of \(query.host)")
        if let route = world.terms.route, query.host == world.terms.host {
            expect(!route.kind.resolves && world.terms.given == nil, "the host of the proxy was looked up")
        }
        later(world.lookupTime, .resolved(world.result(of: query)))
    }

    private mutating func open(_ attempt: AddressRace.Attempt) {
        let endpoint = attempt.endpoint
        expect(attempt.number == attempts, "attempt \(attempt.number) after \(attempts)")
        attempts += 1
        expect(tried.insert(endpoint).inserted, "\(endpoint) is tried twice")
        expect(
            !world.terms.deniesPrivateAddresses || !PrivateNetworks.contains(endpoint.bytes),
            "\(endpoint) is private")
        expect(world.reach[endpoint] != nil, "\(endpoint) is nobody's")
        sockets[attempt.number] = Socket(proxy: FakeProxy(world))
        if sockets.count > 1 { notes.insert("race") }
        switch world.reach[endpoint] {
        case .opens(after: 0):
            connect(attempt.number)
        case .refuses(after: 0): fail(attempt.number, TransferFault(.connectionRefused, foreign: "refused"))
        case .opens(let delay): later(delay, .connected(attempt.number))
        case .refuses(let delay):
            later(delay, .failed(attempt.number, TransferFault(.connectionRefused, foreign: "refused")))
        case .hangs, nil: break
        }
    }

    private mutating func connect(_ attempt: Int) {
        sockets[attempt]?.isConnected = true
        tried = []
        machine.connected(attempt, at: instant)
    }

    private mutating func fail(_ attempt: Int, _ fault: TransferFault) {
        sockets[attempt] = nil
        machine.failed(attempt, fault, at: instant)
    }

    /// The one that everything goes over.
    private var connection: Int? {
        let connected = sockets.filter(\.value.isConnected)
        return connected.count == 1 && sockets.count == 1 ? connected.first?.key : nil
    }

    private mutating func send(_ bytes: [UInt8]) {
        guard let connection, var socket = sockets[connection] else {
            return expect(false, "no connection to send over")
        }
        let isSecure = world.terms.route?.kind == .http(isSecure: true)
        expect(socket.parts == (isSecure ? [.proxy] : []), "sent over \(socket.parts)")
        let (law, replies) = socket.proxy.receive(bytes, &memory)
        sockets[connection] = socket
        if let law { expect(false, law) }
        for reply in replies {
            switch reply {
            case .close: later(world.lag, .failed(connection, .noResponse))
            case .bytes(let bytes):
                let piece = max(world.piece, bytes.count / 100)
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    later(world.lag, .read(connection, Array(bytes[start..<min(bytes.count, start + piece)])))
                }
            }
        }
    }

    private mutating func secure(_ part: Establishment.Part) {
        guard let connection, let socket = sockets[connection] else { return expect(false, "TLS without a connection") }
        if part == .origin {
            expect(world.terms.isSecure, "TLS for a host without")
            expect(needsProxy == socket.proxy.isThrough, "TLS with the proxy in place of the host")
        }
        expect(socket.parts == (part == .origin && isProxySecure ? [.proxy] : []), "TLS within \(socket.parts)")
        var manner = part == .origin ? world.originHandshake : world.proxyHandshake
        if judged.contains(part) { manner = .works }
        let lost = TransferFault(.connectionLost, foreign: "lost")
        switch manner {
        case .works: later(world.lag, .secured(connection))
        case .fails: later(world.lag, .failed(connection, TransferFault(.tls, foreign: "untrusted")))
        case .isLost: later(world.lag, .failed(connection, lost))
        case .hangs: break
        case .isAccepted, .isRefused, .isLostMeanwhile:
            later(world.lag, .held(connection))
            later(world.lag + 60_000, .decided(connection))
            let end: Event =
                switch manner {
                case .isAccepted: .secured(connection)
                case .isRefused: .failed(connection, TransferFault(.tls, foreign: "refused"))
                case _: .failed(connection, lost)
                }
            later(world.lag + 60_010, end)
            judged.insert(part)
        }
    }

    private var isProxySecure: Bool { world.terms.route?.kind == .http(isSecure: true) }
    private var needsProxy: Bool { world.terms.route.map { !$0.kind.isHTTP || world.terms.isTunnelled } ?? false }

    // MARK: events

    private mutating func deliver(_ event: Event) {
        switch event {
        case .resolved(let result): machine.resolved(result, at: instant)
        case .connected(let attempt): if sockets[attempt] != nil { connect(attempt) }
        case .failed(let attempt, let fault): if sockets[attempt] != nil { fail(attempt, fault) }
        case .read(let attempt, let bytes):
            guard sockets[attempt] != nil else { return }
            // What nobody wants stays in the socket.
            if machine.wantsBytes { unsafe bytes.withUnsafeBytes { unsafe machine.received($0, at: instant) } }
        case .secured(let attempt):
            guard let socket = sockets[attempt] else { return }
            let part: Establishment.Part = isProxySecure && socket.parts.isEmpty ? .proxy : .origin
            sockets[attempt]?.parts.append(part)
            machine.secured(at: instant)
        case .held(let attempt):
            guard sockets[attempt] != nil else { return }
            isHeld = true
            machine.held(at: instant)
            expect(machine.due == nil, "a judge is hurried")
        case .decided(let attempt):
            guard sockets[attempt] != nil else { return }
            heldTime += 60_000
            isHeld = false
            notes.insert("held")
            machine.decided(at: instant)
        }
    }

    // MARK: the end

    private mutating func checkReady(_ attempt: Int) {
        guard let socket = sockets[attempt], sockets.count == 1 else {
            return expect(false, "ready with \(sockets.count) sockets")
        }
        expect(socket.isConnected, "ready before it is connected")
        expect(socket.parts.contains(.origin) == world.terms.isSecure, "ready, and TLS is \(socket.parts)")
        expect(socket.parts.contains(.proxy) == isProxySecure, "ready, and TLS is \(socket.parts)")
        expect(socket.proxy.isThrough == needsProxy, "ready, but not with the host")
    }

    private func judge() -> String? {
        let limit = world.terms.timeout.nanoseconds / 1_000_000 + heldTime
        if now > limit + 1 { return "it took \(now) ms of \(limit)" }
        if !sockets.isEmpty { return "\(sockets.count) sockets are left open" }
        switch outcome {
        case nil: return "an end without a result"
        case .ready: return world.isHopeless ? "ready, though it cannot be" : nil
        case .refused:
            let isDemanded: Set<ConnectingWorld.Tunnelling> = [.demands, .demandsTwice, .demandsOther, .isStale]
            return isDemanded.contains(world.tunnelling) && world.isHopeless ? nil : "refused without a reason"
        case .failed(let fault):
            if fault.text.contains(ConnectingWorld.secret) { return "the fault has a secret" }
            return world.isFriendly ? "failed without a reason: \(fault.text)" : nil
        }
    }

    /// The field for a challenge, with a digest that is none.
    static func field(_ challenges: [LoginChallenge], _ login: Credentials, _ target: String) -> String? {
        for digest in challenges.compactMap(DigestChallenge.init) {
            let field = digest.response(login, "CONNECT", target: target, clientNonce: "c") { _, bytes in
                bytes.reduce(into: [1, 2, 3, 4]) { $0[Int($1) % 4] = $0[Int($1) % 4] &* 31 &+ $1 }
            }
            if let field { return field }
        }
        return challenges.contains { $0.scheme == "basic" } ? LoginField.basic(login) : nil
    }
}
