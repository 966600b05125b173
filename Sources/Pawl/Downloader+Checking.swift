import PawlCore
import PawlEngine

// Requests that leave nothing on disk, and checks of files that are there.
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

    /// Whether the file has the checksum `TYPE=HEX`; `nil` if it cannot be read or the checksum is unknown.
    ///
    /// Blocks the calling thread while the file is read.
    package func verifies(_ path: String, checksum: String) -> Bool? {
        guard let expected = Checksum(text: checksum), let file = try? FileDigests(path),
            let digest = try? file.digests([expected.algorithm]).first
        else { return nil }
        return digest == expected.digest
    }
}
