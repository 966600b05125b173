package import PawlCore
import PawlDisk

/// The digests of one finished file.
///
/// `wrongPieces` and `digests` compute on the calling thread; `progress` gets the number of bytes read since its last call.
package struct FileDigests: Sendable {
    private let hashing: FileHashing
    /// The file's length in bytes.
    package var length: Int64 { hashing.length }

    /// The file when it was opened.
    package var stamp: FileStamp? { hashing.stamp }

    /// Opens the file; links are followed.
    package init(_ path: String) throws(Failure) { try self.init(Array(path.utf8)) }

    /// The path's bytes need not be UTF-8.
    package init(_ path: [UInt8]) throws(Failure) { hashing = try FileHashing(path) }

    /// The digests in the order of `algorithms`; each byte is read once.
    package func digests(
        _ algorithms: [HashAlgorithm],
        progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> [[UInt8]] {
        try hashing.digests(algorithms) { count in
            progress(count)
            return true
        } ?? []
    }

    /// The pieces that are wrong or missing in this file, in order.
    ///
    /// aria2's `--check-integrity` of a download with pieces is the same question; the bytes of its good pieces are its
    /// `verifiedLength`.
    package func wrongPieces(
        _ pieces: PieceHashes,
        progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> [Int] {
        try wrongPieces(pieces, total: length, progress: progress)
    }

    /// The same for content of another length than the file's.
    package func wrongPieces(
        _ pieces: PieceHashes,
        total: Int64,
        progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> [Int] {
        try hashing.wrongPieces(pieces, total: total) { count in
            progress(count)
            return true
        } ?? []
    }
}
