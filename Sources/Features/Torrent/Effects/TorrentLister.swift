package import PawlBase
package import PawlCollections
import PawlDisk

/// Lists the files of a torrent, with the digests of their pieces.
package struct TorrentLister: CollectionLister {
    private let torrent: Torrent
    package let source: String
    private let filter: EntryFilter
    /// Those that are listed.
    private let files: [Int]
    private let content: any TorrentContent
    /// Where the files are to be, or may be.
    private let place: String?

    /// Files whose borders are looked at together.
    private static let portion = 64

    /// Messages say that the torrent is at `source`.
    ///
    /// `files`: those that are listed; `nil` for all.
    package init(
        _ torrent: Torrent, at source: String, _ filter: EntryFilter, of files: Set<Int>? = nil,
        from content: any TorrentContent,
        in folder: String?
    ) {
        self.torrent = torrent
        self.source = source
        self.filter = filter
        self.files = torrent.content.filter { files?.contains($0) ?? true }
        self.content = content
        place = folder
    }

    package func list(into sink: ListingSink) throws(Failure) {
        if let why = torrent.obstacle, sink.isForDownload {
            throw Failure(
                .badOption, "cannot download", at: source, because: .init(stringLiteral: why),
                remedy: "use a client of BitTorrent for it")
        }
        for address in torrent.unusable { sink.tell("\(source): left out \(address), whose protocol is not supported") }
        var entries: [(file: Int, entry: CollectionEntry)] = []
        for file in files {
            do throws(EntryFlaw) {
                let entry = try entry(of: file)
                if filter.takes(entry), filter.maximumDepth ?? .max >= entry.path.utf8.count(where: { $0 == .slash }) {
                    entries.append((file, entry))
                }
            } catch {
                let names = torrent.files[file].names.map { String(decoding: $0, as: UTF8.self) }
                sink.refuse(error.failure(of: "\(source): \(Redaction.printable(names.joined(separator: "/")))"))
            }
        }
        let checks = BorderChecks(
            torrent, at: source, from: sink.isForDownload ? content : nil, in: place.map { TorrentFolder($0) })
        var known: BorderChecks.Found = [:]
        for start in stride(from: 0, to: entries.count, by: Self.portion) {
            guard !sink.isStopped else { return }
            put(Array(entries[start..<min(entries.count, start + Self.portion)]), checks, &known, into: sink)
        }
    }

    private func entry(of file: Int) throws(EntryFlaw) -> CollectionEntry {
        let addresses = torrent.addresses(of: file)
        let path = try torrent.path(of: file)
        var entry = CollectionEntry(
            path: path, address: addresses.first ?? "", size: torrent.files[file].size, isExact: true)
        entry.mirrors = Array(addresses.dropFirst())
        (entry.proof, entry.mayHaveSums) = (.digest, false)
        // The content of an empty file is known.
        if entry.size == 0 {
            entry.checksum = Checksum(algorithm: .sha256, digest: ContentDigest.digest(.sha256, of: [])).text
        }
        return entry
    }

    /// `known`: what was found of pieces that have bytes of files before these.
    private func put(
        _ entries: [(file: Int, entry: CollectionEntry)], _ checks: BorderChecks, _ known: inout BorderChecks.Found,
        into sink: ListingSink
    ) {
        let borders = Set(entries.flatMap { torrent.borders(of: $0.file) })
        known = known.filter { borders.contains($0.key) }
        known.merge(checks.digests(of: borders.filter { known[$0] == nil }.sorted())) { $1 }
        let digests = known.compactMapValues { try? $0.get() }
        sink.put(
            entries.compactMap { file, entry -> CollectionEntry? in
                var entry = entry
                entry.pieces = torrent.pieces(of: file, with: digests)
                guard sink.isForDownload, entry.pieces == nil, entry.checksum == nil else { return entry }
                sink.refuse(refusal(of: entry, torrent.borders(of: file).compactMap { known[$0] }))
                return nil
            })
    }

    /// Why the digests of a file's pieces are not known.
    private func refusal(of entry: CollectionEntry, _ borders: [Result<[Int: [UInt8]], Failure>]) -> Failure {
        for case .failure(var failure) in borders {
            failure.place = "\(entry.path) (\(failure.place))"
            return failure
        }
        return Failure(
            .badOption, "cannot download", at: entry.path, because: "it has more than \(PieceHashes.most) pieces")
    }
}
