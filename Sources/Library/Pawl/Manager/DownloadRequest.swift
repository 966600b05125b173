package import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue

/// A request to a ``DownloadManager``.
public struct DownloadRequest: Sendable, Hashable {
    /// An `http`, `https`, `ftp`, `ftps` or `sftp` URL.
    public var source: String
    /// Options: how it is fetched and where it is stored.
    ///
    /// ``DownloadOptions/folder`` is relative to the manager's root and must be inside it.
    public var options = DownloadOptions()
    /// When the download may start.
    ///
    /// Default ``Start/enqueued``.
    public var start = Start.enqueued
    /// The priority; higher starts first.
    ///
    /// Default 0.
    public var priority = 0
    /// The group, see ``DownloadManager/pause(group:)``.
    ///
    /// Default `nil`, none. A name has no line breaks or other control characters.
    public var group: String?
    /// The identifier of a new download; one that is in use is refused.
    ///
    /// Default `nil`: a random one.
    public var id: Download.ID?
    /// Whether to add a second download of a URL that is already in the queue.
    ///
    /// Default `false`: the known one is resumed.
    public var allowsDuplicate = false
    /// The digests of the content's pieces, of a Metalink.
    package var pieces: PieceHashes?
    /// Compare a file that has the download's name with the known digests first: a right one is the result, and of a wrong
    /// one the wrong pieces are fetched, or all of it.
    package var checksExistingFile = false
    /// The only file that it may overwrite, as it was then; `nil` for any.
    package var replaces: FileStamp?

    /// When a new download may start.
    public enum Start: Sendable, Hashable, CaseIterable {
        /// When a slot is free, in queue order.
        case enqueued
        /// Only after it is resumed or started.
        case paused
        /// Immediately; if all slots are taken, the longest-running download is sent back to the queue.
        case now
    }

    /// Creates a request with all defaults.
    public init(_ source: String) { self.source = source }
}

extension DownloadRequest {
    /// A folder relative to the root, without empty parts and dots; throws code 28 if it is not one.
    package static func checkedFolder(_ text: String) throws(PawlError) -> String {
        do throws(Failure) { return try AddOrder.folder(text) } catch { throw PawlError(error) }
    }
}

/// A validated request.
package struct AddOrder: Sendable {
    var record: QueueRecord
    var start: QueueMachine.Start
    var allowsDuplicate: Bool
    /// The caller chose its file name.
    var isNamed: Bool
    var pieces: PieceHashes?

    /// Throws code 28 when a URL or an option is invalid, or a folder is outside the root.
    init(_ request: DownloadRequest, settingsCache: TransferSettingsCache) throws(Failure) {
        // Refuses now what would be refused at the start.
        let job = try Job(source: request.source, options: request.options, settingsCache: settingsCache)
        record = QueueRecord(
            id: QueueID(rawValue: request.id?.rawValue ?? .random(in: 1 ... .max)),
            sources: job.plan.sources.map(\.text), addedAt: UnixTime(seconds: 0))
        var stored = StoredOptions()
        stored.options = request.options
        stored.pieceLength = request.pieces?.length
        stored.checksExistingFile = request.checksExistingFile
        stored.replaced = request.replaces
        try stored.add(job.plan.digests.map(\.checksum))
        pieces = request.pieces
        if stored.options.user == nil, let credentials = job.settings.values.credentials {
            stored.options.user = credentials.user
            stored.options.password = credentials.password
        }
        record.options = stored.text
        record.folder = try Self.folder(request.options.folder)
        record.priority = request.priority
        record.group = try Self.group(request.group ?? "")
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

    /// Throws code 28 for a name that is not one line: the queue stores names of groups in lines.
    static func group(_ name: String) throws(Failure) -> String {
        guard !FieldText.isSafe(name) else { return name }
        throw Failure(
            .badOption, "cannot use", at: "the group \(Redaction.printable(name))", because: FieldText.message)
    }

    /// Returns a path relative to the root, without `..`.
    static func folder(_ text: String) throws(Failure) -> String {
        let parts = text.pathParts().filter { $0 != "." }
        guard !text.isAbsolutePath, !parts.contains(".."), !text.utf8.contains(0) else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(text)",
                because: LocalizableMessage("folder-outside", "it is not inside the download root"),
                remedy: "use a path relative to the root, without ..")
        }
        guard parts.allSatisfy({ $0.utf8.count <= 255 }) else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(text)",
                because: LocalizableMessage("folder-name-long", "a name in it has more than 255 bytes"),
                remedy: "use shorter names")
        }
        try check(text[...], given: text)
        return parts.joined(separator: "/")
    }

    /// Throws if the folder is the queue's own, where a download could overwrite it.
    static func check(_ place: Substring, given folder: String) throws(Failure) {
        guard place.pathParts().first(where: { $0 != "." }) == ".pawl" else { return }
        throw Failure(
            .badOption, "cannot use", at: "the folder \(folder)",
            because: LocalizableMessage("folder-of-queue", "the queue keeps its own files there"),
            remedy: "use another folder")
    }
}
