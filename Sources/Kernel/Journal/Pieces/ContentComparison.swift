package import PawlBase

/// The result of the comparison of a file with the content of a URL.
package struct ContentComparison: Hashable, Sendable {
    /// The representation of the content, from the first response.
    package var representation = Representation()
    /// The ranges in which both have the same bytes.
    package var equal = ByteRangeSet()
    /// The content's length in bytes.
    package var length: Int64 = 0

    package init() {}

    /// Why the content must not be used to repair the file; `nil` if it may.
    ///
    /// Status 200 proves nothing: login pages, errors, parts and coded bodies have it too. Content of another length is
    /// accepted only if enough bytes of the file match: all of them if the content has no validators, else
    /// half of them.
    package func refusal(forFile name: String, of fileLength: Int64, hasChecksum: Bool) -> LocalizableMessage? {
        if let coding = representation.coding {
            return .init(
                "repair-content-encoded",
                "the server sends it with Content-Encoding \(coding), which is not the file's content")
        }
        guard length != fileLength else { return nil }
        if let type = representation.mediaType, Judge.isPage(type), !Self.isNamed(name, as: type) {
            return .init("repair-content-page", "the server sent a page (\(type)) of another length")
        }
        guard !hasChecksum, equal.count < fileLength else { return nil }
        if representation.validators.isEmpty {
            return .init(
                "repair-length-differs",
                "the server has \(length) bytes instead of \(fileLength), without ETag and Last-Modified")
        }
        guard equal.count < fileLength - equal.count else { return nil }
        return .init(
            "repair-content-differs",
            "the server has \(length) bytes instead of \(fileLength), and most of the file differs from them")
    }

    private static func isNamed(_ name: String, as type: String) -> Bool {
        let name = name.lowercased()
        switch type {
        case "text/html", "application/xhtml+xml": return [".html", ".htm", ".xhtml"].contains { name.hasSuffix($0) }
        // Any text file may have this type.
        case "text/plain": return true
        default:
            guard let end = type.lastIndex(where: { $0 == "/" || $0 == "+" }) else { return false }
            return name.hasSuffix("." + type[type.index(after: end)...])
        }
    }
}
