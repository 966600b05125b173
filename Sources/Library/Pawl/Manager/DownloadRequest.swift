#if Queue
package import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue

/// A request to a ``DownloadManager``.
public struct DownloadRequest: Sendable, Hashable {
    /// An `http`, `https`, `ftp`, `ftps`, `sftp` or `s3` URL of one file.
    public var source: String
    /// Options: how it is fetched and where it is stored.
    ///
    /// ``DownloadOptions/folder`` is relative to the manager's root and must be inside it. Where none are given, those of the
    /// manager apply (``DownloadManager/options``); what is set here begins with ``DownloadOptions/init()`` and replaces all
    /// of them. To change some of the manager's, give these: `DownloadRequest(url, options: manager.options)`.
    public var options: DownloadOptions {
        get { given ?? DownloadOptions() }
        set { given = newValue }
    }
    private(set) var given: DownloadOptions?
    /// When the download may start.
    ///
    /// Default ``Start/enqueued``.
    public var start = Start.enqueued
    /// When it starts, in seconds since 1970: until then it is paused.
    ///
    /// Default `nil`: as ``start`` says. Resuming, starting or pausing it ends the wait.
    public var startAt: Int64?
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
    /// Which tracks of the stream are wanted whose playlist (HLS, DASH) the URL is.
    ///
    /// The download is the stream then, one file without holes as with ``Downloader/addStream(_:options:stream:)``. Default
    /// `nil`: what the URL is, also a playlist, is downloaded as a file.
    public var stream: StreamOptions?
    /// Whether a response that is a playlist makes a stream of the download.
    package var detectsStreams = false
    /// The digests of the content's pieces, of a Metalink.
    package var pieces: PieceHashes?
    /// Compare a file that has the download's name with the known digests first: a right one is the result, and of a wrong
    /// one the wrong pieces are fetched, or all of it.
    package var checksExistingFile = false
    /// Whether the caller has chosen the folder: then no rule changes it.
    ///
    /// Default `nil`: any other than that of the manager's options was chosen.
    package var choosesFolder: Bool?
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

    /// Creates a request; `nil` options stand for those of the manager.
    public init(_ source: String, options: DownloadOptions? = nil) {
        self.source = source
        given = options
    }
}

extension DownloadRequest {
    /// Takes a playlist as a stream, by its name or by its response, unless something says that a file is wanted.
    package mutating func takeStreams() {
        guard stream == nil, pieces == nil, !checksExistingFile, replaces == nil, options.checksum == nil,
            options.range == nil, options.expectedLength == nil
        else { return }
        detectsStreams = true
        if Downloader.namesStream(source) { stream = StreamOptions() }
    }

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
    var startAt: Int64?
    /// Without it the folder is a default, and rules may name another.
    var choosesFolder: Bool

    /// Throws code 28 when a URL or an option is invalid, or a folder is outside the root.
    init(
        _ request: DownloadRequest, defaults: DownloadOptions, settingsCache: TransferSettingsCache
    ) throws(Failure) {
        let options = request.given ?? defaults
        // Refuses now what would be refused at the start.
        let job = try Job(source: request.source, options: options, settingsCache: settingsCache)
        record = QueueRecord(
            id: QueueID(rawValue: request.id?.rawValue ?? .random(in: 1 ... .max)),
            sources: job.plan.sources.map(\.text), addedAt: UnixTime(seconds: 0))
        var stored = StoredOptions()
        stored.options = options
        stored.pieceLength = request.pieces?.length
        stored.checksExistingFile = request.checksExistingFile
        stored.replaced = request.replaces
        try request.stream?.check()
        if request.stream?.live != nil {
            throw Failure(
                .badOption, "cannot add", at: job.plan.sources[0].redacted,
                because: "a recording of a running programme cannot wait in a queue")
        }
        (stored.stream, stored.detectsStreams) = (request.stream, request.detectsStreams)
        try stored.add(job.plan.digests.map(\.checksum))
        pieces = request.pieces
        if stored.options.user == nil, let credentials = job.settings.values.credentials {
            stored.options.user = credentials.user
            stored.options.password = credentials.password
        }
        record.options = stored.text
        record.folder = try Self.folder(options.folder)
        record.priority = request.priority
        record.group = try Self.group(request.group ?? "")
        record.taskDescription = options.taskDescription
        allowsDuplicate = request.allowsDuplicate
        isNamed = request.id != nil
        startAt = request.startAt
        choosesFolder = request.choosesFolder ?? !options.folder.hasSameBytes(as: defaults.folder)
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
        guard !parts.contains(where: { $0.unicodeScalars.allSatisfy(\.properties.isWhitespace) }) else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(Redaction.printable(text))",
                because: LocalizableMessage("folder-name-blank", "a name in it is blank"),
                remedy: "give each folder a name that can be seen")
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
#endif
