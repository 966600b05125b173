import Glibc
import PawlBase

// From the socket to the sinks.
extension HTTP2Client {
    /// The limit for one connection in one round: worth the call, and short enough for the others.
    private static let turn = 4 << 20

    func closeSocket(_ socket: Int32) { _ = Glibc.close(socket) }

    /// Reads until the socket is empty, the turn is over, or receivers hold too much.
    func advance(_ connection: HTTP2Socket) {
        var left = Self.turn
        while !connection.isClosed, connection.ask({ $0.reads }), connection.canRead {
            guard left > 0 else { return readSoon(connection) }
            switch unsafe connection.receive(into: buffer) {
            case .nothing: return
            case .closed: lose(connection, .noResponse)
            case .failed(let fault): lose(connection, fault)
            case .bytes(let count, _):
                left -= count
                unsafe take(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), connection)
            }
        }
    }

    private func take(_ bytes: UnsafeMutableRawBufferPointer, _ connection: HTTP2Socket) {
        connection.machine.arrived(at: clock.now)
        var rest = unsafe bytes
        repeat {
            guard let used = unsafe connection.codec.receive(rest) else {
                // What was read before it counts.
                unsafe takeEvents(connection, in: rest)
                return lose(connection, connection.machine.broken(.protocolError))
            }
            unsafe takeEvents(connection, in: rest)
            unsafe rest = UnsafeMutableRawBufferPointer(rebasing: rest[used...])
        } while unsafe !connection.isClosed && (!rest.isEmpty || connection.codec.isPaused)
        guard !connection.isClosed else { return }
        let tickets = connection.takeTickets()
        if !tickets.isEmpty { onTickets(connection.connectionKey, tickets) }
        if let value = connection.machine.probe(at: clock.now) { connection.codec.ping(value) }
        changed(connection)
    }

    /// Handles what was read; content is in `bytes`.
    func takeEvents(_ connection: HTTP2Socket, in bytes: UnsafeMutableRawBufferPointer) {
        let codec = connection.codec
        for index in 0..<codec.eventCount where !connection.isClosed {
            let event = codec.event(index)
            switch event {
            case .frame(let kind):
                guard let fault = connection.machine.frame(kind, at: clock.now) else { continue }
                codec.goAway(.enhanceYourCalm)
                _ = connection.flush()
                lose(connection, fault)
            case .head(let stream, let size, let ends):
                let verdict = connection.machine.head(stream, codec.text(ofHead: index), size: size)
                if case .head(let head, let cookies) = verdict {
                    deliver(head, cookies, connection, stream, ends: ends)
                } else {
                    refuse(verdict, connection, stream)
                }
            case .trailer(let stream, let size):
                refuse(connection.machine.trailer(stream, size: size), connection, stream)
            case .data(let stream, let range):
                let data = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                switch connection.machine.data(stream, data.count) {
                case .data: if let exchange = connection.exchanges[stream] { unsafe offer(data, exchange) }
                case .held: unsafe connection.exchanges[stream]?.held.append(contentsOf: data)
                case let verdict: refuse(verdict, connection, stream)
                }
            case .ended(let stream): finish(connection, stream, connection.machine.ended(stream, at: clock.now))
            case .closed(let stream, let code, let isByPeer):
                let ending = connection.machine.closed(stream, code, byPeer: isByPeer, at: clock.now)
                finish(connection, stream, ending)
            case .settings(let streams): connection.machine.settings(streams: streams)
            case .goAway(let last, let code):
                if let most = connection.machine.learned(last: last, code) {
                    pool.learned(connection.connectionKey, mostStreams: most, at: clock.now)
                }
                let ended = connection.machine.goAway(last: last, code, at: clock.now)
                // Before anybody is sent again, nothing more is sent here.
                changed(connection)
                for ended in ended { finish(connection, ended.stream, ended.ending) }
            case .pong(let value):
                for grown in connection.machine.pong(value, at: clock.now) { codec.grow(grown.stream, to: grown.size) }
            case .broken(let code): lose(connection, connection.machine.broken(code))
            }
        }
        codec.forgetEvents()
    }

    /// Resets a stream, if the machine refuses what came on it.
    private func refuse(_ verdict: HTTP2Connection.Verdict, _ connection: HTTP2Socket, _ stream: HTTP2StreamID) {
        guard case .refused(let ending, let code) = verdict else { return }
        connection.codec.reset(stream, code)
        finish(connection, stream, ending)
    }

    /// Delivers the final header section to the sink.
    private func deliver(
        _ head: ResponseHead, _ cookies: [String], _ connection: HTTP2Socket, _ stream: HTTP2StreamID, ends: Bool
    ) {
        guard let exchange = connection.exchanges[stream], let sink = exchange.sink else { return }
        if !cookies.isEmpty { onCookies(exchange.request, cookies) }
        if exchange.request.isMeasured {
            exchange.timing.responseStart = clock.now
            exchange.timing.receivedHead = head.lines.count
            exchange.timing.networkProtocol = "h2"
            sink.transfer(exchange.id, timing: exchange.timing)
        }
        let isWanted = sink.transfer(exchange.id, head: head)
        // The sink may have cancelled the transfer.
        guard exchange.sink != nil else { return }
        guard !isWanted else { return connection.machine.wantsBody(stream) }
        leave(connection, stream, hasEnded: ends)
        notify(exchange, .stopped)
    }

    /// Offers bytes of a body to the sink, in pieces of the size that it wants.
    private func offer(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTP2Exchange) {
        let size = max(1024, exchange.request.bufferSize)
        var rest = unsafe bytes
        while unsafe !rest.isEmpty, let (connection, stream) = exchange.place, let sink = exchange.sink {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(size))
            let isHeldBack = sink.holdsBack(exchange.id)
            let result = unsafe isHeldBack ? .pause : sink.transfer(exchange.id, chunk: piece)
            // The sink may have cancelled the transfer.
            guard exchange.sink != nil else { return }
            switch result {
            case .taken:
                let credit = connection.machine.took(stream, piece.count)
                if credit > 0 { connection.codec.consume(stream, credit) }
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
            case .pause:
                connection.machine.pause(stream, holding: rest.count)
                unsafe exchange.held.append(contentsOf: rest)
                return
            case .stop:
                leave(connection, stream)
                return notify(exchange, .stopped)
            }
        }
    }

    /// Resumes a paused transfer.
    func resume(_ exchange: HTTP2Exchange) {
        guard let (connection, stream) = exchange.place, connection.machine.resume(stream, at: clock.now) else {
            return
        }
        let held = exchange.held
        exchange.held = []
        unsafe held.withUnsafeBytes { unsafe offer($0, exchange) }
        if exchange.place != nil { finish(connection, stream, connection.machine.settled(stream, at: clock.now)) }
        guard !connection.isClosed else { return }
        changed(connection)
        advance(connection)
    }

    /// The request of a stream is over before its end.
    func leave(_ connection: HTTP2Socket, _ stream: HTTP2StreamID, hasEnded: Bool = false) {
        connection.exchanges[stream] = nil
        let wasRead = connection.ask { $0.reads }
        if case .reset(let code) = connection.machine.leave(stream, hasEnded: hasEnded, at: clock.now) {
            connection.codec.reset(stream, code)
        }
        guard !connection.isClosed else { return }
        changed(connection)
        if !wasRead, connection.ask({ $0.reads }) { readSoon(connection) }
    }

    /// Carries out the end of a request, if there is one.
    private func finish(_ connection: HTTP2Socket, _ stream: HTTP2StreamID, _ ending: HTTP2Connection.Ending?) {
        guard let ending else { return }
        if !connection.isClosed { changed(connection) }
        guard let exchange = connection.exchanges.removeValue(forKey: stream) else { return }
        exchange.place = nil
        switch ending {
        case .complete: notify(exchange, .complete)
        case .failed(let fault): notify(exchange, .failed(fault))
        case .retry(let elsewhere): retry(exchange, elsewhere)
        }
    }

    /// Ends a connection with all its requests, except those whose receivers have not taken everything.
    func lose(_ connection: HTTP2Socket, _ fault: TransferFault) {
        guard !connection.isClosed else { return }
        let ended = connection.machine.lost(fault, at: clock.now)
        close(connection, isBroken: fault.kind == .malformed)
        for ended in ended { finish(connection, ended.stream, ended.ending) }
    }
}
