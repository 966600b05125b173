/// The source of a file's name when none was given.
package enum NamingPolicy: String, Hashable, Sendable, CaseIterable {
    /// The final response's Content-Disposition, else as `url`.
    case server
    /// The last component of the address's path, `index.html` for a folder.
    case url
    /// A hash of the address with the extension kept: unique, and the same each time.
    case hash

    /// A safe name derived from `address`.
    ///
    /// `address` is that of the request or of the final response, as the caller prefers; `head` is the final
    /// response's.
    ///
    /// `given`: the URLs that the user gave; the name in one of them is kept as it is, with a leading dot, where a file
    /// can have it.
    package static func choose(
        _ policy: NamingPolicy, address: WebAddress, head: ResponseHead?, given: [WebAddress] = [],
        charsets: CharsetDecoder = .builtIn
    ) -> String {
        switch policy {
        case .server:
            if let suggestion = head?.suggestedName(charsets) { return FileName.safe(suggestion) }
            return urlName(address, given, charsets)
        case .url: return urlName(address, given, charsets)
        case .hash:
            let last = FileName.safe(address.lastPathComponent)
            return FNV.hex(FNV.hash128(address.text.utf8)) + FileName.split(last).suffix
        }
    }

    private static func urlName(_ address: WebAddress, _ given: [WebAddress], _ charsets: CharsetDecoder) -> String {
        let last = address.lastPathBytes
        guard !last.isEmpty else { return "index.html" }
        let name = charsets.text(unlabelled: last)
        return given.contains { $0.lastPathBytes == last } ? FileName.given(name) : FileName.safe(name)
    }
}
