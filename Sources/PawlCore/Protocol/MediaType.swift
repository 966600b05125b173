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
        guard tokens.count == 2, tokens.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) })
        else {
            return nil
        }
        type = String(field: tokens[0].map(\.lowercased))
        subtype = String(field: tokens[1].map(\.lowercased))
        parameters = scanner.parameters()
    }

    /// The value of the first parameter of this name (lower case).
    package subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
}
