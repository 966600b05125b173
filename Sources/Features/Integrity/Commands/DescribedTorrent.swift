import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlIntegrity
import PawlTerminal
import PawlTorrent

/// A torrent that describes files which are there.
struct DescribedTorrent: Sendable {
    let torrent: Torrent
    /// Its path or URL.
    let place: String

    init(at place: String, of command: GetOptions) throws(Failure) {
        self.place = place
        let bytes = try ReadMaterial.bytes(at: place, limit: Torrent.longest, of: command)
        do throws(Torrent.Fault) { torrent = try Torrent(bytes) } catch {
            throw Failure(
                .badOption, "cannot use", at: ReadMaterial.shown(place),
                because: .init(stringLiteral: error.words))
        }
    }

    /// Where its files are in a folder; `nil` for what is no folder.
    func files(below place: String) -> [[UInt8]]? {
        let path = PathText.shown(place)
        guard Self.isFolder(path), let first = torrent.content.first else { return nil }
        let outer = TorrentFolder(path)
        let top = (try? torrent.path(of: first))?.pathParts().first.map { "\(path)/\($0)" } ?? path
        let folder = torrent.hasFolder && !Self.isFolder(top) ? TorrentFolder(path, isOwn: true) : outer
        return torrent.content.compactMap { folder.file($0, of: torrent).map { Array($0.utf8) } }
    }

    private static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The files of each last name.
    private var named: [String: [Int]] {
        Dictionary(
            grouping: torrent.content.filter { torrent.files[$0].flaw == nil },
            by: { file in (try? torrent.path(of: file))?.pathParts().last.map(String.init) ?? "" })
    }

    /// The file that a path names: with that path's end, or the only one; `named` is ``named``.
    private func index(
        of path: String, in named: [String: [Int]], isOnly: Bool
    ) -> (file: Int, folder: TorrentFolder?)? {
        let parts = (ResolvedPath(path)?.path ?? path).pathParts().map(String.init)
        var best: (file: Int, shared: Int, folder: TorrentFolder?)?
        for file in parts.last.flatMap({ named[$0] }) ?? [] {
            guard let own = try? torrent.path(of: file).pathParts().map(String.init) else { continue }
            let shared = zip(parts.reversed(), own.reversed()).prefix { $0.hasSameBytes(as: $1) }.count
            // Only the folder of all may have another name.
            guard shared > 0, shared >= own.count - (torrent.hasFolder ? 1 : 0), shared > best?.shared ?? 0 else {
                continue
            }
            let folder = "/" + parts.dropLast(shared).joined(separator: "/")
            best = (file, shared, TorrentFolder(folder, isOwn: shared < own.count))
        }
        if let best { return (best.file, best.folder) }
        guard isOnly, torrent.content.count == 1 else { return nil }
        return (torrent.content[0], nil)
    }

    /// The length and the pieces of files; `nil` for one that it does not name.
    func pieces(ofFilesAt paths: [String]) -> [(size: Int64, pieces: Result<PieceHashes?, Failure>)?] {
        let files = self.named
        let named = paths.map { index(of: $0, in: files, isOnly: paths.count == 1) }
        var borders: [TorrentFolder?: Set<Int>] = [:]
        for case (let file, let folder)? in named { borders[folder, default: []].formUnion(torrent.borders(of: file)) }
        let shown = ReadMaterial.shown(place)
        let known = borders.reduce(into: [TorrentFolder?: BorderChecks.Found]()) { known, group in
            let checks = BorderChecks(torrent, at: shown, from: nil, in: group.key)
            known[group.key] = checks.digests(of: group.value.sorted())
        }
        return named.map { found in
            found.map { (torrent.files[$0.file].size, pieces(of: $0.file, known[$0.folder] ?? [:])) }
        }
    }

    private func pieces(of file: Int, _ known: BorderChecks.Found) -> Result<PieceHashes?, Failure> {
        for border in torrent.borders(of: file) {
            if case .failure(let failure) = known[border] { return .failure(failure) }
        }
        let pieces = torrent.pieces(of: file, with: known.compactMapValues { try? $0.get() })
        guard pieces != nil || torrent.files[file].size == 0 else {
            return .failure(
                Failure(
                    .notFound, "cannot check", at: ReadMaterial.shown(place),
                    because: .init(stringLiteral: torrent.files[file].flaw ?? "it has too many pieces of the file")))
        }
        return .success(pieces)
    }

    /// The file at a path, with the web seeds as sources.
    func file(at path: String, _ command: GetOptions) throws(Failure) -> DescribedFile? {
        guard let (file, folder) = index(of: path, in: named, isOnly: true) else { return nil }
        let content = Downloader.torrentContent(try command.transferOptions(), command.connections)
        let checks = BorderChecks(torrent, at: ReadMaterial.shown(place), from: content, in: folder)
        let pieces = try pieces(of: file, checks.digests(of: torrent.borders(of: file))).get()
        let empty = pieces == nil ? [Checksum(algorithm: .sha256, digest: SHA256.digest([]))] : []
        return DescribedFile(
            size: torrent.files[file].size, checksums: empty, pieces: pieces, sources: torrent.addresses(of: file))
    }
}

/// What a Metalink or a torrent states of a file.
struct DescribedFile: Sendable {
    /// In bytes, if stated.
    var size: Int64?
    /// The best one first.
    var checksums: [Checksum]
    var pieces: PieceHashes?
    /// URLs.
    var sources: [String]
}

extension DescribedFile {
    init(_ file: Metalink.File) {
        self.init(
            size: file.size, checksums: file.checksums, pieces: file.pieces, sources: file.sources.map(\.address.text))
    }
}
