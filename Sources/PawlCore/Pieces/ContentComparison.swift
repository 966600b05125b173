/// What a file and the content of an address have in common.
package struct ContentComparison: Hashable, Sendable {
    /// The content as the first response described it.
    package var representation = Representation()
    /// The bytes that both have at the same offsets.
    package var equal = ByteRangeSet()
    /// The content's length in bytes.
    package var length: Int64 = 0

    package init() {}

    /// Why the content is not what a damaged file is repaired by; `nil` if it is.
    ///
    /// Status 200 proves nothing: login pages, errors, parts and coded bodies have it too. Content of another length is
    /// accepted where the file's own bytes vouch for it: all of them where it has no validators, half of them otherwise.
    package func refusal(
        forFile name: String,
        of fileLength: Int64,
        hasChecksum: Bool
    ) -> LocalizableMessage? {
        if let coding = representation.coding {
            return .init(
                "repair-content-encoded",
                "the server sends it with Content-Encoding \(coding), which is not the file's content"
            )
        }
        guard length != fileLength else { return nil }
        if let type = representation.mediaType, Judge.isPage(type), !Self.isNamed(name, as: type) {
            return .init("repair-content-page", "the server sent a page (\(type)) of another length")
        }
        guard !hasChecksum, equal.count < fileLength else { return nil }
        if representation.validators.isEmpty {
            return .init(
                "repair-length-differs",
                "the server has \(length) bytes instead of \(fileLength), without ETag and Last-Modified"
            )
        }
        guard equal.count < fileLength - equal.count else { return nil }
        return .init(
            "repair-content-differs",
            "the server has \(length) bytes instead of \(fileLength), and most of the file differs from them"
        )
    }

    private static func isNamed(_ name: String, as type: String) -> Bool {
        let name = name.lowercased()
        switch type {
        case "text/html", "application/xhtml+xml":
            return [".html", ".htm", ".xhtml"].contains { name.hasSuffix($0) }
        // The type of every file of text.
        case "text/plain": return true
        default:
            guard let end = type.lastIndex(where: { $0 == "/" || $0 == "+" }) else { return false }
            return name.hasSuffix("." + type[type.index(after: end)...])
        }
    }
}
