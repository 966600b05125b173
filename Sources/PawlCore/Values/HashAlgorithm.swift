/// The checksums that a download can be verified with.
package enum HashAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"
    case sha1 = "sha-1"
    case md5 = "md5"

    /// Length of the digest in bytes.
    package var length: Int {
        switch self {
        case .sha256: 32
        case .sha512: 64
        case .sha1: 20
        case .md5: 16
        }
    }
}

/// A digest that the content must have.
package struct Checksum: Hashable, Sendable {
    package var algorithm: HashAlgorithm
    package var digest: [UInt8]

    package init(algorithm: HashAlgorithm, digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }
}
