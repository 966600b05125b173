/// A digest in a URL's fragment: `#sha256=HEX`, also among others (`#egg=name&sha256=HEX`).
package enum DigestFragment {
    /// The digests that `text`, the URL of `address`, states; a `#` may belong to the key of a located one.
    package static func parse(_ text: String, of address: WebAddress) throws(Failure) -> [Checksum] {
        address.isLocated ? [] : try parse(text)
    }

    /// The digests in the fragment of `address`; throws code 28 for one with a wrong length or other digits.
    package static func parse(_ address: String) throws(Failure) -> [Checksum] {
        // Read in place: a list may have thousands of URLs without one.
        guard address.utf8.has({ $0 == .hash }), let hash = address.utf8.firstIndex(of: .hash) else { return [] }
        let fragment = Array(address.utf8[address.utf8.index(after: hash)...])
        var found: [Checksum] = []
        for piece in fragment.pieces(between: UInt8(ascii: "&")) {
            guard let equals = piece.firstIndex(of: .equals),
                let algorithm = Self.names[String(decoding: piece[..<equals].map(\.lowercased), as: UTF8.self)]
            else { continue }
            guard let checksum = Checksum(algorithm, hex: piece[(equals + 1)...]) else {
                throw Failure(
                    .badOption, "cannot use", at: Redaction.address(address),
                    because: LocalizableMessage(
                        "fragment-digest-length",
                        "the \(algorithm.rawValue) in its fragment is not \(2 * algorithm.length) hexadecimal digits"),
                    remedy: "correct it, or remove the fragment")
            }
            if !found.contains(checksum) { found.append(checksum) }
        }
        return found
    }

    /// The fragment that states `checksums`, with its `#`; empty for none.
    package static func text(of checksums: [Checksum]) -> String {
        let pieces = checksums.filter { names[$0.algorithm.rawValue] != nil }.map(\.text)
        return pieces.isEmpty ? "" : "#" + pieces.joined(separator: "&")
    }

    /// `sources`, the first that may have a fragment of digests with that of `checksums`.
    package static func stating(_ checksums: [Checksum], in sources: [String]) -> [String] {
        var sources = sources
        let index = sources.firstIndex { LocatedScheme(beginning: $0.utf8) == nil }
        if let index { sources[index] += text(of: checksums) }
        return sources
    }

    private static let names: [String: HashAlgorithm] = [
        "sha256": .sha256, "sha-256": .sha256, "sha512": .sha512, "sha-512": .sha512, "sha384": .sha384,
        "sha-384": .sha384, "sha224": .sha224, "sha-224": .sha224, "sha1": .sha1, "sha-1": .sha1, "md5": .md5,
    ]
}
