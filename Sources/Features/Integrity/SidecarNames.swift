package import PawlBase
import PawlJournal

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
