import PawlBase
import PawlWeb
import Synchronization

// WebSockets, for calls and events.
extension ServiceHandler {
    func refusal(ofSocket request: WebRequest) -> WebResponse? {
        // A WebSocket shows the secret in its messages; without it, it gets nothing.
        let isRefused = requestPolicy.refusal(of: request, showsSecret: { request.path == "/jsonrpc" }) != nil
        if isRefused { return WebResponse(403) }
        if request.path == Page.live { return page.isKnown(request) ? nil : WebResponse(401) }
        if !admitsLogin(request) { return WebResponse(401) }
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
        } else if notifiesOwnMachine, request.isFromLoopback, request.fields[.origin] == nil {
            // They learn identifiers only.
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
                continuation.resume(returning: await dispatcher.respond(to: RPCMessage.parse(message), rights: rights))
            }
            if !isTaken { continuation.resume(returning: nil) }
        }
    }

    /// It is authenticated and receives events.
    private func trust(_ socket: ConnectionID) {
        guard lines.add(socket: socket) else { return }
        server.withLock { $0 }?.markAuthenticated(socket)
    }

    func received(_ message: [UInt8], from socket: ConnectionID) { _ = sockets.withLock { $0[socket] }?.yield(message) }

    package func closed(_ connection: ConnectionID) {
        lines.remove(connection)
        page.feed.remove(connection)
        sockets.withLock { $0.removeValue(forKey: connection) }?.finish()
    }
}
