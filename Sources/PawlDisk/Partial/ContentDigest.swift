package import PawlCore

/// Digests of bytes in memory.
package enum ContentDigest {
    package static func digest(_ algorithm: HashAlgorithm, of bytes: [UInt8]) -> [UInt8] {
        let hash = RunningHash([algorithm])
        unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) }
        return hash.finish()[0].digest
    }
}
