import PawlBase
import PawlDisk

/// An incremental SHA-256 for use by one thread.
package final class RunningDigest {
    private let hash = RunningHash([.sha256])

    package init() {}

    package func feed(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) } }

    /// The digest in hexadecimal; nothing may be fed afterwards.
    package func finish() -> String { Hexadecimal.text(hash.finish()[0].digest) }
}
