/// FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv): small, stable everywhere, and sufficient to distinguish
/// names.
///
/// No protection against an attacker who looks for equal hashes.
package enum FNV {
    package static func hash64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    package static func hash128(_ bytes: some Sequence<UInt8>) -> UInt128 {
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B }
        return hash
    }

    /// `hash` in hexadecimal digits of its full width.
    package static func hex<Hash: FixedWidthInteger>(_ hash: Hash) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(Hash.bitWidth / 4)
        for shift in stride(from: Hash.bitWidth - 4, through: 0, by: -4) {
            digits.append(Hexadecimal.character(UInt8(truncatingIfNeeded: hash >> shift) & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
