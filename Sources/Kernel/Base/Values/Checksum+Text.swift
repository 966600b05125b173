// Digests as people write them.
extension Checksum {
    /// `TYPE=HEX`, as in options.
    package var text: String { "\(algorithm.rawValue)=\(Hexadecimal.text(digest))" }

    /// Reads a digest in the usual forms: `TYPE=HEX` in their spellings (`:` or white space for `=`, the type in upper case and
    /// without hyphens, `0x` or colons among the digits, Base64 instead of them), `sha256-BASE64` (Subresource Integrity),
    /// and only the digits of the SHA-2 families, SHA-1 and MD5.
    ///
    /// `nil` for an unknown type or another length.
    package init?(text: String) {
        let bytes = Array(text.utf8).trimmed(\.isWhiteSpace)
        let read = Self.bare(bytes) ?? Self.typed(bytes) ?? Self.integrity(bytes)
        guard let read else { return nil }
        self = read
    }

    private static func bare(_ text: ArraySlice<UInt8>) -> Checksum? {
        let digits = digits(text)
        return HashAlgorithm(digits: digits.count).flatMap { Checksum($0, hex: digits) }
    }

    /// Without a `0x` before them, and without colons between each two.
    private static func digits(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if text.starts(with: "0x".utf8) || text.starts(with: "0X".utf8) { return text.dropFirst(2) }
        let pairs = text.pieces(between: .colon)
        return pairs.count > 1 && pairs.allSatisfy({ $0.count == 2 }) ? Array(pairs.joined())[...] : text
    }

    private static func typed(_ text: ArraySlice<UInt8>) -> Checksum? {
        guard let mark = text.firstIndex(where: { $0 == .equals || $0 == .colon || $0.isBlank }),
            let algorithm = HashAlgorithm(spelled: text[..<mark])
        else { return nil }
        let value = text[mark...].drop { $0.isBlank }
        let digest = [.equals, .colon].contains(value.first) ? value.dropFirst().trimmed(\.isBlank) : value
        if let checksum = Checksum(algorithm, hex: digits(digest)) { return checksum }
        // As a field of a response has it (RFC 9530 §2): between colons.
        let isWrapped = digest.count > 2 && digest.first == .colon && digest.last == .colon
        if let checksum = Checksum(algorithm, base64: isWrapped ? digest.dropFirst().dropLast() : digest) {
            return checksum
        }
        // `Get-FileHash` writes the path behind it.
        let word = digest.prefix { !$0.isBlank }
        return text[mark].isBlank ? Checksum(algorithm, hex: word) : nil
    }

    private static func integrity(_ text: ArraySlice<UInt8>) -> Checksum? {
        guard text.prefix(3).isCaseInsensitively("sha") else { return nil }
        return text.indices.lazy.filter { text[$0] == .dash }.prefix(4).compactMap { dash in
            // Options may follow (Subresource Integrity §3.5).
            let digest = text[(dash + 1)...].prefix { $0 != .questionMark }
            return HashAlgorithm(spelled: text[..<dash]).flatMap {
                Checksum($0, base64: digest) ?? Checksum($0, hex: digest)
            }
        }.first
    }
}

extension [Checksum] {
    /// `TYPE=HEX,TYPE=HEX`, as in options.
    package var text: String { map(\.text).joined(separator: ",") }
}
