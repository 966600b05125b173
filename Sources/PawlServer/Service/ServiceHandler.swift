import Pawl
import PawlCore
import Synchronization

/// Handles the service's requests: calls, events, metrics, health check.
final class ServiceHandler: WebHandler {
    private let dispatcher: RPCDispatcher
    private let requestPolicy: RequestPolicy
    private let secret: Secret?
    /// `USER:PASSWORD` that older aria2 clients send instead of the secret.
    private let login: Secret?
    private let metrics: @Sendable (LatencyHistogram?) async -> String
    private let page: Page
    private let isStandIn: Bool
    let lines: EventStreams
    /// All unauthenticated clients together use at most one of many threads.
    private let unauthenticated = SerialWork(priority: .low)
    /// Messages of authenticated clients that may cause large responses: one is in memory at a time.
    private let large = SerialWork(priority: .medium)
    private let server = Mutex<WebServer?>(nil)
    /// Messages of each WebSocket, processed one after another.
    private let sockets = Mutex<[ConnectionID: AsyncStream<[UInt8]>.Continuation]>([:])

    init(
        dispatcher: RPCDispatcher,
        requestPolicy: RequestPolicy,
        secret: Secret?,
        login: Secret?,
        lines: EventStreams,
        page: Page,
        isStandIn: Bool = false,
        metrics: @escaping @Sendable (LatencyHistogram?) async -> String
    ) {
        self.dispatcher = dispatcher
        self.requestPolicy = requestPolicy
        self.secret = secret
        self.login = login
        self.lines = lines
        self.page = page
        self.isStandIn = isStandIn
        self.metrics = metrics
    }

    func attach(_ server: WebServer) {
        self.server.withLock { $0 = server }
        lines.attach(server)
    }

    // MARK: requests

    func respond(to request: WebRequest, reply send: @escaping @Sendable (WebResponse) -> Void) {
        let fields = requestPolicy.crossOriginFields(for: request)
        let reply: @Sendable (WebResponse) -> Void = { response in
            var response = response
            response.fields += fields
            send(response)
        }
        if let why = requestPolicy.refusal(of: request, showsSecret: { [self] in showsSecret(request) }) {
            var response = WebResponse(403, text: why)
            response.closes = true
            return reply(response)
        }
        // A browser sends this before the request itself (Fetch, "CORS-preflight request").
        if request.method == .options { return reply(WebResponse(200)) }
        guard hasLogin(request) else { return reply(ServiceHandler.unauthorized("Basic realm=\"aria2\"")) }
        switch request.path {
        case "/jsonrpc": call(request, reply: reply)
        case "/rpc": callXML(request, reply: reply)
        case "/healthz": reply(WebResponse(200, text: "ok"))
        case "/metrics": metrics(request, reply: reply)
        case "/events": events(request, reply: reply)
        default: page.respond(to: request, reply: reply)
        }
    }

    private func call(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        switch request.method {
        case .post, .get, .head: break
        case .options, .other:
            return reply(WebResponse(405, text: "only GET, POST and OPTIONS are allowed"))
        }
        let callback = request.method == .post ? nil : request.value("jsoncallback")
        if let callback, !ServiceHandler.isName(callback) {
            return reply(WebResponse(400, text: "invalid callback name"))
        }
        var rights = RPCRights(request, isReadOnly: request.method != .post)
        rights.isScript = callback != nil
        let hasSecret = secret != nil
        work(for: request, reply) { [dispatcher, rights] in
            let outcome = await dispatcher.respond(to: ServiceHandler.message(request), rights: rights)
            // Any page can run the script: it is sent only if the call contains the secret, whatever else it requests.
            guard callback == nil || outcome.showedSecret && hasSecret else {
                var response = WebResponse(403, text: "a callback requires the secret")
                response.closes = true
                if outcome.isUnauthorized { response.delay = .seconds(1) }
                return response
            }
            return ServiceHandler.response(outcome, callback: callback)
        }
    }

    private static func message(_ request: WebRequest) -> RPCMessage {
        request.method == .post ? RPCMessage.parse(request.body) : RPCMessage.parse(query: request.value)
    }

    /// The length in bytes of a message with enough calls for a response of many megabytes.
    private static let largeMessage = 64 << 10

    /// Unauthenticated and large requests are processed one after another.
    private func work(
        for request: WebRequest,
        _ reply: @escaping @Sendable (WebResponse) -> Void,
        _ makeResponse: @escaping @Sendable () async -> WebResponse
    ) {
        let isKnown = recognizes(request) || recognizes(request.body) || recognizes(inQueryOf: request)
        if isKnown, request.body.count < ServiceHandler.largeMessage {
            Task { reply(await makeResponse()) }
        } else if !(isKnown ? large : unauthenticated).add({ reply(await makeResponse()) }) {
            reply(ServiceHandler.busy)
        }
    }

    private static let busy: WebResponse = {
        var response = WebResponse(503, text: "too many requests of this kind are waiting")
        response.closes = true
        return response
    }()

    /// XML-RPC, which older clients use: the same calls in another encoding.
    private func callXML(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard request.method == .post else {
            return reply(WebResponse(405, text: "XML-RPC requires POST"))
        }
        work(for: request, reply) { [dispatcher] in
            guard let call = XMLCall.parse(request.body) else {
                var response = WebResponse(400, text: "invalid XML-RPC request")
                response.closes = true
                return response
            }
            let outcome = await dispatcher.respond(to: .one(.call(call)), rights: RPCRights(request))
            var response = WebResponse(
                200,
                contentType: "text/xml",
                body: .bytes(XMLCall.response(outcome.json, isMulticall: call.method == "system.multicall"))
            )
            if outcome.isUnauthorized { response.delay = .seconds(1) }
            response.isForKnown = outcome.showedSecret
            return response
        }
    }

    private static func response(_ outcome: RPCDispatcher.Outcome, callback: String?) -> WebResponse {
        var bytes = outcome.json.utf8
        var type = "application/json-rpc"
        if let callback {
            bytes = Array(callback.utf8) + [UInt8(ascii: "(")] + bytes + [UInt8(ascii: ")")]
            type = "text/javascript"
        }
        var response = WebResponse(outcome.status, contentType: type, body: .bytes(bytes))
        response.closes = outcome.status != 200
        response.isForKnown = outcome.showedSecret
        if outcome.isUnauthorized { response.delay = .seconds(1) }
        return response
    }

    /// A dotted JavaScript identifier; nothing else is inserted into a script.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "$"):
                    true
                default: false
                }
            }
    }

    private func metrics(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard isKnown(request) else { return reply(ServiceHandler.unauthorized("Bearer")) }
        Task {
            let text = await metrics(server.withLock { $0 }?.latencies)
            reply(
                WebResponse(
                    200,
                    contentType: "text/plain; version=0.0.4; charset=utf-8",
                    body: .bytes(Array(text.utf8))
                )
            )
        }
    }

    private func events(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard isKnown(request) else { return reply(ServiceHandler.unauthorized("Bearer")) }
        var response = WebResponse(200, contentType: "application/x-ndjson", body: .stream)
        response.fields = [("cache-control", "no-store")]
        reply(response)
        lines.add(reader: request.connection)
    }

    /// Clients of the Unix socket, and those that send `Authorization: Bearer SECRET`.
    private func isKnown(_ request: WebRequest) -> Bool {
        guard let secret, request.listener != .local else { return true }
        return ServiceHandler.bearer(in: request).map(secret.admits) ?? false
    }

    private static func bearer(in request: WebRequest) -> String? {
        guard let field = request.fields[.authorization], field.hasPrefix("Bearer ") else { return nil }
        return String(field.dropFirst("Bearer ".count))
    }

    /// Clients of the Unix socket, and those that send the required user name and password (RFC 7617).
    private func hasLogin(_ request: WebRequest) -> Bool {
        guard let login, request.listener != .local else { return true }
        return ServiceHandler.login(in: request).map(login.admits) ?? false
    }

    private static func login(in request: WebRequest) -> String? {
        guard let field = request.fields[.authorization], field.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(field.dropFirst("basic ".count).utf8)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unauthorized(_ way: String) -> WebResponse {
        var response = WebResponse(
            401,
            text:
                "this requires \(way == "Bearer" ? "Authorization: Bearer SECRET" : "a user name and password")"
        )
        response.fields = [("www-authenticate", way)]
        response.delay = .seconds(1)
        response.closes = true
        return response
    }

    // MARK: authentication

    func recognizes(_ request: WebRequest) -> Bool {
        if request.listener == .local { return true }
        if let login { return ServiceHandler.login(in: request).map(login.recognizes) ?? false }
        guard let secret else { return true }
        return ServiceHandler.bearer(in: request).map(secret.recognizes) ?? false
            || request.path != "/jsonrpc" && request.fields[.cookie] != nil && page.isKnown(request)
    }

    /// Whether the request has the right secret or login in any of their places.
    private func showsSecret(_ request: WebRequest) -> Bool {
        if secret == nil, login == nil { return false }
        return recognizes(request) || recognizes(request.body) || recognizes(inQueryOf: request)
    }

    func recognizes(_ beginning: [UInt8]) -> Bool {
        guard let secret else { return login == nil }
        return SecretScan.candidates(in: beginning).contains(where: secret.recognizes)
    }

    /// `GET /jsonrpc` has its parameters in base64.
    private func recognizes(inQueryOf request: WebRequest) -> Bool {
        request.value("params").flatMap { Base64.decode($0.utf8) }.map { recognizes($0) } ?? false
    }

    // MARK: WebSockets

    func refusal(ofSocket request: WebRequest) -> WebResponse? {
        // A WebSocket shows the secret in its messages; without it, it gets nothing.
        let isRefused =
            requestPolicy.refusal(of: request, showsSecret: { request.path == "/jsonrpc" }) != nil
        if isRefused { return WebResponse(403) }
        if request.path == Page.live { return page.isKnown(request) ? nil : WebResponse(401) }
        if !hasLogin(request) { return WebResponse(401) }
        return request.path == "/jsonrpc" ? nil : WebResponse(404)
    }

    func opened(_ socket: ConnectionID, request: WebRequest) {
        let (messages, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        sockets.withLock { $0[socket] = continuation }
        let isPage = request.path == Page.live
        var rights = RPCRights(request)
        if isPage { (rights.isTrusted, rights.isKnown) = (true, true) }
        if isPage {
            server.withLock { $0 }?.markAuthenticated(socket)
            page.feed.add(socket)
        } else if secret == nil || rights.isTrusted {
            trust(socket)
        } else if isStandIn, request.isFromLoopback, request.fields[.origin] == nil {
            // aria2's clients on this machine listen without a call; they learn identifiers only.
            _ = lines.add(socket: socket)
        }
        Task { [weak self, rights] in
            var rights = rights
            for await message in messages {
                guard let self else { return }
                if await respond(to: message, from: socket, rights: rights) { rights.isKnown = true }
            }
        }
    }

    /// Whether the secret was presented.
    private func respond(to message: [UInt8], from socket: ConnectionID, rights: RPCRights) async -> Bool {
        guard let outcome = await reply(to: message, rights: rights) else {
            server.withLock { $0 }?.end(socket)
            return false
        }
        // Its other messages wait too: each socket can try one secret per second.
        if outcome.isUnauthorized { try? await Task.sleep(for: .seconds(1)) }
        if outcome.showedSecret { trust(socket) }
        server.withLock { $0 }?.respond(with: outcome.json.utf8, to: socket)
        return outcome.showedSecret
    }

    /// `nil` if too many messages of its kind wait.
    private func reply(to message: [UInt8], rights: RPCRights) async -> RPCDispatcher.Outcome? {
        let isKnown = rights.isKnown || recognizes(message)
        if isKnown, message.count < ServiceHandler.largeMessage {
            return await dispatcher.respond(to: RPCMessage.parse(message), rights: rights)
        }
        let queue = isKnown ? large : unauthenticated
        return await withCheckedContinuation { continuation in
            let isTaken = queue.add { [dispatcher] in
                continuation.resume(
                    returning: await dispatcher.respond(to: RPCMessage.parse(message), rights: rights)
                )
            }
            if !isTaken { continuation.resume(returning: nil) }
        }
    }

    /// It is authenticated and receives events.
    private func trust(_ socket: ConnectionID) {
        guard lines.add(socket: socket) else { return }
        server.withLock { $0 }?.markAuthenticated(socket)
    }

    func received(_ message: [UInt8], from socket: ConnectionID) {
        _ = sockets.withLock { $0[socket] }?.yield(message)
    }

    func closed(_ connection: ConnectionID) {
        lines.remove(connection)
        page.feed.remove(connection)
        sockets.withLock { $0.removeValue(forKey: connection) }?.finish()
    }
}

extension RPCRights {
    fileprivate init(_ request: WebRequest, isReadOnly: Bool = false) {
        let isOwner = request.listener == .local
        self.init(isTrusted: isOwner, isReadOnly: isReadOnly, mayNameFiles: isOwner)
    }
}
