/// A gzip stream (RFC 1952) of stored blocks (RFC 1951 §3.2.4): a real coding, without a compressor.
package enum StoredGzip {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            stream.append(end == bytes.count ? 1 : 0)
            let count = UInt16(end - start)
            stream += littleEndian(UInt32(count) | UInt32(~count) << 16)
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        stream += littleEndian(checksum(bytes))
        stream += littleEndian(UInt32(truncatingIfNeeded: bytes.count))
        return stream
    }

    private static func littleEndian(_ word: UInt32) -> [UInt8] { [0, 8, 16, 24].map { UInt8((word >> $0) & 0xFF) } }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        let table = (UInt32(0)..<256).map(tableEntry)
        var remainder = UInt32.max
        for byte in bytes { remainder = (remainder >> 8) ^ table[Int((remainder ^ UInt32(byte)) & 0xFF)] }
        return ~remainder
    }

    private static func tableEntry(_ index: UInt32) -> UInt32 {
        var value = index
        for _ in 0..<8 { value = value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
        return value
    }
}
