import Glibc
import PawlCore
import PawlEngine

/// Requests over HTTP/1.1 without libcurl's multi interface.
///
/// libcurl only establishes the connections: it resolves names and, for TLS, goes through proxies, does the handshake,
/// verifies, and handles the records.
///
/// Sinks are only called from `work`, `deliverResumed` and `fail`.
@safe
final class HTTP1Client {
    let clock: any Clock
    let poller: SocketPoller
    /// Receives the Set-Cookie fields of a response.
    var onCookies: (TransferRequest, [String]) -> Void = { _, _ in }

    /// The transfers that have a receiver.
    var exchanges: [TransferID: HTTP1Exchange] = [:]
    /// Requests to be sent.
    private var waiting: [HTTP1Exchange] = []
    /// Requests that wait for the first TLS handshake of their connection key.
    private var waitingForHandshake: [HTTP1Exchange] = []
    var handshakes = HandshakeCoalescer()
    private var resuming: [TransferID] = []
    private var connections: [UInt64: HTTP1Connection] = [:]
    /// The last one of a key is the most recently used.
    private var idle: [HTTP1Connection] = []
    /// Connections that may have more to read although no event will report it.
    private var readable: [HTTP1Connection] = []
    private var drained: [HTTP1Exchange] = []
    private var lastKey: UInt64 = 0
    /// Counts the waits.
    private var round: UInt64 = 0
    private var profiles: [HTTP1Settings.Key: HTTP1Settings] = [:]
    /// Nearly always the next one too.
    private var lastProfile: (key: HTTP1Settings.Key, profile: HTTP1Settings)?
    private var request: [UInt8] = []
    let buffer: UnsafeMutableRawBufferPointer
    lazy var pipe = SplicePipe()
    private let environmentHasProxy = HTTP1Settings.environmentHasProxy

    private enum Limit {
        static let idle = 128
        static let idleTime = Interval.seconds(115)
        static let profiles = 64
        static let drain = Interval.seconds(1)
    }

    init?(clock: any Clock) {
        guard let poller = SocketPoller() else { return nil }
        self.clock = clock
        self.poller = poller
        unsafe buffer = .allocate(byteCount: SplicePipe.size, alignment: 4096)
    }

    deinit {
        for connection in connections.values { connection.end() }
        unsafe buffer.deallocate()
    }

    /// Whether `perform` has work that no descriptor reports.
    var isBusy: Bool { !waiting.isEmpty || !resuming.isEmpty || !readable.isEmpty }

    /// The next time at which draining, or the requests that wait for a handshake, are due.
    var deadline: Instant? {
        let drained = drained.lazy.map(\.drainLimit).min()
        guard !waitingForHandshake.isEmpty, let handshake = handshakes.deadline else { return drained }
        return drained.map { min($0, handshake) } ?? handshake
    }

    // MARK: requests from the transport

    /// Accepts the request if it does not need libcurl.
    func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) -> Bool {
        guard isOurs(request) else { return false }
        let profile = profile(for: request)
        guard profile.takes(request.address) else { return false }
        let exchange = HTTP1Exchange(request, as: id, sink: sink, profile: profile)
        exchanges[id] = exchange
        waiting.append(exchange)
        return true
    }

    /// TLS connections that carry one request at a time are handled here; those that HTTP/2 may share are libcurl's.
    private func isOurs(_ request: TransferRequest) -> Bool {
        switch request.address.scheme {
        case .http: true
        case .https: request.connection == .separate && TLSContext.isReachable
        case .ftp, .ftps, .sftp: false
        }
    }

    /// Cancels the transfer, if it is here.
    func cancel(_ id: TransferID) -> HTTP1Exchange? {
        guard let exchange = exchanges.removeValue(forKey: id) else { return nil }
        exchange.detach()
        if let connection = exchange.connection { drop(connection) }
        return exchange
    }

    func resume(_ id: TransferID) -> Bool {
        guard exchanges[id] != nil else { return false }
        resuming.append(id)
        return true
    }

    private func profile(for request: TransferRequest) -> HTTP1Settings {
        let key = HTTP1Settings.Key(request)
        if let lastProfile, lastProfile.key == key { return lastProfile.profile }
        let profile = profiles[key] ?? makeProfile(for: request, key)
        lastProfile = (key, profile)
        return profile
    }

    private func makeProfile(for request: TransferRequest, _ key: HTTP1Settings.Key) -> HTTP1Settings {
        if profiles.count >= Limit.profiles { profiles.removeAll(keepingCapacity: true) }
        let profile = HTTP1Settings(for: request, environmentHasProxy: environmentHasProxy)
        profiles[key] = profile
        return profile
    }

    // MARK: connections

    /// Sends the started requests on idle connections, and returns those that need a new one.
    func sendWaiting() -> [HTTP1Exchange] {
        guard !waiting.isEmpty || !waitingForHandshake.isEmpty else { return [] }
        let batch = waitingForHandshake + waiting
        waitingForHandshake.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
        var others: [HTTP1Exchange] = []
        for exchange in batch where exchange.sink != nil {
            if !exchange.isRetry, let connection = takeIdle(exchange.connectionKey) {
                send(exchange, on: connection)
            } else if exchange.request.address.scheme == .http
                || handshakes.allows(exchange.connectionKey, at: clock.now)
            {
                others.append(exchange)
            } else {
                waitingForHandshake.append(exchange)
            }
        }
        return others
    }

    /// Takes over a new connection for `exchange`: a socket that is owned from here on, or that of `secure`.
    func connected(_ exchange: HTTP1Exchange, _ socket: Int32, _ secure: TLSConnection?) {
        lastKey += 1
        let connection = HTTP1Connection(socket, secure, to: exchange.connectionKey, key: lastKey)
        guard exchange.sink != nil else { return }
        guard poller.add(socket, key: lastKey) else {
            let reason = unsafe String(cString: strerror(errno))
            return fail(exchange, TransferFault(.other, "cannot watch a connection: \(reason)"))
        }
        connections[lastKey] = connection
        send(exchange, on: connection)
    }

    private func send(_ exchange: HTTP1Exchange, on connection: HTTP1Connection) {
        connection.begin(exchange)
        exchange.profile.write(exchange.request, to: &request)
        connection.send(request: request)
        if connection.canRead { readSoon(connection) }
    }

    private func takeIdle(_ connectionKey: ConnectionKey) -> HTTP1Connection? {
        guard !idle.isEmpty else { return nil }
        let oldest = clock.now + Interval(nanoseconds: -Limit.idleTime.nanoseconds)
        while let index = idle.lastIndex(where: { $0.connectionKey == connectionKey }) {
            let connection = idle.remove(at: index)
            if connection.idleSince > oldest, connection.isAlive { return connection }
            drop(connection)
        }
        return nil
    }

    /// Keeps a connection whose response is complete for the next request to its origin.
    func keep(_ connection: HTTP1Connection) {
        connection.end()
        guard idle.count < Limit.idle, !connection.hasPeerClosed else { return drop(connection) }
        connection.idleSince = clock.now
        idle.append(connection)
    }

    /// Closes a connection.
    func drop(_ connection: HTTP1Connection) {
        connection.end()
        connections[connection.key] = nil
        connection.close()
    }

    /// Sends the request again, on a new connection.
    func retry(_ exchange: HTTP1Exchange) {
        exchange.isRetry = true
        waiting.append(exchange)
    }

    // MARK: rounds

    /// Schedules the connection for the next round, even without an event.
    func readSoon(_ connection: HTTP1Connection) {
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
            guard let exchange = exchanges[id], exchange.isPaused else { continue }
            goOn(exchange)
        }
        return true
    }

    /// Handles all events of the last wait.
    func work() {
        round += 1
        let ready = readable
        readable.removeAll(keepingCapacity: true)
        for connection in ready {
            connection.isReadable = false
            advance(connection)
        }
        poller.takeChanges { change in
            guard let connection = connections[change.key] else { return }
            if change.hasPeerClosed { connection.hasPeerClosed = true }
            if change.canRead { connection.canRead = true }
            if connection.exchange == nil {
                if change.canRead, connection.secure == nil || !connection.isAlive { dropIdle(connection) }
            } else {
                if change.canWrite, !connection.unsent.isEmpty { connection.send(connection.unsent) }
                advance(connection)
            }
        }
        endDraining()
    }

    /// Closes an idle connection that the peer has closed or on which it sent unrequested bytes.
    private func dropIdle(_ connection: HTTP1Connection) {
        idle.removeAll { $0 === connection }
        drop(connection)
    }

    // MARK: draining

    /// Keeps reading a short unwanted body, so that the connection can be reused.
    func drain(_ exchange: HTTP1Exchange) {
        exchange.drainLimit = clock.now + Limit.drain
        drained.append(exchange)
    }

    func endDraining(of exchange: HTTP1Exchange) { drained.removeAll { $0 === exchange } }

    private func endDraining() {
        guard !drained.isEmpty else { return }
        let now = clock.now
        for exchange in drained where exchange.drainLimit <= now {
            if let connection = exchange.connection { drop(connection) }
        }
        drained.removeAll { $0.drainLimit <= now || $0.connection == nil }
    }
}
