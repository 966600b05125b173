import Glibc
package import PawlCore
import PawlSystem

/// Digests of finished files, computed on the calling thread.
package struct FileHashing: Sendable {
    /// Called with the number of bytes read since the last call; `false` stops.
    package typealias Progress = (Int) -> Bool

    private let file: OpenFile
    private let path: String
    package let length: Int64
    /// The file when it was opened; `nil` for a part file.
    package let stamp: FileStamp?

    /// Opens a regular file; links are followed.
    package init(_ bytes: [UInt8]) throws(Failure) {
        path = String(decoding: bytes, as: UTF8.self)
        do throws(SystemError) {
            file = try OpenFile(at: bytes)
            let status = try file.status()
            guard status.isRegular else { throw SystemError(number: EINVAL) }
            length = status.length
            stamp = status.stamp
        } catch  where error.number == EINVAL {
            throw Failure(.cannotOpen, "cannot check", at: path, because: "it is not a file")
        } catch {
            throw Failure.system(.cannotOpen, "cannot open", at: path, error)
        }
        _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// Hashes ranges of a part file.
    init(_ file: OpenFile, path: String) {
        self.file = file
        self.path = path
        length = 0
        stamp = nil
    }

    /// The digest of one range, which the file has.
    func digest(_ algorithm: HashAlgorithm, of range: ByteRange) throws(Failure) -> [UInt8] {
        let hash = RunningHash([algorithm])
        _ = try unsafe read(range, progress: { _ in true }, { unsafe hash.feed($0) })
        return hash.finish()[0].digest
    }

    /// The file's digests in the order of `algorithms`, each byte read once; `nil` when stopped.
    package func digests(
        _ algorithms: [HashAlgorithm],
        progress: Progress = { _ in true }
    ) throws(Failure) -> [[UInt8]]? {
        let hash = RunningHash(algorithms)
        let isWhole = try unsafe read(ByteRange(0, length), progress: progress) { unsafe hash.feed($0) }
        try checkUnchanged()
        return isWhole ? hash.finish().map(\.digest) : nil
    }

    /// The pieces that are wrong or missing in this file, in order; `nil` when stopped.
    package func wrongPieces(
        _ pieces: PieceHashes,
        total: Int64,
        progress: Progress = { _ in true }
    ) throws(Failure) -> [Int]? {
        var wrong: [Int] = []
        for piece in 0..<pieces.count {
            let range = pieces.range(piece, in: total)
            guard range.end <= length else {
                wrong.append(piece)
                continue
            }
            let hash = RunningHash([pieces.algorithm])
            guard try unsafe read(range, progress: progress, { unsafe hash.feed($0) }) else { return nil }
            if !hash.finish()[0].digest.elementsEqual(pieces.digest(piece)) { wrong.append(piece) }
        }
        try checkUnchanged()
        return wrong
    }

    /// What was read of a file that is being written is no digest of it.
    private func checkUnchanged() throws(Failure) {
        guard let stamp else { return }
        let now: FileStamp
        do throws(SystemError) { now = try file.status().stamp } catch {
            throw Failure.system(.inputOutput, "cannot inspect", at: path, error)
        }
        guard now == stamp else {
            throw Failure(
                .inputOutput,
                "cannot check",
                at: path,
                because: LocalizableMessage("changed-while-read", "another program changed it meanwhile")
            )
        }
    }

    /// Hands the bytes of `range` over in large parts; `false` when stopped.
    private func read(
        _ range: ByteRange,
        progress: Progress,
        _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(Failure) -> Bool {
        let size = Int(min(max(range.count, 1), FileHashing.part))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        var position = range.start
        while position < range.end {
            let wanted = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(Int64(size), range.end - position))]
            )
            let count: Int
            do throws(SystemError) { count = try unsafe file.read(into: wanted, at: position) } catch {
                throw Failure.system(.inputOutput, "cannot read", at: path, error)
            }
            guard count == wanted.count else {
                throw Failure(.inputOutput, "cannot read", at: path, because: "it became shorter meanwhile")
            }
            unsafe take(UnsafeRawBufferPointer(wanted))
            position += Int64(count)
            guard progress(count) else { return false }
        }
        return true
    }

    private static let part: Int64 = 256 << 10
}
