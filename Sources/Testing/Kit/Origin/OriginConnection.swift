import Glibc
import PawlSystem

/// Serves one accepted connection on the thread that calls ``run()``.
struct OriginConnection {
    package let number: Int
    let handle: Handle
    let origin: Monitor<OriginServer.State>

    /// The handling of the connection after an exchange.
    enum Fate {
        case keep
        case close
        case reset
    }

    /// Handles requests until the connection ends; `true` when it is to end with a reset.
    func run() -> Bool {
        var reader = OriginRequestReader(descriptor: handle.descriptor)
        var isReused = false
        while let request = reader.next() {
            switch respond(to: request, isReused: isReused) {
            case .keep: isReused = true
            case .close: return false
            case .reset: return true
            }
        }
        return false
    }

    private func respond(to request: Request, isReused: Bool) -> Fate {
        let exchange = begin(request)
        guard let resource = exchange.resource else {
            return finish(exchange, send(ResponsePlan(.status(404)), for: exchange))
        }
        let behaviour = exchange.behaviour
        if behaviour.kept == .diesOnReuse && isReused { return finish(exchange, (.cut, .close)) }
        if let end = waitForDelay(exchange) { return finish(exchange, (end, .close)) }
        if let garbage = behaviour.garbage {
            let isSent = send(garbage)
            return finish(exchange, (isSent ? .cut : lost, .close))
        }
        for status in behaviour.interim {
            let line = "HTTP/1.1 \(status) \(ResponsePlan.reason(status))\r\nX-Interim: yes\r\n\r\n"
            guard send(Array(line.utf8)) else { return finish(exchange, (lost, .close)) }
        }
        if let crowd = behaviour.crowd, exchange.running >= crowd.limit {
            guard let refusal = crowd.refusal else { return finish(exchange, (.cut, .close)) }
            var plan = ResponsePlan(refusal)
            plan.isRefusal = true
            return finish(exchange, send(dressed(plan, behaviour), for: exchange))
        }
        if let login = behaviour.login, !login.accepts(request) {
            var refusal = ResponsePlan(.status(401))
            refusal.isRefusal = true
            refusal.add(login.challenge)
            return finish(exchange, send(dressed(refusal, behaviour), for: exchange))
        }
        if let instead = behaviour.instead {
            return finish(exchange, send(dressed(ResponsePlan(instead), behaviour), for: exchange))
        }
        return finish(exchange, send(resource.plan(for: request, behaviour), for: exchange))
    }

    private func dressed(_ plan: ResponsePlan, _ behaviour: Behaviour) -> ResponsePlan {
        var plan = plan
        plan.dress(behaviour)
        return plan
    }

    /// Waits silently before the header section, for the behaviour's delay; returns the exchange's end if that came first.
    private func waitForDelay(_ exchange: Exchange) -> ExchangeEnd? {
        switch exchange.behaviour.delay {
        case .none: break
        case .untilReleased: if let end = hold(exchange) { return end }
        case .span(let span): if let end = hold(exchange, atMost: span) { return end }
        }
        guard exchange.behaviour.ranges == .unresponsive, exchange.request.range != nil else { return nil }
        return hold(exchange)
    }
}

// MARK: - The log

extension OriginConnection {
    /// One request with the decisions for it.
    struct Exchange {
        var record: Int
        var request: Request
        var resource: Resource?
        var behaviour = Behaviour()
        /// The number of responses in progress for the same path when it arrived.
        var running = 0
        /// Whether it has one of the server's places.
        var hasPlace = false
    }

    private func begin(_ request: Request) -> Exchange {
        origin.with { state in
            let record = state.log.records.count
            state.log.records.append(RequestRecord(number: record, connection: number, request: request))
            guard var resource = state.resources[request.path] else {
                return Exchange(record: record, request: request, resource: nil)
            }
            resource.changeIfDue()
            let facts = RequestFacts(
                request: request, ordinal: resource.requests, connection: number, running: resource.running,
                bodySent: resource.bodySent, version: resource.current)
            var behaviour = resource.behaviour
            resource.vary?(facts, &behaviour)
            let hasPlace = state.serving < state.places ?? .max
            if hasPlace { state.serving += 1 } else { behaviour.instead = state.refusal }
            resource.requests += 1
            resource.running += 1
            resource.tags += 1
            state.resources[request.path] = resource
            return Exchange(
                record: record, request: request, resource: resource, behaviour: behaviour, running: facts.running,
                hasPlace: hasPlace)
        }
    }

    private func finish(_ exchange: Exchange, _ outcome: (end: ExchangeEnd, fate: Fate)) -> Fate {
        origin.with { state in
            state.log.records[exchange.record].end = outcome.end
            state.log.records[exchange.record].isHeld = false
            state.resources[exchange.request.path]?.running -= 1
            if exchange.hasPlace { state.serving -= 1 }
        }
        return outcome.fate
    }

    /// Why the client could not be reached: the server was stopped, or the client closed.
    var lost: ExchangeEnd { origin.read(\.isStopping) ? .stopped : .peerClosed }

    /// Waits silently until released or for `limit`; returns the end of the exchange when the connection ended first.
    func hold(_ exchange: Exchange, atMost limit: Duration? = nil) -> ExchangeEnd? {
        let releases = origin.with { state in
            state.log.records[exchange.record].isHeld = true
            return exchange.resource?.releases ?? 0
        }
        defer { origin.with { $0.log.records[exchange.record].isHeld = false } }
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            let (isStopping, isReleased) = origin.read { state in
                (state.isStopping, state.resources[exchange.request.path]?.releases ?? 0 > releases)
            }
            if isStopping { return .stopped }
            if isReleased { return nil }
            let rest = deadline.map { $0 - ContinuousClock.now }
            if let rest, rest <= .zero { return nil }
            if handle.isLeft(waiting: rest) { return lost }
        }
    }
}
