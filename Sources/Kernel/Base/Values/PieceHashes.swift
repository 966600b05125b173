/// The digests of a file's pieces, all of one length (RFC 5854 §4.2.4), or all but the first one.
package struct PieceHashes: Hashable, Sendable {
    package let algorithm: HashAlgorithm
    /// The length of each piece but the first and the last, in bytes.
    package let length: Int64
    /// The length of the first piece: less than ``length`` where a piece began in what comes before the file.
    package let first: Int64
    /// Whether the last piece has the digest of a whole one, which zeros complete.
    package let isPadded: Bool
    /// All digests, one after another.
    private let digests: [UInt8]

    /// The most pieces that are accepted for one file.
    package static let most = 1 << 20

    /// `nil` unless there is at least one digest, each of the algorithm's length, and lengths of pieces that a file can
    /// have.
    package init?(
        _ algorithm: HashAlgorithm, length: Int64, first: Int64? = nil, isPadded: Bool = false, digests: [[UInt8]]
    ) {
        guard length > 0, length <= ByteRange.longestFile, !digests.isEmpty, digests.count <= PieceHashes.most,
            (1...length).contains(first ?? length), digests.allSatisfy({ $0.count == algorithm.length })
        else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.first = first ?? length
        self.isPadded = isPadded
        self.digests = Array(digests.joined())
    }

    package var count: Int { digests.count / algorithm.length }

    package func digest(_ piece: Int) -> ArraySlice<UInt8> {
        digests[piece * algorithm.length..<(piece + 1) * algorithm.length]
    }

    /// `TYPE LENGTH HEX`: all digests, one after another; the length of the first piece, or `padded`, may stand before `HEX`.
    package var text: String {
        let words = [first == length ? nil : String(first), isPadded ? Self.padded : nil].compactMap(\.self)
        return ([algorithm.rawValue, String(length)] + words + [Hexadecimal.text(digests)]).joined(separator: " ")
    }

    private static let padded = "padded"

    /// Reads ``text``.
    package init?(text: String) {
        var parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard (3...5).contains(parts.count), let algorithm = HashAlgorithm(rawValue: String(Substring(parts[0]))),
            let length = Array(parts[1]).decimalNumber,
            let bytes = Hexadecimal.bytes(String(Substring(parts.removeLast()))),
            bytes.count % algorithm.length == 0
        else { return nil }
        parts.removeFirst(2)
        let isPadded = parts.last?.elementsEqual(Self.padded.utf8) == true
        if isPadded { parts.removeLast() }
        let first = parts.first.map { Array($0).decimalNumber ?? 0 }
        guard parts.count <= 1, first != length else { return nil }
        let starts = stride(from: 0, to: bytes.count, by: algorithm.length)
        self.init(
            algorithm, length: length, first: first, isPadded: isPadded,
            digests: starts.map { Array(bytes[$0..<$0 + algorithm.length]) })
    }

    /// Whether they are the pieces of a file of `total` bytes.
    package func fits(_ total: Int64) -> Bool { total > 0 && piece(at: total - 1) == count - 1 }

    /// The greatest length of a file with these pieces.
    package var longest: Int64 {
        let (product, isTooLong) = length.multipliedReportingOverflow(by: Int64(count - 1))
        let (sum, isLonger) = product.addingReportingOverflow(first)
        return isTooLong || isLonger ? .max : sum
    }

    /// The offset of a piece.
    package func start(of piece: Int) -> Int64 { piece == 0 ? 0 : first + Int64(piece - 1) * length }

    /// The range of a piece in a file of `total` bytes.
    package func range(_ piece: Int, in total: Int64) -> ByteRange {
        ByteRange(start(of: piece), min(total, start(of: piece + 1)))
    }

    /// How many zeros complete a piece of a file of `total` bytes.
    package func padding(of piece: Int, in total: Int64) -> Int64 {
        isPadded ? start(of: piece + 1) - range(piece, in: total).end : 0
    }

    /// The piece with the byte at `offset`.
    package func piece(at offset: Int64) -> Int { offset < first ? 0 : Int((offset - first) / length) + 1 }

    /// The first piece that begins at `offset` or later.
    package func firstPiece(from offset: Int64) -> Int {
        let piece = piece(at: offset)
        return start(of: piece) >= offset ? piece : piece + 1
    }

    /// Why they are not those of content of this length.
    package func otherLength(than length: Int64) -> LocalizableMessage {
        LocalizableMessage(
            "pieces-of-other-length",
            "it has \(length) bytes, and the digests are of \(count) pieces of \(self.length) bytes")
    }
}
