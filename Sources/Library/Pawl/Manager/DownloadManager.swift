#if Queue
package import PawlBase
import PawlCore
package import PawlEngine
package import PawlQueue
import PawlStore

/// A queue of downloads that outlives the program.
///
/// ```swift
/// let downloads = try await DownloadManager(root: "Downloads")
/// let download = try await downloads.add("https://example.org/film.mp4")
/// print(try await download.file.path)
/// ```
///
/// A manager owns one folder, the root: it contains the files, and the queue in `.pawl`. All stored paths are
/// relative to the root, which may be moved while no manager is open. Only one process at a time may open it.
///
/// Changes are on disk before the method that made them returns: they survive a kill. A manager that is
/// opened continues from the state of the previous one, however that ended.
///
/// Every method throws ``PawlError/Code/unfinished`` once the manager is shut down, and what the queue's database throws when
/// it cannot be read. A method that changes something also throws while the database cannot be written, such as
/// ``PawlError/Code/diskFull``; one that only asks does not. The methods state their other errors.
public final class DownloadManager: Sendable {
    /// The configuration of a manager; everything has a default.
    public struct Configuration: Sendable {
        /// Simultaneous downloads, at least 1; the rest wait in the queue.
        ///
        /// Default `nil`: the last value of ``DownloadManager/change(maximumConcurrentDownloads:)``, initially 3.
        public var maximumConcurrentDownloads: Int?
        /// Bytes per second for all downloads together, 0 for no limit.
        ///
        /// Default `nil`: the last value of ``DownloadManager/limit(to:)``, initially no limit.
        public var rateLimit: Int64?
        /// Limits by time of day: `08:00-18:00 1M, else none`.
        ///
        /// Entries may name days (`Mon-Fri 08:00-18:00 500K`); the first match applies, in the machine's time
        /// zone. With `pause` as limit no download runs but those that are started with ``DownloadManager/start(now:)``. A limit set by ``DownloadManager/limit(to:)`` applies until the timetable's next change.
        /// Empty for none. Default `nil`: the last value of ``DownloadManager/change(timetable:)``. Opening a
        /// manager throws code 28 when it is invalid.
        public var timetable: String?
        /// Provides another URL of the same content when the server reports that one has expired (401, 403,
        /// 404, 410).
        ///
        /// It receives the download and the URL, which may be a mirror's, and returns `nil` if there is no other; the
        /// download then fails. The new URL takes the place of the expired one. It is called a limited number of times
        /// without progress in between. The new URL is stored and verified like that of
        /// ``DownloadManager/replaceURL(of:with:)``. Default `nil`.
        public var refreshURL: (@Sendable (_ download: Download.ID, _ expired: String) async -> String?)?
        /// Decisions that the program makes itself, for all downloads.
        ///
        /// Default none.
        public var hooks = DownloadHooks()
        /// Closures that receive log entries and measurements.
        ///
        /// Default none.
        public var observers = DownloadObservers()
        /// Threads that transfer data: 1…16; for other numbers the nearest of these.
        ///
        /// Default 1, enough for a fast network.
        public var threads = 1
        /// Whether files of one host may share an HTTP/2 connection.
        ///
        /// Default `false`, as in ``Downloader/Configuration/sharesConnections``.
        public var sharesConnections = false
        /// Whether downloads that waited or ran when the queue was closed continue automatically.
        ///
        /// Default `true`. Otherwise they are paused until they are resumed.
        public var resumesAtStart = true
        /// Whether downloads wait whose disk has no room, or is not there, instead of failing.
        ///
        /// Default `true`. They run again when it has: see ``DownloadState/waitingForDisk``.
        public var waitsForDisk = true
        /// Whether connections to this machine and to private networks are refused.
        ///
        /// Checked after name resolution, for every connection including those to proxies, so neither a name
        /// nor a redirect can bypass it. Such a download fails with ``PawlError/Code/insecure``. Default
        /// `false`.
        public var deniesPrivateAddresses = false
        /// A folder that stores how many connections each host accepts, shared by all programs that use it.
        ///
        /// A host that rejected further connections gets no more than it accepted for a day, or for an hour
        /// after a single rejection; also after a restart. It also stores which roots have had a queue: opening one
        /// that has none now, as when its disk is not mounted, fails with ``PawlError/Code/cannotOpen``, until the folder
        /// `.pawl` is made in it. The folder is created when needed; one that cannot be used is ignored. Default `nil`:
        /// nothing is kept across restarts.
        public var stateFolder: String?
        /// The options of downloads for which none are given.
        ///
        /// Default those of ``DownloadOptions/init()``.
        public var options = DownloadOptions()
        /// What carries the requests.
        ///
        /// Default the network; tests use a stub origin of `PawlTesting`.
        public var transport = DownloadTransport.network
        /// Whether symbolic links in the root that lead out of it are refused.
        package var staysInRoot = false
        /// Whether nothing runs before the owner starts it, while the queue still reports downloads as
        /// waiting.
        package var holdsAtStart = false
        /// Whether responses are stored with the records, without fields that may contain a secret.
        package var keepsResponses = false
        /// Whether an error status ends a download of which nothing is on disk, with the response in the error.
        package var endsWithErrorResponses = false
        /// Judges the certificates of servers.
        package var judge: (@Sendable (Download.ID, CertificateQuestion) async -> CertificateDecision)?
        /// Whether ``DownloadDelegate`` gets what was measured of each request.
        package var isMeasured = false
        /// The form of the name that is used when one is taken.
        package var numbering = FileName.Numbering.parenthesized
        /// Whether a finished file of the same URL and content is the result of a download, instead of another one beside it.
        package var recognizesFinished = true
        /// Whether the queue belongs to a program that has exited, see
        /// ``DownloadManager/init(resumingIn:beside:)``.
        var isGuest = false
        /// The common limit of several managers.
        var commonRate: CommonRate?
        /// The capacity of an event buffer, see ``DownloadManager/events``.
        ///
        /// Default 1000.
        public var eventBuffer = 1000

        /// Creates a configuration with all defaults.
        public init() {}
    }

    /// The root folder, as it was given.
    public let root: String
    package let queue: QueueThread
    private let transport: DownloadTransport
    /// The options of downloads for which none are given, those of ``Configuration/options``.
    public let options: DownloadOptions
    /// The root's identity, by which a manager that opens it again finds that this one is still being closed.
    private let folder: FolderIdentity?
    /// The place in the order in which managers are made.
    private let turn: UInt64
    var thread: WorkMailbox<QueueKeeper> { queue.thread }
    var broadcaster: EventBroadcaster { queue.broadcaster }
    var settingsCache: TransferSettingsCache { queue.settingsCache }

    /// What downloads beside the queue are allowed.
    package var connections: Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.deniesPrivateAddresses = settingsCache.deniesPrivateAddresses
        configuration.transport = transport
        return configuration
    }
    var commonRate: CommonRate { queue.commonRate }

    /// Opens the queue in `root`, which is created if missing, and continues it.
    ///
    /// `delegate` is retained until the manager is shut down. Throws ``PawlError`` when the folder or the
    /// queue cannot be used: another process, or another manager, uses it (code 11), or a newer version of Pawl created it
    /// (code 34), and code 28 for a configuration with an invalid number. If a manager of this process was released without ``shutDown()``, its end is awaited. A damaged queue is moved aside and a new one created; an event of the kind `notice` reports it.
    public convenience init(
        root: String, _ configuration: Configuration = Configuration(), delegate: (any DownloadDelegate)? = nil
    ) async throws(PawlError) {
        let ports: @Sendable (@escaping @Sendable (String) -> Void) -> Ports = {
            Ports.system(
                over: configuration.transport, numbering: configuration.numbering,
                recognizesFinished: configuration.recognizesFinished, notice: $0)
        }
        try await self.init(root: root, configuration, delegate: delegate, ports: ports) { notice in
            Result { () throws(Failure) in
                let known = KnownRoots(in: configuration.stateFolder)
                try known.check(root)
                let queue = try QueueDatabase(at: Self.queue(in: root), asGuest: configuration.isGuest, notice: notice)
                known.note(root)
                return queue
            }
        }
    }

    static func queue(in root: String) -> String { "\(root)/.pawl/queue.db" }

    /// Throws if this is no path; with an empty one, paths in it would be those of the file system's root.
    package static func check(root: String) throws(PawlError) {
        guard root.isEmpty || root.utf8.contains(0) else { return }
        throw PawlError(
            Failure(
                .badOption, "cannot use", at: "the folder '\(root)'",
                because: root.isEmpty ? "its path is empty" : "it contains a NUL byte", remedy: "give another folder"))
    }

    /// Opens a queue with the given ports.
    package init(
        root: String, _ configuration: Configuration = Configuration(), delegate: (any DownloadDelegate)? = nil,
        ports: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> Ports = { Ports.system(notice: $0) },
        store: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> Result<any QueueStore, Failure>
    ) async throws(PawlError) {
        try Self.check(root: root)
        self.root = root
        transport = configuration.transport
        options = configuration.options
        turn = Self.closing.takeTurn()
        while true {
            let count = Self.closing.count
            var opened: QueueThread?
            let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
                opened = QueueThread(root: root, configuration, delegate: delegate, ports: ports, store: store) {
                    continuation.resume(returning: $0)
                }
            }
            guard let opened else { preconditionFailure("a queue was opened without a thread") }
            if case .failure(let failure) = result, failure.code == .alreadyDownloading,
                let folder = FolderIdentity(of: root), await Self.closing.wait(for: folder, before: turn, since: count)
            {
                continue
            }
            queue = opened
            guard case .failure(let failure) = result else {
                folder = FolderIdentity(of: root)
                return
            }
            // There is nothing that `deinit` could close.
            folder = nil
            throw PawlError(failure)
        }
    }

    /// Stops running downloads, as ``shutDown()`` does, without waiting.
    deinit {
        guard let folder else { return }
        let turn = turn
        Self.closing.begin(folder, turn)
        let isHeard = thread.post { $0.shutDown { Self.closing.end(folder, turn) } }
        if !isHeard { Self.closing.end(folder, turn) }
    }

    /// Stops all downloads cleanly, writes pending changes and closes the queue.
    ///
    /// Downloads that ran continue when the queue is opened again. Afterwards every call fails with
    /// ``PawlError/Code/unfinished``.
    public func shutDown() async {
        await withCheckedContinuation { continuation in queue.shutDown { continuation.resume() } }
    }

    /// Events of all downloads from now on.
    ///
    /// Each call returns an independent sequence. Events of one download come in order, and after their
    /// changes were written. The first sequence begins with the notices of opening the queue.
    public var events: DownloadEvents { DownloadEvents(listener: broadcaster.listen()) }

    /// Takes the notices so far that no listener has got, such as that of a damaged queue.
    package func takeNotices() async throws(PawlError) -> [String] {
        try await query { keeper in
            keeper.broadcaster.takeEarly().compactMap {
                if case .notice(let notice) = $0.kind { notice.description } else { nil }
            }
        }
    }

    /// Runs `body`, which changes nothing, on the queue's thread: it works even if the queue cannot be written.
    func query<Value: Sendable>(
        _ body: @escaping @Sendable (QueueKeeper) throws(Failure) -> Value
    ) async throws(PawlError) -> Value {
        try await step(changes: false) { step throws(Failure) in try body(step.keeper) }
    }

    /// Runs commands as one step of the queue, and returns when their changes are written.
    func step<Value: Sendable>(
        changes: Bool = true, _ body: @escaping @Sendable (QueueStep) throws(Failure) -> Value
    ) async throws(PawlError) -> Value {
        let result = try await thread.step(changes: changes, body)
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }
}

extension Failure {
    package static let closed = Failure(
        .unfinished, "cannot use", at: "the queue", because: "its manager was shut down")
}

/// Carries out the requests of handles.
final class ManagerOwner: DownloadOwner {
    private let thread: WorkMailbox<QueueKeeper>

    init(_ thread: WorkMailbox<QueueKeeper>) { self.thread = thread }

    var decidesFailures: Bool { true }

    func resume(_ id: Download.ID) { post(.resume(id)) }
    func pause(_ id: Download.ID) { post(.pause(id)) }

    private func post(_ command: QueueCommand) {
        thread.post { keeper in
            guard !keeper.hasEnded else { return }
            do throws(Failure) { _ = try keeper.carryOut(command) } catch { keeper.note(error) }
        }
    }

    func read(_ id: Download.ID, _ range: ByteRange, known: ByteRange) async -> PartBytes? {
        let run = try? await thread.step(changes: false) { step throws(Failure) in
            step.keeper.runs[QueueID(id)].map { (engine: step.keeper.engine, id: $0.engineID) }
        }.get()
        guard let run else { return nil }
        return await run.engine.read(range, known: known, of: run.id)
    }

    func letGo(_ id: Download.ID) { thread.post { $0.forgetHandle(QueueID(id)) } }

    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {
        let command = QueueCommand.remove(download.id, Removal(keepsFile: keepingFile))
        let result = try await thread.step { step throws(Failure) in try step.perform(command) }
        do throws(Failure) { _ = try result.get() } catch { throw PawlError(error) }
    }
}
#endif
