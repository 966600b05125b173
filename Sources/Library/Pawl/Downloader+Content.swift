import PawlBase
import PawlCore
import PawlDisk
import PawlEngine

extension Downloader {
    /// Downloads small content into memory, off the caller's thread.
    ///
    /// As ``content(from:maximumSize:options:hooks:)``, the bytes alone.
    public func data(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) async throws -> [UInt8] {
        try await content(from: source, maximumSize: maximumSize, options: options, hooks: hooks).bytes
    }

    /// Downloads small content into memory, with the response that it came by, off the caller's thread.
    ///
    /// Content of more than `maximumSize` bytes fails with ``PawlError/Code/tooLarge`` as soon as that is
    /// known; no more than that is kept. Retries and redirects work as for files. Options that name a place
    /// on disk are ignored. The content is verified as a file is, and returned only if no digest is wrong
    /// (``PawlError/Code/checksumMismatch``). Throws ``PawlError``; cancelling the task that waits stops the
    /// transfer and throws `CancellationError`.
    public func content(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) async throws -> DownloadedContent {
        let memory = MemorySink(limit: Int64(maximumSize), digests: ContentDigest.digests)
        let download = try add(source, options: options ?? self.options, hooks: hooks) { _ in memory.destination }
        download.resume()
        guard let end = await download.ending else {
            scheduler.remove(DownloadID(rawValue: download.id.rawValue))
            throw CancellationError()
        }
        return DownloadedContent(memory.bytes, of: try end.get())
    }

    /// Downloads a file and returns it when it is complete.
    ///
    /// `path` is the file's path, relative to ``DownloadOptions/folder`` unless it begins with `/`; `nil` takes
    /// the folder and the name of `options`. If there is another file, ``DownloadOptions/existingFile`` decides; by
    /// default the new one gets a name such as `NAME (1)`, which ``DownloadedFile/path`` has.
    ///
    /// `progress` is called with snapshots, one after the other: about ten times a second, and fewer while it is slow; the
    /// last one shows the end.
    ///
    /// Throws ``PawlError``; cancelling the task that waits stops the transfer, keeps what was received for a later
    /// run, and throws `CancellationError` once it is on disk. A file that is complete by then is returned.
    public func download(
        _ source: String, to path: String? = nil, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil,
        progress: (@Sendable (DownloadSnapshot) -> Void)? = nil
    ) async throws -> DownloadedFile {
        var options = options ?? self.options
        if let path { try options.place(at: path) }
        let download = try add(source, options: options, hooks: hooks)
        let reporting = progress.map { progress in
            Task { for await snapshot in download.updates { progress(snapshot) } }
        }
        download.resume()
        if let end = await download.ending {
            await reporting?.value
            return try end.get()
        }
        download.pause()
        // A task of its own: in this one every wait ends at once.
        let complete = await Task { await download.fileAtRest() }.value
        reporting?.cancel()
        await reporting?.value
        guard let complete else { throw CancellationError() }
        return complete
    }
}

/// Content that was downloaded into memory.
public struct DownloadedContent: Sendable, Hashable {
    /// The content.
    public var bytes: [UInt8]
    /// The server's response for it, with its final URL; `nil` for FTP and SFTP.
    public var response: DownloadResponse?
    /// What it was verified with; `nil` where nothing verifies it.
    public var verification: FileVerification?

    /// Creates content, for tests and previews.
    public init(bytes: [UInt8], response: DownloadResponse? = nil, verification: FileVerification? = nil) {
        self.bytes = bytes
        self.response = response
        self.verification = verification
    }

    init(_ bytes: [UInt8], of file: DownloadedFile) {
        self.init(bytes: bytes, response: file.response, verification: file.verification)
    }
}
