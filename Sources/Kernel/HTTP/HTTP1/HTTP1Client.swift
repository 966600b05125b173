import Glibc
import PawlBase
import PawlSystem

/// Requests over HTTP/1.1, and the connections for them.
///
/// Sinks are only called from `begin` and `work`.
@safe final class HTTP1Client {
    let clock: any Clock
    let poller: any Poller
    let source: PollSource
    let cookies: OriginCookies
    let http2: HTTP2Client
    /// Whether a sink was informed of an end since the round began.
    var hasEnded = false

    /// The transfers that have a receiver.
    var exchanges: [TransferID: HTTP1Exchange] = [:]
    /// Requests to be sent.
    private var waiting: [HTTP1Exchange] = []
    /// Requests that wait for the first TLS handshake of their connection key.
    private var waitingForHandshake: [HTTP1Exchange] = []
    /// Decides which connection carries a request.
    var idle = HTTP1Pool()
    private var resuming: [TransferID] = []
    private var connections: [HTTP1ConnectionID: HTTP1Socket] = [:]

    var resolver = HostResolver.shared
    let hostResults = Mailbox<(HostCache.Waiter, HostResult)>()
    /// Connections that wait for the addresses of their hosts.
    var lookups: [HostCache.Waiter: Connector] = [:]
    /// Connections that are being established, by their sockets, with the numbers of the attempts.
    var connectors: [HTTP1ConnectionID: (Connector, Int)] = [:]
    /// None of them is due before.
    var firstDeadline: Instant?
    var sessions = SessionCache()
    let verdicts = Mailbox<CertificateVerdict>()
    /// The settings with which requests of a key are sent after their server was judged.
    var accepted: [ConnectionKey: TransferSettings] = [:]

    /// Connections that may have more to read although no event will report it.
    private var readable: [HTTP1Socket] = []
    /// Connections whose unwanted bodies are discarded.
    var draining: [HTTP1Socket] = []
    private var lastID: UInt64 = 0
    private let settings: RequestSettingsCache
    private var request: [UInt8] = []
    let buffer: UnsafeMutableRawBufferPointer
    lazy var pipe = SplicePipe()

    init(
        clock: any Clock, poller: any Poller, settings: RequestSettingsCache, cookies: OriginCookies,
        http2: HTTP2Client
    ) {
        self.clock = clock
        self.poller = poller
        self.cookies = cookies
        self.http2 = http2
        source = poller.makeSource()
        self.settings = settings
        unsafe buffer = .allocate(byteCount: SplicePipe.size, alignment: 4096)
    }

    deinit {
        for connection in connections.values { connection.release() }
        for exchange in exchanges.values { cancelConnecting(of: exchange) }
        unsafe buffer.deallocate()
    }

    /// Whether there is work that no descriptor reports.
    var isBusy: Bool { !waiting.isEmpty || !resuming.isEmpty || !readable.isEmpty }

    /// The next time at which draining, a new connection, or the requests that wait for a handshake, are due.
    var deadline: Instant? {
        let drained = draining.lazy.compactMap(\.machine.deadline).min()
        let handshake = waitingForHandshake.isEmpty ? nil : idle.deadline
        let connecting = exchanges.isEmpty ? nil : firstDeadline
        return [drained, handshake, connecting].lazy.compactMap { $0 }.min()
    }

    // MARK: requests from the transport

    /// Throws why the request is impossible.
    func start(
        _ request: TransferRequest, as id: TransferID, by route: ProxyRoute?, sink: any TransferSink
    ) throws(TransferFault) {
        let settings = try settings.settings(for: request)
        let exchange = HTTP1Exchange(request, as: id, by: route, sink: sink, settings: settings)
        exchange.cookies = try cookies.field(for: request)
        exchanges[id] = exchange
        waiting.append(exchange)
    }

    /// Sends a request over HTTP/1.1 that was meant for HTTP/2.
    func takeOver(_ shared: HTTP2Exchange) {
        guard let exchange = HTTP1Exchange(shared) else { return }
        exchange.cookies = try? cookies.field(for: shared.request)
        exchanges[exchange.id] = exchange
        waiting.append(exchange)
    }

    /// Cancels the transfer, if it is here.
    func cancel(_ id: TransferID) -> Bool {
        guard let exchange = exchanges.removeValue(forKey: id) else { return false }
        exchange.detach()
        cancelConnecting(of: exchange)
        if let connection = exchange.connection { drop(connection) }
        return true
    }

    /// Sends the requests that were started, and goes on with those that waited for something; returns the next time at which
    /// there is work to do.
    func begin() -> Instant? {
        hasEnded = false
        takeVerdicts()
        takeResults()
        for exchange in sendWaiting() { connect(exchange) }
        let hasResumed = deliverResumed()
        return hasResumed || hasEnded || isBusy ? .past : deadline
    }

    func resume(_ id: TransferID) -> Bool {
        guard exchanges[id] != nil else { return false }
        resuming.append(id)
        return true
    }

    // MARK: connections

    /// Sends the started requests on idle connections, and returns those that need a new one.
    private func sendWaiting() -> [HTTP1Exchange] {
        guard !waiting.isEmpty || !waitingForHandshake.isEmpty else { return [] }
        let batch = waitingForHandshake + waiting
        waitingForHandshake.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
        var others: [HTTP1Exchange] = []
        let now = clock.now
        for exchange in batch where exchange.sink != nil {
            switch place(exchange, at: now) {
            case .reuse(let connection): send(exchange, on: connection)
            case .connect: others.append(exchange)
            case .wait: waitingForHandshake.append(exchange)
            }
        }
        return others
    }

    private enum Placement {
        case reuse(HTTP1Socket)
        case connect
        case wait
    }

    private func place(_ exchange: HTTP1Exchange, at now: Instant) -> Placement {
        if exchange.request.judge != nil, let settings = accepted[ConnectionKey(exchange.request)] {
            adopt(settings, for: exchange)
        }
        while true {
            switch idle.place(exchange.connectionKey, isRetry: exchange.isRetry, at: now) {
            case .reuse(let id):
                guard let connection = connections[id] else { continue }
                if connection.machine.probed(connection.probe()) { return .reuse(connection) }
                drop(connection)
            case .discard(let id): if let connection = connections[id] { drop(connection) }
            case .connect: return .connect
            case .wait: return .wait
            }
        }
    }

    /// Sends the request with what was decided about its server.
    func adopt(_ settings: TransferSettings, for exchange: HTTP1Exchange) {
        var request = exchange.request
        request.settings = settings
        request.judge = nil
        guard let common = try? self.settings.settings(for: request) else { return }
        exchange.adopt(request, common)
    }

    func nextID() -> HTTP1ConnectionID {
        lastID += 1
        return HTTP1ConnectionID(rawValue: lastID)
    }

    /// Sends `exchange` on a new connection that is watched.
    func adopt(_ connection: HTTP1Socket, for exchange: HTTP1Exchange) {
        connections[connection.id] = connection
        send(exchange, on: connection)
    }

    private func send(_ exchange: HTTP1Exchange, on connection: HTTP1Socket) {
        exchange.settings.write(
            exchange.request, isAbsolute: exchange.usesAbsoluteForm, cookies: exchange.cookies, to: &request)
        connection.send(exchange, request)
        if connection.canRead { readSoon(connection) }
    }

    /// Keeps a connection whose response is complete for the next request to its origin.
    func keep(_ connection: HTTP1Socket) {
        connection.release()
        takeTickets(of: connection)
        let oldest = idle.keep(connection.id, for: connection.connectionKey, at: clock.now)
        if let oldest = oldest.flatMap({ connections[$0] }) { drop(oldest) }
    }

    /// Later connections may resume the session.
    func takeTickets(of connection: HTTP1Socket) {
        if let secure = connection.secure { sessions.add(secure.takeTickets(), of: connection.connectionKey) }
    }

    /// Closes a connection.
    func drop(_ connection: HTTP1Socket) {
        connection.release()
        connections[connection.id] = nil
        connection.close()
    }

    func closeIdle() { for id in idle.removeAll() { if let connection = connections[id] { drop(connection) } } }

    /// Sends the request again, on a new connection.
    func retry(_ exchange: HTTP1Exchange) {
        exchange.isRetry = true
        waiting.append(exchange)
    }

    // MARK: rounds

    /// Schedules the connection for the next round, even without an event.
    func readSoon(_ connection: HTTP1Socket) {
        guard !connection.isReadable else { return }
        connection.isReadable = true
        readable.append(connection)
    }

    /// Resumes paused transfers.
    ///
    /// Returns whether there were any: then a sink may have been called.
    private func deliverResumed() -> Bool {
        guard !resuming.isEmpty else { return false }
        let batch = resuming
        resuming.removeAll(keepingCapacity: true)
        for id in batch {
            guard let exchange = exchanges[id] else { continue }
            resume(exchange)
        }
        return true
    }

    /// Handles all events of the last wait.
    func work() {
        let ready = readable
        readable.removeAll(keepingCapacity: true)
        for connection in ready {
            connection.isReadable = false
            advance(connection)
        }
        poller.takeEvents(of: source) { change in
            let id = HTTP1ConnectionID(rawValue: change.key)
            guard let connection = connections[id] else { return settle(id, change) }
            if change.hasPeerClosed { connection.machine.peerClosed() }
            if change.canRead { connection.canRead = true }
            if connection.ask({ $0.isIdle }) {
                if change.canRead { examine(connection) }
            } else {
                if change.canWrite { connection.canWrite() }
                advance(connection)
            }
        }
        endDraining()
        passDeadlines()
    }

    /// Closes an idle connection that the peer has closed or on which it sent unrequested bytes.
    private func examine(_ connection: HTTP1Socket) {
        // They may be records of TLS without content, or the end of a response that was read in the meantime.
        guard !connection.machine.probed(connection.probe()) else { return }
        idle.remove(connection.id)
        drop(connection)
    }

    /// Stops draining where it takes too long.
    private func endDraining() {
        guard !draining.isEmpty else { return }
        let now = clock.now
        for connection in draining where connection.machine.isLate(at: now) { drop(connection) }
        draining.removeAll(where: \.machine.isClosed)
    }
}
