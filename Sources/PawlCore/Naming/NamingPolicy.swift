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
    package static func choose(_ policy: NamingPolicy, address: WebAddress, head: ResponseHead?) -> String {
        switch policy {
        case .server:
            if let suggestion = head?.contentDisposition.flatMap(ContentDisposition.fileName) {
                return FileName.safe(suggestion)
            }
            return urlName(address)
        case .url: return urlName(address)
        case .hash:
            let last = FileName.safe(address.lastPathComponent)
            return FNV.hex(FNV.hash128(address.text.utf8)) + FileName.split(last).suffix
        }
    }

    private static func urlName(_ address: WebAddress) -> String {
        let last = address.lastPathComponent
        return last.isEmpty ? "index.html" : FileName.safe(last)
    }
}
