import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// The web interface: its files, its access control, and the files of finished downloads.
final class Page: Sendable {
    /// The path of the page's WebSocket.
    static let live = "/live"

    let sessions: PageSessions
    let pendingRemovals: PendingRemovals
    let decisions: DecisionLog
    let feed: PageFeed
    let speeds: SpeedSampler
    private let assets = PageAssets.shared
    private let address = Mutex<String?>(nil)
    private let manager: DownloadManager
    private let files: RootedFiles
    /// What clients of the port present with their calls, for programs that a code has paired.
    private let clientSecret: String?

    /// `decisions` is the manager's delegate.
    init(
        _ manager: DownloadManager, _ collections: CollectionQueue, secret: Secret?, clientSecret: String?,
        decisions: DecisionLog, notice: (String) -> Void
    ) throws(Failure) {
        self.clientSecret = clientSecret
        let pendingRemovals = PendingRemovals(manager)
        let speeds = SpeedSampler(manager)
        let feed = PageFeed(manager, collections, decisions, speeds) { pendingRemovals.holds($0) }
        pendingRemovals.listen { feed.tell($0) }
        self.speeds = speeds
        self.manager = manager
        files = RootedFiles(manager.root)
        self.pendingRemovals = pendingRemovals
        self.decisions = decisions
        self.feed = feed
        sessions = try PageSessions(secret: secret, keyFile: manager.root + "/.pawl/page-key", notice: notice)
    }

    /// Called when the server runs; `address` is the page's URL, `nil` without a port.
    func attach(_ server: WebServer, address: String?) {
        feed.attach(server)
        Task { await feed.run() }
        speeds.wake()
        self.address.withLock { $0 = address }
    }

    /// A one-time login link to the page; `nil` without a port.
    func link() -> String? {
        guard let address = address.withLock({ $0 }) else { return nil }
        return sessions.makeCode().map { "\(address)#code=\($0)" } ?? address
    }

    /// What other clients and browsers need to reach the service; `code` is null where no login is required.
    func access(isLocal: Bool) -> JSON {
        [
            "secret": clientSecret.map { .string($0) } ?? .null,
            "code": sessions.makeCode().map { .string($0) } ?? .null, "isLocal": .bool(isLocal),
        ]
    }

    func note(_ event: DownloadEvent) {
        decisions.note(event)
        switch event.kind {
        case .missed: feed.startOver()
        case .queueChanged: feed.wake()
        case .state, .started, .notice, .retry, .finished, .failed, .added, .changed: feed.touch(event.id)
        }
        speeds.wake()
    }

    /// Completes pending removals, and ends the updates of all pages.
    func close() async {
        await pendingRemovals.completeAll()
        feed.end()
        speeds.end()
    }

    /// Whether a WebSocket or a file may be opened.
    func isKnown(_ request: WebRequest) -> Bool { sessions.isKnown(request) }

    func respond(to request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        switch (request.method, request.path) {
        case (.post, "/login"): reply(login(request))
        case (.post, "/logout"): reply(logout(request))
        case (.post, "/pair"): reply(pair(request))
        // A browser cannot read why its WebSocket was refused: it requests the reason here.
        case (.get, "/session"):
            let word = isKnown(request) ? "known" : "unauthorized"
            reply(WebResponse(200, contentType: "text/plain", body: .bytes(Array(word.utf8))))
        case (.get, _) where request.path.hasPrefix("/files/"), (.head, _) where request.path.hasPrefix("/files/"):
            file(request, reply: reply)
        case (.get, _), (.head, _):
            guard let asset = assets[request.path] else { return reply(WebResponse(404, text: "not found")) }
            reply(assets.response(asset, to: request))
        case (.post, _), (.options, _), (.other, _): reply(WebResponse(405, text: "only GET and HEAD are allowed"))
        }
    }

    /// The body is the secret, or a code of `pawl web`.
    private func login(_ request: WebRequest) -> WebResponse {
        // No secret is longer.
        let word = String(decoding: request.body.prefix(SecretFile.longest + 1), as: UTF8.self)
        guard let cookie = sessions.cookie(for: word, request) else {
            if isKnown(request) { return WebResponse(204) }
            var response = WebResponse(401, text: "wrong secret")
            response.delay = .seconds(1)
            return response
        }
        var response = WebResponse(204)
        response.fields = [("set-cookie", cookie), ("cache-control", "no-store")]
        return response
    }

    /// The body is an unused code, the response the secret: for a browser's extension, which calls with it from then on.
    private func pair(_ request: WebRequest) -> WebResponse {
        let word = String(decoding: request.body.prefix(SecretFile.longest + 1), as: UTF8.self)
        guard let clientSecret, sessions.use(word) else {
            var response = WebResponse(401, text: "the link was used before or has expired")
            response.delay = .seconds(1)
            return response
        }
        let result: JSON = ["secret": .string(clientSecret)]
        var response = WebResponse(200, contentType: "application/json", body: .bytes(result.utf8))
        response.fields = [("cache-control", "no-store")]
        return response
    }

    private func logout(_ request: WebRequest) -> WebResponse {
        guard isKnown(request) else { return WebResponse(401) }
        var response = WebResponse(204)
        response.fields = [("set-cookie", sessions.end(request))]
        feed.dismiss()
        return response
    }

    /// `/files/ID`: a finished download's file; `?part=NAME`: a further one of a stream; `?save` makes the browser save it.
    private func file(_ request: WebRequest, reply: @escaping @Sendable (WebResponse) -> Void) {
        guard isKnown(request) else { return reply(WebResponse(401)) }
        let digits = request.path.dropFirst("/files/".count)
        let part = request.value("part")
        Task {
            guard let id = try? await manager.ids(withPrefix: String(digits), limit: 1).first, id.description == digits,
                let own = (try? await manager.ownFile(of: id, named: part)) ?? nil
            else { return reply(WebResponse(404, text: "no such file")) }
            let type = part == nil ? try? await manager.snapshot(of: id)?.contentType : nil
            reply(PageFile(path: own.path, files: files, file: own.file, claimedType: type).response(to: request))
        }
    }
}
