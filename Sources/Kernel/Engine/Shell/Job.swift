package import PawlBase
package import PawlCore
package import PawlJournal

/// Names a download inside one engine.
package struct DownloadID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The parameters of a run of a download.
package struct Job: Sendable {
    package var plan: DownloadPlan
    package var settings: TransferSettings
    package var folder: String
    /// The final name, when the user chose it.
    package var fileName: String?
    /// `fileName` is the name that an earlier run claimed: there may be a part file of another download under it now.
    package var isNameClaimed = false
    /// Earlier addresses of the download: a part file that names one first belongs to it.
    package var formerSources: [String] = []
    package var naming: NamingPolicy
    package var ifExists: IfExists
    /// With `IfExists.overwrite`: the only file that is replaced, as it was then; `nil` for any.
    package private(set) var replaces: ReplacedFile?
    /// This download's own limit in bytes per second.
    package var rateLimit: Int64?
    /// Whether credentials follow redirects to other hosts, but only over connections no less secure.
    package var trustsRedirects = false
    /// Whether it may share an HTTP/2 connection with others.
    package var sharesConnections = false
    /// Who judges the certificates of servers.
    package var judge: CertificateJudge?
    /// Whether its end is reported with what was measured of each request.
    package var isMeasured = false
    package private(set) var destination = Destination.folder
    /// Whether the file of that final name in the folder, or its part file, belongs to another download.
    ///
    /// The part file must not be resumed then, and the file is not the result. Called on a loop's thread.
    package var belongsToAnother: (@Sendable (_ name: String, ClaimedFile) -> Bool)?
    /// Called when all bytes are on disk and before the file gets its name: the queue records the intent.
    ///
    /// The file is moved once the completion handler is called, on any thread.
    package var onPublishing: (@Sendable (Publishing, @escaping @Sendable (Result<Void, Failure>) -> Void) -> Void)?
    /// Requests another address of the content when this one has expired; calls back once, on any thread,
    /// with `nil` when there is none.
    ///
    /// Called on the loop's thread: it must return at once.
    package var refresh: (@Sendable (WebAddress, @escaping @Sendable (WebAddress?) -> Void) -> Void)?

    /// Decides what `plan.hooks` names.
    package var hooks: (any HookResponder)?
    /// Where a checksum is given and a hook wants the content in memory.
    package var memoryDigests: MemoryDigests?
    /// Receives the notices instead of the engine's owner, who knows nothing of the download.
    package var observer: (@Sendable (StatusUpdate, ResponseHead?) -> Void)?
    /// The keys whose signatures count.
    package var signingKeys = SigningKeys()

    package init(plan: DownloadPlan, settings: TransferSettings, folder: String) {
        self.plan = plan
        self.settings = settings
        self.folder = folder
        naming = .server
        ifExists = .rename
    }

    /// Sets the only file that is replaced; unless that is wrong, the content is wanted only if it is not that file's.
    package mutating func replace(_ file: ReplacedFile) {
        replaces = file
        let seconds = file.stamp.modified / 1_000_000_000
        let isWeb = [.http, .https].contains(plan.sources[0].scheme)
        if isWeb, seconds > 0, !file.isWrong { plan.existingTime = UnixTime(seconds: seconds) }
    }

    /// Sets where the bytes go, and with it what the machine may do with them.
    package mutating func deliver(to destination: Destination) {
        self.destination = destination
        guard case .sink(let sink) = destination else { return }
        plan.ramp = .fixed(1)
        plan.isInOrder = true
        plan.keepsPartial = sink.keepsPart
        plan.mayBeginAnew = sink.mayBeginAnew
        plan.pieces = nil
    }
}

/// A file that is about to get its name.
package struct Publishing: Hashable, Sendable {
    package var name: String
    package var length: Int64
    /// The first address when its bytes were complete.
    package var source: String
    /// The server's name for it, where the part file was begun before the first response: the receiver of
    /// this event renames it.
    package var finalName: String?
    /// The part file, which keeps its identity; length and time are not the final ones.
    package var stamp: FileStamp?

    package init(name: String, length: Int64, source: String, finalName: String? = nil, stamp: FileStamp? = nil) {
        (self.name, self.length, self.source) = (name, length, source)
        (self.finalName, self.stamp) = (finalName, stamp)
    }
}

/// A download at one instant, as the shell sees it.
package struct ProgressSample: Hashable, Sendable {
    package var phase = DownloadState.waiting
    package var name: String?
    package var written: Int64 = 0
    package var total: Int64?
    package var received: Int64 = 0
    package var speed: Int64 = 0
    package var smoothed: Int64 = 0
    package var connections = 0
    /// Of what is joined from parts, how many it has, and how many there are.
    package var parts: (done: Int, total: Int)? {
        get { partCounts.map { ($0.done, $0.total) } }
        set { partCounts = newValue.map { PartCounts(done: $0.done, total: $0.total) } }
    }
    private var partCounts: PartCounts?
    private struct PartCounts: Hashable, Sendable { var done, total: Int }
    /// The time until the next attempt, if it waits for one.
    package var retryIn: Interval?
    /// That attempt, and why the last one failed.
    package var retry: PendingRetry?
    /// The host whose limit of connections, or whose Retry-After, it waits for.
    package var waitsForHost: String?
    /// How many connections a host was seen to allow, if that keeps it from opening another one.
    package var hostLimit: (host: String, note: HostNote)? {
        get { limitingHost.flatMap { host in hostNote.map { (host, $0) } } }
        set { (limitingHost, hostNote) = (newValue?.host, newValue?.note) }
    }
    private var limitingHost: String?
    private var hostNote: HostNote?
    package var at = Instant(nanoseconds: 0)

    package init() {}

    /// Whether it waits for its next attempt, which the user may have made at once.
    package var waitsToTry: Bool { retryIn != nil || phase == .waitingForNetwork }
}

/// An event of a download, with the shell's additions to the machine's update.
package struct EngineEvent: Sendable {
    package var id: DownloadID
    package var update: StatusUpdate
    package var name: String
    /// The finished file's path, at the end.
    package var path: String
    /// That file.
    package var stamp: FileStamp?
    package var received: Int64
    package var elapsed: Interval
    /// The first address, with which the content was fetched or compared.
    package var source = ""
    /// The content, at the end of a download that a hook kept in memory.
    package var content: [UInt8]?
    /// The accepted response's head, for that event and the end; for a failure that of the last response, if
    /// no other request was made after it.
    package var head: ResponseHead?
    /// The URL of that response, after redirects.
    package var address: WebAddress?
    /// The whole body of the response that ended the download, see `DownloadPlan.endsWithErrorResponse`.
    package var page: [UInt8]?
    /// The requests of this run, when it stops running, for a measured download.
    package var transfers: [TransferRecord] = []
    /// What the content was verified with, at the end.
    package var verification: VerificationResult?
}

/// One request and its response, for a measured download.
package struct TransferRecord: Sendable {
    package var address: WebAddress
    package var range: RequestedRange
    package var head: ResponseHead?
    package var timing: TransferTiming?
    package var start: Instant
    package var end: Instant
    /// Bytes of the body that were received.
    package var received: Int64 = 0

    package init(address: WebAddress, range: RequestedRange, start: Instant) {
        self.address = address
        self.range = range
        self.start = start
        end = start
    }
}
