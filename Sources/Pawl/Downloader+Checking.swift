import PawlCore
import PawlEngine

// Requests that leave nothing on disk.
extension Downloader {
    /// Adds a download that ends with ``PawlError/Code/tooLarge`` as soon as a response is accepted: the URL
    /// works.
    ///
    /// Empty content finishes. Throws code 28 like ``add(_:options:)``.
    package func probe(_ source: String, options: DownloadOptions) throws(PawlError) -> Download {
        var options = options
        options.checksum = nil
        options.connections = 1
        options.existingFile = .rename
        return try add(source, options: options, hooks: nil) { _ in MemoryDisk(limit: 0) }
    }
}
