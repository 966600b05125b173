/// The names of sums files beside a file, and of their signatures.
package enum SidecarNames {
    /// Appended to the file's own address.
    package static let own = [".sha256", ".sha256sum", ".sha512", ".sha512sum", ".md5"]
    /// In the file's folder.
    package static let common = ["SHA256SUMS", "SHA256SUMS.txt", "sha256sum.txt", "SHA512SUMS", "CHECKSUM", "MD5SUMS"]
    /// Appended to the address of a sums file.
    package static let signatures = [".gpg", ".asc", ".sig", ".sign", ".minisig"]

    /// The file's name as sums files have it: the last part of the path, decoded; `nil` where there is none.
    package static func name(of address: WebAddress) -> [UInt8]? {
        guard address.isWeb else { return nil }
        let last = address.path.utf8.split(separator: .slash, omittingEmptySubsequences: false).last ?? []
        let name = PercentCoding.decoded(last)
        return name.isEmpty || name.contains(.slash) || name.contains(0) ? nil : name
    }

    /// The address with `ending` after its path; the query is left out, or kept.
    package static func address(_ address: WebAddress, appending ending: String, keepsQuery: Bool) -> WebAddress {
        var other = address
        other.path += ending
        if !keepsQuery { other.query = nil }
        return other
    }

    /// The address of `name` in the folder of `address`, without a query.
    package static func address(_ address: WebAddress, inFolder name: String) -> WebAddress {
        var other = address
        let end = other.path.utf8.lastIndex(of: .slash).map { other.path.utf8.index(after: $0) }
        other.path = String(other.path[..<(end ?? other.path.startIndex)]) + name
        other.query = nil
        return other
    }
}

/// What was received for a sums file.
package struct SidecarResponse: Hashable, Sendable {
    package var bytes: [UInt8]
    /// Content-Type.
    package var contentType: String?

    package init(bytes: [UInt8], contentType: String? = nil) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// Decodes the body if its coding is gzip, which some servers apply to every text; `nil` for other codings.
    package init?(received bytes: [UInt8], contentType: String?, coding: String?, limit: Int) {
        var bytes = bytes
        if let coding = coding?.lowercased() {
            guard ["gzip", "x-gzip"].contains(coding), let plain = Inflate.gzip(bytes, limit: limit) else { return nil }
            bytes = plain
        }
        self.init(bytes: bytes, contentType: contentType)
    }

    /// A page that says that there is no such file, or lists the folder.
    package var isPage: Bool {
        let type = contentType.flatMap { MediaType.name(in: $0) }
        if type == "text/html" || type == "application/xhtml+xml" { return true }
        return bytes.first { !$0.isWhiteSpace } == .less
    }
}
