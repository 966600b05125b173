/// The digests of a file's pieces, all of one length but the last (RFC 5854 §4.2.4).
package struct PieceHashes: Hashable, Sendable {
    package let algorithm: HashAlgorithm
    /// The length of each piece but the last, in bytes.
    package let length: Int64
    /// All digests, one after another.
    private let digests: [UInt8]

    /// The most pieces that are accepted for one file.
    package static let most = 1 << 20

    /// `nil` unless there is at least one digest, each of the algorithm's length, and a length of pieces that a file can
    /// have.
    package init?(_ algorithm: HashAlgorithm, length: Int64, digests: [[UInt8]]) {
        guard length > 0, length <= ByteRange.longestFile, !digests.isEmpty, digests.count <= PieceHashes.most,
            digests.allSatisfy({ $0.count == algorithm.length })
        else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.digests = Array(digests.joined())
    }

    package var count: Int { digests.count / algorithm.length }

    package func digest(_ piece: Int) -> ArraySlice<UInt8> {
        digests[piece * algorithm.length..<(piece + 1) * algorithm.length]
    }

    /// `TYPE LENGTH HEX`: all digests, one after another.
    package var text: String { "\(algorithm.rawValue) \(length) \(Hexadecimal.text(digests))" }

    /// Reads `TYPE LENGTH HEX`.
    package init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, let algorithm = HashAlgorithm(rawValue: String(Substring(parts[0]))),
            let length = Array(parts[1]).decimalNumber, let bytes = Hexadecimal.bytes(String(Substring(parts[2]))),
            bytes.count % algorithm.length == 0
        else { return nil }
        let starts = stride(from: 0, to: bytes.count, by: algorithm.length)
        self.init(algorithm, length: length, digests: starts.map { Array(bytes[$0..<$0 + algorithm.length]) })
    }

    /// Whether they are the pieces of a file of `total` bytes.
    package func fits(_ total: Int64) -> Bool { total > 0 && (total - 1) / length == Int64(count - 1) }

    /// The greatest length of a file with these pieces.
    package var longest: Int64 {
        let (product, isTooLong) = length.multipliedReportingOverflow(by: Int64(count))
        return isTooLong ? .max : product
    }

    /// The range of a piece in a file of `total` bytes.
    package func range(_ piece: Int, in total: Int64) -> ByteRange {
        let start = Int64(piece) * length
        return ByteRange(start, min(total, start + length))
    }

    /// Why they are not those of content of this length.
    package func otherLength(than length: Int64) -> LocalizableMessage {
        LocalizableMessage(
            "pieces-of-other-length",
            "it has \(length) bytes, and the digests are of \(count) pieces of \(self.length) bytes")
    }
}
