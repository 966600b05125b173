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
