import PawlBase

// The server's end of a connection.
extension FakeTransport {
    /// Decides what happens to a request that is sent on `connection`.
    func accept(_ exchange: SimulatedExchange, on connection: SimulatedConnection) {
        let isReused = connection.requests > 1
        let wait = exchange.isRetry ? network.latency(of: connection.host) : exchange.wait
        let pending = connection.takeEvent()
        connection.isQuiet = false
        let half = now + wait * 0.5
        let lost = TransferFault(.connectionLost, foreign: "the connection was reset")
        if connection.isSevered { return connection.schedule(.reset(lost), at: half) }
        switch pending {
        case .stray: return connection.schedule(.stray(isEarly: true), at: half)
        case .close: return connection.schedule(.close, at: half)
        case .reply, .body, .reset, nil: break
        }
        if isReused, network.losesReused(connection.host) {
            return connection.schedule(exchange.number % 2 == 0 ? .close : .reset(lost), at: half)
        }
        switch exchange.fare {
        case .responded: connection.schedule(.reply, at: now + wait)
        // What refuses a new connection has ended the old ones.
        case .failed(let fault): connection.schedule(.reset(isReused ? lost : fault), at: isReused ? half : now + wait)
        case .silent: break
        }
    }

    /// Lets the event of a connection that is due happen, and the client read.
    func arrive(at connection: SimulatedConnection) {
        guard let event = connection.takeEvent() else { return }
        let isQuiet = connection.isQuiet && connection.machine.isIdle
        var unacknowledged = 0
        switch event {
        case .reply: reply(on: connection)
        case .body(let count):
            guard var writer = connection.writer else { break }
            let bytes = writer.body(count)
            connection.writer = writer
            deliver(bytes, on: connection)
        case .stray(let isEarly):
            if isEarly {
                network.note("bytes before their request had arrived")
                unacknowledged = connection.exchange?.length ?? 0
            }
            stray(on: connection)
        case .close:
            connection.end()
            if !isQuiet { connection.machine.peerClosed() }
        case .reset(let fault): connection.fail(fault)
        }
        if connection.machine.isIdle {
            if !isQuiet { examine(connection) }
        } else {
            advance(connection, unacknowledged: unacknowledged)
        }
        plan(connection)
    }

    private func reply(on connection: SimulatedConnection) {
        guard let exchange = connection.exchange, case .responded(let response) = exchange.fare else { return }
        let form = network.form(of: response, host: connection.host)
        var writer = ResponseWriter(
            response, form, number: exchange.number, hidesClose: sabotage == .ignoresClose, dice: network.makeDice())
        exchange.expected = writer.head
        var bytes = writer.heads(disguised: sabotage == .takesInterim)
        if form.isJoined, response.length <= 1024, response.fault == nil { bytes += writer.body(Int(response.length)) }
        connection.writer = writer
        deliver(bytes, on: connection, isHead: true)
    }

    /// Sends a segment, and with the last one of a response what follows it.
    private func deliver(_ bytes: [UInt8], on connection: SimulatedConnection, isHead: Bool = false) {
        guard let writer = connection.writer else { return }
        connection.arrive(bytes, isCut: writer.form.isCut && (isHead || connection.dice.chance(0.3)))
        guard writer.isComplete, !writer.endsByClose else { return }
        connection.last = writer
        if !writer.form.keepsConnection { connection.isSpoilt = "its last response announced its end" }
        switch writer.form.aftermath {
        case .straysAtOnce: stray(on: connection)
        case .closesAtOnce:
            network.note("connections closed with the last bytes")
            connection.end()
            connection.machine.peerClosed()
        case .keeps, .closesLater, .straysLater: break
        }
    }

    /// Sends bytes that belong to no response.
    private func stray(on connection: SimulatedConnection) {
        guard var writer = connection.writer ?? connection.last else { return }
        let bytes = writer.stray()
        connection.isSpoilt = "\(bytes.count) bytes followed its last response"
        network.note("leftovers")
        connection.arrive(bytes, isCut: writer.form.isCut)
    }

    /// Schedules the server's next step, once the client has read the last one.
    func plan(_ connection: SimulatedConnection) {
        guard !connection.machine.isClosed, !connection.machine.isPaused, connection.due == nil,
            let writer = connection.writer
        else { return }
        let response = writer.response
        var left = response.length - writer.written
        if let fault = response.fault {
            left = min(left, fault.after - writer.written)
            if left <= 0, writer.written < response.length { return fail(connection, writer, fault.end) }
        }
        if !writer.isComplete {
            let (size, wait) = network.pace(
                of: response, host: connection.host,
                buffer: connection.exchange?.request.bufferSize ?? HTTP1Limits.longestDrain, left: max(0, left))
            return connection.schedule(.body(size), at: now + wait)
        }
        if writer.endsByClose { return connection.schedule(.close, at: now) }
        connection.writer = nil
        connection.isQuiet = writer.form.isQuiet
        switch writer.form.aftermath {
        case .closesLater: connection.schedule(.close, at: now + writer.form.delay)
        case .straysLater: connection.schedule(.stray(isEarly: false), at: now + writer.form.delay)
        case .keeps, .closesAtOnce, .straysAtOnce: break
        }
    }

    /// Ends a response before its end; without a fault it stalls.
    private func fail(_ connection: SimulatedConnection, _ writer: ResponseWriter, _ fault: TransferFault?) {
        guard let fault else { return }
        if writer.isInChunk { network.note("chunks cut") }
        // The end of such a connection would be the end of the body.
        let isClose = fault.kind == .truncated && writer.form.framing != .untilClose
        connection.schedule(isClose ? .close : .reset(fault), at: now)
    }
}
