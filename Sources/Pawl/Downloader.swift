import PawlCore

/// Downloads files: one or many, over HTTP(S), FTP and SFTP, and continues what an earlier run began.
public final class Downloader: Sendable {
    /// What all downloads of one downloader share.
    public struct Configuration: Sendable {
        /// Downloads that run at once; the rest wait in order. Default 3.
        public var jobs = 3
        /// Bytes per second of all downloads together, `nil` (default) for none.
        public var rateLimit: Int64?

        /// Every default.
        public init() {}
    }

    /// Starts the loop threads. `onEvent` is called on one of them for every event, in order for each download; it
    /// must return quickly.
    public init(_ configuration: Configuration = Configuration(), onEvent: @escaping @Sendable (DownloadEvent) -> Void) {
        fatalError("written next")
    }

    /// Adds a download of `source`; nothing runs before ``Download/resume()``.
    public func add(_ source: String, options: DownloadOptions = DownloadOptions()) throws(PawlError) -> Download {
        fatalError("written next")
    }

    /// Pauses everything and waits until all partials are safely on disk. Afterwards nothing can be added.
    public func shutDown() {
        fatalError("written next")
    }

    /// Changes the limit of all downloads together while they run.
    public func limit(to bytesPerSecond: Int64?) {
        fatalError("written next")
    }
}

/// One download.
public final class Download: Sendable, Identifiable {
    /// Names a download in its ``Downloader``.
    public struct ID: Hashable, Sendable {
        /// Counts up from 1.
        public let rawValue: UInt64
    }

    /// This download's name.
    public let id: ID

    init(id: ID) { self.id = id }

    /// Where it stands.
    public var snapshot: DownloadSnapshot { fatalError("written next") }
    /// Starts it, or lets it go on after a pause.
    public func resume() { fatalError("written next") }
    /// Pauses it; everything received is kept. It is on disk when the state ``DownloadState/paused`` is told.
    public func pause() { fatalError("written next") }
    /// Waits for the end. Throws what ``DownloadEvent/Kind/failed(_:)`` tells; a pause does not end the wait.
    public func file() async throws(PawlError) -> DownloadedFile { fatalError("written next") }
}
