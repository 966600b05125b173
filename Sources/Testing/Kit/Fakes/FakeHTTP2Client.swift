import PawlBase
import PawlHTTP

/// Requests over HTTP/2, as `HTTP2Client` sends them.
///
/// Pool, machines and codecs are the real ones; only sockets, and the server's end of each, are simulated.
final class FakeHTTP2Client {
    unowned let transport: FakeTransport
    let network: SimulatedNetwork
    let sabotage: Sabotage?
    var pool = HTTP2Pool()
    /// Requests to be sent, in their order.
    private var waiting: [SimulatedExchange] = []
    /// Requests for which a connection is being established.
    private var connecting: [(exchange: SimulatedExchange, due: Instant)] = []
    /// All open connections, in the order in which they were opened.
    private(set) var sessions: [SimulatedSession] = []
    private var lastID: UInt64 = 0

    init(_ transport: FakeTransport) {
        self.transport = transport
        network = transport.network
        sabotage = transport.sabotage
    }

    deinit {
        for session in sessions { session.streams = [] }
    }

    var now: Instant { transport.now }

    /// Whether a request shares a connection, if its server has HTTP/2.
    func takes(_ request: TransferRequest) -> Bool {
        guard request.address.scheme == .https else { return false }
        return request.connection == .shared || network[request.address.host].http2?.takesAll == true
    }

    func start(_ exchange: SimulatedExchange) { waiting.append(exchange) }

    /// When something is due, after the waiting requests were sent.
    func due() -> Instant? {
        let dues = sessions.compactMap(\.due) + connecting.map(\.due)
        let isReadable = sessions.contains { $0.machine.reads && $0.canRead }
        let rooms = waiting.compactMap(\.waitsForRoomUntil)
        return (dues + rooms + [waiting.isEmpty ? nil : pool.deadline, isReadable ? now : nil].compactMap(\.self)).min()
    }

    // MARK: placing requests

    func sendWaiting() {
        // The server knows of streams that were left meanwhile.
        for session in sessions { flush(session) }
        let batch = waiting
        waiting = []
        for exchange in batch where !exchange.isOver && exchange.failure == nil { place(exchange) }
        for session in sessions { flush(session) }
    }

    private func place(_ exchange: SimulatedExchange) {
        let (key, end) = (exchange.connectionKey, exchange.waitsForRoomUntil)
        exchange.waitsForRoomUntil = nil
        let timeout = exchange.request.settings.values.connectTimeout
        switch pool.place(key, timeout: timeout, hasWaited: end.map { $0 <= now } ?? false, at: now) {
        case .join(let id):
            guard let session = sessions.first(where: { $0.id == id }) else {
                preconditionFailure("the pool has a connection of nobody")
            }
            network.note("requests that join a connection")
            send(exchange, on: session)
        case .connect: connect(exchange)
        case .wait where sabotage == .opensFurther: connect(exchange)
        case .waitForRoom where sabotage == .opensFurther: connect(exchange)
        case .waitForRoom(let latest):
            network.note("waits for room on full connections")
            exchange.waitsForRoomUntil = end ?? latest
            waiting.append(exchange)
        case .wait:
            network.note("waits for a connection with room")
            waiting.append(exchange)
        case .http1: useHTTP1(exchange)
        }
    }

    /// The request goes on there as if it was never sent.
    private func useHTTP1(_ exchange: SimulatedExchange) {
        exchange.sendings = 0
        transport.waiting.append(exchange)
    }

    private func connect(_ exchange: SimulatedExchange) {
        let server = network[exchange.request.address.host]
        connecting.append((exchange, now + server.latency + (server.http2?.connecting ?? .zero)))
    }

    /// A connection is established, or cannot be.
    private func establish(_ exchange: SimulatedExchange) {
        let (key, host) = (exchange.connectionKey, exchange.request.address.host)
        guard !exchange.isOver, exchange.failure == nil else { return }
        let noRoute = TransferFault(.unreachable, foreign: "no route to \(host)")
        let fault = network.isUp ? transport.connectFault(exchange) : noRoute
        connecting.removeAll { $0.exchange === exchange }
        if let fault {
            guard pool.failed(key, at: now) else { return transport.notify(exchange, .failed(fault)) }
            network.note("connections of HTTP/2 that failed beside others")
            return waiting.append(exchange)
        }
        guard let server = network[host].http2 else {
            network.note("servers that have HTTP/1.1 only")
            pool.connectedWithHTTP1(key, at: now)
            return useHTTP1(exchange)
        }
        guard let codec = HTTP2Codec() else { preconditionFailure("no memory for a codec") }
        lastID += 1
        let other = sessions.first { $0.connectionKey == key }?.machine
        let machine = HTTP2Connection(at: now, mostOpened: pool.mostStreams(key), like: other)
        let session = SimulatedSession(
            HTTP2ConnectionID(rawValue: lastID), to: key, host: host, codec, machine, dice: network.makeDice(),
            outages: network.outages)
        guard pool.connected(session.id, key, room: machine.room, at: now) || sabotage == .opensFurther else {
            network.note("connections of HTTP/2 that came too late")
            return waiting.append(exchange)
        }
        let others = sessions.count { $0.connectionKey == key && !$0.hasGoneAway && !$0.machine.isRetired }
        network.note(others == 0 ? "connections of HTTP/2" : "further connections of HTTP/2")
        if let text = Law.within(others + 1, HTTP2Pool.mostConnections) {
            network.violate(.connections, "\(host): \(text)")
        }
        session.most = server.streams
        session.mostRequests = network.draws(\.goesAway, host) ? session.dice.number(1...6) : nil
        sessions.append(session)
        if !server.announcesLate { begin(session) }
        send(exchange, on: session)
        flush(session)
    }

    private func send(_ exchange: SimulatedExchange, on session: SimulatedSession) {
        check(exchange, on: session)
        exchange.sendings += 1
        exchange.wasRefused = false
        let address = exchange.request.address
        let head = "GET \(address.path) HTTP/1.1\r\nHost: \(address.host)\r\n\r\n"
        guard let fields = HTTP2Request(Array(head.utf8)), let stream = session.codec.send(fields) else {
            preconditionFailure("a request that cannot be sent")
        }
        session.machine.open(stream, refusals: exchange.refusals, at: now)
        session.exchanges[stream] = exchange
        exchange.place = (session, stream)
        changed(session)
        // Others of this round depend on what the server knows of this one.
        flush(session)
    }

    /// Sends the request again.
    func retry(_ exchange: SimulatedExchange, _ elsewhere: HTTP2Connection.Elsewhere) {
        guard !exchange.isOver else { return }
        network.note("requests sent again on another stream")
        switch elsewhere {
        case .anotherConnection(let isFree):
            if isFree { network.note("requests refused beside others") }
            if !isFree, sabotage != .resendsRefused { exchange.refusals += 1 }
            waiting.append(exchange)
        case .http1:
            pool.requiresHTTP1(exchange.connectionKey, at: now)
            // The pool uses none of them any more.
            for session in sessions where session.connectionKey == exchange.connectionKey {
                session.hasGoneAway = true
            }
            useHTTP1(exchange)
        }
    }

    /// The transfer has no receiver any more.
    func release(_ exchange: SimulatedExchange) {
        if let index = connecting.firstIndex(where: { $0.exchange === exchange }) {
            connecting.remove(at: index)
            pool.cancelled(exchange.connectionKey, at: now)
        }
        guard let (session, stream) = exchange.place else { return }
        exchange.place = nil
        if session.exchanges[stream] === exchange { leave(session, stream) }
    }

    // MARK: rounds

    func work() {
        for attempt in connecting where attempt.due <= now && transport.isAlive { establish(attempt.exchange) }
        for session in sessions {
            advance(session)
            while !session.isClosed, transport.isAlive, let next = session.next(by: now) {
                if let event = next.event { happen(event, on: session) }
                if let stream = next.stream { proceed(stream, of: session) }
                advance(session)
                flushDirty(session)
            }
            guard !session.isClosed, transport.isAlive else { continue }
            for order in session.machine.passed(now) { carryOut(order, session) }
            flushDirty(session)
        }
    }

    private func carryOut(_ order: HTTP2Connection.Order, _ session: SimulatedSession) {
        switch order {
        case .ping(let value): session.codec.ping(value)
        case .reset(let stream, let code):
            network.note("drains of streams given up")
            session.codec.reset(stream, code)
        case .lost(let fault): lose(session, fault)
        case .close: closeQuietly(session)
        }
        if !session.isClosed { changed(session) }
    }

    /// The machine of a connection has changed: the pool learns its room.
    func changed(_ session: SimulatedSession) {
        guard !session.isClosed else { return }
        let machine = session.machine
        pool.changed(session.id, room: machine.room, streams: machine.carried, isRetired: machine.isRetired)
    }

    /// Sends what there is to the server's end.
    func flush(_ session: SimulatedSession) {
        guard !session.isClosed else { return }
        var bytes: [UInt8] = []
        session.codec.output(into: &bytes, limit: HTTP2Limits.longestOutput + 1)
        if !bytes.isEmpty { receive(bytes, on: session) }
    }

    /// The same, with what follows from it; calls sinks.
    private func flushDirty(_ session: SimulatedSession) {
        flush(session)
        guard !session.isClosed else { return }
        takeEvents(session, in: [])
        if session.machine.isOver { closeQuietly(session) }
    }

    /// Closes a connection without requests.
    private func closeQuietly(_ session: SimulatedSession) {
        guard !session.isClosed else { return }
        session.codec.goAway()
        flush(session)
        session.codec.forgetEvents()
        _ = session.machine.lost(TransferFault(.connectionLost, foreign: ""), at: now)
        close(session, isBroken: false)
    }

    func close(_ session: SimulatedSession, isBroken: Bool) {
        session.isClosed = true
        session.closeServer()
        sessions.removeAll { $0 === session }
        pool.closed(session.id, isBroken: isBroken, at: now)
    }

    // MARK: the network

    /// The network was lost `outages` times: requests in progress are lost with their connections.
    func breakLost(_ outages: Int) {
        for session in sessions where session.outages < outages {
            session.outages = outages
            session.isSevered = true
            if !session.exchanges.isEmpty { lose(session) }
        }
    }

    /// A connection is cut, which is noticed now.
    func lose(_ session: SimulatedSession) {
        session.schedule(.reset(TransferFault(.connectionLost, foreign: "the connection was cut")), at: now)
    }

    private func check(_ exchange: SimulatedExchange, on session: SimulatedSession) {
        let name = "#\(exchange.number)"
        if let text = Law.streams(session.open + 1, of: session.limit, hasGoneAway: session.hasGoneAway) {
            network.violate(.streams, "\(name) \(text)")
        }
        let hasHead = exchange.response != nil
        if let text = Law.resent(exchange.sendings + 1, free: exchange.freeRefusals, hasHead: hasHead) {
            network.violate(.resend, "\(name) \(text)")
        }
        if exchange.wasCalmed { network.violate(.connections, "\(name) is sent again after ENHANCE_YOUR_CALM") }
    }
}
