/// A Content-Type (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable {
    /// Lower case, as `text`.
    package var type: String
    /// Lower case, as `html`.
    package var subtype: String
    package var parameters: [FieldParameter]

    /// Parses `type/subtype; name=value`; `nil` when the first part is not two tokens with a slash between.
    package init?(parsing text: String) {
        var scanner = FieldScanner(text)
        let name = scanner.take(upTo: .semicolon, .comma).trimmed(\.isWhiteSpace)
        let tokens = name.pieces(between: .slash)
        guard tokens.count == 2, tokens.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) }) else {
            return nil
        }
        type = String(field: tokens[0].map(\.lowercased))
        subtype = String(field: tokens[1].map(\.lowercased))
        parameters = scanner.parameters()
    }

    /// `type/subtype` in lower case; `nil` as for `init(parsing:)`.
    package static func name(in text: String) -> String? {
        var slashes = 0
        var length = 0
        // Nearly every server sends it in this form already.
        for byte in text.utf8 {
            if byte == .slash {
                guard length > 0 else { break }
                slashes += 1
            } else if !byte.isTokenCharacter || byte != byte.lowercased {
                guard byte == .semicolon else {
                    slashes = 0
                    break
                }
                break
            }
            length += 1
        }
        if slashes == 1, let last = text.utf8.dropFirst(length - 1).first, last != .slash {
            return length == text.utf8.count ? text : String(text.utf8.prefix(length))
        }
        return MediaType(parsing: text).map { "\($0.type)/\($0.subtype)" }
    }

    /// The value of the first parameter of this name (lower case).
    package subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
}
