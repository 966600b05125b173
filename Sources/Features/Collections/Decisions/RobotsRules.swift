package import PawlBase

/// The rules of a robots.txt for one product token (RFC 9309).
package struct RobotsRules: Hashable, Sendable {
    private struct Rule: Hashable, Sendable {
        var isAllowed: Bool
        /// The normalized path pattern, with `wildcard` for `*` and `end` for a final `$`.
        var pattern: [UInt8]
    }

    /// The maximum number of bytes of a file that are parsed (§2.5).
    package static let limit = 500 << 10
    /// The number of redirects that are followed to a file (§2.3.1.2).
    package static let mostRedirects = 5
    private static let longestPattern = 2048
    /// Bytes that no normalized path has.
    private static let (wildcard, end): (UInt8, UInt8) = (0xFF, 0xFE)

    private var rules: [Rule] = []
    /// The value of `Crawl-delay`, which RFC 9309 does not define.
    package private(set) var delay: Interval?

    /// Everything is allowed.
    package init() {}

    package init(parsing bytes: [UInt8], for token: String = "pawl") {
        var own = RobotsRules()
        var general = RobotsRules()
        var hasOwn = false
        // The agents of the current group, and whether it has rules yet.
        var (isOwn, isGeneral, hasRules) = (false, false, true)
        var text = UnicodeText.utf8(Array(bytes.prefix(Self.limit)))[...]
        // A line that was cut may say something else.
        if bytes.count >= Self.limit {
            text = text.prefix(through: text.lastIndex { $0 == .lineFeed || $0 == .carriageReturn } ?? text.startIndex)
        }
        for line in text.split(whereSeparator: { $0 == .lineFeed || $0 == .carriageReturn }) {
            guard let (name, value) = Self.field(line) else { continue }
            if name == "user-agent" {
                if hasRules { (isOwn, isGeneral, hasRules) = (false, false, false) }
                let agent = value.prefix { $0.isLetter || $0 == .dash || $0 == .underscore }
                if agent.map(\.lowercased).elementsEqual(token.utf8) {
                    isOwn = true
                    hasOwn = true
                }
                if value.first == .asterisk { isGeneral = true }
                continue
            }
            guard ["allow", "disallow", "crawl-delay"].contains(name) else { continue }
            hasRules = true
            if isOwn { own.add(name, value) }
            if isGeneral { general.add(name, value) }
        }
        self = hasOwn ? own : general
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: ArraySlice<UInt8>)? {
        let line = line.prefix { $0 != .hash }
        guard let colon = line.firstIndex(of: .colon) else { return nil }
        let name = line[..<colon].trimmed(\.isWhiteSpace).map(\.lowercased)
        return (String(decoding: name, as: UTF8.self), line[(colon + 1)...].trimmed(\.isWhiteSpace))
    }

    private mutating func add(_ name: String, _ value: ArraySlice<UInt8>) {
        if name == "crawl-delay" {
            guard let seconds = Double(String(decoding: value, as: UTF8.self)), seconds >= 0, seconds.isFinite else {
                return
            }
            delay = max(delay ?? .zero, .seconds(min(seconds, 3600)))
        } else if !value.isEmpty, value.count <= Self.longestPattern {
            rules.append(Rule(isAllowed: name == "allow", pattern: Self.pattern(value)))
        }
    }

    /// Whether a response with this status says that there are no rules (§2.3.1.3): 407 is that of a proxy.
    package static func isMissing(status: Int) -> Bool {
        (400..<500).contains(status) && status != 407 || status == 204 || status == 205
    }

    package func allows(_ address: WebAddress) -> Bool {
        allows((address.path.isEmpty ? "/" : address.path) + (address.query.map { "?" + $0 } ?? ""))
    }

    /// Whether the path, with its query, may be requested: the longest matching rule applies, and `allow` if
    /// two are equally long.
    package func allows(_ path: String) -> Bool {
        guard path != "/robots.txt" else { return true }
        let path = Self.normalized(Array(path.utf8)[...])
        var best: (length: Int, isAllowed: Bool) = (-1, true)
        for rule in rules where rule.pattern.count >= best.length {
            guard rule.pattern.count > best.length || rule.isAllowed && !best.isAllowed else { continue }
            if Self.matches(rule.pattern[...], path) { best = (rule.pattern.count, rule.isAllowed) }
        }
        return best.isAllowed
    }

    /// The approximate memory use, for the limit on all rules.
    package var size: Int { rules.reduce(64) { $0 + $1.pattern.count + 32 } }

    /// A pattern whose special characters cannot be confused with those of a path, which patterns write as `%2A` and `%24`
    /// (§2.2.3).
    private static func pattern(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let isAnchored = text.last == UInt8(ascii: "$")
        let parts = (isAnchored ? text.dropLast() : text).split(separator: .asterisk, omittingEmptySubsequences: false)
        return Array(parts.map(normalized).joined(separator: [wildcard])) + (isAnchored ? [end] : [])
    }

    /// Makes octets of ASCII equal whether they are percent-encoded or not, and encodes others in upper case (§2.2.2).
    private static func normalized(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        func append(coded byte: UInt8) {
            let digits = Array("0123456789ABCDEF".utf8)
            result += [.percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        while let byte = rest.popFirst() {
            guard byte == .percent, rest.count >= 2, let high = rest.first?.hexValue,
                let low = rest.dropFirst().first?.hexValue
            else {
                if byte.isASCII { result.append(byte) } else { append(coded: byte) }
                continue
            }
            rest = rest.dropFirst(2)
            let value = high << 4 | low
            let isPlain = (0x21...0x7E).contains(value) && value != .percent
            if isPlain { result.append(value) } else { append(coded: value) }
        }
        return result
    }

    /// A wildcard matches any bytes; a pattern without an end matches any path that begins with it.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ path: [UInt8]) -> Bool {
        let isAnchored = pattern.last == end
        let parts = (isAnchored ? pattern.dropLast() : pattern).split(
            separator: wildcard, omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, path.starts(with: first) else { return false }
        var rest = path[first.count...]
        guard parts.count > 1 else { return !isAnchored || rest.isEmpty }
        // Each part is taken where it occurs first, which leaves most for the others.
        for part in parts.dropFirst().dropLast() {
            guard let next = endOfFirst(part, in: rest) else { return false }
            rest = rest[next...]
        }
        guard isAnchored else { return endOfFirst(last, in: rest) != nil }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    /// Where the first occurrence of a word ends (Knuth, Morris and Pratt).
    ///
    /// In linear time, because rules and paths come from others.
    private static func endOfFirst(_ word: ArraySlice<UInt8>, in text: ArraySlice<UInt8>) -> Int? {
        guard !word.isEmpty else { return text.startIndex }
        let word = Array(word)
        // For each prefix, the length of the longest shorter one that it ends with.
        var fallback = [0]
        var length = 0
        func step(_ byte: UInt8) {
            while length > 0, byte != word[length] { length = fallback[length - 1] }
            if byte == word[length] { length += 1 }
        }
        for byte in word.dropFirst() {
            step(byte)
            fallback.append(length)
        }
        length = 0
        for index in text.indices {
            step(text[index])
            if length == word.count { return index + 1 }
        }
        return nil
    }
}

/// The tags of X-Robots-Tag fields.
package enum RobotsTags {
    /// The tags of a list with commas, in lower case; `nil` if a field cannot have one of them.
    package static func list(_ text: String) -> [String]? {
        let tags = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map {
            String($0).trimmedBlanks
        }
        let isValid = tags.allSatisfy { tag in
            !tag.isEmpty && tag.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == .dash || $0 == .underscore }
        }
        return isValid ? tags : nil
    }

    /// The tags for all agents or for this product token, in lower case.
    package static func tags(in fields: [String], for token: String = "pawl") -> Set<String> {
        var tags: Set<String> = []
        for field in fields {
            var agent = ""
            for part in field.lowercased().split(separator: ",") {
                var words = part.split(separator: ":", omittingEmptySubsequences: false).map {
                    String($0).trimmedBlanks
                }
                // The value of `unavailable_after` is not a tag. Any other name before a colon is a product
                // token.
                if words.count > 1, words[0] != "unavailable_after", !words[0].hasPrefix("max-") {
                    agent = words.removeFirst()
                }
                guard agent.isEmpty || agent == token else { continue }
                tags.insert(words[0])
                if words[0] == "none" { tags.formUnion(["noindex", "nofollow"]) }
            }
        }
        return tags
    }
}

extension String {
    fileprivate var trimmedBlanks: String { String(decoding: Array(utf8).trimmed(\.isWhiteSpace), as: UTF8.self) }
}
