#if Features
import PawlBase
import PawlEngine
package import PawlTorrent

/// Requests ranges of files as downloads into memory: with their logins, proxies, retries and limits.
final class DownloadedParts: TorrentContent {
    private let downloader: Downloader
    private let options: DownloadOptions

    /// `options`: those of the files; what is for one file only is not used.
    init(_ options: DownloadOptions, _ configuration: Downloader.Configuration) {
        var configuration = configuration
        (configuration.adaptsConcurrentDownloads, configuration.threads) = (false, 1)
        configuration.sharesConnections = true
        configuration.reportsEveryState = false
        downloader = Downloader(configuration)
        var own = options.unverified()
        (own.fileName, own.expectedLength, own.existingFile) = (nil, nil, .rename)
        (own.storesAttributes, own.connections, own.naming) = (false, 1, .server)
        self.options = own
    }

    func bytes(of addresses: [String], _ range: ByteRange, in length: Int64) throws(Failure) -> [UInt8] {
        var own = options
        own.mirrors = Array(addresses.dropFirst())
        let isWhole = range.count == length
        if !isWhole { own.range = "\(range.start)-\(range.end - 1)" }
        do throws(Failure) { return try bytes(of: addresses[0], own, limit: range.count) } catch
            where error.code == .badResponse && !isWhole && length <= Self.longestWhole
        {
            // A server without ranges: no other request has these bytes.
            own.range = nil
            let all = try bytes(of: addresses[0], own, limit: length)
            return Array(all[min(Int(range.start), all.count)..<min(Int(range.end), all.count)])
        }
    }

    /// So many bytes of a server without ranges are held in memory at most.
    private static let longestWhole: Int64 = 64 << 20

    private func bytes(of address: String, _ options: DownloadOptions, limit: Int64) throws(Failure) -> [UInt8] {
        let memory = MemorySink(limit: limit)
        do throws(PawlError) {
            let download = try downloader.add(address, options: options, hooks: nil) { _ in memory.destination }
            defer { downloader.forget(download) }
            download.resume()
            _ = try downloader.wait(for: download)
            return memory.bytes
        } catch { throw error.failure }
    }
}

extension Downloader {
    /// What fetches the bytes that a torrent's pieces have of other files.
    package static func torrentContent(
        _ options: DownloadOptions, _ configuration: Configuration
    ) -> any TorrentContent { DownloadedParts(options, configuration) }

    /// Keeps nothing of a download that has ended.
    func forget(_ download: Download) {
        scheduler.remove(DownloadID(rawValue: download.id.rawValue))
        board.removed(download)
    }
}
#endif
