/// File names, made safe whatever a server suggests.
///
/// Everything works on Unicode scalars: a slash with a combining mark after it is one Swift `Character` that
/// is not `/`, and is a separator all the same.
package enum FileName {
    /// The maximum length in bytes on Linux's file systems (NAME_MAX).
    package static let limit = 255

    /// The replacement for a name of which nothing is left.
    package static let fallback = "download"

    /// A safe file name: the last path component of `suggestion`, without control characters, without a
    /// leading dot or dash, without surrounding white space, and at most 255 bytes long with its extension
    /// kept.
    ///
    /// A safe name stays as it is.
    package static func safe(_ suggestion: String) -> String {
        if isPlain(suggestion) { return suggestion }
        var scalars = String.UnicodeScalarView()
        for scalar in lastComponent(suggestion).unicodeScalars where !isRemoved(scalar, after: scalars.last) {
            scalars.append(scalar)
        }
        while let last = scalars.last, last == joiner { scalars.removeLast() }
        var name = Substring(scalars.drop { $0 == "." || $0 == "-" || $0.properties.isWhitespace })
        name = withoutTrailingSpace(name)
        if name.utf8.count > limit { name = withoutTrailingSpace(shortened(String(name))[...]) }
        return name.isEmpty ? fallback : String(name)
    }

    /// Whether a file can have this name: 1 to 255 bytes other than NUL and the slash, and neither `.` nor `..`.
    package static func isPossible(_ name: String) -> Bool {
        1...limit ~= name.utf8.count && ![".", ".."].contains(name) && !name.utf8.contains { $0 == 0 || $0 == .slash }
    }

    /// The name in a URL that the user gave: as it is, also with a leading dot, dash or a backslash, where a file can have
    /// it and all of it is visible; else made safe.
    package static func given(_ name: String) -> String {
        if isPlain(name) { return name }
        var last: Unicode.Scalar?
        for scalar in name.unicodeScalars {
            guard !isRemoved(scalar, after: last) else { return safe(name) }
            last = scalar
        }
        guard name.utf8.count > limit, !name.hasSlash else {
            let isBlank = name.unicodeScalars.allSatisfy(\.properties.isWhitespace)
            return isPossible(name) && !isBlank ? name : safe(name)
        }
        return shortened(name)
    }

    /// The form of the names that are used when one is taken.
    package enum Numbering: Hashable, Sendable {
        /// `name (1).tar.gz`
        case parenthesized
        /// `name.tar.1.gz`
        case dotted
    }

    /// `name (2).ext` or `name.2.ext`, still at most 255 bytes.
    package static func numbered(_ name: String, _ number: Int, as numbering: Numbering = .parenthesized) -> String {
        let mark: String
        let (stem, suffix): (Substring, Substring)
        switch numbering {
        case .parenthesized:
            mark = " (\(number))"
            (stem, suffix) = split(name)
        case .dotted:
            mark = ".\(number)"
            (stem, suffix) = splitOnce(name[...]) ?? (name[...], "")
        }
        return String(prefix(stem, bytes: limit - suffix.utf8.count - mark.utf8.count)) + mark + suffix
    }

    /// The name and number from which `numbered` has made a name, if the number is at most `limit`.
    package static func unnumbered(
        _ name: String, upTo limit: Int, as numbering: Numbering = .parenthesized
    ) -> (name: String, number: Int)? {
        guard numbering == .dotted || name.utf8.contains(UInt8(ascii: ")")) else { return nil }
        let (stem, suffix) = numbering == .dotted ? splitOnce(name[...]) ?? (name[...], "") : split(name)
        for number in 1...limit {
            let mark = numbering == .dotted ? ".\(number)" : " (\(number))"
            guard stem.count > mark.count, stem.hasSuffix(mark) else { continue }
            return (String(stem.dropLast(mark.count)) + suffix, number)
        }
        return nil
    }

    /// Whether all of it is ASCII and trivially safe.
    private static func isPlain(_ suggestion: String) -> Bool {
        guard 1...limit ~= suggestion.utf8.count, let first = suggestion.utf8.first, first != .dot, first != .dash
        else { return false }
        return suggestion.utf8.allSatisfy { $0 > .space && $0 < 0x7F && $0 != .slash && $0 != .backslash }
    }

    /// The text after the last slash or backslash that is followed by anything.
    static func lastComponent(_ path: String) -> Substring {
        let pieces = path.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        return pieces.last.map(Substring.init) ?? ""
    }

    /// The name and its suffix with the dot, both parts of a double one (`.tar.gz`).
    static func split(_ name: String) -> (stem: Substring, suffix: Substring) {
        guard let (stem, last) = splitOnce(name[...]) else { return (name[...], "") }
        guard compressions.contains(last.dropFirst().lowercased()), let (inner, first) = splitOnce(stem),
            compressed.contains(first.dropFirst().lowercased())
        else { return (stem, last) }
        return (inner, name[first.startIndex...])
    }

    /// The first characters of `text` that fit into `limit` bytes; a single longer one is cut between its
    /// scalars.
    static func prefix(_ text: Substring, bytes limit: Int) -> Substring {
        guard text.utf8.count > limit else { return text }
        var room = limit
        let whole = text.prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        guard whole.isEmpty else { return whole }
        room = limit
        return Substring(
            text.unicodeScalars.prefix { scalar in
                room -= UTF8.width(scalar)
                return room >= 0
            })
    }

    /// `name` cut to the limit, its suffix kept.
    private static func shortened(_ name: String) -> String {
        let (stem, suffix) = split(name)
        return String(prefix(stem, bytes: limit - suffix.utf8.count)) + suffix
    }

    private static func splitOnce(_ name: Substring) -> (stem: Substring, suffix: Substring)? {
        guard let dot = name.utf8.lastIndex(of: .dot), dot > name.startIndex else { return nil }
        let suffix = name[dot...]
        let isSuffix = 2...17 ~= suffix.utf8.count && !suffix.unicodeScalars.contains(where: \.properties.isWhitespace)
        return isSuffix ? (name[..<dot], suffix) : nil
    }

    private static let compressions: Set<String> = ["gz", "bz2", "xz", "zst", "lz", "lz4", "lzma", "br", "z"]
    private static let compressed: Set<String> = [
        "tar", "cpio", "img", "iso", "raw", "sql", "dump", "csv", "json", "xml", "txt", "log", "ps", "svg",
    ]

    private static func withoutTrailingSpace(_ text: Substring) -> Substring {
        let scalars = text.unicodeScalars
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return Substring(scalars[...last])
    }

    /// Joins emoji to one sign.
    private static let joiner: Unicode.Scalar = "\u{200D}"

    /// Control characters, line and paragraph separators, and all invisible characters: those that change the
    /// direction of writing make `txt.exe` look like `exe.txt`, and the others make two names look equal.
    ///
    /// Joiners between emoji are kept, as they are visible.
    private static func isRemoved(_ scalar: Unicode.Scalar, after last: Unicode.Scalar?) -> Bool {
        switch scalar {
        case joiner, "\u{FE0F}": return last.map { !isEmoji($0) } ?? true
        default: break
        }
        if scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{FE0F}" || !scalar.isASCII && scalar.properties.isEmoji
    }
}
