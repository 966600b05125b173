import PawlBase

/// Requests over HTTP/2: carries out what `HTTP2Pool` and the `HTTP2Connection` of each socket decide.
///
/// Connections are established by the transport. Sinks are only called from `work`, `deliverResumed`, `adopt` and `fail`.
@safe final class HTTP2Client {
    /// Requests that the transport goes on with.
    struct Others {
        /// They need a connection that offers both protocols: `adopt`, `usesHTTP1` or `fail` follows.
        var connecting: [HTTP2Exchange] = []
        /// Their servers have HTTP/1.1 only.
        ///
        /// They are no longer here.
        var http1: [HTTP2Exchange] = []
    }

    /// Receives the Set-Cookie fields of a response.
    var onCookies: (TransferRequest, [String]) -> Void = { _, _ in }

    /// Receives what resumes the TLS sessions of a key.
    var onTickets: (ConnectionKey, [TLSTicket]) -> Void = { _, _ in }

    let clock: any Clock
    let poller: any Poller
    let source: PollSource
    var pool = HTTP2Pool()
    /// The transfers that have a receiver.
    private var exchanges: [TransferID: HTTP2Exchange] = [:]
    /// Requests to be sent, in their order.
    private var waiting: [HTTP2Exchange] = []
    /// Whether waiting requests may find another place than before.
    private var mayPlace = false
    /// Requests for which a connection is being established.
    private var connecting: Set<TransferID> = []
    private var refused: [HTTP2Exchange] = []
    private var resuming: [TransferID] = []
    private var connections: [HTTP2ConnectionID: HTTP2Socket] = [:]
    /// Connections that may have more to read although no event will report it.
    private var readable: [HTTP2Socket] = []
    private var dirty: [HTTP2Socket] = []
    private var lastID: UInt64 = 0
    let buffer: UnsafeMutableRawBufferPointer
    /// Enough records to be worth a write call, and still in the processor's cache when they are written.
    private static let readSize = 256 * 1024

    init(clock: any Clock, poller: any Poller) {
        self.clock = clock
        self.poller = poller
        source = poller.makeSource()
        unsafe buffer = .allocate(byteCount: Self.readSize, alignment: 4096)
    }

    deinit {
        for exchange in exchanges.values { exchange.detach() }
        for connection in connections.values { connection.close() }
        unsafe buffer.deallocate()
    }

    /// Whether there is work that no descriptor reports.
    var isBusy: Bool {
        !waiting.isEmpty && mayPlace || !refused.isEmpty || !resuming.isEmpty || !readable.isEmpty || !dirty.isEmpty
    }

    /// The next time at which a connection, or requests that wait, are due.
    var deadline: Instant? {
        let due = connections.values.lazy.compactMap(\.due).min()
        return [due, waiting.isEmpty ? nil : pool.deadline, roomDue].lazy.compactMap { $0 }.min()
    }

    private var roomDue: Instant? { waiting.lazy.compactMap(\.waitsForRoomUntil).min() }

    // MARK: requests from the transport

    func start(_ exchange: HTTP2Exchange) {
        exchanges[exchange.id] = exchange
        waiting.append(exchange)
        mayPlace = true
    }

    /// Cancels the transfer, if it is here; allowed inside a sink's callback.
    func cancel(_ id: TransferID) -> Bool {
        guard let exchange = exchanges[id] else { return false }
        let place = exchange.place
        exchange.detach()
        release(exchange)
        if let place { leave(place.connection, place.stream) }
        return true
    }

    func resume(_ id: TransferID) -> Bool {
        guard exchanges[id] != nil else { return false }
        resuming.append(id)
        return true
    }

    /// When there is work to do, without waiting for an event.
    var due: Instant? { isBusy ? .past : deadline }

    /// Sends the started requests where there is room, and returns those that the transport goes on with.
    func sendWaiting() -> Others {
        var others = Others()
        others.http1 = refused
        refused = []
        let now = clock.now
        let isDue = [pool.deadline, roomDue].contains { $0.map { $0 <= now } ?? false }
        guard mayPlace || isDue else { return others }
        mayPlace = false
        let batch = waiting
        waiting.removeAll(keepingCapacity: true)
        for exchange in batch where exchange.sink != nil {
            let timeout = exchange.request.settings.values.connectTimeout
            let hasWaited = exchange.waitsForRoomUntil.map { $0 <= now } ?? false
            let end = exchange.waitsForRoomUntil
            exchange.waitsForRoomUntil = nil
            switch pool.place(exchange.connectionKey, timeout: timeout, hasWaited: hasWaited, at: now) {
            case .join(let id):
                guard let connection = connections[id] else {
                    preconditionFailure("the pool has a connection of nobody")
                }
                if exchange.request.isMeasured { exchange.timing = connection.reusedTiming }
                send(exchange, on: connection)
            case .connect:
                connecting.insert(exchange.id)
                others.connecting.append(exchange)
            case .wait: waiting.append(exchange)
            case .waitForRoom(let latest):
                exchange.waitsForRoomUntil = end ?? latest
                waiting.append(exchange)
            case .http1:
                exchanges[exchange.id] = nil
                others.http1.append(exchange)
            }
        }
        sendDirty()
        return others
    }

    // MARK: connections

    /// Takes over a connection for `exchange` that has negotiated HTTP/2; the socket is owned from here on.
    func adopt(_ socket: Int32, _ session: TLSSession, for exchange: HTTP2Exchange) {
        let now = clock.now
        lastID += 1
        let (id, key) = (HTTP2ConnectionID(rawValue: lastID), exchange.connectionKey)
        guard let codec = HTTP2Codec() else {
            session.close()
            closeSocket(socket)
            return fail(exchange, .outOfMemory)
        }
        let other = connections.values.first { $0.connectionKey == key }?.machine
        let machine = HTTP2Connection(at: now, mostOpened: pool.mostStreams(key), like: other)
        let connection = HTTP2Socket(socket, session, codec, machine, id: id, for: exchange)
        guard watch(socket, key: id.rawValue) else {
            connection.close()
            return fail(exchange, TransferFault(.other, foreign: "cannot watch a connection"))
        }
        let wasAwaited = connecting.remove(exchange.id) != nil
        mayPlace = true
        guard wasAwaited, pool.connected(id, key, room: machine.room, at: now) else {
            connection.close()
            if exchange.sink != nil { waiting.append(exchange) }
            return
        }
        connections[id] = connection
        send(exchange, on: connection)
        flushDirty()
        readSoon(connection)
    }

    /// The connection for `exchange` has HTTP/1.1, and its request goes on there: it is no longer here.
    func usesHTTP1(_ exchange: HTTP2Exchange) {
        if connecting.remove(exchange.id) != nil { pool.connectedWithHTTP1(exchange.connectionKey, at: clock.now) }
        exchanges[exchange.id] = nil
        mayPlace = true
    }

    /// No connection was established for `exchange`.
    ///
    /// Returns whether its request goes over another one; if not, it is no longer here.
    func couldNotConnect(_ exchange: HTTP2Exchange) -> Bool {
        mayPlace = true
        if connecting.remove(exchange.id) != nil, pool.failed(exchange.connectionKey, at: clock.now) {
            waiting.append(exchange)
            return true
        }
        exchanges[exchange.id] = nil
        return false
    }

    /// The request goes on elsewhere, and nothing is known of its server.
    func release(_ exchange: HTTP2Exchange) {
        if connecting.remove(exchange.id) != nil { pool.cancelled(exchange.connectionKey, at: clock.now) }
        exchanges[exchange.id] = nil
        mayPlace = true
    }

    /// Ends a transfer that has no connection.
    func fail(_ exchange: HTTP2Exchange, _ fault: TransferFault) {
        release(exchange)
        notify(exchange, .failed(fault))
    }

    func closeIdle() {
        for connection in connections.values where connection.ask({ $0.isIdle }) { closeQuietly(connection) }
    }

    private func watch(_ socket: Int32, key: UInt64) -> Bool {
        poller.watch(socket, for: .changes, key: key, of: source)
            || poller.change(socket, to: .changes, key: key, of: source)
    }

    private func send(_ exchange: HTTP2Exchange, on connection: HTTP2Socket) {
        exchange.timing.requestStart = exchange.request.isMeasured ? clock.now : nil
        guard let stream = connection.codec.send(exchange.fields) else {
            connection.machine.retire()
            waiting.append(exchange)
            return changed(connection)
        }
        connection.machine.open(stream, refusals: exchange.refusals, at: clock.now)
        connection.exchanges[stream] = exchange
        exchange.place = (connection, stream)
        if exchange.request.isMeasured {
            exchange.timing.sentHead = exchange.fields.text.count
            exchange.timing.requestEnd = clock.now
        }
        changed(connection)
    }

    /// Sends the request again.
    func retry(_ exchange: HTTP2Exchange, _ elsewhere: HTTP2Connection.Elsewhere) {
        guard exchange.sink != nil else { return }
        mayPlace = true
        switch elsewhere {
        case .anotherConnection(let isFree):
            if !isFree { exchange.refusals += 1 }
            waiting.append(exchange)
        case .http1:
            pool.requiresHTTP1(exchange.connectionKey, at: clock.now)
            exchanges[exchange.id] = nil
            refused.append(exchange)
        }
    }

    func notify(_ exchange: HTTP2Exchange, _ end: TransferEnd) {
        guard let sink = exchange.sink else { return }
        exchanges[exchange.id] = nil
        exchange.detach()
        sink.transferEnded(exchange.id, end)
    }

    // MARK: rounds

    /// Schedules the connection for the next round, even without an event.
    func readSoon(_ connection: HTTP2Socket) {
        guard !connection.isReadable else { return }
        connection.isReadable = true
        readable.append(connection)
    }

    /// The machine of a connection has changed: there may be something to send, and the pool learns its room.
    func changed(_ connection: HTTP2Socket) {
        let (room, streams, isRetired, due) = connection.ask { ($0.room, $0.carried, $0.isRetired, $0.deadline) }
        connection.due = due
        if connections[connection.id] != nil {
            pool.changed(connection.id, room: room, streams: streams, isRetired: isRetired)
        }
        if room > 0 || isRetired { mayPlace = true }
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirty.append(connection)
    }

    /// Sends what was ordered without calling a sink: `work` does what follows from it.
    private func sendDirty() {
        let batch = dirty
        dirty.removeAll(keepingCapacity: true)
        for connection in batch where !connection.isClosed {
            let unsent = connection.flush()
            let isOver = connection.ask { $0.isOver || $0.unsent(unsent) != nil }
            guard isOver || connection.codec.eventCount > 0 else { continue }
            connection.isDirty = true
            dirty.append(connection)
        }
    }

    /// Sends what was ordered, and closes connections that are of no more use.
    func flushDirty() {
        while let connection = dirty.popLast() {
            guard !connection.isClosed else { continue }
            let unsent = connection.flush()
            // What was sent may have closed streams.
            unsafe takeEvents(connection, in: UnsafeMutableRawBufferPointer(start: nil, count: 0))
            if let fault = connection.machine.unsent(unsent) { lose(connection, fault) }
            if connection.ask({ $0.isOver }) { closeQuietly(connection) }
        }
    }

    /// Resumes paused transfers.
    ///
    /// Returns whether there were any: then a sink may have been called.
    func deliverResumed() -> Bool {
        guard !resuming.isEmpty else { return false }
        let batch = resuming
        resuming.removeAll(keepingCapacity: true)
        for id in batch { if let exchange = exchanges[id] { resume(exchange) } }
        flushDirty()
        return true
    }

    /// Handles all events of the last wait, and what is due.
    func work() {
        let ready = readable
        readable.removeAll(keepingCapacity: true)
        for connection in ready {
            connection.isReadable = false
            advance(connection)
        }
        poller.takeEvents(of: source) { event in
            guard let connection = connections[HTTP2ConnectionID(rawValue: event.key)] else { return }
            connection.takeEvent(event)
            advance(connection)
            if event.canWrite { changed(connection) }
        }
        let now = clock.now
        for connection in connections.values where connection.due.map({ $0 <= now }) ?? false {
            carryOut(connection.machine.passed(now), connection)
        }
        flushDirty()
    }

    private func carryOut(_ orders: [HTTP2Connection.Order], _ connection: HTTP2Socket) {
        for order in orders {
            switch order {
            case .ping(let value): connection.codec.ping(value)
            case .reset(let stream, let code): connection.codec.reset(stream, code)
            case .lost(let fault): lose(connection, fault)
            case .close: closeQuietly(connection)
            }
        }
        if !connection.isClosed { changed(connection) }
    }

    /// Closes a connection without requests; the server learns that nothing follows.
    private func closeQuietly(_ connection: HTTP2Socket) {
        guard !connection.isClosed else { return }
        connection.codec.goAway()
        _ = connection.flush()
        connection.codec.forgetEvents()
        _ = connection.machine.lost(TransferFault(.connectionLost, foreign: ""), at: clock.now)
        close(connection, isBroken: false)
    }

    func close(_ connection: HTTP2Socket, isBroken: Bool) {
        connection.close()
        connection.due = nil
        connections[connection.id] = nil
        pool.closed(connection.id, isBroken: isBroken, at: clock.now)
        mayPlace = true
    }
}
