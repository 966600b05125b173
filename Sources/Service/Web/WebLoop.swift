import PawlBase
import PawlHTTP
import PawlSystem

/// The server's thread: its listeners, and the connections that they have accepted.
@safe final class WebLoop {
    let limits: WebLimits
    let handler: any WebHandler
    let mailbox: WebMailbox
    let poller: any Poller
    private let clock = SystemClock()
    /// Users of the poller: the listeners, and the connections.
    let arriving: PollSource
    let clients: PollSource
    var listeners: [WebListener] = []
    /// When it accepts again, after a connection that could not be accepted.
    var acceptsAgain: Instant?
    var connections: [ConnectionID: WebConnection] = [:]
    var lastID: UInt64 = 0
    private var deadlines = Deadlines<ConnectionID>()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: WebLoop.chunk, alignment: 16)
    var onStopped: [@Sendable () -> Void] = []
    var isStopping = false
    /// See ``WebLimits/memory``.
    private var held = 0
    /// See ``WebLimits/unauthenticatedMemory``.
    private var heldUnauthenticated = 0
    /// Connections for which something can be done without waiting.
    private var scheduled: [ConnectionID] = []
    /// Unauthenticated connections that wait to be read again, in order.
    private var turns = FIFO<ConnectionID>()

    static let chunk = 64 * 1024
    /// How many of them are read in a round.
    private static let mostTurns = 8
    /// How long responses are sent after it was stopped.
    private static let leave = Interval.seconds(1)

    init(limits: WebLimits, handler: any WebHandler, mailbox: WebMailbox) {
        var limits = limits
        // Half of all descriptors are reserved for downloads.
        let most = max(limits.reserve + 16, min(SystemDescriptors.limit, 65_536) / 2)
        limits.connections = min(limits.connections, most)
        self.limits = limits
        self.handler = handler
        self.mailbox = mailbox
        poller = EpollPollers(clock: clock).makePoller()
        (arriving, clients) = (poller.makeSource(), poller.makeSource())
        mailbox.attach(poller.wake)
    }

    deinit { unsafe buffer.deallocate() }

    /// Runs until it is stopped.
    func run(_ listeners: [WebListener]) {
        self.listeners = listeners
        watchListeners()
        while !isStopping { work() }
        // Pending responses, among them the "OK" to a stop request, get a moment to be sent.
        let end = now + WebLoop.leave
        while connections.values.contains(where: \.isSending), now < end { work(until: end) }
        mailbox.detach()
        for connection in Array(connections.values) { drop(connection) }
        for each in self.listeners { each.listener.close() }
        for completion in onStopped { completion() }
    }

    var now: Instant { clock.now }

    /// One round; it waits for events, at most until `limit`.
    private func work(until limit: Instant? = nil) {
        giveTurns()
        let round = scheduled
        scheduled.removeAll(keepingCapacity: true)
        for id in round {
            connections[id]?.isScheduled = false
            advance(id)
        }
        // While others wait for their turn, it does not wait for input.
        let isBusy = turns.count > 0 || !scheduled.isEmpty
        poller.wait(until: isBusy ? .past : [deadlines.first, acceptsAgain, limit].compactMap(\.self).min())
        drainMailbox()
        acceptConnections()
        poller.takeEvents(of: clients) { event in
            let id = ConnectionID(rawValue: event.key)
            connections[id]?.socket.note(event)
            advance(id)
        }
        for id in deadlines.pass(now) { if let connection = connections[id] { expire(connection) } }
    }

    // MARK: connections

    /// Does what can be done for it: a chunk to send, a chunk to read.
    private func advance(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        guard !connection.isKilled, isAdvanced(connection), !connection.isKilled else { return drop(connection) }
        // Steps of handshakes take more time than anything else.
        if !connection.socket.isEstablished, connection.mayRead(limits) { awaitTurn(connection) }
        if connection.mayWrite || connection.mayRead(limits) { schedule(connection) }
    }

    /// Returns whether the connection stays open.
    private func isAdvanced(_ connection: WebConnection) -> Bool {
        guard connection.socket.flush() else { return false }
        _ = count(connection)
        if connection.mayWrite {
            connection.isWoken = false
            guard isWritable(connection) else { return false }
        }
        return !connection.socket.isEstablished || read(connection)
    }

    private func read(_ connection: WebConnection) -> Bool {
        guard connection.mayRead(limits) else { return true }
        guard let count = unsafe connection.socket.receive(into: buffer) else { return false }
        return unsafe count == 0 || arrived(connection, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// It is advanced in the next round.
    func schedule(_ connection: WebConnection) {
        guard !connection.isScheduled else { return }
        connection.isScheduled = true
        scheduled.append(connection.id)
    }

    func wakeWriter(of connection: WebConnection) {
        connection.isWoken = true
        schedule(connection)
    }

    /// Closes it in the next round.
    func kill(_ connection: WebConnection) {
        connection.isEnding = true
        connection.isKilled = true
        schedule(connection)
    }

    func drop(_ connection: WebConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connection.socket.close()
        deadlines.remove(connection.id)
        held -= connection.counted
        heldUnauthenticated -= unauthenticatedShare(of: connection)
        if connection.isAnnounced { handler.closed(connection.id) }
    }

    /// Until its next turn an unauthenticated connection is not read, nor its next request parsed.
    ///
    /// However many there are and whatever they send, what they cause between two calls of an authenticated client
    /// is a small amount of work.
    func awaitTurn(_ connection: WebConnection) {
        guard !connection.isKnown, !connection.waitsForTurn else { return }
        connection.waitsForTurn = true
        turns.append(connection.id)
    }

    private func giveTurns() {
        for _ in 0..<min(WebLoop.mostTurns, turns.count) {
            guard let id = turns.popFirst(), let connection = connections[id], connection.waitsForTurn else { continue }
            connection.waitsForTurn = false
            if connection.reader.count == 0 || readRequest(of: connection), read(connection) {
                advance(id)
            } else {
                drop(connection)
            }
        }
    }

    // MARK: timeouts

    /// 0 removes the timeout.
    func setTimeout(_ seconds: Int, of connection: WebConnection) {
        deadlines.set(connection.id, to: seconds == 0 ? nil : now + .seconds(Double(seconds)))
    }

    func setDelay(_ delay: Duration, of connection: WebConnection) {
        deadlines.set(connection.id, to: now + .seconds(delay / .seconds(1)))
    }

    private func expire(_ connection: WebConnection) {
        guard case .response(var response, let sent, let hasHead) = connection.stage, response.delay != nil else {
            return drop(connection)
        }
        response.delay = nil
        connection.stage = .response(response, sent: sent, hasHead: hasHead)
        wakeWriter(of: connection)
    }

    /// Sends all of the bytes, of which the socket keeps what it does not take; returns whether the connection stays open.
    func write(_ bytes: [UInt8], on connection: WebConnection) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe connection.socket.send($0) }
            && (connection.socket.isFlushed || count(connection))
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
        schedule(connection)
    }
}
