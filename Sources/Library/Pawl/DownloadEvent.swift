package import PawlBase

/// An event of a download.
public struct DownloadEvent: Sendable, Codable {
    /// The download.
    public var id: Download.ID
    /// The event.
    public var kind: Kind

    /// Creates an event, for tests of what receives it.
    public init(id: Download.ID, kind: Kind) {
        self.id = id
        self.kind = kind
    }

    /// The kinds of event.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive(warn)
    #endif
    public enum Kind: Sendable, Codable {
        /// The state changed.
        case state(DownloadState)
        /// The response was accepted and data follows: file name, total size (`nil` if unknown), and the
        /// offset at which the file is resumed (0 for a fresh start).
        case started(name: String, total: Int64?, resumedAt: Int64)
        /// A decision worth reporting.
        indirect case notice(DownloadNotice)
        /// An attempt failed; the next one starts after `delay`.
        indirect case retry(PawlError, delay: Duration)
        /// The file is complete and has its final name.
        indirect case finished(DownloadedFile)
        /// The download ended with an error.
        indirect case failed(PawlError)
        /// A manager added it to its queue.
        case added
        /// Its name, URL, priority, group or queue position changed, or its record was deleted.
        case changed
        /// What belongs to no single download of a manager changed: its slots, its rate limit, its timetable or what that allows
        /// now, its paused groups, or the folders of new downloads.
        ///
        /// ``DownloadManager/limits()`` and ``DownloadManager/groups()`` show it. The event's ``DownloadEvent/id`` is 0.
        case queueChanged
        /// The consumer was too slow: this many events were dropped at this point.
        ///
        /// Snapshots still show the current state.
        case missed(Int)
    }
}

/// A finished file.
public struct DownloadedFile: Sendable, Hashable, Codable {
    /// The path, beginning with the folder as it was given.
    public var path: String
    /// Its size in bytes.
    public var length: Int64
    /// Bytes that this process received for it.
    public var received: Int64
    /// The time from start to end in this process.
    public var duration: Duration
    /// `true` if the file existed already and nothing was transferred.
    public var wasThere: Bool
    /// The server's response for the content, with its final URL; `nil` if this process made no request for it.
    public var response: DownloadResponse?
    /// The content, if ``ResponseDecision/intoMemory(maximumSize:)`` kept it in memory: then there is no file, and
    /// ``path`` is empty.
    public var content: [UInt8]?
    /// What its content was verified with; `nil` where nothing verifies it.
    public var verification: FileVerification?
    /// The further files of a stream, such as sound that is apart from the pictures: their paths.
    public var others: [String] = []
    /// Why segments of a stream are left out, a sentence each (``StreamOptions/allowedGaps``).
    public var gaps: [String] = []

    /// Creates a finished file, for tests and previews.
    public init(
        path: String, length: Int64, received: Int64 = 0, duration: Duration = .zero, wasThere: Bool = false,
        response: DownloadResponse? = nil, content: [UInt8]? = nil, verification: FileVerification? = nil
    ) {
        self.path = path
        self.response = response
        self.length = length
        self.received = received
        self.duration = duration
        self.wasThere = wasThere
        self.content = content
        self.verification = verification
    }
}

extension DownloadEvent.Kind {
    /// How the download ended, if this is its end.
    var outcome: Result<DownloadedFile, PawlError>? {
        switch self {
        case .finished(let file): .success(file)
        case .failed(let error): .failure(error)
        case .state, .started, .notice, .retry, .added, .changed, .queueChanged, .missed: nil
        }
    }

    init(_ outcome: Result<DownloadedFile, PawlError>) {
        switch outcome {
        case .success(let file): self = .finished(file)
        case .failure(let error): self = .failed(error)
        }
    }

    /// Whether the download has ended with it, without a copy of how.
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        case .state, .started, .notice, .retry, .added, .changed, .queueChanged, .missed: false
        }
    }
}

/// A decision worth reporting, with its evidence, such as "the server ignored Range and sent the whole file:
/// started over from 0".
public struct DownloadNotice: Sendable, Hashable, CustomStringConvertible {
    /// The same in parts, for translation.
    package let message: LocalizableMessage

    package init(_ message: LocalizableMessage) { self.message = message }

    /// Creates a notice with this sentence, for tests and previews.
    public init(_ description: String) { message = LocalizableMessage(untranslated: description) }

    /// The sentence, in English.
    public var description: String { message.description }
}
