import CWebSockets
import Glibc
import PawlCore
import PawlSystem

/// The server's thread: libwebsockets' context and the connections on it.
@safe
final class WebLoop {
    let limits: WebLimits
    let handler: any WebHandler
    let mailbox: WebMailbox
    /// By the library's pointer.
    var connections: [UInt: WebConnection] = [:]
    var byID: [ConnectionID: WebConnection] = [:]
    /// The buffer of one write: libwebsockets needs some bytes before the data for itself.
    let scratch: UnsafeMutableBufferPointer<UInt8>
    private var context: OpaquePointer?
    /// See `pawl_web_make_client`.
    private var client: OpaquePointer?
    private let protocols: UnsafeMutablePointer<lws_protocols>
    /// Names that the library references.
    private var keptTexts: [UnsafeMutablePointer<CChar>] = unsafe []
    /// The path of the Unix socket, once it is bound.
    private var socket: String?
    private var next: UInt64 = 1
    private var onStopped: [@Sendable () -> Void] = []
    private(set) var isStopping = false
    /// See ``WebLimits/memory``.
    private var held = 0
    /// See ``WebLimits/unauthenticatedMemory``.
    private var heldUnauthenticated = 0
    /// Connections by age, from `oldest` on; closed and authenticated ones are skipped.
    private var arrivals: [ConnectionID] = []
    private var oldest = 0
    /// Connections being closed in favour of others that are not closed yet.
    private var leaving = 0

    /// Connections accepted since the library last waited.
    private var accepted = 0
    /// Listeners that accept no more until it has.
    private var pausedListeners: [OpaquePointer] = unsafe []

    /// The library accepts connections, with their TLS handshakes, as long as there are new ones: all other clients would
    /// wait as long.
    private static let mostAccepted = 8

    /// How many may be closing at the same time; the library has capacity for so many more.
    private static let mostLeaving = 64

    /// Unauthenticated connections that wait to be read again, in order.
    private var turns = TurnQueue<ConnectionID>()

    static let chunk = 64 * 1024

    init(limits: WebLimits, handler: any WebHandler, mailbox: WebMailbox) {
        var limits = limits
        // Half of all descriptors are reserved for downloads.
        let most = max(limits.reserve + 16, Int(pawl_web_descriptors()) / 2)
        limits.connections = min(limits.connections, most)
        self.limits = limits
        self.handler = handler
        self.mailbox = mailbox
        unsafe scratch = .allocate(capacity: pawl_web_room + WebLoop.chunk)
        unsafe protocols = .allocate(capacity: 2)
        unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
        unsafe keptTexts.append(strdup("pawl"))
        unsafe protocols[0].name = UnsafePointer(keptTexts[0])
        unsafe protocols[0].callback = webCallback
        unsafe protocols[0].rx_buffer_size = WebLoop.chunk
        lws_set_log_level(0, nil)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        var settings = unsafe self.settings(owner: owner)
        unsafe context = pawl_web_context(&settings)
        if let context = unsafe context { unsafe mailbox.attach(context) }
    }

    private func settings(owner: UnsafeMutableRawPointer?) -> pawl_web_settings {
        unsafe pawl_web_settings(
            owner: owner,
            protocols: protocols,
            connections: UInt32(limits.connections),
            buffer_bytes: UInt32(WebLoop.chunk),
            request_seconds: UInt32(limits.requestTime),
            client: client
        )
    }

    func listen(at addresses: [ListenAddress]) throws(Failure) -> [Int] {
        var ports: [Int] = []
        for address in addresses { ports.append(try listen(at: address)) }
        return ports
    }

    private func listen(at address: ListenAddress) throws(Failure) -> Int {
        guard let context = unsafe context else {
            throw Failure(.unknown, "cannot start", at: "the web server", because: "libwebsockets failed")
        }
        var settings = unsafe self.settings(owner: nil)
        switch address {
        case .local(let path):
            try unsafe listen(at: path, context, &settings)
            return 0
        case .port(let host, let port, let certificate, let key):
            try AddressProbe.check(host, port: port)
            if certificate != nil, unsafe client == nil { unsafe client = pawl_web_make_client() }
            unsafe settings.client = client
            let name = unsafe keep(certificate == nil ? "port" : "secure port")
            let kept = unsafe keep(host)
            let vhost = unsafe pawl_web_listen(
                context,
                &settings,
                name,
                kept,
                Int32(port),
                certificate.map { unsafe keep($0) },
                key.map { unsafe keep($0) }
            )
            guard let vhost = unsafe vhost else {
                throw Failure(
                    .badOption,
                    "cannot listen at",
                    at: "\(host):\(port)",
                    because: certificate == nil
                        ? "another process took the port" : "the certificate or its key cannot be used",
                    remedy: certificate == nil ? "try again" : "use PEM files for the certificate and its key"
                )
            }
            return Int(unsafe lws_get_vhost_listen_port(vhost))
        }
    }

    /// The socket is renamed to its path after its permissions are set and it is listening.
    private func listen(
        at path: String,
        _ context: OpaquePointer,
        _ settings: inout pawl_web_settings
    ) throws(Failure) {
        let folder = path + ".new"
        let made = folder + "/s"
        defer {
            _ = unsafe unlink(made)
            _ = unsafe rmdir(folder)
        }
        let name = unsafe keep("local")
        let kept = unsafe keep(made)
        // Left by a killed process.
        _ = unsafe unlink(made)
        _ = unsafe rmdir(folder)
        guard made.utf8.count < 108, unsafe mkdir(folder, 0o700) == 0,
            unsafe pawl_web_listen_local(context, &settings, name, kept) != nil,
            unsafe chmod(made, 0o600) == 0, unsafe rename(made, path) == 0
        else {
            let isLong = made.utf8.count >= 108
            throw Failure(
                .badOption,
                "cannot listen at",
                at: path,
                because: isLong ? "the path is too long" : SystemError.last.text,
                remedy: "choose another path with --socket"
            )
        }
        socket = path
    }

    private func keep(_ text: String) -> UnsafePointer<CChar> {
        guard let copy = unsafe strdup(text) else { preconditionFailure("no memory for a name") }
        unsafe keptTexts.append(copy)
        return unsafe UnsafePointer(copy)
    }

    /// Runs until it is stopped.
    func run() {
        guard let context = unsafe context else { return }
        while !isStopping {
            giveTurns()
            // While others wait for their turn, it does not wait for input.
            _ = unsafe lws_service(context, turns.isEmpty ? 0 : -1)
            resumeAccepting()
        }
        // Pending responses, among them the "OK" to a stop request, get a moment to be sent.
        for _ in 0..<500 where connections.values.contains(where: \.isSending) {
            _ = unsafe lws_service(context, -1)
            usleep(2000)
        }
        destroy()
        for completion in onStopped { completion() }
    }

    func destroy() {
        mailbox.detach()
        if let socket { _ = unsafe unlink(socket) }
        if let context = unsafe context { unsafe lws_context_destroy(context) }
        if let client = unsafe client { unsafe pawl_web_free_client(client) }
        for index in unsafe keptTexts.indices { unsafe free(keptTexts[index]) }
        unsafe protocols.deallocate()
        unsafe scratch.deallocate()
    }

    // MARK: connections

    /// The connection of the library's handle; created at its first event.
    func connection(_ wsi: OpaquePointer) -> WebConnection {
        if let known = connections[UInt(bitPattern: wsi)] { return known }
        let connection = unsafe WebConnection(
            id: ConnectionID(rawValue: next),
            wsi: wsi,
            listener: listenerKind(of: wsi),
            limits: limits
        )
        next += 1
        connections[UInt(bitPattern: wsi)] = connection
        byID[connection.id] = connection
        return connection
    }

    private func listenerKind(of wsi: OpaquePointer) -> ListenerKind {
        guard let vhost = unsafe lws_get_vhost(wsi), let name = unsafe lws_get_vhost_name(vhost) else {
            return .port(isSecure: false)
        }
        switch unsafe String(cString: name) {
        case "local": return .local
        case let other: return .port(isSecure: other == "secure port")
        }
    }

    /// Whether a listener may accept one more; ports cannot use the connections reserved for the Unix socket.
    ///
    /// If all are in use, the oldest unauthenticated connection is closed: a client that holds them all cannot lock
    /// others out.
    func hasRoom(at listener: OpaquePointer) -> Bool {
        unsafe limitAccepting(at: listener)
        let isLocal = unsafe listenerKind(of: listener) == .local
        let limit = limits.connections - (isLocal ? 0 : limits.reserve)
        if byID.count - leaving < limit { return true }
        guard leaving < WebLoop.mostLeaving, let oldest = takeOldestUnauthenticated() else { return false }
        oldest.isLeaving = true
        leaving += 1
        kill(oldest)
        return true
    }

    private func limitAccepting(at listener: OpaquePointer) {
        accepted += 1
        guard accepted >= WebLoop.mostAccepted, unsafe !pausedListeners.contains(listener) else { return }
        unsafe pausedListeners.append(listener)
        _ = unsafe lws_rx_flow_control(listener, 0)
        // The next wait must not wait for other clients.
        if let context = unsafe context { unsafe lws_cancel_service(context) }
    }

    private func resumeAccepting() {
        accepted = 0
        for index in unsafe pausedListeners.indices {
            _ = unsafe lws_rx_flow_control(pausedListeners[index], 1)
        }
        unsafe pausedListeners.removeAll(keepingCapacity: true)
    }

    private func takeOldestUnauthenticated() -> WebConnection? {
        defer {
            if oldest > arrivals.count / 2 {
                arrivals.removeFirst(oldest)
                oldest = 0
            }
        }
        while oldest < arrivals.count {
            oldest += 1
            if let connection = byID[arrivals[oldest - 1]], !connection.isKnown { return connection }
        }
        return nil
    }

    func connected(_ wsi: OpaquePointer) {
        let connection = unsafe connection(wsi)
        if arrivals.count > 2 * limits.connections {
            arrivals = arrivals[oldest...].filter { byID[$0].map { !$0.isKnown } ?? false }
            oldest = 0
        }
        if !connection.isKnown { arrivals.append(connection.id) }
        // With TLS the library has its own timeout until the handshake is complete.
        if connection.listener != .port(isSecure: true) { setTimeout(limits.requestTime, of: connection) }
    }

    func forget(_ wsi: OpaquePointer) {
        guard let connection = connections.removeValue(forKey: UInt(bitPattern: wsi)) else { return }
        byID[connection.id] = nil
        if connection.isLeaving { leaving -= 1 }
        held -= connection.counted
        heldUnauthenticated -= unauthenticatedShare(of: connection)
        if connection.isAnnounced { handler.closed(connection.id) }
    }

    /// 0 removes the timeout.
    func setTimeout(_ seconds: Int, of connection: WebConnection) {
        let reason = seconds == 0 ? NO_PENDING_TIMEOUT : PENDING_TIMEOUT_USER_REASON_BASE
        unsafe lws_set_timeout(connection.wsi, reason, Int32(seconds))
    }

    func kill(_ connection: WebConnection) {
        connection.isEnding = true
        unsafe lws_set_timeout(connection.wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC)
    }

    func wakeWriter(of connection: WebConnection) { _ = unsafe lws_callback_on_writable(connection.wsi) }

    /// Reads only when input is expected and no output is pending: otherwise the library would poll the
    /// connection continuously.
    func settleReading(_ connection: WebConnection) {
        let isFlushed = unsafe lws_partial_buffered(connection.wsi) == 0
        let isReading = isFlushed && !connection.waitsForTurn && connection.wantsBytes(limits)
        guard isReading != connection.isReading else { return }
        connection.isReading = isReading
        _ = unsafe lws_rx_flow_control(connection.wsi, isReading ? 1 : 0)
    }

    /// Until its next turn an unauthenticated connection is not read, nor its next request parsed.
    ///
    /// However many there are and whatever they send, what they cause between two calls of an authenticated client
    /// is a small amount of work.
    func awaitTurn(_ connection: WebConnection) {
        guard !connection.isKnown, !connection.waitsForTurn else { return }
        connection.waitsForTurn = true
        turns.append(connection.id)
        settleReading(connection)
    }

    private func giveTurns() {
        for id in turns.next() {
            guard let connection = byID[id], connection.waitsForTurn else { continue }
            connection.waitsForTurn = false
            guard readRequest(of: connection) else {
                kill(connection)
                continue
            }
            settleReading(connection)
        }
    }

    // MARK: writing

    /// Fills the output buffer: `head`, and `count` more bytes from `source`, which returns how many it had.
    func fill(_ head: [UInt8], _ count: Int, from source: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        guard let base = unsafe scratch.baseAddress else { return 0 }
        let start = unsafe UnsafeMutableRawPointer(base + pawl_web_room)
        unsafe UnsafeMutableRawBufferPointer(start: start, count: head.count).copyBytes(from: head)
        guard count > 0 else { return 0 }
        return unsafe source(UnsafeMutableRawBufferPointer(start: start + head.count, count: count))
    }

    /// Sends the first bytes of the buffer; returns whether the connection stays open.
    func send(_ count: Int, on connection: WebConnection) -> Bool {
        guard let base = unsafe scratch.baseAddress else { return false }
        return unsafe lws_write(connection.wsi, base + pawl_web_room, count, LWS_WRITE_HTTP) >= count
    }

    /// Sends all of the bytes; what the socket does not accept at once waits in the library.
    func write(_ bytes: [UInt8], on connection: WebConnection) -> Bool {
        defer { settleReading(connection) }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: pawl_web_room + bytes.count) {
            room in
            guard let base = room.baseAddress else { return false }
            let start = unsafe base + pawl_web_room
            unsafe UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyBytes(from: bytes)
            return unsafe lws_write(connection.wsi, start, bytes.count, LWS_WRITE_HTTP) >= bytes.count
        }
    }

    // MARK: messages

    func drainMailbox() {
        for message in mailbox.take() {
            switch message {
            case .reply(let id, let response):
                if let connection = byID[id] { reply(response, on: connection) }
            case .push(let ids, let messages):
                for id in ids {
                    guard let connection = byID[id] else { continue }
                    for message in messages { push(message, on: connection) }
                }
            case .response(let id, let bytes):
                if let connection = byID[id] { respond(with: bytes, on: connection) }
            case .markAuthenticated(let id):
                if let connection = byID[id] {
                    recognize(connection)
                    setTimeout(0, of: connection)
                }
            case .end(let id):
                guard let connection = byID[id] else { break }
                connection.isEnding = true
                wakeWriter(of: connection)
            case .beat: mailbox.beat()
            case .stop(let completion):
                isStopping = true
                for connection in byID.values where connection.isSocket {
                    connection.isEnding = true
                    wakeWriter(of: connection)
                }
                onStopped.append(completion)
            }
        }
    }

    /// Accounts for the memory held for it now; returns whether it is within the limits.
    func count(_ connection: WebConnection) -> Bool {
        let before = unauthenticatedShare(of: connection)
        let weight = connection.weight
        held += weight - connection.counted
        connection.counted = weight
        let share = unauthenticatedShare(of: connection)
        heldUnauthenticated += share - before
        return held <= limits.memory && (share == 0 || heldUnauthenticated <= limits.unauthenticatedMemory)
    }

    /// Its share of the memory for unauthenticated clients; a few bytes are free, so that a small call always succeeds.
    private func unauthenticatedShare(of connection: WebConnection) -> Int {
        connection.isKnown ? 0 : max(0, connection.counted - limits.unauthenticatedAllowance)
    }

    /// Its client has authenticated.
    func recognize(_ connection: WebConnection) {
        heldUnauthenticated -= unauthenticatedShare(of: connection)
        connection.isKnown = true
        guard connection.waitsForTurn else { return }
        connection.waitsForTurn = false
        settleReading(connection)
    }

    /// Each call sends one WebSocket message.
    func push(_ bytes: [UInt8], on connection: WebConnection) {
        var piece = bytes
        if connection.isSocket {
            piece = []
            FrameWriter.text(bytes, into: &piece)
        }
        if !enqueue(piece, on: connection) { kill(connection) }
    }

    /// `false` if the client does not read; it has missed data, so it must reconnect.
    func enqueue(_ bytes: [UInt8], on connection: WebConnection) -> Bool {
        guard connection.isAnnounced, !connection.isEnding else { return true }
        connection.enqueue(bytes)
        guard count(connection), connection.backlogBytes <= limits.backlog else { return false }
        wakeWriter(of: connection)
        return true
    }
}
