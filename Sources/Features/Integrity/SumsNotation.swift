package import PawlBase

/// How the lines of a sums file are read that do not name their algorithm.
///
/// Digests of different algorithms have the same length, so the sums file's name decides.
package enum SumsNotation: Hashable, Sendable {
    /// SHA-2, SHA-1 or MD5, by the number of digits.
    case byLength
    /// The name says nothing: the same first, but another algorithm's digest of that length suffices.
    case unstated
    /// One algorithm that is not found by its length, such as BLAKE2b (`B2SUMS`, `f.iso.b2`).
    case stated(HashAlgorithm)
    /// SHA-3, by the number of digits.
    case sha3
    /// An algorithm that is not supported, such as BLAKE3: no such line counts.
    case unsupported
    /// The name, then its CRC-32: `f.sfv`.
    case nameFirst

    /// The last word of the name that is an algorithm's decides: `blake3-1.5.tar.gz.sha256` has SHA-256 digests.
    package init(_ name: some Sequence<UInt8>) {
        let words = name.map(\.lowercased).split { !$0.isLetter && !$0.isDigit }.map {
            String(decoding: $0, as: UTF8.self)
        }
        self = words.last == "sfv" ? .nameFirst : .unstated
        guard self == .unstated else { return }
        for (place, word) in words.enumerated() {
            let word = Self.stem(word)
            let next = place + 1 < words.count ? Self.stem(words[place + 1]) : ""
            if let found = Self.stated(by: word, next) { self = found }
        }
    }

    /// The name without `sum` or `sums` at its end.
    private static func stem(_ word: String) -> String {
        for end in ["sums", "sum"] where word.hasSuffix(end) { return String(word.dropLast(end.count)) }
        return word
    }

    private static func stated(by word: String, _ next: String) -> Self? {
        switch word {
        // SHA-512/256 and SHA-512/224 are algorithms of their own.
        case "sha512" where next == "224": .unsupported
        case "sha512" where next == "256": .stated(.sha512256)
        case "sha", "sha1", "sha2", "sha224", "sha256", "sha384", "sha512", "md5": .byLength
        case "b2", "blake2", "blake2b", "blake2b512": .stated(.blake2b)
        case "blake2s", "blake2s256": .stated(.blake2s)
        case "sha3", "sha3224", "sha3256", "sha3384", "sha3512": .sha3
        case "sha512t256", "sha512256": .stated(.sha512256)
        case "sm3": .stated(.sm3)
        case "b3", "blake3", "md4", "rmd160", "ripemd160", "whirlpool": .unsupported
        case _: nil
        }
    }

    /// The algorithm of a digest with this many hexadecimal digits.
    func algorithm(digits: Int) -> HashAlgorithm? {
        switch self {
        case .byLength, .unstated: HashAlgorithm(digits: digits)
        case .stated(let algorithm): digits == 2 * algorithm.length ? algorithm : nil
        case .sha3: [.sha3256, .sha3512, .sha3384, .sha3224].first { digits == 2 * $0.length }
        case .unsupported, .nameFirst: nil
        }
    }
}
