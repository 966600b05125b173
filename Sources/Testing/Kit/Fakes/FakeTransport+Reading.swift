import PawlBase

// From the connection to the sink, as in `HTTP1Client`.
extension FakeTransport {
    /// Reads until the socket is empty or the transfer is paused.
    func advance(_ connection: SimulatedConnection, unacknowledged: Int = 0) {
        while connection.machine.reads, connection.canRead, isAlive {
            guard connection.hasBytes else {
                let fault = connection.fault
                end(connection, fault.map { connection.machine.lost($0) } ?? connection.machine.ended())
                return
            }
            let wanted = max(1024, connection.exchange?.request.bufferSize ?? HTTP1Limits.longestDrain)
            let bytes = connection.read(atMost: connection.machine.readSize(atMost: wanted))
            connection.hasResponded = true
            if connection.exchange == nil { connection.drained += bytes.count }
            let missing = connection.machine.needsUnacknowledged ? unacknowledged : 0
            if let ending = connection.machine.received(bytes.count, unacknowledged: missing) {
                return end(connection, ending)
            }
            take(bytes, connection)
        }
    }

    /// Processes bytes at any position of a response.
    private func take(_ bytes: ArraySlice<UInt8>, _ connection: SimulatedConnection) {
        var rest = bytes
        while isAlive {
            let (used, step) = unsafe rest.withUnsafeBytes { unsafe connection.machine.scan($0) }
            let framing = rest.prefix(used)
            rest = rest.dropFirst(used)
            switch step {
            case .more: return
            case .head(let head): deliver(head, connection)
            case .data(let count):
                if sabotage == .countsPadding, !framing.isEmpty, connection.machine.deliversBody {
                    guard offer(framing, 0, connection) else { return }
                }
                guard offer(rest, count, connection) else { return }
                rest = rest.dropFirst(count)
            case .end(let ending): return end(connection, ending)
            }
        }
    }

    /// Delivers the final header section to the sink.
    private func deliver(_ head: ResponseHead, _ connection: SimulatedConnection) {
        guard let exchange = connection.exchange, case .responded(let response) = exchange.fare else {
            return drop(connection)
        }
        if connection.machine.isFirstRequest { pool.responded(exchange.connectionKey) }
        let isWanted = report(head, of: response, to: exchange)
        // The sink may have cancelled the transfer: then the connection is closed or drained.
        guard !exchange.isOver else { return }
        if isWanted { connection.machine.wantsBody() } else { refuseBody(connection) }
    }

    /// Reports the header section; returns whether the body is wanted.
    func report(_ head: ResponseHead, of response: SimulatedResponse, to exchange: SimulatedExchange) -> Bool {
        if let text = Law.response(head: head.lines, expected: exchange.expected) {
            network.violate(.response, "#\(exchange.number) \(text)")
        }
        exchange.response = response
        timeline.note("#\(exchange.number) head \(head.status)")
        network.responded(exchange.number, status: head.status)
        return exchange.sink.transfer(exchange.id, head: reported(head, exchange))
    }

    /// The header section that is reported to the sink; notes that the host throttles.
    private func reported(_ head: ResponseHead, _ exchange: SimulatedExchange) -> ResponseHead {
        var reported = head
        let isThrottled = [429, 503].contains(head.status)
        if isThrottled, sabotage == .hidesThrottling { reported.status = 500 }
        if sabotage == .hidesSilence { reported.retryAfter = nil }
        if [200, 206].contains(reported.status) { network.disguise(&reported) }
        if isThrottled {
            let wait = head.retryAfter.flatMap { Int64($0) }
            network.throttled(exchange.number, stillOpen: true, retryAfter: wait.map { .milliseconds($0 * 1000) })
        }
        network.stated(exchange.number, quotaWait: head.quotaWait(wallTime: UnixTime(seconds: 0)))
        guard case .responded(let response) = exchange.fare else { return reported }
        return network.fileHead(of: response, to: exchange.request) ?? reported
    }

    /// Ends the transfer of a sink that does not want the body; the end of that body is not reported.
    private func refuseBody(_ connection: SimulatedConnection) {
        guard connection.machine.wantsNoBody(at: now) else { return end(connection, .stopped) }
        let exchange = connection.exchange
        drain(connection)
        notify(exchange, .stopped)
    }

    private func drain(_ connection: SimulatedConnection) {
        network.note("bodies drained")
        connection.drained = 0
        if sabotage == .reusesEarly {
            connection.machine = HTTP1Connection()
            keep(connection)
        } else {
            connection.release()
            draining.append(connection)
        }
    }

    /// Offers the first `count` of `bytes` to the sink, or all of them as if they were data when it is 0.
    ///
    /// Returns `false` when the sink did not take them. All of `bytes` are held when it paused.
    private func offer(_ bytes: ArraySlice<UInt8>, _ count: Int, _ connection: SimulatedConnection) -> Bool {
        guard let exchange = connection.exchange else { return false }
        let data = count > 0 ? bytes.prefix(count) : bytes
        let result = give(data, to: exchange)
        guard !exchange.isOver else { return false }
        switch result {
        case .taken:
            exchange.backlog.drains(Int64(data.count))
            connection.machine.took(count)
            return true
        case .pause:
            exchange.isPaused = true
            exchange.backlog.pauses(at: now)
            connection.machine.pause()
            exchange.held += bytes
        case .stop: end(connection, .stopped)
        }
        return false
    }

    /// Gives bytes of a body to the sink.
    func give(_ data: ArraySlice<UInt8>, to exchange: SimulatedExchange) -> ChunkResult {
        guard let response = exchange.response else { return .stop }
        let start = response.start + exchange.sent
        let range = ByteRange(start, start + Int64(data.count))
        check(data, of: exchange, at: start)
        let result = unsafe data.withUnsafeBytes { unsafe exchange.sink.transfer(exchange.id, chunk: $0) }
        timeline.note("#\(exchange.number) \(range) \(result)")
        switch result {
        case .taken, .stop: network.took(exchange.number, range)
        case .pause: break
        }
        if result == .taken, !exchange.isOver { exchange.sent += range.count }
        return result
    }

    /// Resumes a paused transfer.
    package func resume(_ exchange: SimulatedExchange) {
        guard let connection = exchange.connection, connection.machine.isPaused else { return }
        connection.machine.resume()
        let held = exchange.held
        exchange.held = []
        if !held.isEmpty { take(held[...], connection) }
        advance(connection)
        plan(connection)
    }

    /// Carries out the end of a request, and of its connection unless that is kept.
    private func end(_ connection: SimulatedConnection, _ ending: HTTP1Connection.Ending) {
        let exchange = connection.exchange
        switch spoilt(ending, connection) {
        case .complete(let keeps):
            checkComplete(exchange)
            if keeps { keep(connection) } else { drop(connection) }
            let fault = exchange.flatMap { network.changedFile($0.response, to: $0.request) }
            notify(exchange, fault.map { .failed($0) } ?? .complete)
        case .stopped:
            drop(connection)
            notify(exchange, .stopped)
        case .failed(let fault):
            checkFailure(exchange, connection)
            drop(connection)
            notify(exchange, .failed(fault))
        case .retry:
            network.note("requests sent again")
            drop(connection)
            if let exchange { retry(exchange) }
        case .drained(let keeps):
            draining.removeAll { $0 === connection }
            if keeps {
                network.note("connections kept by draining")
                keep(connection)
            } else {
                drop(connection)
            }
        }
    }

    /// Sends the request again, on a new connection.
    private func retry(_ exchange: SimulatedExchange) {
        exchange.isRetry = sabotage != .resendsForever
        waiting.append(exchange)
    }

    private func spoilt(_ ending: HTTP1Connection.Ending, _ connection: SimulatedConnection) -> HTTP1Connection.Ending {
        switch (sabotage, ending) {
        case (.reportsRetries, .retry): .failed(TransferFault(.connectionLost, foreign: "the connection was lost"))
        case (.acceptsCutChunks, .failed(let fault))
        where fault.kind == .truncated && connection.machine.body == .chunked: .complete(keeps: false)
        default: ending
        }
    }
}

// The laws of responses.
extension FakeTransport {
    private func check(_ data: ArraySlice<UInt8>, of exchange: SimulatedExchange, at start: Int64) {
        guard let response = exchange.response else { return }
        let agreed = unsafe data.withUnsafeBytes { unsafe response.payload.agreement(with: $0, at: start) }
        let left = response.length - exchange.sent
        if let text = Law.response(agreed: agreed, of: data.count, left: left) {
            network.violate(.response, "#\(exchange.number) \(text)")
        }
    }

    /// `hasEnded`: whether the server has said that it is.
    func checkComplete(_ exchange: SimulatedExchange?, hasEnded: Bool = true) {
        guard let exchange, let response = exchange.response else { return }
        if !hasEnded { network.violate(.response, "#\(exchange.number) is complete before its end") }
        if let text = Law.response(complete: exchange.sent, of: response.length) {
            network.violate(.response, "#\(exchange.number) \(text)")
        }
    }

    private func checkFailure(_ exchange: SimulatedExchange?, _ connection: SimulatedConnection) {
        guard let exchange else { return }
        let isReused = connection.requests > 1
        if let text = Law.reported(isReused: isReused, hasResponded: connection.hasResponded) {
            network.violate(.resend, "#\(exchange.number) \(text)")
        }
    }
}
