/// Content-Disposition (RFC 6266), with the broken forms that real servers send.
package enum ContentDisposition {
    /// The file name that the field suggests: the last path component, not yet made safe.
    ///
    /// `nil` when it suggests none.
    ///
    /// `filename*` (RFC 8187) wins over `filename`; of several the first that can be read counts. The
    /// disposition's type does not matter.
    package static func fileName(from field: String) -> String? {
        let parameters = parameters(of: field)
        let extended = parameters.filter { $0.name.isCaseInsensitively("filename*") }.map(\.value)
        let plain = parameters.filter { $0.name.isCaseInsensitively("filename") }.map(\.value)
        for value in extended {
            if let name = extendedText(value).flatMap(lastComponent) { return name }
        }
        for value in plain {
            if let name = lastComponent(plainText(value)) { return name }
        }
        for value in extended where value.count(where: { $0 == .apostrophe }) < 2 {
            if let name = lastComponent(plainText(value)) { return name }
        }
        return nil
    }

    private static func lastComponent(_ path: String) -> String? {
        let name = FileName.lastComponent(path)
        let isName = name.unicodeScalars.contains { $0 != "." && !$0.properties.isWhitespace }
        return isName ? String(name) : nil
    }
}

// MARK: - Values

extension ContentDisposition {
    /// `charset'language'percent-encoded`, read strictly: what is flawed leaves the word to `filename`.
    private static func extendedText(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: .apostrophe, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentCoding.strictlyDecoded(parts[2]) else { return nil }
        return EncodedWord.text(of: bytes, charset: parts[0])
    }

    /// A plain value: bytes of the field, or what servers put there against the norm: an encoded word of mail
    /// (RFC 2047), percent-encoding, an extended value without its asterisk.
    private static func plainText(_ value: [UInt8]) -> String {
        if value.prefix(7).isCaseInsensitively("utf-8''"), let text = extendedText(value) { return text }
        if let text = EncodedWord.decode(value) { return text }
        if value.contains(.percent), let bytes = PercentCoding.strictlyDecoded(value),
            let text = String(validating: bytes, as: UTF8.self)
        {
            return text
        }
        return String(field: value)
    }
}

// MARK: - Parameters

extension ContentDisposition {
    private typealias Parameter = (name: ArraySlice<UInt8>, value: [UInt8])

    private static func parameters(of field: String) -> [Parameter] {
        var parameters: [Parameter] = []
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            let words = scanner.take(upTo: .semicolon, .equals).trimmed(\.isWhiteSpace)
            if scanner.take(.equals) {
                // `attachment filename=a` lacks its semicolon: the last word is the name.
                let name = words.split(whereSeparator: \.isWhiteSpace).last ?? words
                parameters.append((name, value(&scanner)))
                _ = scanner.take(upTo: .semicolon)
            }
            _ = scanner.take(.semicolon)
        }
        return parameters
    }

    private static func value(_ scanner: inout FieldScanner) -> [UInt8] {
        scanner.skipBlanks()
        if scanner.rest.first == .quote { return quoted(&scanner) }
        // Spaces belong to it, a quote at its end is half a pair.
        let value = scanner.take(upTo: .semicolon).trimmed(\.isWhiteSpace)
        return Array(value.last == .quote ? value.dropLast() : value)
    }

    /// A quoted string.
    ///
    /// The backslash guards only quotes and itself: elsewhere it is a separator of a Windows path.
    private static func quoted(_ scanner: inout FieldScanner) -> [UInt8] {
        scanner.skip(1)
        var value: [UInt8] = []
        var rest = scanner.rest
        while let byte = rest.popFirst() {
            if byte == .quote {
                scanner.skip(rest.startIndex - scanner.rest.startIndex)
                return value
            }
            if byte == .backslash, rest.first == .quote || rest.first == .backslash {
                value.append(rest.removeFirst())
            } else {
                value.append(byte)
            }
        }
        return unclosed(&scanner)
    }

    /// A value whose closing quote is missing ends where another parameter begins.
    private static func unclosed(_ scanner: inout FieldScanner) -> [UInt8] {
        let text = scanner.rest
        var end = text.startIndex
        while let semicolon = text[end...].firstIndex(of: .semicolon) {
            end = semicolon
            let next = text[(semicolon + 1)...].drop(while: \.isWhiteSpace)
            let name = next.prefix(while: \.isTokenCharacter)
            if !name.isEmpty, next[name.endIndex...].first == .equals { break }
            end = semicolon + 1
        }
        if text[end...].first != .semicolon { end = text.endIndex }
        scanner.skip(end - text.startIndex)
        return Array(text[..<end].trimmed(\.isWhiteSpace))
    }
}
