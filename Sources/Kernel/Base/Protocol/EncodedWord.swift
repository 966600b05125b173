/// Encoded words of mail headers, `=?UTF-8?B?…?=` (RFC 2047), which some servers put into HTTP's.
enum EncodedWord {
    /// `value` with its encoded words decoded; `nil` when it has none that can be read.
    static func decode(_ value: [UInt8], _ charsets: CharsetDecoder) -> String? {
        var result: [UInt8] = []
        var rest = value[...]
        var hasWord = false
        // White space between two encoded words is not part of the text (§6.2).
        var gap: ArraySlice<UInt8>?
        while !rest.isEmpty {
            if let (bytes, end) = word(rest, charsets) {
                result += bytes
                rest = rest[end...]
                hasWord = true
                gap = rest.prefix(while: \.isWhiteSpace)
                rest = rest.drop(while: \.isWhiteSpace)
            } else {
                if let blanks = gap { result += blanks }
                gap = nil
                result.append(rest.removeFirst())
            }
        }
        return hasWord ? String(validating: result, as: UTF8.self) : nil
    }

    /// The word at the start of `text` as bytes of UTF-8, and where it ends.
    ///
    /// A character may be split between two words (against §5), so UTF-8 is not checked here.
    private static func word(_ text: ArraySlice<UInt8>, _ charsets: CharsetDecoder) -> (bytes: [UInt8], end: Int)? {
        guard text.starts(with: "=?".utf8) else { return nil }
        let parts = text.dropFirst(2).split(separator: .questionMark, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3].first == .equals, parts[1].count == 1 else { return nil }
        let charset = parts[0].prefix { $0 != .asterisk }
        let bytes =
            switch parts[1].first?.lowercased {
            case UInt8(ascii: "b"): Base64.decode(parts[2])
            case UInt8(ascii: "q"): quotedPrintable(parts[2])
            default: [UInt8]?.none
            }
        guard let bytes else { return nil }
        let end = parts[3].startIndex + 1
        return charsets.utf8(of: bytes, charset: charset).map { ($0, end) }
    }

    private static func quotedPrintable(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case .underscore: bytes.append(.space)
            case .equals:
                guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
