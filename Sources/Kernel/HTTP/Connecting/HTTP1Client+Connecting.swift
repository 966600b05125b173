import PawlBase
import PawlSystem

// New connections: effects of `Establishment`.
extension HTTP1Client {
    /// Begins to connect for a request.
    func connect(_ exchange: HTTP1Exchange) {
        let now = clock.now
        let connector = Connector(exchange.terms, for: exchange, at: now)
        exchange.connector = connector
        proceed(connector)
    }

    /// Begins to connect for a request that may go over HTTP/2.
    func connect(_ shared: HTTP2Exchange) {
        guard let exchange = HTTP1Exchange(shared) else { return }
        exchange.shared = shared
        exchanges[exchange.id] = exchange
        connect(exchange)
    }

    /// Carries out what is to be done now.
    private func proceed(_ connector: Connector) {
        let exchange = connector.exchange
        while let step = connector.machine.next() {
            switch step {
            case .resolve(let query): resolve(query, for: connector)
            case .open(let attempt): open(attempt, for: connector)
            case .close(let number): close(number, of: connector)
            case .send(let bytes):
                connector.send(bytes)
                // What the proxy sent before that raises no further event.
                receive(connector)
            case .secure(let part): secure(part, connector)
            case .authorize(let challenges, let login, let target):
                connector.machine.authorize(
                    Logins.response(challenges, login, "CONNECT", target: target), at: clock.now)
            case .ready(let number): return adopt(connector, number)
            case .refused(let head):
                release(connector)
                if let shared = exchange.shared { http2.release(shared) }
                return end(exchange, with: head)
            case .failed(let fault):
                release(connector)
                if let shared = exchange.shared, http2.couldNotConnect(shared) {
                    exchanges[exchange.id] = nil
                    return exchange.detach()
                }
                if fault.mayMeanNoCommonProtocol, goesOverHTTP2(exchange) { return }
                return fail(exchange, fault)
            }
        }
        if let due = connector.machine.due { firstDeadline = min(firstDeadline ?? due, due) }
    }

    /// Sends the request over HTTP/2, which it did not offer to a server that may have nothing else; `false` where it may not.
    func goesOverHTTP2(_ exchange: HTTP1Exchange) -> Bool {
        guard exchange.connectionKey.isSecure, !exchange.wasShared, exchange.request.judge == nil,
            exchange.request.body.isEmpty, !exchange.settings.values.usesHTTP1Only,
            !idle.hasResponded(exchange.connectionKey),
            let shared = HTTP2Exchange(exchange)
        else { return false }
        exchanges[exchange.id] = nil
        exchange.detach()
        http2.start(shared)
        return true
    }

    /// Cancels the connection of a request that was cancelled.
    func cancelConnecting(of exchange: HTTP1Exchange) {
        guard let connector = exchange.connector else { return }
        for number in connector.attempts.keys { close(number, of: connector) }
        release(connector)
    }

    private func release(_ connector: Connector) {
        if let (waiter, query) = connector.lookup {
            lookups[waiter] = nil
            resolver.withdraw(waiter, from: query)
        }
        connector.exchange.connector = nil
    }

    private func close(_ number: Int, of connector: Connector) {
        if let id = connector.close(number) { connectors[id] = nil }
    }

    private func lose(_ connector: Connector, _ number: Int, _ fault: TransferFault) {
        close(number, of: connector)
        connector.machine.failed(number, fault, at: clock.now)
    }

    // MARK: names

    private func resolve(_ query: HostQuery, for connector: Connector) {
        let (results, wake) = (hostResults, poller.wake)
        let reply = resolver.ask(query) { waiter, result in
            results.post((waiter, result))
            wake()
        }
        switch reply {
        case .known(let result): connector.machine.resolved(result, at: clock.now)
        case .waiting(let waiter):
            connector.lookup = (waiter, query)
            lookups[waiter] = connector
        }
    }

    /// Continues the connections whose hosts have been looked up.
    func takeResults() {
        guard !lookups.isEmpty else { return }
        for (waiter, result) in hostResults.take() {
            guard let connector = lookups.removeValue(forKey: waiter) else { continue }
            connector.lookup = nil
            connector.machine.resolved(result, at: clock.now)
            proceed(connector)
        }
    }

    // MARK: sockets

    private func open(_ attempt: AddressRace.Attempt, for connector: Connector) {
        do throws(TransferFault) {
            let interface = connector.exchange.settings.values.interface
            let opening = try SocketOpener.open(attempt.endpoint, from: interface)
            let (socket, isConnected) =
                switch opening {
                case .connected(let socket): (socket, true)
                case .pending(let socket): (socket, false)
                }
            let id = nextID()
            connector.attempts[attempt.number] = Connector.Attempt(id: id, socket: socket)
            connectors[id] = (connector, attempt.number)
            guard poller.watch(socket, for: .changes, key: id.rawValue, of: source) else {
                return lose(
                    connector, attempt.number,
                    TransferFault(.other, foreign: "cannot watch a connection: \(SystemError.last.text)"))
            }
            if isConnected { succeed(connector, attempt.number) }
        } catch { connector.machine.failed(attempt.number, error, at: clock.now) }
    }

    private func succeed(_ connector: Connector, _ number: Int) {
        connector.chosen = number
        connector.machine.connected(number, at: clock.now)
    }

    /// Handles an event of a connection that is being established.
    func settle(_ id: HTTP1ConnectionID, _ change: PollEvent) {
        guard let (connector, number) = connectors[id], let attempt = connector.attempts[number] else { return }
        if connector.chosen == nil {
            guard change.canWrite || change.hasPeerClosed else { return }
            if let fault = SocketOpener.fault(of: attempt.socket) {
                lose(connector, number, fault)
            } else {
                succeed(connector, number)
            }
        } else if connector.machine.wantsBytes {
            if change.hasPeerClosed { connector.isPeerClosed = true }
            connector.sendRest()
            receive(connector)
        } else {
            shake(connector)
        }
        proceed(connector)
    }

    /// Gives the machine what the proxy has sent.
    private func receive(_ connector: Connector) {
        let space = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<(16 * 1024)])
        while connector.machine.wantsBytes, let number = connector.chosen {
            switch unsafe connector.receive(into: space) {
            case .bytes(let count, let isLast):
                unsafe connector.machine.received(UnsafeRawBufferPointer(rebasing: space[..<count]), at: clock.now)
                if isLast, !connector.isPeerClosed { return }
            case .nothing: return
            case .closed: lose(connector, number, .noResponse)
            case .failed(let fault): lose(connector, number, fault)
            }
        }
    }

    /// Ends what takes too long, and begins what is due.
    func passDeadlines() {
        guard let first = firstDeadline else { return }
        let now = clock.now
        guard first <= now else { return }
        firstDeadline = nil
        for exchange in Array(exchanges.values) {
            guard let connector = exchange.connector, let due = connector.machine.due else { continue }
            if due <= now {
                connector.machine.passed(now)
                proceed(connector)
            } else {
                firstDeadline = min(firstDeadline ?? due, due)
            }
        }
    }

    // MARK: TLS

    private func secure(_ part: Establishment.Part, _ connector: Connector) {
        guard let number = connector.chosen, let socket = connector.socket else { return }
        let (request, values) = (connector.exchange.request, connector.exchange.settings.values)
        let below = connector.secure
        do throws(TransferFault) {
            let settings = TLSSettings(values, carriesSecrets: request.carriesSecrets, isProxy: part == .proxy)
            let target: TLSTarget
            var ticket: TLSTicket?
            switch part {
            case .proxy:
                guard let route = connector.machine.terms.route else { return }
                target = TLSTarget(host: route.host, port: route.port)
            case .origin:
                let isJudged = request.judge != nil
                if !isJudged { ticket = sessions.take(connector.exchange.connectionKey) }
                target = TLSTarget(
                    host: request.address.host, port: request.address.port,
                    protocols: connector.exchange.shared == nil ? ["http/1.1"] : ["h2", "http/1.1"],
                    isJudged: isJudged)
            }
            connector.isResuming = ticket != nil
            connector.secure = try TLSSession(
                TLSContext.client(settings), over: below.map { .session($0) } ?? .socket(socket), to: target,
                resuming: ticket)
            shake(connector)
        } catch { lose(connector, number, Self.cause(error)) }
    }

    /// Without a descriptor no authority can be read: nothing is wrong with the server then.
    private static func cause(_ fault: TransferFault) -> TransferFault {
        fault.kind == .tls && SystemDescriptors.areUsedUp ? .noDescriptor : fault
    }

    private func shake(_ connector: Connector) {
        guard let secure = connector.secure, let number = connector.chosen else { return }
        switch secure.handshake() {
        case .done(let name):
            connector.chosenProtocol = name
            connector.machine.secured(at: clock.now)
        case .wantsRead, .wantsWrite: break
        case .held(let question):
            connector.machine.held(at: clock.now)
            ask(question, for: connector)
        case .failed(let fault):
            // The server may have forgotten the session in a way that it does not say.
            if connector.isResuming { sessions.remove(connector.exchange.connectionKey) }
            lose(connector, number, Self.cause(fault))
        }
    }

    private func ask(_ question: CertificateQuestion, for connector: Connector) {
        guard let judge = connector.exchange.request.judge else { return }
        connector.isJudged = true
        connector.question += 1
        let (verdicts, wake) = (verdicts, poller.wake)
        let (id, number) = (connector.exchange.id, connector.question)
        judge(question) { decision in
            verdicts.post(CertificateVerdict(id: id, question: number, decision: decision))
            wake()
        }
    }

    /// Carries out the decisions of judges.
    func takeVerdicts() {
        for verdict in verdicts.take() {
            guard let connector = exchanges[verdict.id]?.connector, connector.question == verdict.question,
                let secure = connector.secure
            else { continue }
            secure.decide(verdict.decision)
            connector.machine.decided(at: clock.now)
            shake(connector)
            proceed(connector)
        }
    }

    // MARK: the end

    private func adopt(_ connector: Connector, _ number: Int) {
        guard let attempt = connector.attempts.removeValue(forKey: number) else { return }
        let (exchange, secure) = (connector.exchange, connector.secure)
        connector.secure = nil
        connectors[attempt.id] = nil
        release(connector)
        if connector.isJudged, let secure { accept(secure, for: exchange) }
        if exchange.request.isMeasured {
            exchange.timing = connector.machine.timing
            exchange.timing.noteEnds(of: attempt.socket)
        }
        if let shared = exchange.shared {
            guard connector.chosenProtocol == "h2", let secure else {
                http2.usesHTTP1(shared)
                exchange.cookies = try? cookies.field(for: exchange.request)
                return adopt(attempt, secure, for: exchange)
            }
            exchanges[exchange.id] = nil
            exchange.detach()
            shared.timing = exchange.timing
            return http2.adopt(attempt.socket, secure, for: shared)
        }
        exchange.isOfUnknownVersion = secure != nil && connector.chosenProtocol == nil
        adopt(attempt, secure, for: exchange)
    }

    private func adopt(_ attempt: Connector.Attempt, _ secure: TLSSession?, for exchange: HTTP1Exchange) {
        let connection = HTTP1Socket(attempt.socket, secure, to: exchange.connectionKey, id: attempt.id)
        // What came with the last record of the handshake raises no further event.
        connection.canRead = secure != nil
        adopt(connection, for: exchange)
    }

    /// Further requests need no judge, as long as the server has the same key.
    private func accept(_ secure: TLSSession, for exchange: HTTP1Exchange) {
        if accepted.count >= Self.mostAccepted { accepted = [:] }
        let settings = TransferSettings(secure.accepted(exchange.settings.values))
        accepted[ConnectionKey(exchange.request)] = settings
        adopt(settings, for: exchange)
    }

    /// The request with what was decided about its server before.
    func judged(_ request: TransferRequest) -> TransferRequest {
        guard request.judge != nil, let settings = accepted[ConnectionKey(request)] else { return request }
        var request = request
        request.settings = settings
        request.judge = nil
        return request
    }

    private static let mostAccepted = 256
}
