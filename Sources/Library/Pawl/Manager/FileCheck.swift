#if Queue
package import PawlBase
import PawlCore
import PawlIntegrity
import PawlJournal

/// The result of the comparison of a finished file with its digests.
package struct FileCheck: Sendable, Hashable {
    package struct Comparison: Sendable, Hashable {
        package var expected: FileVerification
        package var isRight: Bool
    }

    package var path: String
    /// The file when it was read.
    var stamp: FileStamp?
    /// The digests of the whole file, strongest evidence first.
    package var digests: [Comparison]
    /// The number of pieces that were compared, and of those that are wrong.
    package var pieceCount: Int
    package var wrongPieces: Int

    package var isRight: Bool { wrongPieces == 0 && digests.allSatisfy(\.isRight) }

    /// The result as a JSON object.
    package var json: [JSON.Member] {
        let compared = digests.map { comparison -> JSON in
            guard case .object(var members) = comparison.expected.json else { return .null }
            members.append(JSON.Member("right", .bool(comparison.isRight)))
            return .object(members)
        }
        return [
            JSON.Member("right", .bool(isRight)), JSON.Member("path", .string(path)),
            JSON.Member("digests", .array(compared)), JSON.Member("pieces", .number(pieceCount)),
            JSON.Member("wrongPieces", .number(wrongPieces)),
        ]
    }
}

/// A finished file and what is known of its content.
struct FileCheckOrder: Sendable {
    var folder: String
    var name: String
    var source: String
    var digests: [FileVerification]
    var pieces: PieceHashes?
    var total: Int64?
    /// The file that the download has finished; `nil` for one that was there before it.
    var finished: FinishedFile?

    var path: String { "\(folder)/\(name)" }

    /// The digests that the caller stated.
    static func given(_ plan: DownloadPlan) -> [FileVerification] {
        plan.given.map { digest in
            FileVerification(
                level: .given, algorithm: digest.checksum.algorithm.rawValue,
                digest: Hexadecimal.text(digest.checksum.digest), source: digest.source)
        }
    }

    /// Reads the file once for its digests and once for its pieces, and says which bytes are in right pieces.
    ///
    /// `progress` as for ``FileDigests``.
    func run(progress: (Int) -> Bool = { _ in true }) throws(Failure) -> (check: FileCheck, right: ByteRangeSet) {
        let file = try FileDigests(path)
        // A damaged one may have another length.
        if let finished, file.presence(of: finished) == .other { throw Failure.notTheFile("cannot check", at: path) }
        let expected = digests.compactMap { digest in Checksum(text: "\(digest.algorithm)=\(digest.digest)") }
        var check = FileCheck(path: path, stamp: file.stamp, digests: [], pieceCount: 0, wrongPieces: 0)
        if !expected.isEmpty {
            let found = try file.digests(expected.map(\.algorithm), progress: progress)
            check.digests = zip(digests, zip(expected, found)).map { digest, pair in
                FileCheck.Comparison(expected: digest, isRight: pair.0.digest == pair.1)
            }
        }
        var right = ByteRangeSet()
        if let pieces {
            // The digests of pieces belong to a file of this length.
            let length = total.flatMap { pieces.fits($0) ? $0 : nil } ?? file.length
            guard pieces.fits(length) else {
                (check.pieceCount, check.wrongPieces) = (pieces.count, pieces.count)
                return (check, right)
            }
            let wrong = try file.wrongPieces(pieces, total: length, progress: progress)
            right = ByteRangeSet([ByteRange(0, length)])
            for piece in wrong { right.remove(pieces.range(piece, in: length)) }
            let isLonger = file.length > length && wrong.isEmpty
            (check.pieceCount, check.wrongPieces) = (pieces.count, isLonger ? 1 : wrong.count)
        }
        return (check, right)
    }

    /// Begins a part file with the right bytes.
    func seed(_ right: ByteRangeSet) throws(Failure) -> Bool {
        guard let pieces, let length = total, pieces.fits(length), !right.isEmpty else { return false }
        let part = try Downloader.seed(
            .file(path, done: right, keepsPartial: true), for: source, name: name, in: folder, length: length,
            replacing: true)
        return part.name.hasSameBytes(as: name)
    }
}
#endif
