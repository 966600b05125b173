@testable import PawlBase
@testable import PawlCore

extension DownloadMachine {
    /// The digest of the given checksum's algorithm was computed.
    mutating func digested(_ digest: [UInt8]) -> [Action] {
        digested([Checksum(algorithm: plan.checksums.first?.algorithm ?? .sha256, digest: digest)])
    }
}
