/// The digests and checks that content can be verified with; those that prove most come first.
package enum HashAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"
    case sha384 = "sha-384"
    case sha224 = "sha-224"
    /// BLAKE2b with 512 bits (RFC 7693), as `b2sum` computes it.
    case blake2b = "blake2b"
    /// SHA-3 (FIPS 202).
    case sha3256 = "sha3-256"
    case sha3512 = "sha3-512"
    case sha3384 = "sha3-384"
    case sha3224 = "sha3-224"
    /// SHA-512 with another beginning, cut to 256 bits (FIPS 180-4).
    case sha512256 = "sha-512-256"
    /// BLAKE2s with 256 bits (RFC 7693).
    case blake2s = "blake2s"
    /// GB/T 32905-2016.
    case sm3 = "sm3"
    case sha1 = "sha-1"
    /// SHA-1 of a Git blob: of `blob`, a space, the length in digits and a NUL byte, and then the content.
    case gitBlob = "git-blob"
    case md5 = "md5"
    /// CRC-64/NVME, as object stores state it.
    case crc64nvme = "crc64nvme"
    /// CRC-32C (Castagnoli, RFC 3720).
    case crc32c = "crc32c"
    /// CRC-32 (ISO 3309), as in gzip.
    case crc32 = "crc32"
    /// Adler-32 (RFC 1950 §8.2).
    case adler32 = "adler32"
    /// The root of a binary tree of SHA-256 digests, whose leaves are those of 16 KiB each (BEP 52): of pieces only.
    case sha256Tree = "sha-256-tree"

    /// Those that a whole file may have.
    package static let allCases: [HashAlgorithm] = [
        .sha256, .sha512, .sha384, .sha224, .blake2b, .sha3256, .sha3512, .sha3384, .sha3224, .sha512256, .blake2s,
        .sm3,
        .sha1, .gitBlob, .md5, .crc64nvme, .crc32c, .crc32, .adler32,
    ]

    /// Length of the digest in bytes.
    package var length: Int {
        switch self {
        case .sha256, .sha3256, .sha512256, .blake2s, .sm3, .sha256Tree: 32
        case .sha512, .blake2b, .sha3512: 64
        case .sha384, .sha3384: 48
        case .sha224, .sha3224: 28
        case .sha1, .gitBlob: 20
        case .md5: 16
        case .crc64nvme: 8
        case .crc32c, .crc32, .adler32: 4
        }
    }

    /// Whether other content with the same digest can be made on purpose.
    ///
    /// A mismatch still shows that the content is wrong.
    package var isWeak: Bool {
        switch self {
        case .sha256, .sha512, .sha384, .sha224, .blake2b, .sha3256, .sha3512, .sha3384, .sha3224, .sha512256, .blake2s,
            .sm3, .sha256Tree:
            false
        case .sha1, .gitBlob, .md5, .crc64nvme, .crc32c, .crc32, .adler32: true
        }
    }

    /// A smaller number proves more.
    package var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// A name in any of the usual spellings: `sha-256`, `SHA256`, `SHA_256`, `sha2-256`.
    package init?(spelled name: some Sequence<UInt8>) {
        let plain = name.filter { $0 != .dash && $0 != .underscore }.map(\.lowercased)
        switch String(decoding: plain, as: UTF8.self) {
        case "sha256", "sha2256": self = .sha256
        case "sha512", "sha2512": self = .sha512
        case "sha384", "sha2384": self = .sha384
        case "sha224", "sha2224": self = .sha224
        case "blake2b", "blake2b512": self = .blake2b
        case "sha3256": self = .sha3256
        case "sha3512": self = .sha3512
        case "sha3384": self = .sha3384
        case "sha3224": self = .sha3224
        case "sha512256", "sha512/256", "sha2512/256": self = .sha512256
        case "blake2s", "blake2s256": self = .blake2s
        case "sm3": self = .sm3
        case "sha1", "sha": self = .sha1
        case "gitblob": self = .gitBlob
        case "md5": self = .md5
        case "crc64nvme": self = .crc64nvme
        case "crc32c": self = .crc32c
        case "crc32": self = .crc32
        case "adler32": self = .adler32
        case _: return nil
        }
    }

    /// The other algorithms whose digests have as many digits.
    package var lookalikes: [HashAlgorithm] {
        guard length >= HashAlgorithm.sha1.length else { return [] }
        return Self.allCases.filter { $0.length == length && $0 != self && $0 != .gitBlob }
    }

    /// The digest of the SHA-2 and MD families with this many hexadecimal digits.
    package init?(digits: Int) {
        switch digits {
        case 64: self = .sha256
        case 128: self = .sha512
        case 96: self = .sha384
        case 56: self = .sha224
        case 40: self = .sha1
        case 32: self = .md5
        case _: return nil
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

    /// `nil` unless `hex` has the algorithm's number of hexadecimal digits.
    package init?(_ algorithm: HashAlgorithm, hex: ArraySlice<UInt8>) {
        guard hex.count == 2 * algorithm.length else { return nil }
        var digest: [UInt8] = []
        digest.reserveCapacity(algorithm.length)
        var index = hex.startIndex
        while index < hex.endIndex {
            guard let high = hex[index].hexValue, let low = hex[index + 1].hexValue else { return nil }
            digest.append(high << 4 | low)
            index += 2
        }
        self.init(algorithm: algorithm, digest: digest)
    }

    /// `nil` unless `base64` is padded as RFC 4648 §4 requires and has the algorithm's length.
    package init?(_ algorithm: HashAlgorithm, base64: ArraySlice<UInt8>) {
        guard let digest = Base64.decodePadded(base64), digest.count == algorithm.length else { return nil }
        self.init(algorithm: algorithm, digest: digest)
    }
}
