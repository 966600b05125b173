/// Percent-encoding (RFC 3986 §2.1).
package enum PercentCoding {
    /// `bytes` with each `%XX` replaced by its byte; a `%` that begins no such group stays.
    package static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] { decodedWithFlaws(bytes).bytes }

    /// The decoded text for display; the text itself where that is not UTF-8 or holds control characters.
    package static func readable(_ text: String) -> String {
        let plain = decoded(text.utf8)
        guard !plain.contains(where: \.isControl), let text = String(validating: plain, as: UTF8.self) else {
            return text
        }
        return text
    }

    /// The decoded bytes, or `nil` when a `%` begins no `%XX`.
    static func strictlyDecoded(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        let result = decodedWithFlaws(bytes)
        return result.isFlawed ? nil : result.bytes
    }

    private static func decodedWithFlaws(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isFlawed: Bool) {
        // Nearly every text has none.
        guard text.contains(.percent) else { return (Array(text), false) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isFlawed = false
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == .percent else {
                bytes.append(byte)
                continue
            }
            if let value = hexPair(rest) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                isFlawed = true
                bytes.append(byte)
            }
        }
        return (bytes, isFlawed)
    }

    /// `bytes` with all but the characters that `isKept` percent-encoded.
    ///
    /// A `%XX` stays as it is, a lone `%` becomes `%25`: servers that decode strictly respond to it with 400.
    package static func encoded(_ bytes: some Collection<UInt8>, keeping isKept: (UInt8) -> Bool) -> [UInt8] {
        // Nearly every path and query stays as it is.
        if bytes.allSatisfy(isKept) { return Array(bytes) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == .percent ? hexPair(rest) != nil : isKept(byte) {
                result.append(byte)
            } else {
                result.append(contentsOf: [.percent, hexDigit(byte >> 4), hexDigit(byte & 0xF)])
            }
        }
        return result
    }

    /// `bytes` as text; all that is not ASCII is percent-encoded if it is not UTF-8.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(decoding: encoded(bytes, keeping: \.isASCII), as: UTF8.self)
    }

    /// `bytes` in a form that ``decoded(_:)`` reverses: unreserved characters, and `/` if it is kept, as they are, all others
    /// percent-encoded.
    package static func reversible(_ bytes: some Sequence<UInt8>, keepingSlash: Bool = true) -> String {
        var coded: [UInt8] = []
        for byte in bytes {
            if isUnreserved(byte) || byte == .slash && keepingSlash {
                coded.append(byte)
            } else {
                coded += [.percent, hexDigit(byte >> 4), hexDigit(byte & 0xF)]
            }
        }
        return String(decoding: coded, as: UTF8.self)
    }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
        default: false
        }
    }

    /// Characters of a path (RFC 3986 §3.3), the slash included.
    package static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", ":", "@", "/": true
        default: isUnreserved(byte)
        }
    }

    /// Characters of a query (RFC 3986 §3.4), and the brackets that PHP's array parameters need and browsers
    /// send.
    static func isQueryCharacter(_ byte: UInt8) -> Bool {
        isPathCharacter(byte) || byte == .questionMark || byte == .leftBracket || byte == .rightBracket
    }

    static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + (value & 0xF) - 10 }

    private static func hexPair(_ bytes: some Collection<UInt8>) -> UInt8? {
        let pair = bytes.prefix(2)
        guard pair.count == 2, let high = pair.first?.hexValue, let low = pair.dropFirst().first?.hexValue else {
            return nil
        }
        return high << 4 | low
    }
}
