package import PawlBase
import PawlDisk
import PawlJournal
import Synchronization

/// The digests of one finished file.
///
/// `wrongPieces` and `digests` compute on the calling thread; `progress` gets the number of bytes read since its last call,
/// and its result tells whether the digests are still wanted: `false` ends the reading with code 7.
package struct FileDigests: Sendable {
    private let hashing: FileHashing
    /// The file's length in bytes.
    package var length: Int64 { hashing.length }

    /// The file when it was opened.
    package var stamp: FileStamp? { hashing.stamp }

    /// Whether it is the file that a download has finished.
    func presence(of file: FinishedFile) -> FinishedFile.Presence { hashing.presence(of: file) }

    /// Opens the file; links are followed.
    package init(_ path: String) throws(Failure) { try self.init(Array(path.utf8)) }

    /// The path's bytes need not be UTF-8.
    package init(_ path: [UInt8]) throws(Failure) { hashing = try FileHashing(path) }

    /// The digests in the order of `algorithms`; each byte is read once.
    package func digests(
        _ algorithms: [HashAlgorithm], progress: (Int) -> Bool = { _ in true }
    ) throws(Failure) -> [[UInt8]] {
        guard let digests = try hashing.digests(algorithms, progress: progress) else { throw .notWanted }
        return digests
    }

    /// The pieces that are wrong or missing in this file, in order.
    ///
    /// aria2's `--check-integrity` of a download with pieces is the same question; the bytes of its good pieces are its
    /// `verifiedLength`.
    package func wrongPieces(_ pieces: PieceHashes, progress: (Int) -> Bool = { _ in true }) throws(Failure) -> [Int] {
        try wrongPieces(pieces, total: length, progress: progress)
    }

    /// The same for content of another length than the file's.
    package func wrongPieces(
        _ pieces: PieceHashes, total: Int64, progress: (Int) -> Bool = { _ in true }
    ) throws(Failure) -> [Int] {
        guard let wrong = try hashing.wrongPieces(pieces, total: total, progress: progress) else { throw .notWanted }
        return wrong
    }
}

extension Failure {
    fileprivate static let notWanted = Failure(
        .unfinished, "cannot check", at: "the file", because: "the check was stopped")
}

/// A comparison of a file with its digests that runs on a thread of its own.
package final class RunningCheck: Sendable {
    /// The bytes of the file that were read, once for its digests and once for its pieces.
    private let read = Atomic<Int>(0)
    private let isWanted = Atomic(true)
    /// The length of the content, as far as it is known: that of the file where nothing states it.
    package let total: Int64
    /// The file's name.
    package let name: String

    package init(total: Int64, of name: String) { (self.total, self.name) = (total, name) }

    package var count: Int64 { Int64(read.load(ordering: .relaxed)) }

    /// Ends the reading soon.
    package func cancel() { isWanted.store(false, ordering: .relaxed) }

    /// Counts bytes that were read; whether the result is still wanted.
    package func note(_ count: Int) -> Bool {
        read.add(count, ordering: .relaxed)
        return isWanted.load(ordering: .relaxed)
    }
}

/// The SHA-256 digest, for modules that hash something small.
package enum SHA256 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { ContentDigest.digest(.sha256, of: bytes) }
}
