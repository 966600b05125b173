/// MD4 (RFC 1320): zsync's strong block checksum, which libcrypto offers in its legacy provider only.
///
/// It is broken as a cryptographic hash. It only finds blocks; another digest proves the file.
package struct MessageDigest4: Hashable, Sendable {
    private var a: UInt32 = 0x6745_2301
    private var b: UInt32 = 0xefcd_ab89
    private var c: UInt32 = 0x98ba_dcfe
    private var d: UInt32 = 0x1032_5476

    private init() {}

    /// The 16 bytes of the digest of `bytes`.
    package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var state = MessageDigest4()
        let whole = bytes.count / 64 * 64
        for start in stride(from: 0, to: whole, by: 64) { unsafe state.mix(bytes, at: start) }
        var tail = unsafe Array(bytes[whole...])
        tail.append(0x80)
        while tail.count % 64 != 56 { tail.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for shift in stride(from: UInt64(0), to: 64, by: 8) { tail.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        unsafe tail.withUnsafeBytes { padded in
            for start in stride(from: 0, to: padded.count, by: 64) { unsafe state.mix(padded, at: start) }
        }
        return [state.a, state.b, state.c, state.d].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (UInt32($0) * 8)) }
        }
    }

    package static func digest(_ bytes: [UInt8]) -> [UInt8] { unsafe bytes.withUnsafeBytes { unsafe digest($0) } }

    // Written out: a loop over tables of shifts takes three times as long.
    private mutating func mix(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        @inline(__always) func word(_ index: Int) -> UInt32 {
            unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self))
        }
        @inline(__always) func turn(_ value: UInt32, _ count: UInt32) -> UInt32 {
            value &<< count | value &>> (32 &- count)
        }
        @inline(__always) func first(_ x: UInt32, _ y: UInt32, _ z: UInt32) -> UInt32 { z ^ (x & (y ^ z)) }
        @inline(__always) func second(_ x: UInt32, _ y: UInt32, _ z: UInt32) -> UInt32 { x & y | x & z | y & z }
        let before = self
        var index = 0
        while index < 16 {
            a = turn(a &+ first(b, c, d) &+ word(index), 3)
            d = turn(d &+ first(a, b, c) &+ word(index + 1), 7)
            c = turn(c &+ first(d, a, b) &+ word(index + 2), 11)
            b = turn(b &+ first(c, d, a) &+ word(index + 3), 19)
            index += 4
        }
        index = 0
        while index < 4 {
            a = turn(a &+ second(b, c, d) &+ word(index) &+ 0x5a82_7999, 3)
            d = turn(d &+ second(a, b, c) &+ word(index + 4) &+ 0x5a82_7999, 5)
            c = turn(c &+ second(d, a, b) &+ word(index + 8) &+ 0x5a82_7999, 9)
            b = turn(b &+ second(c, d, a) &+ word(index + 12) &+ 0x5a82_7999, 13)
            index += 1
        }
        var step = 0
        while step < 4 {
            // 0, 2, 1, 3
            let base = (step & 1) << 1 | step >> 1
            a = turn(a &+ (b ^ c ^ d) &+ word(base) &+ 0x6ed9_eba1, 3)
            d = turn(d &+ (a ^ b ^ c) &+ word(base + 8) &+ 0x6ed9_eba1, 9)
            c = turn(c &+ (d ^ a ^ b) &+ word(base + 4) &+ 0x6ed9_eba1, 11)
            b = turn(b &+ (c ^ d ^ a) &+ word(base + 12) &+ 0x6ed9_eba1, 15)
            step += 1
        }
        a &+= before.a
        b &+= before.b
        c &+= before.c
        d &+= before.d
    }
}

/// zsync's rolling checksum of one block: the sum of its bytes, and the sum of those sums.
package struct RollingChecksum: Hashable, Sendable {
    package private(set) var a: UInt16 = 0
    package private(set) var b: UInt16 = 0

    package init(_ block: UnsafeRawBufferPointer) {
        var left = UInt16(truncatingIfNeeded: block.count)
        for index in 0..<block.count {
            let byte = unsafe UInt16(block[index])
            a &+= byte
            b &+= left &* byte
            left &-= 1
        }
    }

    /// Moves the block by one byte; its length is 2 to the power of `shift`.
    @inline(__always) package mutating func roll(out old: UInt8, in new: UInt8, shift: UInt16) {
        a &+= UInt16(new) &- UInt16(old)
        b &+= a &- (UInt16(old) &<< shift)
    }

    /// Both sums.
    @inline(__always) package var all: UInt32 { UInt32(a) << 16 | UInt32(b) }

    /// The lowest `length` bytes: what a control file stores.
    package func value(length: Int) -> UInt32 { length >= 4 ? all : all & ((1 << UInt32(length * 8)) - 1) }
}
