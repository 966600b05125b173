package import PawlBase
package import PawlJournal
import PawlSystem
import Synchronization

/// A download that is only compared with a file: in order, on one connection; nothing is written.
///
/// The pieces that are compared grow while they agree, from 64 KiB to 1 MiB, so that a difference costs little more than
/// itself and a long agreement few entries.
package final class FileComparison: Sendable {
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

    package var result: ContentComparison { state.withLock { $0 } }

    package var destination: Destination {
        .sink(
            SinkMaker { [self] claim in
                state.withLock { $0.representation = claim.facts.representation }
                return .fresh(
                    ComparingSink(file, of: fileLength, path: path) { [self] equal, length in
                        state.withLock {
                            $0.equal = equal
                            $0.length = length
                        }
                    })
            })
    }
}

private final class ComparingSink: ByteSink {
    private let path: String
    private let file: OpenFile
    private let fileLength: Int64
    private let report: (ByteRangeSet, Int64) -> Void
    private(set) var length: Int64 = 0
    private var equal = ByteRangeSet()
    /// The piece that is being compared: where it began, how long it will be, and whether it agrees so far.
    private var piece = (start: Int64(0), size: ComparingSink.smallest, agrees: true)
    private var tail = ContentTail()
    private static let smallest: Int64 = 64 << 10
    private static let largest: Int64 = 1 << 20

    init(
        _ file: OpenFile, of fileLength: Int64, path: String, report: @escaping (ByteRangeSet, Int64) -> Void
    ) {
        self.file = file
        self.fileLength = fileLength
        self.path = path
        self.report = report
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
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
        let next = piece.agrees ? min(piece.size * 2, ComparingSink.largest) : ComparingSink.smallest
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
        piece = (0, ComparingSink.smallest, true)
    }

    func finish(length: Int64, completion: @escaping @Sendable (Result<String, Failure>) -> Void) {
        endPiece()
        report(equal, length)
        completion(.success(path))
    }

    /// Nothing is left of the bytes; what is downloaded because of the comparison is verified.
    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) { completion(.success([])) }

    func close(keeping facts: JournalFacts?) {}
}

/// A download that ends with its first response: only what the origin states of the content is of interest.
package final class StatedContent: Sendable {
    private let state = Mutex<Representation?>(nil)

    package init() {}

    /// The digests that the response stated of a file with its content; `nil` without an accepted response.
    ///
    /// Those of a coded response may be of either form, and a file may have the other one.
    package var digests: [ExpectedDigest]? {
        state.withLock { $0.map { $0.coding == nil ? $0.digests.map(\.expected) : [] } }
    }

    package var destination: Destination {
        .sink(
            SinkMaker { [self] (claim) throws(Failure) in
                state.withLock { $0 = claim.facts.representation }
                throw Failure(
                    .unfinished, "cannot download", at: claim.name, because: "only its header section was requested")
            })
    }
}
