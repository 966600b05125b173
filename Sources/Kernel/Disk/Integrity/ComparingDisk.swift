package import PawlBase
package import PawlJournal
import PawlSystem
import Synchronization

/// The disk of a download that is only compared with a file: in order, on one connection; nothing is written.
///
/// The pieces that are compared grow while they agree, from 64 KiB to 1 MiB, so that a difference costs little more than
/// itself and a long agreement few entries.
package final class ComparingDisk: UnstoredDisk {
    private let path: String
    private let file: OpenFile
    /// The file's length when the comparison began.
    let fileLength: Int64
    private let state = Mutex(ContentComparison())

    package init(with path: String) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            file = try OpenFile(at: path)
            fileLength = try file.status().length
        } catch { throw Failure.system(.cannotOpen, "cannot open", at: path, error) }
    }

    package var comparison: ContentComparison { state.withLock { $0 } }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        state.withLock { $0.representation = claim.facts.representation }
        return .fresh(
            ComparingPartial(file, of: fileLength, path: path, name: claim.name) { [self] equal, length in
                state.withLock {
                    $0.equal = equal
                    $0.length = length
                }
            })
    }
}

private final class ComparingPartial: UnstoredPartial {
    let name: String
    let path: String
    private let file: OpenFile
    private let fileLength: Int64
    private let report: (ByteRangeSet, Int64) -> Void
    private var length: Int64 = 0
    private var equal = ByteRangeSet()
    /// The piece that is being compared: where it began, how long it will be, and whether it agrees so far.
    private var piece = (start: Int64(0), size: ComparingPartial.smallest, agrees: true)
    private var tail = ContentTail()
    private static let smallest: Int64 = 64 << 10
    private static let largest: Int64 = 1 << 20

    init(
        _ file: OpenFile, of fileLength: Int64, path: String, name: String,
        report: @escaping (ByteRangeSet, Int64) -> Void
    ) {
        self.file = file
        self.fileLength = fileLength
        self.path = path
        self.name = name
        self.report = report
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        precondition(offset == length, "one connection is compared in order")
        var start = 0
        while start < bytes.count {
            let left = pieceEnd - length
            let count = Int(min(left, Int64(bytes.count - start)))
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
            if piece.agrees { piece.agrees = try unsafe agrees(part) }
            length += Int64(count)
            start += count
            if length == pieceEnd { endPiece() }
        }
        unsafe tail.append(bytes)
    }

    /// The end of the piece, at most the end of the file, so that the last bytes of a truncated file are
    /// compared too.
    private var pieceEnd: Int64 {
        let end = piece.start + piece.size
        return piece.start < fileLength ? min(end, fileLength) : end
    }

    private func agrees(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        do throws(SystemError) { return try unsafe file.holds(bytes, at: length) } catch {
            throw Failure.system(.inputOutput, "cannot read", at: path, error)
        }
    }

    private func endPiece() {
        if piece.agrees { equal.insert(ByteRange(piece.start, length)) }
        let next = piece.agrees ? min(piece.size * 2, ComparingPartial.largest) : ComparingPartial.smallest
        piece = (length, next, true)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        guard unsafe tail.read(into: buffer, at: offset) else {
            throw Failure(
                .inputOutput, "cannot compare", at: path, because: "the content before it is no longer available")
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        (length, equal, tail) = (0, ByteRangeSet(), ContentTail())
        piece = (0, ComparingPartial.smallest, true)
    }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        endPiece()
        report(equal, length)
        completion(.success(path))
    }

    /// Nothing is left of the bytes; what is downloaded because of the comparison is verified.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) { completion(.success([])) }
}
