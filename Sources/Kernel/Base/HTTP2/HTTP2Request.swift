/// A request as fields of HTTP/2 (RFC 9113 §8.3), made from its header section in HTTP/1.1.
///
/// The fields are places in one text, in which names were changed to lower case.
package struct HTTP2Request: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package var name: Range<Int>
        package var value: Range<Int>
        /// Never put into a table of HPACK, where the length of a message shows whether it was guessed (RFC 7541 §7.1.3).
        package var isSecret = false
    }

    package private(set) var text: [UInt8]
    /// Pseudo-header fields first.
    package private(set) var fields: [Field] = []

    /// `nil` if the first line is not that of a request, or there is no Host.
    package init?(_ head: [UInt8], isSecure: Bool = true) {
        text = head
        guard let end = head.firstIndex(of: .lineFeed, from: 0), let space = head[..<end].firstIndex(of: .space),
            let last = head[..<end].lastIndex(of: .space), space < last
        else { return nil }
        var host: Range<Int>?
        var others: [Field] = []
        var start = end + 1
        while start < text.count, let end = text.firstIndex(of: .lineFeed, from: start) {
            if let field = field(start, end) {
                if isNamed(field, "host") { host = field.value } else if isSent(field) { others.append(field) }
            }
            start = end + 1
        }
        guard let host else { return nil }
        fields = [
            Field(name: append(":method"), value: 0..<space),
            Field(name: append(":scheme"), value: append(isSecure ? "https" : "http")),
            Field(name: append(":authority"), value: host), Field(name: append(":path"), value: (space + 1)..<last),
        ]
        fields += others
    }

    private mutating func append(_ word: StaticString) -> Range<Int> {
        let start = text.count
        unsafe text.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        return start..<text.count
    }

    private mutating func field(_ start: Int, _ end: Int) -> Field? {
        guard let colon = text[start..<end].firstIndex(of: .colon), colon > start else { return nil }
        for index in start..<colon { text[index] = text[index].lowercased }
        let value = text[(colon + 1)..<end].trimmed(\.isWhiteSpace)
        var field = Field(name: start..<colon, value: value.startIndex..<value.endIndex)
        if !["accept", "range", "user-agent"].contains(where: { isNamed(field, $0) }) {
            field.isSecret = Redaction.isSecret(name: String(decoding: text[field.name], as: UTF8.self))
        }
        return field
    }

    /// Fields about an HTTP/1.1 connection make a request malformed (RFC 9113 §8.2.2).
    private func isSent(_ field: Field) -> Bool {
        let names: [StaticString] = [
            "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "http2-settings",
        ]
        if isNamed(field, "te") { return text[field.value].isCaseInsensitively("trailers") }
        return !names.contains { isNamed(field, $0) }
    }

    private func isNamed(_ field: Field, _ name: StaticString) -> Bool {
        field.name.count == name.utf8CodeUnitCount && text[field.name].isCaseInsensitively(name)
    }
}
