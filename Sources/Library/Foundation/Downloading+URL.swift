public import Foundation
public import Pawl

#if Queue
extension DownloadRequest {
    /// Creates a request for this URL, with all defaults.
    public init(_ url: URL, options: DownloadOptions? = nil) { self.init(url.text, options: options) }
}

extension DownloadManager {
    /// Opens the queue of a folder.
    public convenience init(
        root: URL, _ configuration: Configuration = Configuration(), delegate: (any DownloadDelegate)? = nil
    ) async throws(PawlError) { try await self.init(root: root.text, configuration, delegate: delegate) }

    /// Adds a download of this URL.
    public func add(
        _ url: URL, options: DownloadOptions? = nil, start: DownloadRequest.Start = .enqueued
    ) async throws(PawlError) -> Download { try await add(url.text, options: options, start: start) }

    /// The handle of the download of this URL; `nil` if it is not in the queue.
    public func download(ofURL url: URL) async throws(PawlError) -> Download? {
        try await download(ofURL: url.text)
    }

    /// The location of this URL's file.
    public func location(ofURL url: URL) async throws(PawlError) -> DownloadLocation {
        try await location(ofURL: url.text)
    }

    /// Replaces the URL of a download by another one of the same content.
    @discardableResult public func replaceURL(of id: Download.ID, with url: URL) async throws(PawlError) -> Bool {
        try await replaceURL(of: id, with: url.text)
    }

    /// Downloads small content into memory.
    public func data(
        from url: URL, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil,
        hooks: DownloadHooks? = nil
    ) async throws -> Data {
        Data(try await data(from: url.text, maximumSize: maximumSize, options: options, hooks: hooks))
    }
}
#endif

extension Downloader {
    /// Adds a download of this URL; nothing runs before it is resumed.
    public func add(
        _ url: URL, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> Download { try add(url.text, options: options, hooks: hooks) }

    /// Downloads small content into memory; cancelling the task that waits stops the transfer.
    public func data(
        from url: URL, maximumSize: Int = 16 << 20, options: DownloadOptions? = nil,
        hooks: DownloadHooks? = nil
    ) async throws -> Data {
        Data(try await data(from: url.text, maximumSize: maximumSize, options: options, hooks: hooks))
    }

    /// Downloads a file and returns it when it is complete; cancelling the task that waits stops the transfer
    /// and keeps what was received.
    ///
    /// `file` is the file's URL; `nil` takes the folder and the name of `options`.
    public func download(
        _ url: URL, to file: URL? = nil, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil,
        progress: (@Sendable (DownloadSnapshot) -> Void)? = nil
    ) async throws -> DownloadedFile {
        try await download(url.text, to: file?.path, options: options, hooks: hooks, progress: progress)
    }
}

extension DownloadedFile {
    /// The location of the file.
    public var url: URL { URL(fileURLWithPath: path) }
}

#if Features
extension DownloadResumeData {
    /// Parses resume data and repairs it; throws code 8 when it cannot be used.
    public init(_ data: Data) throws(PawlError) { try self.init([UInt8](data)) }

    /// The resume data, as a binary property list.
    public var data: Data { Data(bytes) }
}
#endif

extension URL {
    /// The form that Pawl accepts: a path for a file, else the whole URL.
    var text: String { isFileURL ? path : absoluteString }
}
