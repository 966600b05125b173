package import PawlBase
import PawlSystem

/// Fetches over HTTP, and leaves the other schemes to another transport.
///
/// Sinks are only ever called from within `begin` and `work`, never from `start`, `cancel` or `resume`.
@safe package final class HTTPTransport: Transport {
    let clock: any Clock
    let poller: any Poller
    /// Receives every request and response.
    private let trace: (@Sendable (TransferTrace) -> Void)?
    private let makeOthers: ((any Poller) -> any Transport)?
    private var others: (any Transport)?
    /// Stands for all servers.
    private let server: (any RequestServing)?
    private var refusals: [Refusal] = []
    let settings = RequestSettingsCache()
    let cookies: OriginCookies
    let logins = Logins()
    let preparers: [LocatedScheme: any RequestPreparing]
    let http1: HTTP1Client
    let http2: HTTP2Client

    /// `others` makes the transport for FTP and SFTP, when the first such request comes; without it they fail.
    ///
    /// With a `server`, no request is sent anywhere else.
    package init(
        clock: any Clock, poller: any Poller, preparers: RequestPreparers = [:],
        trace: (@Sendable (TransferTrace) -> Void)? = nil, onCookies: CookieReceiver? = nil,
        server: (any RequestServing)? = nil, others: ((any Poller) -> any Transport)?
    ) {
        self.clock = clock
        self.poller = poller
        self.trace = trace
        self.preparers = preparers.mapValues { $0(clock) }
        makeOthers = others
        self.server = server
        cookies = OriginCookies(clock: clock, onEnd: onCookies)
        http2 = HTTP2Client(clock: clock, poller: poller)
        http1 = HTTP1Client(clock: clock, poller: poller, settings: settings, cookies: cookies, http2: http2)
        http2.onCookies = { [cookies] request, fields in cookies.store(fields, from: request) }
        http2.onTickets = { [unowned http1] key, tickets in http1.sessions.add(tickets, of: key) }
    }

    package func cancel(_ id: TransferID) {
        // A request for which a connection is established that may have HTTP/2 is in both.
        let isShared = http2.cancel(id)
        if http1.cancel(id) || isShared { return }
        server?.cancel(id)
        if let index = refusals.firstIndex(where: { $0.id == id }) {
            refusals.remove(at: index)
        } else {
            others?.cancel(id)
        }
    }

    package func resume(_ id: TransferID) {
        if let server { return server.resume(id) }
        if !http2.resume(id), !http1.resume(id) { others?.resume(id) }
    }

    package func begin() -> Instant? {
        let hasRefused = deliverRefusals()
        let next = http2.sendWaiting()
        for exchange in next.connecting { http1.connect(exchange) }
        for exchange in next.http1 { http1.takeOver(exchange) }
        let hasResumed = http2.deliverResumed()
        // Over a connection that it has established, requests go that waited for it.
        let due = [http1.begin(), others?.begin(), server?.begin(), http2.due].compactMap(\.self).min()
        return hasRefused || hasResumed || !refusals.isEmpty ? .past : due
    }

    package func work() {
        http1.work()
        http2.work()
        others?.work()
        server?.work()
    }

    package func closeIdle() {
        http1.closeIdle()
        http2.closeIdle()
        others?.closeIdle()
    }
}

extension TransferRequest {
    /// Whether the server may choose it in the handshake; a judge is to see the certificate of each connection.
    var mayUseHTTP2: Bool { address.scheme == .https && connection == .shared && judge == nil }
}

/// A request that is impossible, and whose sink is still to be informed.
private struct Refusal {
    let id: TransferID
    let fault: TransferFault
    let sink: any TransferSink
}

// From a request to the connection that it goes over.
extension HTTPTransport {
    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        let request = http1.judged(request)
        if let object = request.object, case .located(let scheme) = object.scheme, let preparer = preparers[scheme] {
            return preparer.begin(request, for: object, as: id, sink: sink) { [unowned self] request, id, sink in
                begin(request, as: id, sink: sink)
            }
        }
        do throws(TransferFault) {
            guard !logins.isGiven(request), let login = try logins.login(for: request, at: clock.now) else {
                return begin(request, as: id, sink: sink)
            }
            try RequestText.check(login)
            begin(request, as: id, sink: sink, with: login)
        } catch { refuse(id, error, to: sink) }
    }

    private func begin(_ request: TransferRequest, as id: TransferID, sink: any TransferSink, with login: Credentials) {
        var request = request
        switch request.address.scheme {
        case .ftp, .ftps, .sftp:
            request.login = login
            begin(request, as: id, sink: sink)
        // It is requested by the URL where it is.
        case .located: preconditionFailure("a request to an address that has no host")
        case .http, .https:
            if logins.takesBasic(request) { request.authorization = LoginField.basic(login) }
            let front = LoginSink(before: sink, request, login, logins) { [unowned self] request, id, sink in
                begin(request, as: id, sink: sink)
            }
            begin(request, as: id, sink: front)
        }
    }

    private func begin(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        var sink = sink
        if let trace {
            let lines = TraceText.request(request, try? settings.settings(for: request))
            trace(.request(lines, to: request.address))
            sink = TraceSink(before: sink, trace)
        }
        if let server { return begin(request, as: id, sink: sink, at: server) }
        switch request.address.scheme {
        case .ftp, .ftps, .sftp:
            guard let others = others ?? makeOthers?(poller) else {
                return refuse(id, TransferFault(.unreachable, foreign: "no transport has this scheme"), to: sink)
            }
            self.others = others
            others.start(request, as: id, sink: sink)
        case .located: preconditionFailure("a request to an address that has no host")
        case .http, .https:
            do throws(TransferFault) {
                let common = try settings.settings(for: request)
                let route =
                    common.mayUseProxy
                    ? try ProxyRoute.route(to: request.address, common.values, environment: { Environment.value($0) })
                    : nil
                try begin(request, as: id, sink: sink, by: route)
            } catch { refuse(id, error, to: sink) }
        }
    }

    private func begin(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink, by route: ProxyRoute?
    ) throws(TransferFault) {
        if request.mayUseHTTP2 {
            let cookies = try cookies.field(for: request)
            let shared = HTTP2Exchange(
                request, as: id, by: route, sink: sink, settings: try settings.settings(for: request),
                cookies: cookies)
            if let shared { return http2.start(shared) }
        }
        // A tunnel's login is sent with CONNECT.
        guard let route, let login = route.login, request.address.scheme == .http, route.kind.isHTTP else {
            return try http1.start(request, as: id, by: route, sink: sink)
        }
        var request = request
        let side = LoginSink.Side.proxy(route)
        if logins.takesBasic(request, side) { request.proxyAuthorization = LoginField.basic(login) }
        let front = LoginSink(before: sink, request, login, logins, for: side) { [unowned self] request, id, sink in
            do throws(TransferFault) { try http1.start(request, as: id, by: route, sink: sink) } catch {
                refuse(id, error, to: sink)
            }
        }
        try http1.start(request, as: id, by: route, sink: front)
    }

    private func begin(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink, at server: any RequestServing
    ) {
        do throws(TransferFault) {
            guard request.address.scheme == .http || request.address.scheme == .https else {
                throw TransferFault(.other, foreign: "only requests over HTTP are served here")
            }
            var head: [UInt8] = []
            let settings = try settings.settings(for: request)
            settings.write(request, isAbsolute: false, cookies: try cookies.field(for: request), to: &head)
            server.serve(head, for: request, as: id, sink: CookieSink(before: sink, request, cookies))
        } catch { refuse(id, error, to: sink) }
    }

    /// Informs the sink in the next round.
    private func refuse(_ id: TransferID, _ fault: TransferFault, to sink: any TransferSink) {
        refusals.append(Refusal(id: id, fault: fault, sink: sink))
    }

    /// Informs the sinks of the requests that are impossible.
    ///
    /// Returns whether there were any.
    private func deliverRefusals() -> Bool {
        guard !refusals.isEmpty else { return false }
        while !refusals.isEmpty {
            let refusal = refusals.removeFirst()
            refusal.sink.transferEnded(refusal.id, .failed(refusal.fault))
        }
        return true
    }
}

/// Makes HTTP transports.
package struct HTTPTransports: TransportMaker {
    private let clock: any Clock
    private let trace: (@Sendable (TransferTrace) -> Void)?
    private let preparers: RequestPreparers
    private let onCookies: CookieReceiver?
    private let servers: (any RequestServerMaker)?
    private let others: (any TransportMaker)?

    /// `others` makes those for FTP and SFTP; `servers` stand for all servers.
    ///
    /// `trace` and `onCookies` are called on the threads of the transports, `onCookies` at the latest when one ends.
    package init(
        clock: any Clock, preparers: RequestPreparers = [:], trace: (@Sendable (TransferTrace) -> Void)? = nil,
        onCookies: CookieReceiver? = nil, servers: (any RequestServerMaker)? = nil, others: (any TransportMaker)?
    ) {
        self.clock = clock
        self.preparers = preparers
        self.trace = trace
        self.onCookies = onCookies
        self.servers = servers
        self.others = others
    }

    package func makeTransport(on poller: any Poller) -> any Transport {
        HTTPTransport(
            clock: clock, poller: poller, preparers: preparers, trace: trace, onCookies: onCookies,
            server: servers?.makeServer(on: poller), others: others?.makeTransport)
    }
}
