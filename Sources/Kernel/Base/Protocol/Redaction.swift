/// Removes secrets from logs, errors and events.
package enum Redaction {
    /// The replacement for a secret.
    package static let mark = "…"

    /// A header line `Name: value` without its value where that is a secret, and otherwise without the
    /// secrets of addresses in its value.
    package static func header(_ line: String) -> String {
        let bytes = Array(line.utf8)
        guard let colon = bytes.firstIndex(of: .colon) else { return text(line) }
        let name = bytes[..<colon].trimmed(\.isWhiteSpace).map(\.lowercased)
        guard !isSecret(name: String(decoding: name, as: UTF8.self)) else {
            return printable(String(decoding: bytes[...colon], as: UTF8.self)) + " " + mark
        }
        return text(line)
    }

    /// Whether a header of this name (lower case) holds a secret.
    package static func isSecret(name: String) -> Bool {
        let bytes = Array(name.utf8)
        return secretParts.contains { part in bytes.indices.contains { bytes[$0...].starts(with: part.utf8) } }
    }

    /// Covers standard names (Authorization, Cookie, Set-Cookie, Proxy-Authorization) and the many that
    /// services invent (X-Api-Key, Private-Token, X-Amz-Security-Token).
    ///
    /// Too much redaction costs little.
    private static let secretParts = [
        "auth", "cookie", "token", "secret", "passw", "key", "session", "signature", "credential", "x-amz-security",
    ]

    /// `text` with the user info, query and fragment of every address in it replaced by `mark`.
    package static func text(_ text: String) -> String {
        let bytes = Array(printable(text, keepingLines: true).utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            let word = rest.prefix { !isWordEnd($0) }
            append(word, to: &result)
            rest = rest[word.endIndex...]
            if let end = rest.popFirst() { result.append(end) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// An address that may be malformed, for an error message: redacted, printable, and of bounded length.
    package static func address(_ text: String) -> String {
        var result: [UInt8] = []
        let word = Array(printable(text).utf8)[...].trimmed(\.isWhiteSpace)
        if let rest = afterBareLogin(word) {
            result.append(contentsOf: mark.utf8)
            append(rest, to: &result)
        } else {
            append(word, to: &result)
        }
        return clipped(String(decoding: result, as: UTF8.self), to: 300)
    }

    /// `text` with U+FFFD for control characters, which a terminal would interpret; line ends and tabs may
    /// stay.
    package static func printable(_ text: String, keepingLines: Bool = false) -> String {
        func isDropped(_ scalar: Unicode.Scalar) -> Bool {
            // The complete general category Cc, which is stable.
            guard scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) else { return false }
            return !(keepingLines && (scalar == "\n" || scalar == "\t"))
        }
        guard text.unicodeScalars.contains(where: isDropped) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(isDropped(scalar) ? "\u{FFFD}" : scalar) }
        return String(scalars)
    }

    /// The first `limit` characters of `text`, followed by `mark` when there are more.
    package static func clipped(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let start = text.prefix(limit)
        return start.endIndex == text.endIndex ? text : start + mark
    }

    private static func isWordEnd(_ byte: UInt8) -> Bool {
        byte.isWhiteSpace || byte == .quote || byte == .apostrophe || byte == .less || byte == .greater
    }

    /// One word: addresses in it lose user info, query and fragment, `/path?name=value` its query.
    private static func append(_ word: ArraySlice<UInt8>, to result: inout [UInt8]) {
        let end = word.firstIndex { $0 == .questionMark || $0 == .hash } ?? word.endIndex
        let lastAt = word.lastIndex(of: .at) ?? word.startIndex
        var rest = word[..<end]
        var hasAddress = false
        while let start = authorityStart(rest) {
            hasAddress = true
            result.append(contentsOf: rest[..<start])
            var authority = rest[start...].prefix { $0 != .slash }
            // The colon may be that of another address, as in `a://b@c://d@e`.
            if authority.last == .colon { authority = authority.dropLast() }
            rest = rest[authority.endIndex...]
            if let at = authority.lastIndex(of: .at) {
                result.append(contentsOf: mark.utf8)
                result.append(contentsOf: authority[at...])
            } else if lastAt >= authority.endIndex, hasOddPort(authority) {
                // Possibly a password with a slash or a question mark in it: nothing after it is safe to
                // show.
                result.append(contentsOf: mark.utf8)
                return
            } else {
                result.append(contentsOf: authority)
            }
        }
        result.append(contentsOf: rest)
        let tail = word[end...]
        let isSecret = hasAddress || tail.contains(.equals) || authorityStart(tail) != nil
        result.append(contentsOf: isSecret ? tail.prefix(1) : tail)
        if isSecret, tail.count > 1 { result.append(contentsOf: mark.utf8) }
    }

    /// The index after the next `://`.
    private static func authorityStart(_ word: ArraySlice<UInt8>) -> Int? {
        var rest = word
        while let colon = rest.firstIndex(of: .colon) {
            if rest[colon...].starts(with: "://".utf8) { return colon + 3 }
            rest = rest[(colon + 1)...]
        }
        return nil
    }

    /// What follows the user info of an address without a scheme, `user:password@host`, from the sign on; empty if the
    /// password may have a slash or a question mark in it, and `nil` without user info.
    private static func afterBareLogin(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard authorityStart(word) == nil, let colon = word.firstIndex(of: .colon), let at = word.lastIndex(of: .at),
            colon < at
        else { return nil }
        let authority = word.prefix { $0 != .slash && $0 != .questionMark && $0 != .hash }
        guard colon < authority.endIndex else { return nil }
        if let end = authority.lastIndex(of: .at), colon < end { return word[end...] }
        return hasOddPort(authority) ? word[word.endIndex...] : nil
    }

    private static func hasOddPort(_ authority: ArraySlice<UInt8>) -> Bool {
        guard let colon = authority.lastIndex(of: .colon) else { return false }
        return !authority[(colon + 1)...].allSatisfy(\.isDigit)
    }
}
