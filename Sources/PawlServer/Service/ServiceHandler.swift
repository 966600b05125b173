import Pawl
import PawlCore
import Synchronization

/// What the service answers: calls, events, figures, and whether it is well.
final class ServiceHandler: WebHandler {
    private let dispatcher: RPCDispatcher
    private let gatekeeper: Gatekeeper
    private let secret: Secret?
    /// `USER:PASSWORD` that aria2's older clients show instead of the secret.
    private let login: Secret?
    private let figures: @Sendable (Delays?) async -> String
    private let page: Page
    let lines: EventLines
    private let server = Mutex<WebServer?>(nil)
    /// Letters of each WebSocket, answered one after another.
    private let sockets = Mutex<[ConnectionID: AsyncStream<[UInt8]>.Continuation]>([:])

    init(
        dispatcher: RPCDispatcher,
        gatekeeper: Gatekeeper,
        secret: Secret?,
        login: Secret?,
        lines: EventLines,
        page: Page,
        figures: @escaping @Sendable (Delays?) async -> String
    ) {
        self.dispatcher = dispatcher
        self.gatekeeper = gatekeeper
        self.secret = secret
        self.login = login
        self.lines = lines
        self.page = page
        self.figures = figures
    }

    func attach(_ server: WebServer) {
        self.server.withLock { $0 = server }
        lines.attach(server)
    }

    // MARK: requests

    func answer(_ request: WebRequest, reply send: @escaping @Sendable (WebResponse) -> Void) {
        let fields = gatekeeper.crossOriginFields(for: request)
        let reply: @Sendable (WebResponse) -> Void = { response in
            var response = response
            response.fields += fields
            send(response)
        }
        if let why = gatekeeper.refusal(of: request) {
            var response = WebResponse(403, text: why)
            response.closes = true
            return reply(response)
        }
        // A browser asks this way before it shows anything (Fetch, "CORS-preflight request").
        if request.method == .options { return reply(WebResponse(200)) }
        guard hasLogin(request) else { return reply(ServiceHandler.stranger("Basic realm=\"aria2\"")) }
        switch request.path {
        case "/jsonrpc": call(request, reply: reply)
        case "/rpc": callXML(request, reply: reply)
        case "/healthz": reply(WebResponse(200, text: "ok"))
        case "/metrics": metrics(request, reply: reply)
        case "/events": events(request, reply: reply)
        default: page.answer(request, reply: reply)
        }
    }

    private func call(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        let letter: RPCLetter
        switch request.method {
        case .post: letter = RPCLetter.parse(request.body)
        case .get, .head: letter = RPCLetter.parse(query: request.value)
        case .options, .other:
            return reply(WebResponse(405, text: "only GET, POST and OPTIONS are understood here"))
        }
        let rights = RPCRights(request, isReadOnly: request.method != .post)
        let callback = request.method == .post ? nil : request.value("jsoncallback")
        if let callback, !ServiceHandler.isName(callback) {
            return reply(WebResponse(400, text: "this is no name of a function"))
        }
        Task {
            let answer = await dispatcher.answer(letter, rights: rights)
            reply(ServiceHandler.response(answer, callback: callback))
        }
    }

    /// XML-RPC, which older clients speak: the same calls in other letters.
    private func callXML(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard request.method == .post else {
            return reply(WebResponse(405, text: "XML-RPC is sent with POST"))
        }
        guard let call = XMLCall.parse(request.body) else {
            var response = WebResponse(400, text: "this is no XML-RPC")
            response.closes = true
            return reply(response)
        }
        let rights = RPCRights(request)
        Task {
            let answer = await dispatcher.answer(.one(.call(call)), rights: rights)
            var response = WebResponse(
                200,
                contentType: "text/xml",
                body: .bytes(XMLCall.answer(answer.json))
            )
            if answer.isUnauthorized { response.delay = .seconds(1) }
            reply(response)
        }
    }

    private static func response(_ answer: RPCDispatcher.Answer, callback: String?) -> WebResponse {
        var bytes = answer.json.utf8
        var type = "application/json-rpc"
        if let callback {
            bytes = Array(callback.utf8) + [UInt8(ascii: "(")] + bytes + [UInt8(ascii: ")")]
            type = "text/javascript"
        }
        var response = WebResponse(answer.status, contentType: type, body: .bytes(bytes))
        response.closes = answer.status != 200
        if answer.isUnauthorized { response.delay = .seconds(1) }
        return response
    }

    /// What JavaScript calls a name, with points; nothing else gets into a script.
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
        guard isKnown(request) else { return reply(ServiceHandler.stranger("Bearer")) }
        Task {
            let text = await figures(server.withLock { $0 }?.delays)
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
        guard isKnown(request) else { return reply(ServiceHandler.stranger("Bearer")) }
        var response = WebResponse(200, contentType: "application/x-ndjson", body: .stream)
        response.fields = [("cache-control", "no-store")]
        reply(response)
        lines.add(reader: request.connection)
    }

    /// Who came by the socket file, or shows the secret as `Authorization: Bearer SECRET`.
    private func isKnown(_ request: WebRequest) -> Bool {
        guard let secret, request.door != .local else { return true }
        guard let field = request.fields[.authorization], field.hasPrefix("Bearer ") else { return false }
        return secret.admits(String(field.dropFirst("Bearer ".count)))
    }

    /// Who came by the socket file, or shows the user name and password where they are asked for (RFC 7617).
    private func hasLogin(_ request: WebRequest) -> Bool {
        guard let login, request.door != .local else { return true }
        guard let field = request.fields[.authorization], field.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(field.dropFirst("basic ".count).utf8)
        else { return false }
        return login.admits(String(decoding: bytes, as: UTF8.self))
    }

    private static func stranger(_ way: String) -> WebResponse {
        var response = WebResponse(
            401,
            text: "this needs \(way == "Bearer" ? "Authorization: Bearer SECRET" : "a login")"
        )
        response.fields = [("www-authenticate", way)]
        response.delay = .seconds(1)
        response.closes = true
        return response
    }

    // MARK: WebSockets

    func refusal(ofSocket request: WebRequest) -> WebResponse? {
        if gatekeeper.refusal(of: request) != nil { return WebResponse(403) }
        if request.path == Page.live { return page.isKnown(request) ? nil : WebResponse(401) }
        if !hasLogin(request) { return WebResponse(401) }
        return request.path == "/jsonrpc" ? nil : WebResponse(404)
    }

    func opened(_ socket: ConnectionID, request: WebRequest) {
        let (letters, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        sockets.withLock { $0[socket] = continuation }
        let isPage = request.path == Page.live
        var rights = RPCRights(request)
        if isPage { (rights.isTrusted, rights.isKnown) = (true, true) }
        if isPage {
            server.withLock { $0 }?.welcome(socket)
            page.feed.add(socket)
        } else if secret == nil || rights.isTrusted {
            trust(socket)
        }
        Task { [weak self, rights] in
            var rights = rights
            for await letter in letters {
                guard let self else { return }
                if await answer(letter, from: socket, rights: rights) { rights.isKnown = true }
            }
        }
    }

    /// Whether the secret was shown.
    private func answer(_ letter: [UInt8], from socket: ConnectionID, rights: RPCRights) async -> Bool {
        let answer = await dispatcher.answer(RPCLetter.parse(letter), rights: rights)
        // Its other letters wait too: guessing goes at one a second for each socket.
        if answer.isUnauthorized { try? await Task.sleep(for: .seconds(1)) }
        if answer.showedSecret { trust(socket) }
        server.withLock { $0 }?.answer(answer.json.utf8, to: socket)
        return answer.showedSecret
    }

    /// It hears of events, and stays.
    private func trust(_ socket: ConnectionID) {
        guard lines.add(socket: socket) else { return }
        server.withLock { $0 }?.welcome(socket)
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
        let isOwner = request.door == .local
        self.init(isTrusted: isOwner, isReadOnly: isReadOnly, mayNameFiles: isOwner)
    }
}
