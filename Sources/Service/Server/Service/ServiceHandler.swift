import PawlBase
import PawlWeb
import Synchronization

/// Handles the service's requests: calls, events, metrics, health check.
final class ServiceHandler: WebHandler {
    let dispatcher: RPCDispatcher
    let requestPolicy: RequestPolicy
    let secret: Secret?
    /// `USER:PASSWORD` that older aria2 clients send instead of the secret.
    let login: Secret?
    private let metrics: @Sendable (LatencyHistogram?) async -> String
    let page: Page
    private let encodings: [String: RPCEncoding]
    let notifiesOwnMachine: Bool
    let lines: EventStreams
    /// All unauthenticated clients together use at most one of many threads.
    let unauthenticated = SerialWork(priority: .low)
    /// Messages of authenticated clients that may cause large responses: one is in memory at a time.
    let large = SerialWork(priority: .medium)
    let server = Mutex<WebServer?>(nil)
    /// Messages of each WebSocket, processed one after another.
    let sockets = Mutex<[ConnectionID: AsyncStream<[UInt8]>.Continuation]>([:])

    init(
        dispatcher: RPCDispatcher, requestPolicy: RequestPolicy, secret: Secret?, login: Secret?, lines: EventStreams,
        page: Page, encodings: [String: RPCEncoding], notifiesOwnMachine: Bool,
        metrics: @escaping @Sendable (LatencyHistogram?) async -> String
    ) {
        self.dispatcher = dispatcher
        self.requestPolicy = requestPolicy
        self.secret = secret
        self.login = login
        self.lines = lines
        self.page = page
        self.encodings = encodings
        self.notifiesOwnMachine = notifiesOwnMachine
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
        guard admitsLogin(request) else { return reply(ServiceHandler.unauthorized("Basic realm=\"aria2\"")) }
        switch request.path {
        case "/jsonrpc": call(request, reply: reply)
        case "/healthz": reply(WebResponse(200, text: "ok"))
        case "/metrics": metrics(request, reply: reply)
        case "/events": events(request, reply: reply)
        default:
            if let encoding = encodings[request.path] { return call(request, in: encoding, reply: reply) }
            page.respond(to: request, reply: reply)
        }
    }

    private func call(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        switch request.method {
        case .post, .get, .head: break
        case .options, .other: return reply(WebResponse(405, text: "only GET, POST and OPTIONS are allowed"))
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
    static let largeMessage = 64 << 10

    /// Unauthenticated and large requests are processed one after another.
    private func work(
        for request: WebRequest, _ reply: @escaping @Sendable (WebResponse) -> Void,
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

    /// The same calls in another encoding.
    private func call(
        _ request: WebRequest, in encoding: RPCEncoding, reply: @escaping @Sendable (WebResponse) -> Void
    ) {
        guard request.method == .post else { return reply(WebResponse(405, text: "\(encoding.name) requires POST")) }
        work(for: request, reply) { [dispatcher] in
            guard let call = encoding.parse(request.body) else {
                var response = WebResponse(400, text: "invalid \(encoding.name) request")
                response.closes = true
                return response
            }
            let outcome = await dispatcher.respond(to: .one(.call(call)), rights: RPCRights(request))
            var response = WebResponse(
                200, contentType: encoding.contentType, body: .bytes(encoding.encode(outcome.json, call.method)))
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
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "$"):
                    true
                default: false
                }
            }
    }

    private func metrics(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard admitsBearer(request) else { return reply(ServiceHandler.unauthorized("Bearer")) }
        Task {
            let text = await metrics(server.withLock { $0 }?.latencies)
            reply(
                WebResponse(
                    200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: .bytes(Array(text.utf8))))
        }
    }

    private func events(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard admitsBearer(request) else { return reply(ServiceHandler.unauthorized("Bearer")) }
        var response = WebResponse(200, contentType: "application/x-ndjson", body: .stream)
        response.fields = [("cache-control", "no-store")]
        reply(response)
        lines.add(reader: request.connection)
    }
}

extension RPCRights {
    init(_ request: WebRequest, isReadOnly: Bool = false) {
        let isOwner = request.listener == .local
        self.init(isTrusted: isOwner, isReadOnly: isReadOnly, mayNameFiles: isOwner)
    }
}
