import PawlBase

/// The media types that are accepted: `TYPE/SUBTYPE`, `TYPE/*` or `*/*` (RFC 9110 §12.5.1).
package struct MediaRange: Hashable, Sendable {
    private let type: String
    private let subtype: String

    package init?(_ text: String) {
        guard let media = MediaType(parsing: text) else { return nil }
        type = media.type
        subtype = media.subtype
    }

    /// Whether a Content-Type matches; a missing one matches `*/*` only.
    package func contains(_ contentType: String?) -> Bool {
        guard let media = contentType.flatMap({ MediaType(parsing: $0) }) else { return type == "*" }
        return (type == "*" || type == media.type) && (subtype == "*" || subtype == media.subtype)
    }
}
