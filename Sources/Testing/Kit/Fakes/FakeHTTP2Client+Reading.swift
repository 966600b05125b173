import PawlBase
import PawlHTTP

// From the connection to the sinks, as in `HTTP2Client`.
extension FakeHTTP2Client {
    /// Reads until the socket is empty, or receivers hold too much.
    func advance(_ session: SimulatedSession) {
        while !session.isClosed, session.machine.reads, session.canRead, transport.isAlive {
            guard session.hasBytes else {
                if let fault = session.fault { lose(session, fault) } else { lose(session, .noResponse) }
                return
            }
            take(session.read(), session)
        }
    }

    private func take(_ bytes: [UInt8], _ session: SimulatedSession) {
        session.machine.arrived(at: now)
        var rest = bytes
        repeat {
            let used = unsafe rest.withUnsafeMutableBytes { unsafe session.codec.receive($0) }
            takeEvents(session, in: rest)
            guard let used else { return lose(session, session.machine.broken(.protocolError)) }
            rest.removeFirst(used)
        } while !session.isClosed && (!rest.isEmpty || session.codec.isPaused)
        guard !session.isClosed else { return }
        if let value = session.machine.probe(at: now) { session.codec.ping(value) }
        changed(session)
    }

    /// Handles what was read; content is in `bytes`.
    func takeEvents(_ session: SimulatedSession, in bytes: [UInt8]) {
        let codec = session.codec
        let events = (0..<codec.eventCount).map { codec.event($0) }
        noteMixture(events)
        for (index, event) in events.enumerated() where !session.isClosed && transport.isAlive {
            switch event {
            case .frame(let kind): if let fault = session.machine.frame(kind, at: now) { lose(session, fault) }
            case .head(let stream, let size, let ends):
                let verdict = session.machine.head(stream, codec.text(ofHead: index), size: size)
                if case .head(let head, _) = verdict {
                    deliver(head, session, stream, ends: ends)
                } else {
                    refuse(verdict, session, stream)
                }
            case .trailer(let stream, let size):
                refuse(session.machine.trailer(stream, size: size), session, stream)
            case .data(let stream, let range): receive(bytes[range], session, stream)
            case .ended(let stream): finish(session, stream, session.machine.ended(stream, at: now))
            case .closed(let stream, let code, let isByPeer):
                let exchange = session.exchanges[stream]
                if code == .refusedStream, isByPeer { exchange?.refused(beside: session.machine.served) }
                if code == .enhanceYourCalm, isByPeer { exchange?.wasCalmed = true }
                finish(session, stream, session.machine.closed(stream, code, byPeer: isByPeer, at: now))
            case .settings(let streams):
                if let streams { session.limit = min(HTTP2Limits.mostStreams, Int(streams)) }
                if sabotage != .exceedsStreams { session.machine.settings(streams: streams) }
            case .goAway(let last, let code): goAway(last, code, session)
            case .pong(let value):
                for grown in session.machine.pong(value, at: now) {
                    network.note("windows that grew")
                    codec.grow(grown.stream, to: grown.size)
                    session.stream(grown.stream)?.window = grown.size
                }
            case .broken(let code): lose(session, session.machine.broken(code))
            }
        }
        codec.forgetEvents()
    }

    private func noteMixture(_ events: [HTTP2Event]) {
        var last: HTTP2StreamID?
        for case .data(let stream, _) in events {
            if let last, last != stream { return network.note("reads with content of several streams") }
            last = stream
        }
    }

    private func goAway(_ last: HTTP2StreamID, _ code: HTTP2Code, _ session: SimulatedSession) {
        session.hasGoneAway = true
        for (stream, exchange) in session.exchanges where stream > last && exchange.response == nil {
            if code == .none { exchange.refused(beside: session.machine.served) }
            if code == .enhanceYourCalm { exchange.wasCalmed = true }
        }
        guard sabotage != .ignoresGoAway else { return }
        if let most = session.machine.learned(last: last, code) {
            network.note("numbers of streams learned from GOAWAY")
            pool.learned(session.connectionKey, mostStreams: most, at: now)
        }
        let ended = session.machine.goAway(last: last, code, at: now)
        // Before anybody is sent again, nothing more is sent here.
        changed(session)
        for ended in ended { finish(session, ended.stream, ended.ending) }
    }

    /// Resets a stream, if the machine refuses what came on it.
    private func refuse(_ verdict: HTTP2Connection.Verdict, _ session: SimulatedSession, _ stream: HTTP2StreamID) {
        guard case .refused(let ending, let code) = verdict else { return }
        session.codec.reset(stream, code)
        finish(session, stream, ending)
    }

    /// Delivers the final header section to the sink.
    private func deliver(_ head: ResponseHead, _ session: SimulatedSession, _ stream: HTTP2StreamID, ends: Bool) {
        guard let exchange = session.exchanges[stream], case .responded(let response) = exchange.fare else {
            preconditionFailure("a head of nobody")
        }
        let isWanted = transport.report(head, of: response, to: exchange)
        guard !exchange.isOver else { return }
        guard !isWanted else { return session.machine.wantsBody(stream) }
        leave(session, stream, hasEnded: ends)
        transport.notify(exchange, .stopped)
    }

    private func receive(_ data: ArraySlice<UInt8>, _ session: SimulatedSession, _ stream: HTTP2StreamID) {
        let verdict = session.machine.data(stream, data.count)
        var exchange = session.exchanges[stream]
        if sabotage == .mixesStreams {
            let others = session.streams.filter { $0.isOpen && $0.exchange.response != nil && !$0.exchange.isOver }
            exchange = others.first { $0.id != stream && $0.exchange.place?.session === session }?.exchange ?? exchange
        }
        switch verdict {
        case .data: if let exchange { offer(data, exchange, session, stream) }
        case .held:
            network.note("content held for receivers that paused")
            exchange?.held += data
            if sabotage == .givesCreditPaused { session.codec.consume(stream, data.count) }
        case .head, .nothing, .refused: refuse(verdict, session, stream)
        }
    }

    /// Offers bytes of a body to the sink, in pieces of the size that it wants.
    private func offer(
        _ bytes: ArraySlice<UInt8>, _ exchange: SimulatedExchange, _ session: SimulatedSession, _ stream: HTTP2StreamID
    ) {
        let size = max(1024, exchange.request.bufferSize)
        var rest = bytes
        while !rest.isEmpty, !exchange.isOver, transport.isAlive {
            let piece = rest.prefix(size)
            let isHeldBack = exchange.sink.holdsBack(exchange.id)
            let result = isHeldBack ? .pause : transport.give(piece, to: exchange)
            guard !exchange.isOver else { return }
            switch result {
            case .taken:
                let credit = session.machine.took(stream, piece.count)
                if credit > 0, sabotage != .keepsCredit { session.codec.consume(stream, credit) }
                rest = rest.dropFirst(piece.count)
            case .pause:
                exchange.isPaused = true
                session.machine.pause(stream, holding: rest.count)
                exchange.held += rest
                return
            case .stop:
                leave(session, stream)
                return transport.notify(exchange, .stopped)
            }
        }
        guard sabotage == .completesByLengthAlone, exchange.sent == exchange.response?.head.contentLength else {
            return
        }
        finish(session, stream, .complete)
    }

    /// Resumes a paused transfer.
    func resume(_ exchange: SimulatedExchange) {
        guard let (session, stream) = exchange.place, session.machine.resume(stream, at: now) else { return }
        let held = exchange.held
        exchange.held = []
        offer(held[...], exchange, session, stream)
        guard transport.isAlive else { return }
        if !exchange.isOver { finish(session, stream, session.machine.settled(stream, at: now)) }
        guard !session.isClosed else { return }
        changed(session)
        advance(session)
        flush(session)
    }

    /// The request of a stream is over before its end.
    func leave(_ session: SimulatedSession, _ stream: HTTP2StreamID, hasEnded: Bool = false) {
        session.exchanges[stream] = nil
        if case .reset(let code) = session.machine.leave(stream, hasEnded: hasEnded, at: now) {
            network.note("unwanted streams reset")
            session.codec.reset(stream, code)
        } else if session.stream(stream)?.isOpen == true {
            network.note("unwanted streams drained")
        }
        changed(session)
    }

    /// Carries out the end of a request, if there is one.
    private func finish(_ session: SimulatedSession, _ stream: HTTP2StreamID, _ ending: HTTP2Connection.Ending?) {
        guard let ending else { return }
        changed(session)
        guard let exchange = session.exchanges[stream] else { return }
        let server = session.stream(stream)
        switch spoilt(ending, exchange) {
        case .complete:
            transport.checkComplete(exchange, hasEnded: server?.hasEnded ?? false)
            end(exchange, session, stream, .complete)
        case .failed(let fault):
            let isLost = session.isClosed && session.machine.served > 0 && fault.kind == .connectionLost
            let law = Law.reported(
                sendings: exchange.sendings, free: exchange.freeRefusals, wasRefused: exchange.wasRefused,
                isLost: isLost, hasHead: exchange.response != nil)
            if let text = law {
                network.violate(.resend, "#\(exchange.number) \(text)")
            }
            end(exchange, session, stream, .failed(fault))
        case .retry(let elsewhere):
            exchange.place = nil
            session.exchanges[stream] = nil
            retry(exchange, elsewhere)
        }
    }

    private func end(
        _ exchange: SimulatedExchange, _ session: SimulatedSession, _ stream: HTTP2StreamID, _ end: TransferEnd
    ) {
        session.exchanges[stream] = nil
        transport.notify(exchange, end)
    }

    private func spoilt(
        _ ending: HTTP2Connection.Ending, _ exchange: SimulatedExchange
    ) -> HTTP2Connection.Ending {
        switch (sabotage, ending) {
        case (.acceptsCutStreams, .failed(let fault)) where fault.kind == .truncated: .complete
        case (.resendsProcessed, .failed(let fault)) where fault.kind == .truncated:
            .retry(.anotherConnection(isFree: true))
        case (.ignoresCalm, .failed) where exchange.wasCalmed: .retry(.anotherConnection(isFree: true))
        case (.reportsRefused, .retry(.anotherConnection)):
            .failed(TransferFault(.connectionLost, foreign: "the stream was refused"))
        default: ending
        }
    }

    /// Ends a connection with all its requests, except those whose receivers have not taken everything.
    func lose(_ session: SimulatedSession, _ fault: TransferFault) {
        guard !session.isClosed else { return }
        let ended = session.machine.lost(fault, at: now)
        if ended.count > 1 { network.note("streams lost together") }
        close(session, isBroken: fault.kind == .malformed)
        for ended in ended { finish(session, ended.stream, ended.ending) }
    }
}
