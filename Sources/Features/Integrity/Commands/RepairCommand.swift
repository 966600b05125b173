import Pawl
import PawlBase
import PawlGet
import PawlIntegrity
import PawlJournal
package import PawlTerminal

extension Command {
    package static let repair = Command(
        "repair", "[options] FILE", summary: "replace the damaged parts of a file",
        details: """
            Find the parts of FILE that are wrong and fetch only those, by the pieces of a Metalink or torrent, by the blocks of a zsync \
            control file, or by comparison with the content of a URL, by default the one that --xattr stored with it. FILE stays as it is until a repaired copy is complete \
            and verified, and then replaces it.
            """, operand: .files, taking: RepairOptions.table
    ) { (options, operands) throws(Failure) in
        guard let file = operands.first, operands.count == 1 else {
            throw Failure.usage("repair", "FILE", missing: operands.isEmpty ? "FILE" : nil)
        }
        return try RepairRun(file, options).run()
    }
}

/// One run of `pawl repair`.
struct RepairRun: Sendable {
    private let file: ResolvedPath
    private let given: String
    private let original: FileStamp?
    private let options: RepairOptions
    /// Digests that the repaired file must have.
    private var stored: [Checksum] = []

    init(_ given: String, _ options: RepairOptions) throws(Failure) {
        guard let file = ResolvedPath(given) else {
            throw Failure(.cannotOpen, "cannot open", at: given, because: "there is no such file")
        }
        let kinds = [
            ("--metalink", options.metalink), ("--torrent", options.torrent), ("--zsync", options.get.zsync),
        ].filter { $0.1 != nil }.map(\.0)
        guard kinds.count <= 1 else {
            throw Failure(
                .badOption, "cannot use", at: "\(kinds.joined(separator: " and ")) together",
                because: "each of them describes the file on its own", remedy: "give one of them")
        }
        var options = options
        let origin = OriginAttributes(ofFileAt: Array(file.path.utf8))
        // The repaired file has them, too.
        if origin.url != nil { options.get.download.storesAttributes = true }
        if kinds.isEmpty, options.from.isEmpty {
            guard let url = origin.url else {
                throw Failure(
                    .badOption, "cannot repair", at: given,
                    because: "nothing to repair it by, and no URL is stored with it (--xattr)",
                    remedy: "give --metalink, --torrent, --zsync or --from")
            }
            options.from = [url]
            stored = origin.checksum.map { [$0] } ?? []
        }
        original = try FileDigests(file.path).stamp
        self.file = file
        self.given = given
        self.options = options
    }

    func run() throws(Failure) -> Int32 {
        if let place = options.get.zsync { return try byBlocks(of: place) }
        if let place = options.metalink {
            let metalink = try ReadMaterial.metalink(at: place, of: options.get)
            return try byPieces(of: metalink.file(for: file.path, isOnly: true).map { DescribedFile($0) }, in: place)
        }
        if let place = options.torrent {
            let torrent = try DescribedTorrent(at: place, of: options.get)
            return try byPieces(of: torrent.file(at: file.path, options.get), in: place)
        }
        return try byComparison(with: options.from, checksums: stored, length: nil)
    }

    // MARK: zsync

    private func byBlocks(of place: String) throws(Failure) -> Int32 {
        let control = try ReadMaterial.zsync(at: place, of: options.get)
        if try differing([control.checksum], control.length) == nil { return whole() }
        let sources = try control.sources(at: place, given: options.from)
        return try SeededDownload(
            seed: .blocks(control, files: [file.path] + options.get.seeds), sources: sources, folder: file.folder,
            name: file.name, length: control.length, replaces: true, replaced: original, checksums: [control.checksum],
            described: ReadMaterial.shown(place), options: options.get
        ).run()
    }

    // MARK: Metalink, torrent

    private func byPieces(of entry: DescribedFile?, in place: String) throws(Failure) -> Int32 {
        guard let entry else {
            throw Failure(
                .notFound, "cannot repair", at: given, because: "\(ReadMaterial.shown(place)) does not name it")
        }
        let sources = options.from + entry.sources
        guard !sources.isEmpty else {
            throw Failure(
                .badOption, "cannot repair", at: given, because: "\(ReadMaterial.shown(place)) has no usable URL of it",
                remedy: "give --from")
        }
        let checksums = entry.checksums
        guard let pieces = entry.pieces else {
            if !checksums.isEmpty, let size = entry.size, try differing(checksums, size) == nil { return whole() }
            return try byComparison(with: sources, checksums: checksums, length: entry.size)
        }
        let digests = try FileDigests(file.path)
        let length = try length(of: entry, pieces, digests, sources)
        let wrong = try wrongPieces(of: digests, pieces, length)
        if wrong.isEmpty, digests.length == length {
            guard let other = try differing(checksums, length) else { return whole() }
            throw refused("all of its pieces are right, but it does not have the expected \(other.algorithm.rawValue)")
        }
        var right = ByteRangeSet([ByteRange(0, length)])
        for piece in wrong { right.remove(pieces.range(piece, in: length)) }
        return try SeededDownload(
            seed: .file(file.path, done: right, keepsPartial: true), sources: sources, folder: file.folder,
            name: file.name, length: length, replaces: true, replaced: original, checksums: checksums,
            described: ReadMaterial.shown(place), pieces: pieces, options: options.get
        ).run()
    }

    /// The length of the file that the Metalink describes; where it states none, that of the file if all its pieces are
    /// right, else what a source states.
    private func length(
        of entry: DescribedFile, _ pieces: PieceHashes, _ digests: FileDigests, _ sources: [String]
    ) throws(Failure) -> Int64 {
        if let size = entry.size {
            guard pieces.fits(size) else {
                throw refused(
                    "the description contradicts itself: it states \(size) bytes and \(pieces.count) pieces of \(pieces.length) bytes"
                )
            }
            return size
        }
        if pieces.fits(digests.length), try wrongPieces(of: digests, pieces, digests.length).isEmpty {
            return digests.length
        }
        let total = try statedLength(by: sources, fitting: pieces)
        guard pieces.fits(total) else {
            throw refused(
                "the server has \(total) bytes, and the digests are of \(pieces.count) pieces of \(pieces.length) bytes"
            )
        }
        return total
    }

    /// The first length that the pieces fit, or else the last one; all is received from a server that states none.
    private func statedLength(by sources: [String], fitting pieces: PieceHashes) throws(Failure) -> Int64 {
        let download = try options.get.transferOptions()
        var last: Result<Int64, Failure>?
        for source in sources {
            do throws(Failure) {
                let total = try length(at: source, download)
                if pieces.fits(total) { return total }
                last = .success(total)
            } catch { last = last ?? .failure(error) }
        }
        guard let last else { preconditionFailure("a repair has sources") }
        return try last.get()
    }

    private func length(at source: String, _ download: DownloadOptions) throws(Failure) -> Int64 {
        switch RemoteLook.look(at: source, download, of: options.get) {
        case .success(let found):
            if let total = found.total { return total }
            return try compared(source, download).length
        case .failure(let error): throw error.failure
        }
    }

    /// The wrong pieces, shown while they are looked for.
    private func wrongPieces(of digests: FileDigests, _ pieces: PieceHashes, _ length: Int64) throws(Failure) -> [Int] {
        var display = ProgressDisplay(isShown: !options.get.isJSON && !options.get.isQuiet)
        var done: Int64 = 0
        let wrong = try digests.wrongPieces(pieces, total: length) { count in
            done += Int64(count)
            display.show(file.name, done, of: length, status: "verifying")
            return true
        }
        display.end()
        return wrong
    }

    // MARK: comparison

    /// Compares all of the content with the file, then fetches what differs.
    private func byComparison(with sources: [String], checksums: [Checksum], length: Int64?) throws(Failure) -> Int32 {
        var download = try options.get.transferOptions()
        download.mirrors = Array(sources.dropFirst())
        download.expectedLength = length
        let found = try compared(sources[0], download)
        let fileLength = try FileDigests(file.path).length
        if let why = found.refusal(forFile: file.name, of: fileLength, hasChecksum: !checksums.isEmpty) {
            throw Failure(
                .cannotResume, "cannot repair", at: given, because: why,
                remedy: "the file is unchanged; check the URL, or download it under another name")
        }
        if found.equal.contains(ByteRange(0, found.length)), fileLength == found.length {
            guard let other = try differing(checksums, found.length) else { return whole() }
            throw refused(
                "the server has the same bytes, and they do not have the expected \(other.algorithm.rawValue)")
        }
        return try SeededDownload(
            seed: .file(file.path, done: found.equal, keepsPartial: false), sources: sources, folder: file.folder,
            name: file.name, length: found.length, replaces: true, replaced: original, checksums: checksums,
            described: (options.metalink ?? options.torrent).map(ReadMaterial.shown) ?? "",
            representation: found.representation,
            options: options.get
        ).run()
    }

    private func compared(_ source: String, _ download: DownloadOptions) throws(Failure) -> ContentComparison {
        let downloader = Downloader(options.get.connections)
        defer { downloader.shutDownAndWait() }
        do throws(PawlError) { return try downloader.compare(source, with: file.path, options: download) } catch {
            throw error.failure
        }
    }

    // MARK: reports

    private func refused(_ why: String) -> Failure {
        Failure(.checksumMismatch, "cannot repair", at: given, because: why)
    }

    /// The first of the file's digests that it does not have, or that it cannot have with its length.
    private func differing(_ checksums: [Checksum], _ length: Int64) throws(Failure) -> Checksum? {
        guard let first = checksums.first else { return nil }
        let digests = try FileDigests(file.path)
        guard digests.length == length else { return first }
        var display = ProgressDisplay(isShown: !options.get.isJSON && !options.get.isQuiet)
        var done: Int64 = 0
        let found = try digests.digests(checksums.map(\.algorithm)) { count in
            done += Int64(count)
            display.show(file.name, done, of: length, status: "verifying")
            return true
        }
        display.end()
        return zip(checksums, found).first { $0.digest != $1 }?.0
    }

    private func whole() -> Int32 {
        Downloader.tidy(file.name, in: file.folder)
        if options.get.isJSON {
            var object = JSONObject()
            object.set("event", "whole")
            object.set("path", given)
            say(object.line + "\n")
        } else if !options.get.isQuiet {
            say(TerminalText.harmless("\(given): nothing to repair") + "\n")
        }
        return 0
    }
}
