public import Foundation
public import Pawl

extension DownloadRequest {
    /// A request of this address, every option at its default.
    public init(_ url: URL) { self.init(url.text) }
}

extension DownloadManager {
    /// Opens the queue of a folder.
    public convenience init(
        root: URL,
        _ configuration: Configuration = Configuration(),
        delegate: (any DownloadDelegate)? = nil
    ) async throws(PawlError) {
        try await self.init(root: root.text, configuration, delegate: delegate)
    }

    /// Adds a download of that address.
    public func add(
        _ url: URL,
        options: DownloadOptions = DownloadOptions(),
        start: DownloadRequest.Start = .enqueued
    ) async throws(PawlError) -> Download {
        try await add(url.text, options: options, start: start)
    }

    /// The handle of the download of that address; `nil` when the queue knows none.
    public func download(of url: URL) async throws(PawlError) -> Download? {
        try await download(of: url.text)
    }

    /// Where the file of that address is.
    public func location(ofSource url: URL) async throws(PawlError) -> DownloadLocation {
        try await location(ofSource: url.text)
    }

    /// Lets a download go on under another address of the same content.
    @discardableResult
    public func replaceURL(of id: Download.ID, with url: URL) async throws(PawlError) -> Bool {
        try await replaceURL(of: id, with: url.text)
    }

    /// Fetches small content into memory.
    public func data(
        from url: URL,
        maximumSize: Int = 16 << 20,
        options: DownloadOptions = DownloadOptions()
    ) async throws(PawlError) -> Data {
        Data(try await data(from: url.text, maximumSize: maximumSize, options: options))
    }
}

extension Downloader {
    /// Makes a download of that address; nothing runs before it is resumed.
    public func add(_ url: URL, options: DownloadOptions = DownloadOptions()) throws(PawlError) -> Download {
        try add(url.text, options: options)
    }

    /// Fetches small content into memory.
    public func data(
        from url: URL,
        maximumSize: Int = 16 << 20,
        options: DownloadOptions = DownloadOptions()
    ) async throws(PawlError) -> Data {
        Data(try await data(from: url.text, maximumSize: maximumSize, options: options))
    }
}

extension DownloadedFile {
    /// Where the file is.
    public var url: URL { URL(fileURLWithPath: path) }
}

extension ResumeData {
    /// Reads resume data and repairs it; throws code 8 when nothing can be resumed from it.
    public init(_ data: Data) throws(PawlError) { try self.init([UInt8](data)) }

    /// The resume data, as a binary property list.
    public var data: Data { Data(bytes) }
}
