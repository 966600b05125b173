/// A `name=value` after a semicolon in a header field.
package struct FieldParameter: Hashable, Sendable {
    /// Lower case.
    package var name: String
    /// Without quotes and escapes.
    package var value: String
}

/// Parses the grammar that structured header fields have in common (RFC 9110 §5.6).
struct FieldScanner {
    private(set) var rest: ArraySlice<UInt8>
    /// Whether an unpaired quote was found: no further one is searched for, as each search would scan all the
    /// rest.
    private var hasLoneQuote = false

    init(_ text: String) { rest = Array(text.utf8)[...] }
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() { rest = rest.drop(while: \.isWhiteSpace) }

    /// Consumes `byte` if it is next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Consumes bytes up to one of `ends`, which stays.
    mutating func take(upTo ends: UInt8...) -> ArraySlice<UInt8> {
        let taken = rest.prefix { !ends.contains($0) }
        rest = rest[taken.endIndex...]
        return taken
    }

    /// Consumes the characters of a token (RFC 9110 §5.6.2).
    mutating func token() -> ArraySlice<UInt8> {
        let token = rest.prefix(while: \.isTokenCharacter)
        rest = rest[token.endIndex...]
        return token
    }

    /// Consumes bytes up to one of `ends` outside quoted strings.
    ///
    /// An unpaired quote begins none.
    mutating func takeOutsideQuotes(upTo ends: UInt8...) -> ArraySlice<UInt8> {
        let text = rest
        while let byte = rest.first, !ends.contains(byte) {
            rest = rest.dropFirst()
            guard byte == .quote, !hasLoneQuote else { continue }
            if let end = Self.closingQuote(rest) { rest = rest[(end + 1)...] } else { hasLoneQuote = true }
        }
        return text[..<rest.startIndex]
    }

    /// The end of the quoted string that `text` is inside of; a backslash escapes the next byte.
    private static func closingQuote(_ text: ArraySlice<UInt8>) -> Int? {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == .quote { return index }
            index += text[index] == .backslash ? 2 : 1
        }
        return nil
    }

    /// Consumes `count` bytes.
    package mutating func skip(_ count: Int) { rest = rest.dropFirst(count) }

    /// Consumes the bytes after an opening quote, through the closing one or to the end; a backslash escapes
    /// the next byte.
    mutating func quotedString() -> [UInt8] {
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != .quote {
            value.append(byte == .backslash ? rest.popFirst() ?? byte : byte)
        }
        return value
    }

    /// Consumes `;name=value` repeatedly, up to a comma or the end.
    ///
    /// A flawed one does not affect the others.
    mutating func parameters() -> [FieldParameter] {
        var parameters: [FieldParameter] = []
        while true {
            // The rest of a flawed parameter, such as text after a closing quote.
            _ = take(upTo: .semicolon, .comma)
            guard take(.semicolon) else { return parameters }
            let name = take(upTo: .equals, .semicolon, .comma).trimmed(\.isWhiteSpace).map(\.lowercased)
            var value: [UInt8] = []
            if take(.equals) {
                skipBlanks()
                value = take(.quote) ? quotedString() : Array(take(upTo: .semicolon, .comma).trimmed(\.isWhiteSpace))
            }
            guard !name.isEmpty else { continue }
            parameters.append(FieldParameter(name: String(field: name), value: String(field: value)))
        }
    }
}
