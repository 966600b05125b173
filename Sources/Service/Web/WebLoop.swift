import CWebSockets
import Glibc
import PawlSystem

/// The server's thread: libwebsockets' context and the connections on it.
@safe final class WebLoop {
    let limits: WebLimits
    let handler: any WebHandler
    let mailbox: WebMailbox
    /// By the library's pointer.
    var connections: [UInt: WebConnection] = [:]
    var byID: [ConnectionID: WebConnection] = [:]
    /// The buffer of one write: libwebsockets needs some bytes before the data for itself.
    let scratch: UnsafeMutableBufferPointer<UInt8>
    var context: OpaquePointer?
    /// See `pawl_web_make_client`.
    var client: OpaquePointer?
    private let protocols: UnsafeMutablePointer<lws_protocols>
    /// Names that the library references.
    var keptTexts: [UnsafeMutablePointer<CChar>] = unsafe []
    /// The Unix sockets that were made, by path.
    var sockets: [String: LocalListener] = [:]
    /// Unix sockets to make, see ``makeSockets()``.
    var requestedSockets: [(path: String, completion: @Sendable (Bool) -> Void)] = []
    /// Listeners whose socket was made again, and which end when they have no connection.
    var retiredListeners: [OpaquePointer] = unsafe []
    /// The number of Unix sockets that were made.
    var socketCount = 0
    private var next: UInt64 = 1
    var onStopped: [@Sendable () -> Void] = []
    var isStopping = false
    /// See ``WebLimits/memory``.
    private var held = 0
    /// See ``WebLimits/unauthenticatedMemory``.
    private var heldUnauthenticated = 0
    /// Connections by age, from `oldest` on; closed and authenticated ones are skipped.
    var arrivals: [ConnectionID] = []
    var oldest = 0
    /// Connections being closed in favour of others that are not closed yet.
    var leaving = 0

    /// Connections accepted since the library last waited.
    var accepted = 0
    /// Listeners that accept no more until it has.
    var pausedListeners: [OpaquePointer] = unsafe []

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

    func settings(owner: UnsafeMutableRawPointer?) -> pawl_web_settings {
        unsafe pawl_web_settings(
            owner: owner, protocols: protocols, connections: UInt32(limits.connections),
            buffer_bytes: UInt32(WebLoop.chunk), request_seconds: UInt32(limits.requestTime), client: client)
    }

    /// Runs until it is stopped.
    func run() {
        guard let context = unsafe context else { return }
        while !isStopping {
            giveTurns()
            // While others wait for their turn, it does not wait for input.
            _ = unsafe lws_service(context, turns.isEmpty ? 0 : -1)
            resumeAccepting()
            makeSockets()
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
        // Another service may have put its own there.
        for (path, listener) in sockets where listener.isThere(path) { _ = unsafe unlink(path) }
        for (_, completion) in requestedSockets { completion(false) }
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
            id: ConnectionID(rawValue: next), wsi: wsi, listener: listenerKind(of: wsi), limits: limits)
        next += 1
        connections[UInt(bitPattern: wsi)] = connection
        byID[connection.id] = connection
        return connection
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
    ///
    /// `nil` if the buffer has no room for so many.
    func fill(_ head: [UInt8], _ count: Int, from source: (UnsafeMutableRawBufferPointer) -> Int) -> Int? {
        guard let base = unsafe scratch.baseAddress, head.count + count <= WebLoop.chunk else { return nil }
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
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: pawl_web_room + bytes.count) { room in
            guard let base = room.baseAddress else { return false }
            let start = unsafe base + pawl_web_room
            unsafe UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyBytes(from: bytes)
            return unsafe lws_write(connection.wsi, start, bytes.count, LWS_WRITE_HTTP) >= bytes.count
        }
    }

    // MARK: memory

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
}

/// A queue whose members are served a few at a time, so that other work comes in between.
struct TurnQueue<Member> {
    /// How many are served at a time.
    static var most: Int { 8 }

    private var members: [Member] = []
    private var front = 0

    var isEmpty: Bool { front == members.count }

    mutating func append(_ member: Member) { members.append(member) }

    /// Removes and returns those whose turn it is.
    mutating func next() -> [Member] {
        let turn = Array(members[front...].prefix(Self.most))
        front += turn.count
        if isEmpty {
            members.removeAll(keepingCapacity: true)
            front = 0
        } else if front > members.count / 2 {
            members.removeFirst(front)
            front = 0
        }
        return turn
    }
}
