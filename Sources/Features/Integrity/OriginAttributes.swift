import CPawlSystem
import Glibc
package import PawlBase

/// What `--xattr` stored with a file when it was downloaded.
package struct OriginAttributes: Hashable, Sendable {
    /// `user.xdg.origin.url`: the URL without its query.
    package let url: String?
    /// `user.pawl.sha256`.
    package let checksum: Checksum?

    package static let urlName = "user.xdg.origin.url"
    package static let digestName = "user.pawl.sha256"
    private static let longest = 16 << 10

    /// Without attributes where the file or its file system has none.
    package init(ofFileAt path: [UInt8]) {
        let file =
            path.contains(0)
            ? -1 : unsafe open((path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if file >= 0 { close(file) } }
        func text(_ name: String) -> String? {
            var bytes = [UInt8](repeating: 0, count: Self.longest)
            let count = unsafe pawl_attribute(file, name, &bytes, bytes.count)
            return count > 0 ? String(validating: bytes.prefix(Int(count)), as: UTF8.self) : nil
        }
        url = text(Self.urlName).flatMap { (try? WebAddress.parse($0)) == nil ? nil : $0 }
        checksum = text(Self.digestName).flatMap { Checksum(text: "sha-256=\($0)") }
    }
}
