/// What most programs want of a downloader: so that code which downloads can be tested with a fake.
///
/// ``Downloader`` has it. A fake returns values of its own (``DownloadedFile/init(path:length:received:duration:wasThere:response:content:verification:)``,
/// ``DownloadedContent``, ``DownloadBody/init(of:chunks:error:)``); the stub origins of the product `PawlTesting` test more: what
/// becomes of a file when servers fail.
///
/// ```swift
/// struct Icons {
///     let downloads: any Downloading
///     func icon(of host: String) async throws -> [UInt8] {
///         try await downloads.data(from: "https://\(host)/favicon.ico", maximumSize: 100_000)
///     }
/// }
/// ```
public protocol Downloading: Sendable {
    /// Downloads a file and returns it when it is complete, see ``Downloader/download(_:to:options:hooks:progress:)``.
    func download(
        _ source: String, to path: String?, options: DownloadOptions?, hooks: DownloadHooks?,
        progress: (@Sendable (DownloadSnapshot) -> Void)?
    ) async throws -> DownloadedFile
    /// Downloads small content into memory, see ``Downloader/content(from:maximumSize:options:hooks:)``.
    func content(
        from source: String, maximumSize: Int, options: DownloadOptions?, hooks: DownloadHooks?
    ) async throws -> DownloadedContent
    /// The bytes of `source` as they arrive, see ``Downloader/body(of:options:hooks:)``.
    func body(of source: String, options: DownloadOptions?, hooks: DownloadHooks?) throws(PawlError) -> DownloadBody
}

extension Downloader: Downloading {}

extension Downloading {
    /// Downloads a file and returns it when it is complete.
    @_disfavoredOverload  // A type's own method has more parameters.
    public func download(
        _ source: String, to path: String? = nil, options: DownloadOptions? = nil
    ) async throws -> DownloadedFile {
        try await download(source, to: path, options: options, hooks: nil, progress: nil)
    }

    /// Downloads small content into memory, with the response that it came by.
    @_disfavoredOverload  // A type's own method has more parameters.
    public func content(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil
    ) async throws -> DownloadedContent {
        try await content(from: source, maximumSize: maximumSize, options: options, hooks: nil)
    }

    /// Downloads small content into memory.
    @_disfavoredOverload  // A type's own method has more parameters.
    public func data(
        from source: String, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil
    ) async throws -> [UInt8] {
        try await content(from: source, maximumSize: maximumSize, options: options, hooks: nil).bytes
    }

    /// The bytes of `source` as they arrive.
    @_disfavoredOverload  // A type's own method has more parameters.
    public func body(of source: String, options: DownloadOptions? = nil) throws(PawlError) -> DownloadBody {
        try body(of: source, options: options, hooks: nil)
    }
}
