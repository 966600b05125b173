import PawlCore

/// Finds the secret in a message without parsing the message: authenticated clients do not wait behind unauthenticated
/// ones, and have larger limits.
enum ShownSecret {
    private static let mark = Array("token:".utf8)
    /// Candidates after further marks are found when the message is parsed.
    private static let mostCandidates = 4
    private static let longest = 1024

    /// The texts after the first marks: JSON strings, or XML text.
    static func candidates(in bytes: some Collection<UInt8>) -> [String] {
        var found: [String] = []
        var rest = Array(bytes)[...]
        while found.count < mostCandidates, let start = rest.firstIndex(of: mark[0]) {
            rest = rest[start...]
            guard rest.starts(with: mark) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(mark.count)
            if let text = text(rest.prefix(longest)) { found.append(text) }
        }
        return found
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        var isEscaped = false
        for index in bytes.indices {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch bytes[index] {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "\""):
                let quoted = [UInt8(ascii: "\"")] + bytes[..<index] + [UInt8(ascii: "\"")]
                return try? JSON.parse(quoted).string
            case UInt8(ascii: "<"):
                let element = Array("<s>".utf8) + bytes[..<index] + Array("</s>".utf8)
                return try? XMLElement.parse(element, within: XMLCall.limits).text
            default: break
            }
        }
        return nil
    }
}
