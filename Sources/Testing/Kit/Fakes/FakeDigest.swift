import PawlBase

/// The digests that a fake disk computes: MD5 and Adler-32, and for SHA-256, which nobody compares, MD5 twice.
enum FakeDigest {
    static func checksums(_ algorithms: [HashAlgorithm], of bytes: [UInt8], sabotage: Sabotage? = nil) -> [Checksum] {
        let computed = algorithms.map { algorithm in
            switch algorithm {
            case .md5: MessageDigest5.checksum(bytes)
            case .sha256:
                Checksum(algorithm: .sha256, digest: MessageDigest5.digest(bytes) + MessageDigest5.digest(bytes))
            case .adler32: adler32(bytes)
            case _: preconditionFailure("a fake disk does not know \(algorithm.rawValue)")
            }
        }
        return sabotage == .computesOneDigest ? Array(computed.prefix(1)) : computed
    }

    private static func adler32(_ bytes: [UInt8]) -> Checksum {
        var sum = Adler32()
        unsafe bytes.withUnsafeBytes { unsafe sum.add($0) }
        let digest = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum.value >> UInt32($0)) }
        return Checksum(algorithm: .adler32, digest: digest)
    }
}
