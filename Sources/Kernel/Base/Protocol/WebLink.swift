/// One link of a Link field (RFC 8288): a mirror (`rel=duplicate`), a description (`rel=describedby`), and
/// others.
package struct WebLink: Hashable, Sendable {
    /// A URI reference as sent, to be resolved against the address of the response.
    package var target: String
    /// Relation types in lower case.
    package var relations: [String]
    /// All parameters, `rel` among them.
    package var parameters: [FieldParameter]

    /// The value of the first parameter of this name (lower case), such as `pri` or `type`.
    package subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Parses every link of the field; malformed ones are skipped.
    package static func parse(_ field: String) -> [WebLink] {
        var links: [WebLink] = []
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            _ = scanner.take(upTo: .less)
            guard scanner.take(.less) else { break }
            let target = scanner.take(upTo: .greater).trimmed(\.isWhiteSpace)
            guard scanner.take(.greater) else { break }
            let parameters = scanner.parameters()
            // Only the first rel counts (RFC 8288 §3.3).
            let relation = parameters.first { $0.name == "rel" }?.value ?? ""
            let relations = Array(relation.utf8).split(whereSeparator: \.isWhiteSpace)
            links.append(
                WebLink(
                    target: String(field: target), relations: relations.map { String(field: $0.map(\.lowercased)) },
                    parameters: parameters))
        }
        return links
    }
}
