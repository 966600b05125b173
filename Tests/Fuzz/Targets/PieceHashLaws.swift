@testable import PawlBase
@testable import PawlJournal

/// Digests of pieces as text: bounded, of whole digests, and the same again after writing.
enum PieceHashLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        if input.flag() { return try checkWritten(&input) }
        guard let hashes = PieceHashes(text: String(decoding: input.rest(), as: UTF8.self)) else { return }
        try check(hashes)
    }

    private static func check(_ hashes: PieceHashes) throws(BrokenLaw) {
        try hold(hashes.length > 0 && hashes.length <= ByteRange.longestFile, "pieces of an impossible length")
        try hold((1...PieceHashes.most).contains(hashes.count), "\(hashes.count) pieces")
        for piece in [0, hashes.count - 1] {
            try hold(hashes.digest(piece).count == hashes.algorithm.length, "a digest of another length")
        }
        try hold(PieceHashes(text: hashes.text) == hashes, "\(hashes.text) is read as another one")
        // The last piece of every file that they fit is neither empty nor longer than the others.
        let longest = hashes.longest
        guard longest <= ByteRange.longestFile else { return }
        let last = hashes.count - 1
        for total in [longest, hashes.start(of: last) + 1] {
            try hold(hashes.fits(total), "they do not fit \(total) bytes")
            let range = hashes.range(last, in: total)
            try hold(range.end == total && !range.isEmpty && range.count <= hashes.length, "the last piece is \(range)")
            let padded = range.count + hashes.padding(of: last, in: total)
            try hold(
                !hashes.isPadded || padded == (last == 0 ? hashes.first : hashes.length), "\(padded) bytes are hashed")
            try hold(PieceMap(hashes, total: total) != nil, "no map of \(total) bytes")
        }
        try hold(!hashes.fits(hashes.start(of: last)) && !hashes.fits(longest + 1), "they fit another length")
        for piece in [0, last / 2, last] {
            let start = hashes.start(of: piece)
            try hold(
                hashes.piece(at: start) == piece && hashes.firstPiece(from: start) == piece, "\(piece) is elsewhere")
            try hold(
                hashes.firstPiece(from: start + 1) == piece + (hashes.range(piece, in: longest).count > 0 ? 1 : 0),
                "\(piece)")
        }
    }

    /// Any bytes as digests.
    private static func checkWritten(_ input: inout FuzzInput) throws(BrokenLaw) {
        let algorithm = HashAlgorithm.allCases[Int(input.byte()) % HashAlgorithm.allCases.count]
        let length = input.number()
        let bytes = input.rest()
        let digests = stride(from: 0, to: bytes.count, by: algorithm.length).map { start in
            Array((bytes[start...] + [UInt8](repeating: 0, count: algorithm.length)).prefix(algorithm.length))
        }
        let hashes = PieceHashes(algorithm, length: length, digests: digests)
        let isPossible = length > 0 && length <= ByteRange.longestFile && !digests.isEmpty
        try hold((hashes != nil) == isPossible, "\(digests.count) digests of pieces of \(length) bytes")
        guard let hashes else { return }
        try hold(digests.indices.allSatisfy { Array(hashes.digest($0)) == digests[$0] }, "another digest")
        try check(hashes)
    }
}
