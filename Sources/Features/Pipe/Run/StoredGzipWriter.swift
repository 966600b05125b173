import CPawlSystem

/// Writes one gzip member piece by piece, without compression (RFC 1951 §3.2.4): for content that is compressed
/// already.
package struct StoredGzipWriter: Hashable, Sendable {
    /// RFC 1952 §8.
    private var checksum: UInt32 = 0
    private var length: UInt32 = 0

    /// The first bytes of a member: magic number, DEFLATE, no flags, no time, no level, unknown system.
    package static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    package init() {}

    /// The blocks of this piece.
    package mutating func feed(_ piece: ArraySlice<UInt8>) -> [UInt8] {
        checksum = unsafe piece.withUnsafeBytes { bytes in
            unsafe UInt32(
                truncatingIfNeeded: pawl_crc(Int32(PAWL_CRC32), UInt64(checksum), bytes.baseAddress, bytes.count))
        }
        length &+= UInt32(truncatingIfNeeded: piece.count)
        var blocks: [UInt8] = []
        blocks.reserveCapacity(piece.count + 5 * (piece.count / 65_535 + 1))
        var rest = piece
        while !rest.isEmpty {
            let block = rest.prefix(65_535)
            blocks += Self.head(of: block.count, isLast: false)
            blocks += block
            rest = rest.dropFirst(block.count)
        }
        return blocks
    }

    /// The last bytes of the member.
    package func finish() -> [UInt8] {
        Self.head(of: 0, isLast: true) + Self.littleEndian(checksum) + Self.littleEndian(length)
    }

    /// What a member that was written like this contains; `nil` for any other.
    package static func content(of member: [UInt8]) -> [UInt8]? {
        guard member.starts(with: header) else { return nil }
        var content: [UInt8] = []
        var rest = member[header.count...]
        while rest.count >= 5 {
            let head = Array(rest.prefix(5))
            let count = Int(head[1]) | Int(head[2]) << 8
            guard head == Self.head(of: count, isLast: head[0] == 1), rest.count >= 5 + count else { return nil }
            content += rest.dropFirst(5).prefix(count)
            if head[0] == 1 { return content }
            rest = rest.dropFirst(5 + count)
        }
        return nil
    }

    private static func head(of count: Int, isLast: Bool) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: count)
        let high = UInt8(truncatingIfNeeded: count >> 8)
        return [isLast ? 1 : 0, low, high, ~low, ~high]
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
