import CCrypto
import PawlBase

/// MD5 (RFC 1321), for digest credentials and for content whose digest a test or a simulated world states.
///
/// By OpenSSL: simulated worlds digest so much that a portable one took most of their time.
package enum MessageDigest5 {
    /// The digest of `text` in lower-case hexadecimal.
    static func hex(_ text: String) -> String { Hexadecimal.text(digest(Array(text.utf8))) }

    static func checksum(_ message: [UInt8]) -> Checksum { Checksum(algorithm: .md5, digest: digest(message)) }

    /// The 16 bytes of the digest of `message`.
    package static func digest(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        guard unsafe EVP_Digest(message, message.count, &digest, nil, EVP_md5(), nil) == 1 else {
            preconditionFailure("OpenSSL has no MD5")
        }
        return digest
    }
}
