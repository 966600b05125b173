package import PawlBase
package import PawlJournal

/// Digests of bytes in memory.
package enum ContentDigest {
    /// For bytes that pass in order.
    package static func hasher(_ algorithms: [HashAlgorithm]) -> any ContentHasher { RunningHash(algorithms) }

    package static func digest(_ algorithm: HashAlgorithm, of bytes: [UInt8]) -> [UInt8] {
        let hash = RunningHash([algorithm])
        unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) }
        return hash.finish()[0].digest
    }
}
