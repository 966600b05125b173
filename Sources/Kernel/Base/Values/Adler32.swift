/// The checksum Adler-32 (RFC 1950 §8.2) in progress, for `RunningHash` in Kernel/Disk: libcrypto does not have it.
package struct Adler32: Sendable {
    private var low: UInt32 = 1
    private var high: UInt32 = 0
    private static let prime: UInt32 = 65_521
    /// As many bytes as both sums hold before they must be reduced.
    private static let most = 5_552

    package init() {}

    package var value: UInt32 { high << 16 | low }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.most, bytes.count)
            for index in start..<end {
                low &+= UInt32(unsafe bytes[index])
                high &+= low
            }
            (low, high) = (low % Self.prime, high % Self.prime)
            start = end
        }
    }
}
