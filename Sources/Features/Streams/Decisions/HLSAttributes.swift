import PawlBase

/// An attribute list (RFC 8216 §4.2): names and values, of quoted strings what is between the quotes.
struct HLSAttributes {
    private var values: [String: String] = [:]
    private var quoted: Set<String> = []

    subscript(name: String) -> String? { values[name] }

    init(_ bytes: ArraySlice<UInt8>) throws(StreamFlaw) {
        var rest = bytes
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else {
                throw StreamFlaw("an attribute has no value")
            }
            let name = String(decoding: rest[..<equals].trimmed { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            rest = rest[(equals + 1)...]
            let value: ArraySlice<UInt8>
            if rest.first == UInt8(ascii: "\"") {
                rest = rest.dropFirst()
                guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else {
                    throw StreamFlaw("the quoted value of \(name.prefix(80)) has no end")
                }
                value = rest[..<end]
                rest = rest[(end + 1)...]
                quoted.insert(name)
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
                value = rest[..<end].trimmed { $0 == UInt8(ascii: " ") }
                rest = rest[end...]
            }
            guard values.updateValue(String(decoding: value, as: UTF8.self), forKey: name) == nil else {
                throw StreamFlaw("the attribute \(name.prefix(80)) is there twice")
            }
            guard let comma = rest.first else { break }
            guard comma == UInt8(ascii: ",") else { throw StreamFlaw("attributes are not separated by commas") }
            rest = rest.dropFirst()
        }
    }

    /// Replaces variables in quoted strings and hexadecimal numbers (rfc8216bis §4.3).
    mutating func substitute(_ variables: HLSVariables) throws(StreamFlaw) {
        guard !variables.values.isEmpty else { return }
        for (name, value) in values where quoted.contains(name) || value.utf8.starts(with: "{$".utf8) {
            values[name] = try variables.substituted(value)
        }
    }
}

/// The variables of EXT-X-DEFINE (rfc8216bis §4.4.2.3).
struct HLSVariables {
    private(set) var values: [String: String] = [:]
    private let address: WebAddress
    private let imports: [String: String]

    init(_ address: WebAddress, _ imports: [String: String]) {
        self.address = address
        self.imports = imports
    }

    mutating func define(_ attributes: HLSAttributes) throws(StreamFlaw) {
        let name: String
        let value: String
        if let own = attributes["NAME"] {
            guard let text = attributes["VALUE"] else { throw StreamFlaw("EXT-X-DEFINE has no VALUE") }
            (name, value) = (own, try substituted(text))
        } else if let imported = attributes["IMPORT"] {
            guard let text = imports[imported] else {
                throw StreamFlaw(
                    "EXT-X-DEFINE imports \(imported.prefix(80)), which the master playlist does not define")
            }
            (name, value) = (imported, text)
        } else if let parameter = attributes["QUERYPARAM"] {
            guard let text = queryValue(of: parameter), !text.isEmpty else {
                throw StreamFlaw("EXT-X-DEFINE names \(parameter.prefix(80)), which the playlist's URL does not have")
            }
            (name, value) = (parameter, text)
        } else {
            throw StreamFlaw("EXT-X-DEFINE has neither NAME, IMPORT nor QUERYPARAM")
        }
        guard values.count < HLSPlaylist.mostVariables else { throw StreamFlaw("it defines too many variables") }
        guard values.updateValue(value, forKey: name) == nil else {
            throw StreamFlaw("the variable \(name.prefix(80)) is defined twice")
        }
    }

    private func queryValue(of name: String) -> String? {
        for pair in (address.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, Self.decoded(first) == name else { continue }
            return parts.count > 1 ? Self.decoded(parts[1]) : ""
        }
        return nil
    }

    private static func decoded(_ text: Substring) -> String {
        String(decoding: PercentCoding.decoded(text.utf8), as: UTF8.self)
    }

    /// `text` with each `{$NAME}` replaced.
    func substituted(_ text: String) throws(StreamFlaw) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")), text.contains("{$") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "{$") {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                rest = rest[start.lowerBound...]
                break
            }
            let name = String(rest[start.upperBound..<end])
            guard let value = values[name] else { throw StreamFlaw("the variable \(name.prefix(80)) is not defined") }
            result += value
            guard result.utf8.count <= HLSPlaylist.longestLine else { throw StreamFlaw("its variables are too long") }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}

/// Numbers of playlists (RFC 8216 §4.2).
enum HLSNumber {
    static func integer(_ bytes: ArraySlice<UInt8>) throws(StreamFlaw) -> UInt64 {
        let text = String(decoding: bytes.trimmed { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        guard text.utf8.first != UInt8(ascii: "+"), let number = UInt64(text) else {
            throw StreamFlaw("it has no valid number")
        }
        return number
    }

    /// Seconds as a decimal number.
    static func microseconds(_ bytes: ArraySlice<UInt8>) throws(StreamFlaw) -> Int64 {
        let parts = bytes.trimmed { $0 == UInt8(ascii: " ") }.split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { throw StreamFlaw("a segment has no duration") }
        let seconds = try first.isEmpty ? 0 : integer(first)
        let digits = parts.count > 1 ? Array(parts[1].prefix(6)) : []
        guard seconds <= 1_000_000_000, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            throw StreamFlaw("a segment has no valid duration")
        }
        var fraction: Int64 = 0
        for place in 0..<6 { fraction = fraction * 10 + (place < digits.count ? Int64(digits[place] - 0x30) : 0) }
        return Int64(seconds) * 1_000_000 + fraction
    }

    /// `LENGTH[@OFFSET]`.
    static func range(_ bytes: ArraySlice<UInt8>) throws(StreamFlaw) -> (length: Int64, start: Int64?) {
        let parts = bytes.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let length = Int64(exactly: try integer(first)) else {
            throw StreamFlaw("a byte range is invalid")
        }
        guard parts.count > 1 else { return (length, nil) }
        guard let start = Int64(exactly: try integer(parts[1])) else { throw StreamFlaw("a byte range is invalid") }
        return (length, start)
    }

    /// `0x` and up to 32 hexadecimal digits, as 16 bytes.
    static func vector(_ text: String) throws(StreamFlaw) -> [UInt8] {
        let digits = text.dropFirst(2)
        guard text.lowercased().utf8.starts(with: "0x".utf8), 1...32 ~= digits.utf8.count,
            let bytes = Hexadecimal.bytes(String(repeating: "0", count: 32 - digits.utf8.count) + digits)
        else { throw StreamFlaw("an IV is not a hexadecimal number of 16 bytes") }
        return bytes
    }
}
