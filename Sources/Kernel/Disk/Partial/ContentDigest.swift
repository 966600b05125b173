package import PawlBase
package import PawlJournal
import PawlSystem

/// Digests of bytes in memory, and of what coded bytes contain.
package enum ContentDigest {
    /// The most bytes that content in memory may decode to.
    private static let longestDecoded: Int64 = 64 << 20

    /// For bytes that pass in order.
    package static func hasher(_ algorithms: [HashAlgorithm]) -> any ContentHasher { RunningHash(algorithms) }

    package static func digest(_ algorithm: HashAlgorithm, of bytes: [UInt8]) -> [UInt8] {
        hashed([algorithm], bytes)[0].digest
    }

    /// `nil` where the coding cannot be decoded; none where the bytes are not of that coding.
    @Sendable package static func digests(
        _ algorithms: [HashAlgorithm], of bytes: [UInt8], coding: String?
    ) -> [Checksum]? {
        guard let coding else { return hashed(algorithms, bytes) }
        var rest: [UInt8]? = bytes
        return decoded(algorithms, coding, limit: longestDecoded) {
            defer { rest = nil }
            return rest
        }
    }

    /// `next` returns further bytes, `nil` at their end.
    static func decoded(
        _ algorithms: [HashAlgorithm], _ coding: String, limit: Int64 = ContentDecoder.longest,
        next: @escaping () -> [UInt8]?
    ) -> [Checksum]? {
        guard ContentDecoder.supports(coding) else { return nil }
        let hash = RunningHash(algorithms)
        var decoder = ContentDecoder(ZlibInflater(), limit: limit, next: next) { bytes in
            unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) }
        }
        do throws(ContentDecoder.Fault) { try decoder.decode(coding) } catch { return error == .tooLong ? nil : [] }
        return hash.finish()
    }

    private static func hashed(_ algorithms: [HashAlgorithm], _ bytes: [UInt8]) -> [Checksum] {
        let hash = RunningHash(algorithms)
        unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) }
        return hash.finish()
    }
}
