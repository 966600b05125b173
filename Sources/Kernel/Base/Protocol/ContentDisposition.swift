/// Content-Disposition (RFC 6266), with the malformed variants that real servers send.
package enum ContentDisposition {
    /// The file name that the field suggests: the last path component, not yet made safe.
    ///
    /// `nil` when it suggests none.
    ///
    /// `filename*` (RFC 8187) has precedence over `filename`; of several the first valid one counts. The
    /// disposition's type does not matter.
    package static func fileName(from field: String) -> String? { fileName(from: Array(field.utf8)) }

    /// The same of a field's bytes; `stated` is the charset in the same response's Content-Type.
    package static func fileName(
        from field: [UInt8], _ charsets: CharsetDecoder = .builtIn, stated: [UInt8]? = nil
    ) -> String? {
        let parameters = parameters(of: field)
        let extended = parameters.filter { $0.name.isCaseInsensitively("filename*") }
        for parameter in extended where isProper(parameter) {
            if let name = extendedText(parameter.value, charsets).flatMap(lastComponent) { return name }
        }
        for parameter in parameters where parameter.name.isCaseInsensitively("filename") {
            if let name = lastComponent(plainText(parameter.value, charsets, stated)) { return name }
        }
        // Without a plain name, flawed text is better than none.
        for parameter in extended {
            let isText = parameter.value.count { $0 == .apostrophe } < 2
            let text = isText ? plainText(parameter.value, charsets, stated) : extendedText(parameter.value, charsets)
            if let name = text.flatMap(lastComponent) { return name }
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
    /// Whether an extended value has only bytes that one may have: raw bytes and blanks are in no known
    /// charset.
    private static func isProper(_ parameter: Parameter) -> Bool {
        !parameter.isUnclosed && parameter.value.allSatisfy { $0 > .space && $0 < 0x7F && $0 != .quote }
    }

    /// `charset'language'percent-encoded`, parsed strictly: a flawed one leaves the choice to `filename`.
    private static func extendedText(_ value: [UInt8], _ charsets: CharsetDecoder) -> String? {
        let parts = value.split(separator: .apostrophe, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentCoding.strictlyDecoded(parts[2]) else { return nil }
        return charsets.text(of: bytes, charset: parts[0])
    }

    /// A plain value: bytes of the field, or non-conforming contents: an encoded word of mail (RFC 2047),
    /// percent-encoding, an extended value without its asterisk.
    private static func plainText(_ value: [UInt8], _ charsets: CharsetDecoder, _ stated: [UInt8]?) -> String {
        if value.prefix(7).isCaseInsensitively("utf-8''"), let text = extendedText(value, charsets) { return text }
        if let text = EncodedWord.decode(value, charsets) { return text }
        if value.contains(.percent), let bytes = PercentCoding.strictlyDecoded(value),
            let text = String(validating: bytes, as: UTF8.self)
        {
            return text
        }
        return charsets.text(unlabelled: value, stated: stated)
    }
}

// MARK: - Parameters

extension ContentDisposition {
    private struct Parameter {
        var name: ArraySlice<UInt8>
        var value: [UInt8]
        /// Whether the quote at its end is missing.
        var isUnclosed = false
    }

    private static func parameters(of field: [UInt8]) -> [Parameter] {
        var parameters: [Parameter] = []
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            let words = scanner.takeOutsideQuotes(upTo: .semicolon, .equals).trimmed(\.isWhiteSpace)
            if scanner.take(.equals) {
                // `attachment filename=a` lacks its semicolon: the last word is the name.
                let name = words.split(whereSeparator: \.isWhiteSpace).last ?? words
                parameters.append(parameter(name, &scanner))
                _ = scanner.takeOutsideQuotes(upTo: .semicolon)
            }
            _ = scanner.take(.semicolon)
        }
        return parameters
    }

    private static func parameter(_ name: ArraySlice<UInt8>, _ scanner: inout FieldScanner) -> Parameter {
        scanner.skipBlanks()
        if scanner.rest.first == .quote {
            scanner.skip(1)
            if let value = quoted(&scanner) { return Parameter(name: name, value: value) }
            return Parameter(name: name, value: unclosed(&scanner), isUnclosed: true)
        }
        // Spaces are part of it, a quote at its end is half a pair.
        let value = scanner.take(upTo: .semicolon).trimmed(\.isWhiteSpace)
        return Parameter(name: name, value: Array(value.last == .quote ? value.dropLast() : value))
    }

    /// A quoted string after its opening quote; `nil`, and nothing is consumed, when it is not closed.
    ///
    /// The backslash escapes the byte after it (RFC 9110 §5.6.4), but in what is plainly a Windows path it is
    /// a separator, and escapes only quotes and itself.
    private static func quoted(_ scanner: inout FieldScanner) -> [UInt8]? {
        let isPath = isWindowsPath(scanner.rest)
        var value: [UInt8] = []
        var rest = scanner.rest
        while let byte = rest.popFirst() {
            if byte == .quote {
                scanner.skip(rest.startIndex - scanner.rest.startIndex)
                return value
            }
            if byte == .backslash, let next = rest.first, !isPath || next == .quote || next == .backslash {
                value.append(rest.removeFirst())
            } else {
                value.append(byte)
            }
        }
        return nil
    }

    /// `C:\…`, `\\server\…`, `.\…` and `..\…`.
    private static func isWindowsPath(_ text: ArraySlice<UInt8>) -> Bool {
        let front = Array(text.prefix(3))
        guard front.count == 3 else { return false }
        if front[0].isLetter, front[1] == .colon, front[2] == .backslash { return true }
        if front[0] == .backslash, front[1] == .backslash, front[2] != .backslash { return true }
        return front[0] == .dot && (front[1] == .backslash || front[1] == .dot && front[2] == .backslash)
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
