#if Features
package import PawlBase
package import PawlCollections
import PawlTorrent

/// The files of a torrent as downloads of their own, for those who have no collections.
package struct TorrentDownloads: Sendable {
    private var torrent: Torrent
    private let place: String

    /// Throws code 28 for what cannot be used; `place`: its path, for messages.
    package init(_ bytes: [UInt8], at place: String) throws(Failure) {
        guard case .torrent(let torrent, _) = try CollectionSource(torrent: bytes, at: place) else {
            preconditionFailure("a torrent is one")
        }
        self.torrent = torrent
        self.place = place
    }

    /// In hexadecimal digits.
    package var infoHash: String { torrent.infoHash }
    package var name: String { PercentCoding.text(torrent.name) }
    package var hasFolder: Bool { torrent.hasFolder }

    /// The first server; empty if there is none.
    package var server: String { torrent.webSeeds.first ?? torrent.pieceServers.first?.text ?? "" }

    /// Why nothing can be downloaded; `nil` if something can.
    package var obstacle: String? { torrent.obstacle }

    /// The paths and lengths of all files; one that cannot be a file has no path.
    package var files: [(path: String?, length: Int64)] {
        torrent.content.map { (try? torrent.path(of: $0), torrent.files[$0].size) }
    }

    /// Servers that have the content, besides those that the torrent names.
    package mutating func add(webSeeds: [String]) { torrent.add(webSeeds: webSeeds) }

    /// The files with these numbers, from 1, or all, with their URLs and the digests of their pieces; blocks its thread, as pieces
    /// of several files are fetched for it.
    ///
    /// What can be no file is left out, which `refused` tells. Throws why another one cannot be downloaded, or if none is left.
    package func entries(
        _ numbers: [ClosedRange<Int>], _ options: DownloadOptions, _ configuration: Downloader.Configuration,
        refused: (Failure) -> Void = { _ in }
    ) throws(Failure) -> [CollectionEntry] {
        let content = torrent.content
        let chosen =
            numbers.isEmpty
            ? content
            : content.indices.filter { index in
                numbers.contains { $0.contains(index + 1) }
            }.map { content[$0] }
        let lister = TorrentLister(
            torrent, at: place, EntryFilter(), of: Set(chosen),
            from: Downloader.torrentContent(options, configuration), in: nil)
        var entries: [CollectionEntry] = []
        var failures: [Failure] = []
        let tally = CollectionRun(lister, into: nil, isForDownload: true).read { event in
            switch event {
            case .entry(let planned): entries.append(planned.entry)
            case .refused(let failure): failures.append(failure)
            case .notice: break
            }
        }
        if let failure = tally.failure ?? failures.first(where: { $0.code != .badOption }) { throw failure }
        if entries.isEmpty, let failure = failures.first { throw failure }
        for failure in failures { refused(failure) }
        return entries
    }
}
#endif
