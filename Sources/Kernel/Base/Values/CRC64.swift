/// CRC-64/XZ (ECMA-182, reflected): distinguishes a journal's header and lane slots from damaged and old
/// bytes.
///
/// No protection against an attacker: a process that can write the journal can write the data too.
package struct CRC64: Hashable, Sendable {
    private var register = ~UInt64(0)

    package init() {}

    package var value: UInt64 { ~register }

    package mutating func feed(_ byte: UInt8) { register = Self.step(register, byte, Self.table) }

    private static func step(_ register: UInt64, _ byte: UInt8, _ table: [UInt64]) -> UInt64 {
        table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        // Callers in other modules reach this unspecialised, where each step of an iterator is a call through
        // a witness; and each look at a lazy global is a call too.
        let isFed: Void? = bytes.withContiguousStorageIfAvailable { run in
            let table = Self.table
            var register = register
            // No loop over a range: a debug build, which the tests are, would call its iterator for each byte.
            var index = 0
            while index < run.count {
                register = unsafe Self.step(register, run[index], table)
                index += 1
            }
            self.register = register
        }
        guard isFed == nil else { return }
        for byte in bytes { feed(byte) }
    }

    /// Feeds the eight bytes of `word`, lowest first.
    package mutating func feed(_ word: UInt64) {
        let table = Self.table
        var rest = word
        var count = 0
        while count < 8 {
            register = Self.step(register, UInt8(truncatingIfNeeded: rest), table)
            rest >>= 8
            count += 1
        }
    }

    /// The check of one sequence of bytes.
    package static func value(of bytes: some Sequence<UInt8>) -> UInt64 {
        var check = CRC64()
        check.feed(bytes)
        return check.value
    }

    private static let table: [UInt64] = (0..<256).map { index in
        var entry = UInt64(index)
        for _ in 0..<8 { entry = entry & 1 == 1 ? (entry >> 1) ^ 0xC96C_5795_D787_0F42 : entry >> 1 }
        return entry
    }
}

/// CRC-16 (CCITT polynomial, reflected) over the 48 bits of a cursor: finds every burst of up to 16 wrong
/// bits.
package enum CursorCheck {
    package static func value(of cursor: UInt64, seed: UInt16) -> UInt16 {
        var register = seed
        var shift: UInt64 = 0
        while shift < 48 {
            let byte = UInt8(truncatingIfNeeded: cursor >> shift)
            register = table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
            shift += 8
        }
        return register
    }

    private static let table: [UInt16] = (0..<256).map { index in
        var entry = UInt16(index)
        for _ in 0..<8 { entry = entry & 1 == 1 ? (entry >> 1) ^ 0x8408 : entry >> 1 }
        return entry
    }
}
