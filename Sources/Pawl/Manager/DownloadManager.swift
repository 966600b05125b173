package import PawlCore
package import PawlEngine
import PawlStore

/// A queue of downloads that outlives the program.
///
/// ```swift
/// let downloads = try await DownloadManager(root: "Downloads")
/// let download = try await downloads.add("https://example.org/film.mp4")
/// print(try await download.file.path)
/// ```
///
/// A manager owns one folder, the root: files go there, and the queue is kept in `.pawl` in it. Everything in it is
/// relative to the root, which may move while no manager is open. One process at a time may have it open.
///
/// What a method has answered is on disk: a program that is killed in the next moment finds it again. A manager that is
/// opened goes on where the last one was, however that ended.
public final class DownloadManager: Sendable {
    /// How a manager works; everything has a default.
    public struct Configuration: Sendable {
        /// Downloads that run at once; the rest wait for their turn.
        ///
        /// Default `nil`: as many as ``DownloadManager/change(slots:)`` said last, 3 at first.
        public var slots: Int?
        /// Bytes per second of all downloads together, 0 for no limit.
        ///
        /// Default `nil`: what ``DownloadManager/limit(to:)`` said last, no limit at first.
        public var rateLimit: Int64?
        /// Limits by time of day instead of one for all of it: `08:00-18:00 1M, else none`.
        ///
        /// Entries may name days (`Mon-Fri 08:00-18:00 500K`); the first that fits holds, in the machine's zone. What
        /// ``DownloadManager/limit(to:)`` sets holds until the timetable's next change. Empty for none. Default `nil`: what
        /// ``DownloadManager/change(timetable:)`` said last. Opening a manager throws code 28 when it cannot be understood.
        public var timetable: String?
        /// Asked for another address of the same content when a server says that one has expired (401, 403, 404, 410).
        ///
        /// It gets the download and the address, and answers `nil` when there is no other; then the download fails. It is
        /// asked a few times at most without progress in between. The new address is kept, and proved like that of
        /// ``DownloadManager/replaceURL(of:with:)``. Default `nil`.
        public var refreshURL: (@Sendable (_ download: Download.ID, _ expired: String) async -> String?)?
        /// Threads that move bytes: 1…16.
        ///
        /// Default 1, which fills a fast line.
        public var threads = 1
        /// Whether files of one host may share an HTTP/2 connection.
        ///
        /// Default `false`, as in ``Downloader/Configuration/sharesConnections``.
        public var sharesConnections = false
        /// Whether what waited or ran when the queue was closed goes on by itself.
        ///
        /// Default `true`. Otherwise it comes back paused, until it is resumed.
        public var resumesAtStart = true
        /// Whether no connection goes to this machine or to a private network.
        ///
        /// Asked after a name was resolved, on every connection, so that neither a name nor a redirect leads there; it holds
        /// for proxies too. Such a download fails with ``PawlError/Code/insecure``. Default `false`.
        public var deniesPrivateAddresses = false
        /// A folder in which it is remembered how many connections hosts bear, for all programs that give the same one.
        ///
        /// A host that turned further connections away is not asked for as many again, for a day, also after a restart.
        /// The folder is made when it is needed; one that cannot be used is as good as none. Default `nil`: nothing is
        /// kept over restarts.
        public var stateFolder: String?
        /// Whether links in the root that lead out of it are not followed.
        package var staysInRoot = false
        /// Whether nothing runs before its owner says so, and the queue goes on saying what waited.
        package var holdsAtStart = false
        /// What servers said with the content is kept with the records, without what may be a secret.
        package var keepsResponses = false
        /// Whether the queue belongs to a program that is gone, see ``DownloadManager/init(goingOnIn:beside:)``.
        var isGuest = false
        /// Where several managers have one limit of all downloads together.
        var commonRate: CommonRate?
        /// Events that are kept for a listener who does not fetch them, see ``DownloadManager/events``.
        ///
        /// Default 1000.
        public var eventBuffer = 1000

        /// Every default.
        public init() {}
    }

    /// The folder that it owns, as it was given.
    public let root: String
    let thread: WorkThread<QueueKeeper>
    let broadcaster: EventBroadcaster
    let settingsCache: TransferSettingsCache
    let commonRate: CommonRate
    private let owner: ManagerOwner

    /// Opens the queue in `root`, which is made when missing, and lets it go on.
    ///
    /// `delegate` is held until the manager is shut down. Throws ``PawlError`` when the folder or the queue cannot be
    /// used: another process has it (code 11), or a newer version of Pawl made it (code 34). A damaged queue is set aside
    /// beside the new one, which an event of the kind `notice` tells.
    public convenience init(
        root: String,
        _ configuration: Configuration = Configuration(),
        delegate: (any DownloadDelegate)? = nil
    ) async throws(PawlError) {
        try await self.init(root: root, configuration, delegate: delegate) { notice in
            Result { () throws(Failure) in
                try QueueDatabase(at: Self.queue(in: root), asGuest: configuration.isGuest, notice: notice)
            }
        }
    }

    static func queue(in root: String) -> String { "\(root)/.pawl/queue.db" }

    /// Opens a queue with effects of the caller's choice.
    package init(
        root: String,
        _ configuration: Configuration = Configuration(),
        delegate: (any DownloadDelegate)? = nil,
        ports: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> Ports = {
            Ports.system(notice: $0)
        },
        store: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> Result<any QueueStore, Failure>
    ) async throws(PawlError) {
        let thread = WorkThread<QueueKeeper>()
        let notice: @Sendable (String) -> Void = { [weak thread] text in
            thread?.post { $0.notice("\(text)") }
        }
        let ports = ports(notice).remembering(in: configuration.stateFolder)
        let dispatcher = DelegateDispatcher(delegate, threads: ports.threads)
        let broadcaster = EventBroadcaster(bufferSize: configuration.eventBuffer, dispatcher: dispatcher)
        let owner = ManagerOwner(thread)
        self.root = root
        settingsCache = TransferSettingsCache(deniesPrivateAddresses: configuration.deniesPrivateAddresses)
        let commonRate = configuration.commonRate ?? CommonRate()
        self.commonRate = commonRate
        self.thread = thread
        self.broadcaster = broadcaster
        self.owner = owner
        let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
            ports.threads.start("pawl-queue") {
                do throws(Failure) {
                    let keeper = QueueKeeper(
                        root: root,
                        configuration: configuration,
                        ports: ports,
                        store: try store(notice).get(),
                        commonRate: commonRate,
                        thread: thread,
                        broadcaster: broadcaster
                    )
                    keeper.owner = owner
                    try keeper.load(configuration)
                    keeper.answers.append { failure in
                        continuation.resume(returning: failure.map { .failure($0) } ?? .success(()))
                    }
                    keeper.settle()
                    thread.run(keeper)
                } catch {
                    dispatcher.close()
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        if case .failure(let failure) = result { throw PawlError(failure) }
    }

    /// What still runs is stopped, as by ``shutDown()``, but nobody waits for it.
    deinit { thread.post { $0.shutDown {} } }

    /// Stops everything in good order, writes what is to be written and lets go of the queue.
    ///
    /// What ran goes on when the queue is opened again. Afterwards every call fails with ``PawlError/Code/unfinished``.
    public func shutDown() async {
        await withCheckedContinuation { continuation in
            let isHeard = thread.post { $0.shutDown { continuation.resume() } }
            if !isHeard { continuation.resume() }
        }
    }

    /// What happens to all downloads from now on.
    ///
    /// Each call begins to listen anew. Events of one download come in order, and after what they tell has been written.
    public var events: DownloadEvents { DownloadEvents(listener: broadcaster.listen()) }

    /// Asks the queue's thread and waits until the answer is written.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (QueueKeeper) throws(Failure) -> Value
    ) async throws(PawlError) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let isHeard = thread.post { keeper in
                guard !keeper.hasEnded else { return continuation.resume(returning: .failure(.closed)) }
                do throws(Failure) {
                    let value = try question(keeper)
                    keeper.answers.append { failure in
                        continuation.resume(returning: failure.map { .failure($0) } ?? .success(value))
                    }
                } catch {
                    keeper.answers.append { _ in continuation.resume(returning: .failure(error)) }
                }
            }
            if !isHeard { continuation.resume(returning: .failure(.closed)) }
        }
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }
}

extension Failure {
    static let closed = Failure(
        .unfinished,
        "cannot ask",
        at: "the queue",
        because: "its manager was shut down"
    )
}

/// Carries out what handles are asked for.
final class ManagerOwner: DownloadOwner {
    private let thread: WorkThread<QueueKeeper>

    init(_ thread: WorkThread<QueueKeeper>) { self.thread = thread }

    func resume(_ id: Download.ID) {
        thread.post { keeper in
            do throws(Failure) { _ = try keeper.resume(QueueID(id)) } catch { keeper.note(error) }
        }
    }

    func pause(_ id: Download.ID) { thread.post { _ = $0.pause(QueueID(id)) } }
    func letGo(_ id: Download.ID) { thread.post { $0.forgetHandle(QueueID(id)) } }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {
        _ = try await thread.remove(download.id, Removal(keepsFile: keepingFile))
    }
}

extension WorkThread<QueueKeeper> {
    /// Answers when nothing of it is left; `false` when there was no such download.
    func remove(_ id: Download.ID, _ wish: Removal) async throws(PawlError) -> Bool {
        let result: Result<Bool, Failure> = await withCheckedContinuation { continuation in
            let isHeard = post { keeper in
                guard !keeper.hasEnded else { return continuation.resume(returning: .failure(.closed)) }
                do throws(Failure) {
                    let id = QueueID(id)
                    guard let record = try keeper.record(id), record.state != .removed || keeper.isLeaving(id)
                    else {
                        return continuation.resume(returning: .success(false))
                    }
                    var removal = wish
                    removal.isFinished = record.state == .finished
                    keeper.remove(record, removal) { continuation.resume(returning: $0.map { true }) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !isHeard { continuation.resume(returning: .failure(.closed)) }
        }
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }
}
