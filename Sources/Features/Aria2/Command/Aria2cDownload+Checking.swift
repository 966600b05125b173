import Pawl
package import PawlBase
import PawlIntegrity

// aria2's -V: what is on disk, compared with the digests that are known.
extension Aria2cDownload {
    package enum Finding: Hashable, Sendable {
        case right
        /// The digest of the whole file does not match.
        case wrong
        /// Only these ranges match their digests.
        case pieces(ByteRangeSet)
    }

    /// Whether a digest of the content is known.
    var hasDigest: Bool { entry.pieces != nil || !checksums.isEmpty }

    /// The digests of the whole file: the option's, and those in the fragments of its URLs.
    private var checksums: [Checksum] {
        let stated = entry.addresses.flatMap { text -> [Checksum] in
            guard let address = try? WebAddress.parse(text).address else { return [] }
            return (try? DigestFragment.parse(text, of: address)) ?? []
        }
        return (target.checksum.flatMap(Checksum.list) ?? []) + stated
    }

    /// Reads the file; `progress` as for `FileDigests`.
    func finding(_ path: String, progress: (Int) -> Bool) throws(Failure) -> Finding {
        if let pieces = entry.pieces {
            let file = try FileDigests(path)
            let length = entry.length ?? file.length
            guard pieces.fits(length) else { return .wrong }
            let wrong = try file.wrongPieces(pieces, total: length, progress: progress)
            var right = ByteRangeSet([ByteRange(0, length)])
            for piece in wrong { right.remove(pieces.range(piece, in: length)) }
            guard wrong.isEmpty, file.length == length else { return .pieces(right) }
        }
        let checksums = checksums
        guard !checksums.isEmpty else { return .right }
        let digests = try FileDigests(path).digests(checksums.map(\.algorithm), progress: progress)
        return digests == checksums.map(\.digest) ? .right : .wrong
    }

    /// Downloads only the wrong ranges again; the file stays until the new one is complete and verified.
    mutating func keepRight(of finding: Finding, _ path: String) throws(Failure) {
        target.existingFile = .overwrite
        guard case .pieces(let right) = finding, !right.isEmpty, let name = expectedName, !isDry,
            let length = entry.length
        else { return }
        let part = try Downloader.seed(
            .file(path, done: right, keepsPartial: true), for: entry.addresses[0], name: name, in: folder,
            length: length, replacing: true)
        target.fileName = part.name
        isSeeded = true
    }
}
