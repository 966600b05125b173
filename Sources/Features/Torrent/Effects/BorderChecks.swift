package import PawlBase
import PawlDisk
import PawlSystem

/// Where the files of a torrent are.
package struct TorrentFolder: Hashable, Sendable {
    package var path: String
    /// Whether it is the one that the torrent names, also under another name.
    package var isOwn: Bool

    package init(_ path: String, isOwn: Bool = false) { (self.path, self.isOwn) = (path, isOwn) }

    /// `nil` for a file that cannot be there.
    package func file(_ index: Int, of torrent: Torrent) -> String? {
        guard let path = try? torrent.path(of: index) else { return nil }
        let parts = path.pathParts().dropFirst(isOwn && torrent.hasFolder ? 1 : 0)
        return "\(self.path)/\(parts.joined(separator: "/"))"
    }
}

/// Finds the digests of the bytes that single files have in pieces of several files (BEP 3).
///
/// A piece is read as a whole, from files that are there and from web seeds, and compared with its digest. Once it is right, each
/// file's bytes of it have a digest of their own, so that the file can be downloaded and checked without the others.
package struct BorderChecks: Sendable {
    private let torrent: Torrent
    private let place: String
    private let content: (any TorrentContent)?
    private let folder: TorrentFolder?

    /// Messages say that the torrent is at `place`.
    ///
    /// Without `content` only the files in `folder` are read.
    package init(_ torrent: Torrent, at place: String, from content: (any TorrentContent)?, in folder: TorrentFolder?) {
        self.torrent = torrent
        self.place = place
        self.content = content
        self.folder = folder
    }

    /// Pieces that are read at the same time: they are in memory.
    private var width: Int { Int(max(1, min(8, (64 << 20) / torrent.pieceLength))) }

    /// The digests that files have in pieces, or why they are not known.
    package typealias Found = [Int: Result<[Int: [UInt8]], Failure>]

    /// The digests of several pieces.
    package func digests(of pieces: [Int]) -> Found {
        guard pieces.count > 1 else {
            return Dictionary(uniqueKeysWithValues: pieces.map { ($0, result($0)) })
        }
        let found = Monitor<Found>([:])
        let queue = WorkQueue("pawl-pieces", .onDemand, threads: min(width, pieces.count))
        for piece in pieces {
            queue.submit {
                let result = result(piece)
                found.with { $0[piece] = result }
            }
        }
        return found.wait(until: nil) { $0.count == pieces.count ? $0 : nil } ?? [:]
    }

    private func result(_ number: Int) -> Result<[Int: [UInt8]], Failure> {
        Result { () throws(Failure) in try digests(of: torrent.border(number)) }
    }

    private func digests(of piece: BorderPiece) throws(Failure) -> [Int: [UInt8]] {
        // Files that are there cost no request, and need not be right.
        let hasFiles = piece.parts.contains { $0.file.map { file($0) != nil } ?? false }
        if hasFiles || content == nil {
            if let found = digests(of: piece, try? bytes(of: piece, from: 0, usesFiles: true)) { return found }
        }
        guard let content else { throw unknown(piece) }
        var failure: Failure?
        // One request for all of it.
        for address in torrent.addresses(ofPiece: piece) {
            do throws(Failure) {
                let bytes = try content.bytes(of: [address], ByteRange(0, piece.length), in: piece.length)
                if let found = digests(of: piece, piece.divided(bytes)) { return found }
            } catch { failure = error }
        }
        for seed in torrent.webSeeds.indices {
            do throws(Failure) {
                let bytes = try bytes(of: piece, from: seed, usesFiles: false)
                if let found = digests(of: piece, bytes) { return found }
            } catch { failure = error }
        }
        if let failure { throw failure }
        throw wrong(piece, "the servers have other bytes than the torrent")
    }

    /// The files that are there do not show it.
    private func unknown(_ piece: BorderPiece) -> Failure {
        let files = piece.parts.compactMap(\.file)
        let missing = files.filter { file($0) == nil }
        let names = (missing.isEmpty ? files : missing).compactMap { try? torrent.path(of: $0) }
        return wrong(
            piece,
            missing.isEmpty
                ? "at least one of the files that it has bytes of is damaged: \(Self.list(names))"
                : "it has bytes of a file that is not there with its length: \(Self.list(names))")
    }

    /// A piece may have bytes of thousands of files.
    private static func list(_ names: [String]) -> String {
        let most = 8
        let more = names.count > most ? " and \(names.count - most) more" : ""
        return names.prefix(most).joined(separator: ", ") + more
    }

    private func wrong(_ piece: BorderPiece, _ why: String) -> Failure {
        Failure(
            .checksumMismatch, "cannot check", at: "piece \(piece.number) of \(place)",
            because: .init(stringLiteral: why))
    }

    /// `nil` unless the bytes are those of the piece.
    private func digests(of piece: BorderPiece, _ bytes: [[UInt8]]?) -> [Int: [UInt8]]? {
        guard let bytes else { return nil }
        let whole = RunningHash([.sha1])
        for part in bytes { unsafe part.withUnsafeBytes { unsafe whole.feed($0) } }
        guard whole.finish()[0].digest == piece.digest else { return nil }
        var found: [Int: [UInt8]] = [:]
        for (part, bytes) in zip(piece.parts, bytes) {
            if let file = part.file { found[file] = ContentDigest.digest(.sha1, of: bytes) }
        }
        return found
    }

    /// The bytes of each part, from this seed first.
    private func bytes(of piece: BorderPiece, from seed: Int, usesFiles: Bool) throws(Failure) -> [[UInt8]] {
        let parts = piece.parts
        guard parts.count > 2 else {
            var all: [[UInt8]] = []
            for part in parts { all.append(try bytes(of: part, piece, from: seed, usesFiles)) }
            return all
        }
        // Of thousands of small files, one after another would be a wait for each.
        let found = Monitor<(count: Int, bytes: [[UInt8]], failure: Failure?)>(
            (0, [[UInt8]](repeating: [], count: parts.count), nil))
        let queue = WorkQueue("pawl-parts", .onDemand, threads: min(Self.requests, parts.count))
        for (index, part) in parts.enumerated() {
            queue.submit {
                // What is left after a failure is not requested.
                let result =
                    found.read { $0.failure == nil }
                    ? Result { () throws(Failure) in try bytes(of: part, piece, from: seed, usesFiles) } : .success([])
                found.with { state in
                    state.count += 1
                    switch result {
                    case .success(let bytes): state.bytes[index] = bytes
                    case .failure(let failure): state.failure = state.failure ?? failure
                    }
                }
            }
        }
        let all = found.wait(until: nil) { $0.count == parts.count ? ($0.bytes, $0.failure) : nil }
        if let failure = all?.1 { throw failure }
        return all?.0 ?? []
    }

    /// Of a piece, at the same time.
    private static let requests = 4

    private func bytes(
        of part: BorderPiece.Part, _ piece: BorderPiece, from seed: Int, _ usesFiles: Bool
    ) throws(Failure) -> [UInt8] {
        guard let file = part.file else { return [UInt8](repeating: 0, count: Int(part.range.count)) }
        if usesFiles, let bytes = fileBytes(file, part.range) { return bytes }
        let addresses = torrent.addresses(of: file)
        guard let content, !addresses.isEmpty else { throw wrong(piece, "a file beside it cannot be downloaded") }
        let bytes = try content.bytes(
            of: Array(addresses[seed...] + addresses[..<seed]), part.range, in: torrent.files[file].size)
        guard Int64(bytes.count) == part.range.count else {
            throw wrong(piece, "the server has fewer bytes of \(Redaction.address(addresses[seed]))")
        }
        return bytes
    }

    /// The file if it is there and has its length.
    private func file(_ index: Int) -> RegularFile? {
        guard let path = folder?.file(index, of: torrent),
            let found = try? RegularFile(Array(path.utf8), to: "cannot read"),
            found.length == torrent.files[index].size
        else { return nil }
        return found
    }

    private func fileBytes(_ index: Int, _ range: ByteRange) -> [UInt8]? {
        guard let found = file(index) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(range.count))
        let isWhole = unsafe try? found.read(range) { (part, _) throws(Failure) in
            unsafe bytes.append(contentsOf: part)
            return true
        }
        return isWhole == true ? bytes : nil
    }
}
