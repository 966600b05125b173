import PawlBase
import PawlDisk

/// The SHA-256 digest, for modules that hash something small.
package enum SHA256 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { ContentDigest.digest(.sha256, of: bytes) }
}
