/// Establishes one connection: addresses, proxy, TLS.
///
/// Each event is followed by all that ``next()`` returns. An attempt is a socket; one that failed is closed by the shell,
/// any other by a step, and the one of `ready` stays open.
package struct Establishment: Hashable, Sendable {
    package enum Part: Hashable, Sendable { case proxy, origin }

    package enum Step: Hashable, Sendable {
        /// `resolved` follows.
        case resolve(HostQuery)
        /// `connected` or `failed` follows.
        case open(AddressRace.Attempt)
        case close(Int)
        /// To the proxy, over its TLS if it has some. What is read goes to `received`.
        case send([UInt8])
        /// A TLS handshake over what there is; `secured` or `failed` follows.
        case secure(Part)
        /// `authorize` follows, with the field for a CONNECT to that host and port.
        case authorize([LoginChallenge], Credentials, target: String)
        /// The connection of that attempt can carry requests.
        case ready(Int)
        /// The proxy's 407, the final response to the request.
        case refused(ResponseHead)
        case failed(TransferFault)
    }

    private enum Phase: Hashable, Sendable {
        case resolving(HostQuery, Part)
        case racing(AddressRace)
        case greeting(SocksHandshake)
        case tunnelling(ProxyTunnel)
        case authorizing(ResponseHead, keeps: Bool)
        case securing(Part)
        case over
    }

    /// Whether it begins again where a server did not wait for as long as a judge took.
    private enum Repetition: Hashable, Sendable { case unneeded, allowed, done }

    package let terms: ConnectTerms
    /// When the parts of it happened.
    package private(set) var timing = TransferTiming()
    private var phase = Phase.over
    private var steps: [Step] = []
    /// Of the proxy, or of the host without one; the one that was connected to first.
    private var endpoints: [Endpoint] = []
    /// With a SOCKS proxy, before its first byte.
    private var handshake: SocksHandshake?
    /// The attempt on which everything else is built.
    private var connection: Int?
    private var attempts = 0
    private var authorization: String?
    private var logins = LoginAttempts()
    private let start: Instant
    private var deadline: Instant
    /// Since when a judge considers the certificates.
    private var heldSince: Instant?
    private var repetition = Repetition.unneeded

    package init(_ terms: ConnectTerms, at now: Instant) {
        self.terms = terms
        start = now
        deadline = now + terms.timeout
        timing.isProxied = terms.route != nil
        findTarget(at: now)
    }

    /// What is to be done now; `nil` when the next event is awaited.
    package mutating func next() -> Step? { steps.isEmpty ? nil : steps.removeFirst() }

    package var isOver: Bool { phase == .over && steps.isEmpty }

    /// Whether what is read from the connection goes to `received`.
    package var wantsBytes: Bool {
        switch phase {
        case .greeting, .tunnelling: true
        case .resolving, .racing, .authorizing, .securing, .over: false
        }
    }

    /// When `passed` is due.
    package var due: Instant? {
        guard phase != .over, heldSince == nil else { return nil }
        let earlier: Instant? =
            switch phase {
            case .resolving: start + terms.lookupTimeout
            case .racing(let race): race.due
            case .tunnelling(let tunnel): tunnel.due
            case .greeting, .authorizing, .securing, .over: nil
            }
        return earlier.map { min($0, deadline) } ?? deadline
    }
}

// MARK: - Names and addresses

extension Establishment {
    private mutating func findTarget(at now: Instant) {
        guard let kind = terms.route?.kind, !kind.isHTTP else { return findEndpoints(at: now) }
        if let known = terms.given ?? Endpoint(terms.host, port: terms.port) {
            // SOCKS4 has addresses of four bytes; a proxy that takes names may understand this one.
            let isName = known.bytes.count == 16 && kind == .socks4(resolves: true)
            prepare(isName ? .name(NumericAddress.text(of: known.bytes)) : .address(known.bytes), at: now)
        } else if kind.resolves {
            prepare(.name(terms.host), at: now)
        } else {
            let version = kind == .socks4(resolves: false) ? .v4 : terms.version
            lookUp(HostQuery(terms.host, version), .origin, at: now)
        }
    }

    private mutating func prepare(_ target: SocksHandshake.Target, at now: Instant) {
        guard let route = terms.route else { return }
        do throws(TransferFault) {
            handshake = try SocksHandshake(route.kind, to: target, port: terms.port, login: route.login)
            findEndpoints(at: now)
        } catch { end(.failed(error)) }
    }

    private mutating func findEndpoints(at now: Instant) {
        if let route = terms.route {
            lookUp(HostQuery(route.host, terms.version), .proxy, at: now)
        } else if let given = terms.given {
            endpoints = [given]
            race(at: now)
        } else {
            lookUp(HostQuery(terms.host, terms.version), .origin, at: now)
        }
    }

    private mutating func lookUp(_ query: HostQuery, _ part: Part, at now: Instant) {
        phase = .resolving(query, part)
        if let known = query.known { return resolved(known, at: now) }
        timing.lookupStart = timing.lookupStart ?? now
        steps.append(.resolve(query))
    }

    package mutating func resolved(_ result: HostResult, at now: Instant) {
        guard case .resolving(let query, let part) = phase else { return }
        if timing.lookupStart != nil { timing.lookupEnd = now }
        let isProxy = part == .proxy
        var found: [Endpoint] = []
        if case .addresses(let texts) = result {
            found = texts.compactMap { Endpoint($0, port: isProxy ? terms.route?.port ?? 0 : terms.port) }
        }
        guard let first = found.first else {
            let fault = result.fault(of: query) ?? .noHost(query.host)
            let proxyFault = TransferFault(.proxy, TransferFault.causeOfUnresolved(proxy: query.host))
            return end(.failed(isProxy ? proxyFault : fault))
        }
        if part == .origin, terms.route != nil {
            return prepare(.address(first.bytes), at: now)
        }
        endpoints = found
        race(at: now)
    }

    private mutating func race(at now: Instant) {
        // A numeric host is looked up in no time.
        if timing.lookupStart == nil { (timing.lookupStart, timing.lookupEnd) = (now, now) }
        timing.connectStart = timing.connectStart ?? now
        advance(
            AddressRace(endpoints, deniesPrivate: terms.deniesPrivateAddresses, next: attempts), at: now)
    }

    private mutating func advance(_ race: AddressRace, at now: Instant) {
        var race = race
        let attempt = race.start(at: now)
        phase = .racing(race)
        if let attempt {
            attempts = attempt.number + 1
            steps.append(.open(attempt))
        } else if race.open.isEmpty {
            end(.failed(fault(of: race)))
        }
    }

    private func fault(of race: AddressRace) -> TransferFault {
        let fault = race.fault
        guard fault.kind != .privateAddress, !fault.lacksDescriptors else { return fault }
        let place =
            terms.route.map { LocalizableMessage.place(ofProxy: $0.place) } ?? .place(terms.host, port: terms.port)
        // A proxy that refuses is not the origin's complaint.
        let kind = fault.kind == .connectionRefused && terms.route != nil ? .proxy : fault.kind
        return TransferFault(kind, .noConnection(to: place, because: fault.cause))
    }
}

// MARK: - What a connection goes through

extension Establishment {
    package mutating func connected(_ attempt: Int, at now: Instant) {
        guard case .racing(let race) = phase, let winner = race.open.first(where: { $0.number == attempt }) else {
            return
        }
        steps += race.open.filter { $0.number != attempt }.map { .close($0.number) }
        endpoints.removeAll { $0 == winner.endpoint }
        endpoints.insert(winner.endpoint, at: 0)
        connection = attempt
        switch terms.route?.kind {
        case .http(isSecure: true): secure(.proxy, at: now)
        case .http(isSecure: false): openTunnel(at: now)
        case .socks4, .socks5: greet(at: now)
        case nil: secureOrigin(at: now)
        }
    }

    private mutating func greet(at now: Instant) {
        guard let handshake else { return }
        steps.append(.send(handshake.greeting))
        phase = .greeting(handshake)
    }

    private mutating func openTunnel(at now: Instant) {
        guard terms.isTunnelled else { return finish(at: now) }
        let request = ProxyTunnel.request(
            to: tunnelTarget, authorization: authorization, userAgent: terms.userAgent)
        steps.append(.send(request))
        phase = .tunnelling(ProxyTunnel(drains: terms.route?.login != nil))
    }

    private var tunnelTarget: String {
        var host = terms.host
        if let given = terms.given { host = NumericAddress.text(of: given.bytes) }
        return host.contains(":") ? "[\(host)]:\(terms.port)" : "\(host):\(terms.port)"
    }

    private mutating func secureOrigin(at now: Instant) {
        if terms.isSecure { secure(.origin, at: now) } else { finish(at: now) }
    }

    private mutating func secure(_ part: Part, at now: Instant) {
        if part == .origin { timing.secureStart = now }
        steps.append(.secure(part))
        phase = .securing(part)
    }

    package mutating func secured(at now: Instant) {
        guard case .securing(let part) = phase else { return }
        decided(at: now)
        switch part {
        case .proxy: openTunnel(at: now)
        case .origin:
            timing.secureEnd = now
            finish(at: now)
        }
    }

    /// Bytes that the proxy sent.
    package mutating func received(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            switch phase {
            case .greeting(var handshake):
                let (used, step) = unsafe handshake.received(rest)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[used...])
                phase = .greeting(handshake)
                unsafe take(step, isAll: rest.isEmpty, at: now)
            case .tunnelling(var tunnel):
                let (used, step) = unsafe tunnel.received(rest, at: now)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[used...])
                phase = .tunnelling(tunnel)
                unsafe take(step, isAll: rest.isEmpty, at: now)
            case .authorizing(let challenge, _):
                // More than the response: the connection is of no further use.
                phase = .authorizing(challenge, keeps: false)
                return
            case .resolving, .racing, .securing, .over: return
            }
        }
    }

    /// `isAll`: whether nothing was read after the reply.
    ///
    /// The host speaks after the client: what comes before is no response to it.
    private mutating func opened(isAll: Bool, at now: Instant) {
        guard isAll else { return end(.failed(TransferFault(.proxy, TransferFault.tooLong.cause))) }
        secureOrigin(at: now)
    }

    private mutating func take(_ step: SocksHandshake.Step, isAll: Bool, at now: Instant) {
        switch step {
        case .more: break
        case .send(let bytes): steps.append(.send(bytes))
        case .open: opened(isAll: isAll, at: now)
        case .failed(let fault): end(.failed(fault))
        }
    }

    private mutating func take(_ step: ProxyTunnel.Step, isAll: Bool, at now: Instant) {
        switch step {
        case .more: break
        case .open: opened(isAll: isAll, at: now)
        case .challenged(let head, let keeps):
            let challenges = LoginChallenge.all(in: head)
            guard let login = terms.route?.login, logins.take(challenges) else {
                return end(.refused(ProxyTunnel.refusal(head)))
            }
            phase = .authorizing(head, keeps: keeps)
            steps.append(.authorize(challenges, login, target: tunnelTarget))
        case .refused(let status): end(.failed(.tunnelRefused(status)))
        case .failed(let fault): end(.failed(ofProxy(fault)))
        }
    }

    /// The field for the next CONNECT; `nil` if no challenge can be responded to.
    package mutating func authorize(_ field: String?, at now: Instant) {
        guard case .authorizing(let challenge, let keeps) = phase else { return }
        guard let field else { return end(.refused(ProxyTunnel.refusal(challenge))) }
        authorization = field
        if keeps { openTunnel(at: now) } else { startOver(at: now) }
    }
}

// MARK: - Ends

extension Establishment {
    /// The attempt could not connect, or its connection was lost or is not secure; it is closed already.
    package mutating func failed(_ attempt: Int, _ fault: TransferFault, at now: Instant) {
        if case .racing(var race) = phase {
            if race.failed(attempt, fault) { advance(race, at: now) }
            return
        }
        guard attempt == connection else { return }
        connection = nil
        switch phase {
        case .greeting: end(.failed(ofProxy(fault)))
        case .tunnelling(let tunnel): take(tunnel.lost(fault), isAll: true, at: now)
        case .authorizing(let challenge, _): phase = .authorizing(challenge, keeps: false)
        case .securing(let part):
            guard fault.kind == .connectionLost, heldSince == nil, repetition == .allowed else {
                return end(.failed(part == .proxy ? ofProxy(fault) : fault))
            }
            repetition = .done
            startOver(at: now)
        case .resolving, .racing, .over: break
        }
    }

    /// A judge considers the certificates: the handshake and its deadline stand still.
    package mutating func held(at now: Instant) {
        guard case .securing = phase, heldSince == nil else { return }
        heldSince = now
        if repetition == .unneeded { repetition = .allowed }
    }

    package mutating func decided(at now: Instant) {
        guard let since = heldSince else { return }
        deadline = deadline + (now - since)
        heldSince = nil
    }

    package mutating func passed(_ now: Instant) {
        guard let due, due <= now else { return }
        guard now < deadline else { return end(.failed(timeout)) }
        switch phase {
        case .resolving: end(.failed(timeout))
        case .racing(let race): advance(race, at: now)
        case .tunnelling(let tunnel): take(tunnel.lost(.noResponse), isAll: true, at: now)
        case .greeting, .authorizing, .securing, .over: break
        }
    }

    /// What happened on the connection with the proxy, not with the host.
    private func ofProxy(_ fault: TransferFault) -> TransferFault {
        terms.route.map { .proxyFailed($0.place, fault) } ?? fault
    }

    private var timeout: TransferFault {
        var limit = terms.timeout
        if case .resolving(let query, let part) = phase {
            limit = min(limit, terms.lookupTimeout)
            if part == .origin { return .unresolved(query.host, within: limit) }
        }
        let cause = terms.route.map { LocalizableMessage.noConnection(byProxy: $0.place, within: limit) }
        return TransferFault(.connectTimeout, cause ?? .noConnection(within: limit))
    }

    /// Connects once more, to the same address first.
    private mutating func startOver(at now: Instant) {
        closeAll()
        race(at: now)
    }

    private mutating func finish(at now: Instant) {
        timing.connectEnd = now
        guard let connection else { return }
        steps.append(.ready(connection))
        phase = .over
    }

    private mutating func end(_ step: Step) {
        closeAll()
        steps.append(step)
        phase = .over
    }

    private mutating func closeAll() {
        if case .racing(let race) = phase { steps += race.open.map { .close($0.number) } }
        if let connection { steps.append(.close(connection)) }
        connection = nil
    }
}

extension HostQuery {
    /// The result where no resolver is needed; `nil` for a name.
    fileprivate var known: HostResult? {
        if Endpoint(host, port: 0) != nil { return version.allows(numericHost: host) ? .addresses([host]) : .missing }
        if let loopback { return .addresses(loopback.filter(version.allows(numericHost:))) }
        return needsLookup ? nil : .missing
    }
}
