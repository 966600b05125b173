import Glibc
import PawlBase
import PawlSystem

/// Requests over HTTP/1.1 without libcurl's multi interface.
///
/// libcurl establishes connections where that is more than `connect(2)`: for TLS it goes through proxies, does the
/// handshake, verifies, and handles the records; for plain HTTP it finds out which of several addresses responds, and
/// why none does.
///
/// Sinks are only called from `work`, `deliverResumed` and `fail`.
@safe final class HTTP1Client {
    let clock: any Clock
    let poller: any Poller
    let source: PollSource
    /// Receives the Set-Cookie fields of a response.
    var onCookies: (TransferRequest, [String]) -> Void = { _, _ in }

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
    /// Connections that are being established without libcurl.
    var attempts: [HTTP1ConnectionID: PlainConnection] = [:]
    /// No attempt has an earlier deadline.
    var firstDeadline: Instant?
    /// Connections that may have more to read although no event will report it.
    private var readable: [HTTP1Socket] = []
    /// Connections whose unwanted bodies are discarded.
    var draining: [HTTP1Socket] = []
    private var lastID: UInt64 = 0
    private let settings: ConnectionSettingsCache
    private var request: [UInt8] = []
    let buffer: UnsafeMutableRawBufferPointer
    lazy var pipe = SplicePipe()

    init(clock: any Clock, poller: any Poller, settings: ConnectionSettingsCache) {
        self.clock = clock
        self.poller = poller
        source = poller.makeSource()
        self.settings = settings
        unsafe buffer = .allocate(byteCount: SplicePipe.size, alignment: 4096)
    }

    deinit {
        for connection in connections.values { connection.release() }
        for attempt in attempts.values { attempt.close() }
        unsafe buffer.deallocate()
    }

    /// Whether there is work that no descriptor reports.
    var isBusy: Bool { !waiting.isEmpty || !resuming.isEmpty || !readable.isEmpty }

    /// The next time at which draining, an attempt to connect, or the requests that wait for a handshake, are due.
    var deadline: Instant? {
        let drained = draining.lazy.compactMap(\.machine.deadline).min()
        let handshake = waitingForHandshake.isEmpty ? nil : idle.deadline
        return [drained, handshake, firstDeadline].lazy.compactMap { $0 }.min()
    }

    // MARK: requests from the transport

    /// Accepts the request if it does not need libcurl.
    func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool {
        guard isOurs(request) else { return false }
        // libcurl reports what is wrong with the settings.
        guard let settings = try? settings.settings(for: request), settings.takes(request.address) else { return false }
        let exchange = HTTP1Exchange(request, as: id, sink: sink, settings: settings)
        exchanges[id] = exchange
        waiting.append(exchange)
        return true
    }

    /// TLS connections that carry one request at a time are handled here; those that HTTP/2 may share are libcurl's.
    private func isOurs(_ request: TransferRequest) -> Bool {
        switch request.address.scheme {
        case .http: true
        case .https: request.connection == .separate && TLSContext.isReachable
        case .ftp, .ftps, .sftp, .located: false
        }
    }

    /// Cancels the transfer, if it is here.
    func cancel(_ id: TransferID) -> HTTP1Exchange? {
        guard let exchange = exchanges.removeValue(forKey: id) else { return nil }
        exchange.detach()
        cancelAttempt(of: exchange)
        if let connection = exchange.connection { drop(connection) }
        return exchange
    }

    package func resume(_ id: TransferID) -> Bool {
        guard exchanges[id] != nil else { return false }
        resuming.append(id)
        return true
    }

    // MARK: connections

    /// Sends the started requests on idle connections, and returns those that need a new one.
    func sendWaiting() -> [HTTP1Exchange] {
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

    /// Takes over a new connection for `exchange`: a socket that is owned from here on, or that of `secure`.
    func connected(_ exchange: HTTP1Exchange, _ socket: Int32, _ secure: TLSConnection?) {
        let connection = HTTP1Socket(socket, secure, to: exchange.connectionKey, id: nextID())
        guard exchange.sink != nil else { return }
        guard poller.watch(socket, for: .changes, key: connection.id.rawValue, of: source) else {
            return fail(exchange, TransferFault("cannot watch a connection", .last))
        }
        adopt(connection, for: exchange)
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
        exchange.settings.write(exchange.request, to: &request)
        connection.send(exchange, request)
        if connection.canRead { readSoon(connection) }
    }

    /// Keeps a connection whose response is complete for the next request to its origin.
    func keep(_ connection: HTTP1Socket) {
        connection.release()
        let oldest = idle.keep(connection.id, for: connection.connectionKey, at: clock.now)
        if let oldest = oldest.flatMap({ connections[$0] }) { drop(oldest) }
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

    /// Sends the request on a connection that libcurl establishes.
    func connectWithCurl(_ exchange: HTTP1Exchange) {
        exchange.needsCurl = true
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
    func deliverResumed() -> Bool {
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
                if change.canWrite { connection.sendRest() }
                advance(connection)
            }
        }
        endDraining()
        endLateAttempts()
    }

    /// Closes an idle connection that the peer has closed or on which it sent unrequested bytes.
    private func examine(_ connection: HTTP1Socket) {
        // Over TLS they may be records without content.
        guard !connection.machine.probed(connection.secure == nil ? .bytes : connection.probe()) else { return }
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
