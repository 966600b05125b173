package import Pawl
package import PawlBase
import PawlSystem
import PawlWeb
import Synchronization

/// The background service: one download root, its queue, and its clients.
package final class Service: Sendable {
    package let manager: DownloadManager
    /// The listening port; 0 for none.
    package let port: Int
    /// Why a requested port is not open.
    package let portRefusal: String?
    /// What the owner must know, such as that a secret was lost.
    package let notices: [String]
    let server: WebServer
    private let bell: Latch
    private let lines: EventStreams
    private let collections: CollectionQueue
    private let extensions: [any ServiceExtension]
    private let lock: SocketLock
    private let presence: ServicePresence
    private let page: Page
    private let orphanedSessions: OrphanedSessions?

    /// How long hooks may delay the shutdown, counted from its beginning; see ``Heartbeat/grace``.
    private static let patience = Duration.seconds(6)
    private let deadline: Deadline

    /// Ends when all events are delivered.
    private let telling: Task<Void, Never>

    private init(
        _ configuration: ServiceConfiguration, manager: DownloadManager, server: WebServer, bell: Latch,
        lines: EventStreams, collections: CollectionQueue, extensions: [any ServiceExtension], lock: SocketLock,
        presence: ServicePresence, page: Page,
        orphanedSessions: OrphanedSessions?, telling: Task<Void, Never>, deadline: Deadline, notices: [String]
    ) {
        self.deadline = deadline
        self.notices = notices
        portRefusal = configuration.portRefusal
        self.telling = telling
        self.manager = manager
        self.server = server
        self.bell = bell
        self.lines = lines
        self.collections = collections
        self.extensions = extensions
        self.lock = lock
        self.presence = presence
        self.page = page
        self.orphanedSessions = orphanedSessions
        port = server.ports.last ?? 0
    }

    /// Opens the queue and begins to listen.
    ///
    /// Throws code 11 when another process has the download root or the socket file, 28 when an address or an option
    /// cannot be used.
    package static func start(_ configuration: ServiceConfiguration) async throws(Failure) -> Service {
        try configuration.check()
        var configuration = configuration
        configuration.settlePort()
        let lock = try SocketLock(for: configuration.socket)
        let decisions = DecisionLog()
        let manager: DownloadManager
        do throws(PawlError) {
            manager = try await DownloadManager(root: configuration.root, configuration.manager, delegate: decisions)
        } catch { throw error.failure }
        do throws(Failure) { return try await start(configuration, manager, decisions, lock) } catch {
            await manager.shutDown()
            throw error
        }
    }

    private static func start(
        _ configuration: ServiceConfiguration, _ manager: DownloadManager, _ decisions: DecisionLog, _ lock: SocketLock
    ) async throws(Failure) -> Service {
        DownloadCheck.sweep(below: configuration.root)
        var notices = configuration.notices
        do throws(PawlError) { notices += try await manager.takeNotices() } catch { throw error.failure }
        let clientSecret = configuration.asksNoSecret ? nil : try secretText(configuration) { notices.append($0) }
        let secret = clientSecret.flatMap(Secret.init)
        let bell = Latch()
        let login = configuration.login.flatMap(Secret.init)
        let (changes, changed) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1_000))
        let collections = CollectionQueue(
            manager, deniesPrivateAddresses: configuration.manager.deniesPrivateAddresses
        ) { changed.yield($0) }
        let page = try Page(
            manager, collections, secret: secret ?? login, clientSecret: clientSecret, decisions: decisions
        ) { notices.append($0) }
        await configuration.defaults.load(from: manager, log: configuration.log)
        await configuration.atEnd.load(from: manager, log: configuration.log)
        let context = ServiceContext(
            manager: manager, collections: collections, root: configuration.root, defaults: configuration.defaults,
            log: configuration.log
        ) { bell.open() }
        let extensions = configuration.extensions.map { $0(context) }
        do throws(PawlError) { try await collections.begin() } catch { throw error.failure }
        let methods = ServiceMethods(
            extensions.map(\.methods), manager: manager, collections: collections, page: page,
            configuration: configuration,
            portRefusal: configuration.portRefusal, stop: context.stop)
        for each in extensions { await each.begin() }
        let lines = EventStreams(extensions)
        let orphanedSessions = configuration.sessions.map {
            OrphanedSessions(in: $0, beside: manager, log: configuration.log)
        }
        let metrics = Metrics()
        let handler = ServiceHandler(
            dispatcher: RPCDispatcher(methods, secret: secret),
            requestPolicy: configuration.requestPolicy(hasSecret: secret != nil), secret: secret, login: login,
            lines: lines, page: page,
            encodings: extensions.reduce(into: [:]) { $0.merge($1.encodings) { first, _ in first } },
            notifiesOwnMachine: configuration.notifiesOwnMachine,
            metrics: { await metrics.text(manager, $0, orphanedSessions: orphanedSessions) })
        let server = try WebServer.start(
            listeningAt: configuration.addresses, limits: configuration.limits, handler: handler)
        handler.attach(server)
        let presence = ServicePresence(configuration, server, lock)
        methods.attach(presence)
        presence.begin()
        page.attach(server, address: configuration.pageAddress(server))
        orphanedSessions?.begin()
        let deadline = Deadline()
        let isBusy = ((try? await manager.isIdle()) ?? true) == false
        let idle = IdleWatcher(manager, collections, configuration, isBusy: isBusy)
        let telling = await pass(
            on: manager, configuration, to: metrics, lines, collections, page, extensions, idle, until: deadline)
        collections.wake()
        Task {
            for await id in changes {
                lines.send(collection: id, try? await collections.snapshots(of: [id]).first)
                page.feed.touch(collection: id)
                await idle.look()
            }
        }
        return Service(
            configuration, manager: manager, server: server, bell: bell, lines: lines, collections: collections,
            extensions: extensions, lock: lock, presence: presence, page: page, orphanedSessions: orphanedSessions,
            telling: telling, deadline: deadline,
            notices: notices)
    }

    /// Starts to send events to all listeners.
    private static func pass(
        on manager: DownloadManager, _ configuration: ServiceConfiguration, to metrics: Metrics, _ lines: EventStreams,
        _ collections: CollectionQueue, _ page: Page, _ extensions: [any ServiceExtension], _ idle: IdleWatcher,
        until deadline: Deadline
    ) async -> Task<Void, Never> {
        let events = manager.events
        let running = ((try? await manager.running()) ?? []).map(\.id)
        lines.begin(with: running)
        return Task {
            var watcher = EventWatcher(manager, configuration, running: running)
            await watcher.begin()
            for await event in events {
                metrics.note(event)
                for each in extensions { await each.hear(event) }
                lines.send(event)
                collections.note(event)
                page.note(event)
                await watcher.hear(event)
                await idle.hear(event)
            }
            let end = deadline.withLock { $0 ?? .now }
            await watcher.close(by: end)
            await idle.close(by: end)
        }
    }

    private static func secretText(
        _ configuration: ServiceConfiguration, notice: (String) -> Void
    ) throws(Failure) -> String {
        if let given = configuration.secret { return given }
        return try SecretFile.text(at: configuration.root + "/.pawl/secret", notice: notice)
    }

    /// Returns when the service was requested to stop.
    package func waitUntilStopRequested() async { await bell.opened() }

    /// Requests a stop, from any thread.
    package func ask() { bell.open() }

    /// Shuts down cleanly: downloads resume at the next start.
    package func stop() async {
        deadline.withLock { $0 = .now + Service.patience }
        presence.close()
        lines.sendStop()
        await server.stop()
        await page.close()
        for each in extensions { await each.end() }
        await orphanedSessions?.close()
        await collections.close()
        await manager.shutDown()
        await telling.value
        // Last: a process that waits for the lock finds everything written.
        lock.release()
    }
}

/// When a shutdown that has begun must be over.
private final class Deadline: Sendable {
    private let instant = Mutex<ContinuousClock.Instant?>(nil)

    func withLock<Value: Sendable>(_ body: (inout ContinuousClock.Instant?) -> Value) -> Value {
        instant.withLock { instant in body(&instant) }
    }
}
