package import PawlBase
package import PawlJournal
import PawlSystem

/// Digests of finished files, computed on the calling thread.
package struct FileHashing: Sendable {
    /// Called with the number of bytes read since the last call; `false` stops.
    package typealias Progress = (Int) -> Bool

    private let file: RegularFile
    package var length: Int64 { file.length }
    /// The file when it was opened; `nil` for a part file.
    package var stamp: FileStamp? { file.stamp }

    /// Whether it is the file that a download has finished.
    package func presence(of finished: FinishedFile) -> FinishedFile.Presence { file.file.presence(of: finished) }

    /// Opens a regular file; links are followed.
    package init(_ bytes: [UInt8]) throws(Failure) { file = try RegularFile(bytes, to: "cannot check") }

    /// Hashes ranges of a part file.
    init(_ file: OpenFile, path: String) { self.file = RegularFile(file, path: path) }

    /// The digest of one range, which the file has, with `padding` zeros behind it.
    func digest(_ algorithm: HashAlgorithm, of range: ByteRange, padding: Int64) throws(Failure) -> [UInt8] {
        let hash = RunningHash([algorithm])
        _ = try feed(hash, range) { _ in true }
        hash.pad(padding)
        return hash.finish()[0].digest
    }

    /// The file's digests in the order of `algorithms`, each byte read once; `nil` when stopped.
    package func digests(
        _ algorithms: [HashAlgorithm], progress: Progress = { _ in true }
    ) throws(Failure) -> [[UInt8]]? {
        let hash = RunningHash(algorithms)
        let isWhole = try feed(hash, ByteRange(0, length), progress)
        try checkUnchanged()
        return isWhole ? hash.finish().map(\.digest) : nil
    }

    /// The pieces that are wrong or missing in this file, in order; `nil` when stopped.
    ///
    /// Throws code 32 if a file of `total` bytes has another number of pieces.
    package func wrongPieces(
        _ pieces: PieceHashes, total: Int64, progress: Progress = { _ in true }
    ) throws(Failure) -> [Int]? {
        guard pieces.fits(total) else {
            throw Failure(.checksumMismatch, "cannot check", at: file.path, because: pieces.otherLength(than: total))
        }
        var wrong: [Int] = []
        for piece in 0..<pieces.count {
            let range = pieces.range(piece, in: total)
            guard range.end <= length else {
                wrong.append(piece)
                continue
            }
            let hash = RunningHash([pieces.algorithm])
            guard try feed(hash, range, progress) else { return nil }
            hash.pad(pieces.padding(of: piece, in: total))
            if !hash.finish()[0].digest.elementsEqual(pieces.digest(piece)) { wrong.append(piece) }
        }
        try checkUnchanged()
        return wrong
    }

    /// What was read of a file that is being written is no digest of it.
    private func checkUnchanged() throws(Failure) {
        guard let stamp else { return }
        let now: FileStamp
        do throws(SystemError) { now = try file.file.status().stamp } catch {
            throw Failure.system(.inputOutput, "cannot inspect", at: file.path, error)
        }
        guard now == stamp else {
            throw Failure(
                .inputOutput, "cannot check", at: file.path,
                because: LocalizableMessage("changed-while-read", "another program changed it meanwhile"))
        }
    }

    /// Feeds the bytes of `range`; `false` when stopped.
    private func feed(_ hash: RunningHash, _ range: ByteRange, _ progress: Progress) throws(Failure) -> Bool {
        try unsafe file.read(range) { (bytes, _) throws(Failure) in
            unsafe hash.feed(bytes)
            return progress(bytes.count)
        }
    }
}
