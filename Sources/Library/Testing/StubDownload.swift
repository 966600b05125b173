public import Pawl

/// A download that a test moves, for code that shows downloads or waits for them.
///
/// ```swift
/// let stub = StubDownload("https://example.org/film.mp4")
/// let row = Row(stub.download)
/// stub.show { ($0.state, $0.written, $0.total) = (.transferring, 40, 100) }
/// stub.finish(DownloadedFile(path: "film.mp4", length: 100))
/// ```
///
/// Nothing is transferred. What the code does with the handle is seen in its snapshot: paused, running, removed.
public final class StubDownload: Sendable {
    /// The handle.
    public let download: Download

    /// Begins with this snapshot.
    public init(_ snapshot: DownloadSnapshot) { download = Download(showing: snapshot) }

    /// Begins with a waiting download of this URL.
    public convenience init(_ source: String, id: Download.ID = Download.ID(rawValue: 1)) {
        self.init(DownloadSnapshot(id: id, source: source))
    }

    /// Shows another state; `Download.updates` deliver it.
    public func show(_ change: (inout DownloadSnapshot) -> Void) {
        var snapshot = download.snapshot
        change(&snapshot)
        download.show(snapshot)
    }

    /// Ends it: `Download.file` is `file`.
    public func finish(_ file: DownloadedFile) { download.end(.success(file)) }

    /// Ends it: `Download.file` throws `error`.
    public func fail(_ error: PawlError) { download.end(.failure(error)) }
}
