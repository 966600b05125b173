import PawlEngine

// Requests that leave nothing on disk.
extension Downloader {
    /// Tests whether a URL works: adds a download into memory of no bytes.
    ///
    /// If it works, the download fails with ``PawlError/Code/tooLarge`` as soon as its response is accepted; with
    /// empty content it finishes. Throws code 28 like ``add(_:options:)``.
    package func probe(_ source: String, options: DownloadOptions) throws(PawlError) -> Download {
        var options = options
        options.checksum = nil
        return try add(source, options: options, hooks: nil) { _ in MemorySink(limit: 0).destination }
    }
}
