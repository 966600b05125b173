package import PawlBase
import PawlJournal

/// The names of sums files beside a file, and of their signatures.
package enum SidecarNames {
    /// Appended to the file's own address.
    package static let own = [".sha256", ".sha256sum", ".sha512", ".sha512sum", ".md5"]
    /// In the file's folder.
    package static let common = ["SHA256SUMS", "SHA256SUMS.txt", "sha256sum.txt", "SHA512SUMS", "CHECKSUM", "MD5SUMS"]
    /// As ``own``, of files on disk, where looking for them costs no request.
    package static let ownOnDisk =
        own + [
            ".md5sum", ".sha1", ".sha1sum", ".sha224", ".sha224sum", ".sha384", ".sha384sum", ".sha3", ".sha3sum",
            ".b2", ".b2sum",
            ".blake2b", ".blake2s", ".sm3", ".sfv",
        ]
    /// As ``common``, on disk.
    package static let commonOnDisk = common + ["SHA384SUMS", "SHA224SUMS", "SHA1SUMS", "B2SUMS"]
    /// Whether a file of that name has digests of others, in a folder that is listed.
    package static func isList(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        let stem = [".txt", ".md5", ".sha1", ".sha256", ".sha512"].first { name.hasSuffix($0) }.map {
            String(name.dropLast($0.count))
        }
        return lists.contains(stem ?? name)
    }

    private static let lists: Set = [
        "checksum", "checksums", "sha256sum", "sha256sums", "sha512sum", "sha512sums", "sha1sum", "sha1sums", "md5sum",
        "md5sums", "b2sum", "b2sums",
    ]

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
