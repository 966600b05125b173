import PawlBase
import PawlHTTP

// The server's end of a connection.
extension FakeHTTP2Client {
    private static let lost = TransferFault(.connectionLost, foreign: "the connection was reset")

    /// Sends the server's first frame.
    func begin(_ session: SimulatedSession) {
        session.isBegun = true
        send(RawFrame.settings(mostStreams: session.most), on: session)
    }

    /// Handles what the client has sent.
    func receive(_ bytes: [UInt8], on session: SimulatedSession) {
        for event in session.frames.read(bytes) {
            switch event {
            case .request(let number):
                let id = HTTP2StreamID(rawValue: number)
                guard let exchange = session.exchanges[id] else { preconditionFailure("a request of nobody") }
                session.streams.removeAll { !$0.isOpen && $0.exchange.place?.session !== session }
                session.streams.append(ServerStream(id, exchange, window: session.window))
                accept(session.streams[session.streams.count - 1], on: session)
            case .reset(let number, _): session.stream(HTTP2StreamID(rawValue: number))?.close(hasEnded: false)
            case .credit(let number, let count): grant(count, number, on: session)
            case .settings(let window):
                session.window = window ?? session.window
                send(RawFrame.frame(4, flags: 1), on: session)
            case .ping(let value):
                session.schedule(.pong(value), at: now + network.latency(of: session.host))
            case .settingsTaken, .pong, .goAway, .other: break
            }
        }
    }

    private func grant(_ count: Int, _ number: Int32, on session: SimulatedSession) {
        if number == 0 { session.credit += count }
        if let stream = session.stream(HTTP2StreamID(rawValue: number)) {
            stream.grant(count)
            let taken = Int(stream.exchange.sent) + stream.padding
            if stream.isLive(on: session),
                let text = Law.credit(stream.allowed, taken: taken, window: stream.window)
            {
                network.violate(.credit, "#\(stream.exchange.number) \(text)")
            }
        }
        for stream in session.streams where stream.waitsForCredit && stream.credit > 0 && session.credit > 0 {
            stream.waitsForCredit = false
            plan(stream, of: session)
        }
    }

    /// Decides what happens to a request.
    private func accept(_ stream: ServerStream, on session: SimulatedSession) {
        let (exchange, host) = (stream.exchange, session.host)
        session.requests += 1
        let wait = exchange.sendings > 1 ? network.latency(of: host) : exchange.wait
        let half = now + wait * 0.5
        let isReused = session.requests > 1
        if session.isSevered { return session.schedule(.reset(Self.lost), at: half) }
        // It was on its way when the server went away.
        if let last = session.lastHandled, stream.id.rawValue > last { return stream.close(hasEnded: false) }
        if isReused, network.draws(\.dies, host) {
            network.note("connections of HTTP/2 lost at reuse")
            return session.schedule(exchange.number % 2 == 0 ? .close : .reset(Self.lost), at: half)
        }
        if let most = session.most, session.open > most {
            network.note("streams beyond the number that was announced")
            return stream.schedule(.reset(.refusedStream), at: half)
        }
        if session.requests == session.mostRequests { goAway(session, at: half) }
        if network.draws(\.refuses, host) { return stream.schedule(.reset(.refusedStream), at: half) }
        if network.draws(\.requiresHTTP1, host) { return stream.schedule(.reset(.requiresHTTP1), at: half) }
        if network.draws(\.calms, host, isFault: true) { return calm(stream, session, at: half) }
        switch exchange.fare {
        case .responded: stream.schedule(.reply, at: now + wait)
        case .failed(let fault) where fault.kind == .connectionRefused:
            session.dice.chance(0.5)
                ? calm(stream, session, at: half) : stream.schedule(.reset(.refusedStream), at: half)
        case .failed(let fault) where fault.kind == .connectionLost && session.dice.chance(0.5):
            stream.schedule(.reset(HTTP2Code(rawValue: 2)), at: half)
        case .failed: session.schedule(.reset(Self.lost), at: half)
        case .silent: break
        }
    }

    private func calm(_ stream: ServerStream, _ session: SimulatedSession, at due: Instant) {
        guard session.lastHandled == nil, session.dice.chance(0.3) else {
            return stream.schedule(.reset(.enhanceYourCalm), at: due)
        }
        session.schedule(.goAway(last: stream.id.rawValue - 2, .enhanceYourCalm, isAbrupt: false), at: due)
    }

    /// Ends the connection after some of its requests.
    private func goAway(_ session: SimulatedSession, at due: Instant) {
        guard session.lastHandled == nil else { return }
        // What was responded to was handled.
        let fresh = session.streams.lazy.filter { $0.writer == nil }.map(\.id.rawValue)
        let dropped = session.dice.chance(0.5) ? min(fresh.count, session.dice.below(4)) : 0
        let last = (session.streams.last?.id.rawValue ?? 1) - Int32(2 * dropped)
        let code: HTTP2Code = session.dice.chance(0.1) ? .requiresHTTP1 : .none
        session.schedule(.goAway(last: last, code, isAbrupt: session.dice.chance(0.3)), at: due)
    }

    // MARK: what happens

    func happen(_ event: SimulatedSession.Event, on session: SimulatedSession) {
        switch event {
        case .settings(let most):
            session.most = most
            send(RawFrame.settings(mostStreams: most), on: session)
        case .goAway(let last, let code, let isAbrupt):
            // Never less than what was responded to meanwhile.
            let handled = session.streams.last { $0.writer != nil }?.id.rawValue ?? 0
            session.lastHandled = max(last, handled)
            let dropped = session.streams.filter { $0.isOpen && $0.id.rawValue > max(last, handled) }
            network.note(dropped.isEmpty ? "GOAWAY" : "GOAWAY without some of the streams")
            network.note("GOAWAY: \(code.name)")
            for stream in dropped { stream.close(hasEnded: false) }
            send(RawFrame.goAway(last: max(last, handled), code.rawValue), on: session)
            if isAbrupt { session.schedule(.close, at: now + .milliseconds(Int64(session.dice.number(0...200)))) }
        case .pong(let value): send(RawFrame.frame(6, flags: 1, value), on: session)
        case .flush: flushOutbox(session)
        case .close:
            flushOutbox(session)
            if session.exchanges.isEmpty { network.note("idle connections of HTTP/2 closed by the server") }
            session.end()
        case .reset(let fault): session.fail(fault)
        }
    }

    /// Carries out the server's next step on a stream.
    func proceed(_ stream: ServerStream, of session: SimulatedSession) {
        guard let step = stream.step else { return }
        (stream.step, stream.due) = (nil, nil)
        switch step {
        case .reply: reply(on: stream, of: session)
        case .body(let count):
            guard var writer = stream.writer else { break }
            let (frames, padding) = writer.body(count, credit: min(stream.credit, session.credit))
            let used = padding + Int(writer.written - (stream.writer?.written ?? 0))
            stream.writer = writer
            stream.use(used)
            session.credit -= used
            stream.padding += padding
            if writer.isComplete, writer.form.ending == .withLast { close(stream, of: session, hasEnded: true) }
            send(frames, on: session)
        case .end:
            guard let writer = stream.writer else { break }
            if case .cut = writer.form.ending {
                stream.close(hasEnded: false)
            } else {
                close(stream, of: session, hasEnded: writer.form.ending != .tooLong)
            }
            send(writer.ending, on: session)
        case .reset(let code):
            network.note("streams reset: \(code.name)")
            stream.close(hasEnded: false)
            send(RawFrame.reset(stream.id.rawValue, code.rawValue), on: session)
        case .breakOff: breakOff(stream, of: session)
        case .wait where session.outbox.isEmpty && (stream.credit <= 0 || session.credit <= 0):
            block(stream, on: session)
        case .wait: flushOutbox(session)
        }
        plan(stream, of: session)
    }

    private func reply(on stream: ServerStream, of session: SimulatedSession) {
        guard case .responded(let response) = stream.exchange.fare else { return }
        let form = network.streamForm(of: response, host: session.host)
        var writer = StreamWriter(
            response, form, stream: stream.id.rawValue, number: stream.exchange.number, dice: network.makeDice())
        stream.exchange.expected = writer.head
        let heads = writer.heads()
        stream.writer = writer
        if session.open > 1 { network.note("streams beside others") }
        if writer.isEmpty { close(stream, of: session, hasEnded: true) }
        if network.draws(\.pings, session.host) { send(RawFrame.frame(6, Array("are you?".utf8)), on: session) }
        send(heads, on: session)
        guard network.draws(\.shrinks, session.host), session.lastHandled == nil else { return }
        network.note("numbers of streams that shrink")
        session.schedule(.settings(session.dice.pick([0, 1, 1, 2])), at: now)
        session.schedule(.settings(session.most ?? 100), at: now + .milliseconds(Int64(session.dice.number(1...900))))
    }

    /// Schedules the next step of a stream.
    private func plan(_ stream: ServerStream, of session: SimulatedSession) {
        guard stream.isOpen, stream.due == nil, !stream.waitsForCredit, let writer = stream.writer else { return }
        let response = writer.response
        var left = response.length - writer.written
        if let fault = response.fault {
            left = min(left, fault.after - writer.written)
            if left <= 0, !writer.isComplete {
                if fault.end != nil { stream.schedule(.breakOff, at: now) }
                return
            }
        }
        guard !writer.isComplete else {
            let delay = Interval.milliseconds(Int64(session.dice.below(60)))
            return stream.schedule(.end, at: now + (session.dice.chance(0.5) ? .zero : delay))
        }
        // The client reads first what was sent.
        guard stream.credit > 0, session.credit > 0 else { return stream.schedule(.wait, at: now) }
        let (size, wait) = network.pace(
            of: response, host: session.host, buffer: stream.exchange.request.bufferSize, left: max(0, left))
        stream.schedule(.body(size), at: now + wait)
    }

    /// The server has to wait until the client takes what was sent.
    private func block(_ stream: ServerStream, on session: SimulatedSession) {
        stream.waitsForCredit = true
        network.note("streams that used up their window")
        let isHeldBack = stream.exchange.isPaused || !session.machine.reads || session.canRead
        if isHeldBack { network.note("streams whose receiver holds them back") }
        guard stream.isLive(on: session), !isHeldBack else { return }
        network.violate(.credit, "#\(stream.exchange.number) gets no credit though everything was taken")
    }

    private func breakOff(_ stream: ServerStream, of session: SimulatedSession) {
        guard let writer = stream.writer else { return }
        switch writer.form.breaking {
        case .reset(let code):
            network.note("streams reset within their content")
            stream.close(hasEnded: false)
            send(RawFrame.reset(stream.id.rawValue, code.rawValue), on: session)
        case .early:
            network.note("streams ended early")
            stream.close(hasEnded: false)
            send(RawFrame.data(stream.id.rawValue, [][...], ends: true), on: session)
        case .connection:
            flushOutbox(session)
            session.schedule(.reset(Self.lost), at: now)
        }
    }

    private func close(_ stream: ServerStream, of session: SimulatedSession, hasEnded: Bool) {
        stream.close(hasEnded: hasEnded)
        guard session.open == 0 else { return }
        let delay = Interval.milliseconds(Int64(session.dice.magnitude(2_000)) - 1)
        if session.lastHandled != nil || network.draws(\.closesIdle, session.host) {
            session.schedule(.close, at: now + delay)
        }
    }

    // MARK: sending

    /// Sends frames, alone or with later ones.
    private func send(_ bytes: [UInt8], on session: SimulatedSession) {
        guard session.fault == nil, !session.isEnded else { return }
        // SETTINGS come first.
        if !session.isBegun { begin(session) }
        session.outbox += bytes
        if network.draws(\.joins, session.host) {
            session.schedule(.flush, at: now + .milliseconds(Int64(session.dice.number(1...30))))
        } else {
            flushOutbox(session)
        }
    }

    private func flushOutbox(_ session: SimulatedSession) {
        guard !session.outbox.isEmpty else { return }
        session.arrive(session.outbox, isCut: network.draws(\.cuts, session.host))
        session.outbox = []
    }
}

extension ServerStream {
    /// Whether its response is still read by a receiver.
    func isLive(on session: SimulatedSession) -> Bool { isOpen && session.exchanges[id] === exchange }
}
