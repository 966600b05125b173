/// The check value of gzip (RFC 1952 §8, CRC-32).
struct GzipChecksum: Hashable, Sendable {
    private static let table: [UInt32] = (0..<256 as Range<UInt32>).map { start in
        (0..<8).reduce(start) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
    }

    private var register = UInt32.max

    var value: UInt32 { ~register }

    mutating func feed(_ bytes: ArraySlice<UInt8>) {
        let table = Self.table
        for byte in bytes { register = (register >> 8) ^ table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] }
    }
}
