/// The rules of a robots.txt for one product token (RFC 9309).
package struct RobotsRules: Hashable, Sendable {
    private struct Rule: Hashable, Sendable {
        var isAllowed: Bool
        /// The normalized path pattern, which keeps `*` and a final `$`.
        var pattern: [UInt8]
    }

    /// The maximum number of bytes of a file that are parsed (§2.5).
    package static let limit = 500 << 10
    private static let longestPattern = 2048

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
        var text = bytes.prefix(Self.limit)
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
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
            guard let seconds = Double(String(decoding: value, as: UTF8.self)), seconds >= 0, seconds.isFinite
            else {
                return
            }
            delay = max(delay ?? .zero, .seconds(min(seconds, 3600)))
        } else if !value.isEmpty, value.count <= Self.longestPattern {
            rules.append(Rule(isAllowed: name == "allow", pattern: Self.normalized(value)))
        }
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

    /// Percent-decodes unreserved octets and encodes others in upper case (§2.2.2).
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
            let isPlain = value.isLetter || value.isDigit || [.dash, .dot, .underscore, 0x7E].contains(value)
            if isPlain { result.append(value) } else { append(coded: value) }
        }
        return result
    }

    /// `*` matches any bytes; a pattern without a final `$` matches any path that begins with it.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ path: [UInt8]) -> Bool {
        let isAnchored = pattern.last == UInt8(ascii: "$")
        let pattern = Array(isAnchored ? pattern.dropLast() : pattern) + (isAnchored ? [] : [.asterisk])
        var (place, position) = (0, 0)
        var star: (place: Int, position: Int)?
        while position < path.count {
            if place < pattern.count, pattern[place] == .asterisk {
                // Consecutive asterisks are the same as one.
                guard place + 1 < pattern.count else { return true }
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == path[position] {
                place += 1
                position += 1
            } else if let last = star {
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == .asterisk }
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
            !tag.isEmpty
                && tag.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == .dash || $0 == .underscore }
        }
        return isValid ? tags : nil
    }

    /// The tags for all agents or for this product token, in lower case.
    package static func tags(in fields: [String], for token: String = "pawl") -> Set<String> {
        var tags: Set<String> = []
        for field in fields {
            var agent = ""
            for part in field.lowercased().split(separator: ",") {
                var words = part.split(separator: ":", omittingEmptySubsequences: false)
                    .map { String($0).trimmedBlanks }
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
    fileprivate var trimmedBlanks: String {
        String(decoding: Array(utf8).trimmed(\.isWhiteSpace), as: UTF8.self)
    }
}
