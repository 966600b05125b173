import PawlCore
import PawlEngine

/// What a ``DownloadManager`` is asked to download.
public struct DownloadRequest: Sendable, Hashable {
    /// An `http`, `https`, `ftp`, `ftps` or `sftp` URL.
    public var source: String
    /// How it is fetched and where it goes.
    ///
    /// ``DownloadOptions/folder`` is relative to the manager's root and stays in it.
    public var options = DownloadOptions()
    /// When it may run.
    ///
    /// Default ``Start/enqueued``.
    public var start = Start.enqueued
    /// Greater runs earlier.
    ///
    /// Default 0.
    public var priority = 0
    /// The group that it belongs to, see ``DownloadManager/pause(group:)``.
    ///
    /// Default `nil`, none.
    public var group: String?
    /// The name that a new download gets; one that is taken is refused.
    ///
    /// Default `nil`: one is chosen at random.
    public var id: Download.ID?
    /// Whether a second download of an address that the queue knows already is wanted.
    ///
    /// Default `false`: the known one goes on.
    public var allowsDuplicate = false

    /// When a new download may run.
    public enum Start: Sendable, Hashable, CaseIterable {
        /// When a slot is free and its turn has come.
        case enqueued
        /// Not before it is resumed or started.
        case paused
        /// At once; when all slots are taken, the oldest running download makes room.
        case now
    }

    /// A request with every default.
    public init(_ source: String) { self.source = source }
}

/// A request that was understood.
struct AddOrder: Sendable {
    var record: QueueRecord
    var start: QueueMachine.Start
    var allowsDuplicate: Bool
    /// Its name was asked for.
    var isNamed: Bool

    /// Throws code 28 when an address or an option cannot be understood, or a folder leaves the root.
    init(_ request: DownloadRequest, settingsCache: TransferSettingsCache) throws(Failure) {
        // Everything is refused now that would be refused when its turn comes.
        let job = try Job(source: request.source, options: request.options, settingsCache: settingsCache)
        record = QueueRecord(
            id: QueueID(rawValue: request.id?.rawValue ?? .random(in: 1 ... .max)),
            sources: job.plan.sources.map(\.text),
            addedAt: UnixTime(seconds: 0)
        )
        var stored = StoredOptions()
        stored.options = request.options
        if stored.options.user == nil, let credentials = job.settings.values.credentials {
            stored.options.user = credentials.user
            stored.options.password = credentials.password
        }
        record.options = stored.text
        record.folder = try Self.folder(request.options.folder)
        record.priority = request.priority
        record.group = request.group ?? ""
        record.taskDescription = request.options.taskDescription
        allowsDuplicate = request.allowsDuplicate
        isNamed = request.id != nil
        start =
            switch request.start {
            case .enqueued: .enqueued
            case .paused: .paused
            case .now: .now
            }
    }

    /// Relative to the root and without steps out of it.
    static func folder(_ text: String) throws(Failure) -> String {
        let parts = text.split(separator: "/").filter { $0 != "." }
        guard !text.hasPrefix("/"), !parts.contains(".."), !text.utf8.contains(0) else {
            throw Failure(
                .badOption,
                "cannot take",
                at: "the folder \(text)",
                because: "it is not inside the download root",
                remedy: "give a path relative to the root, without .."
            )
        }
        try check(text[...], given: text)
        return parts.joined(separator: "/")
    }

    /// Throws when the place is the queue's own, where a download could write over it.
    static func check(_ place: Substring, given folder: String) throws(Failure) {
        guard place.split(separator: "/").first(where: { $0 != "." }) == ".pawl" else { return }
        throw Failure(
            .badOption,
            "cannot take",
            at: "the folder \(folder)",
            because: "the queue keeps its own files there",
            remedy: "give another folder"
        )
    }
}
