/// A key of a terminal.
package enum TerminalKey: Hashable, Sendable {
    /// A printable ASCII character.
    case character(Character)
    case up, down, pageUp, pageDown, home, end, enter, escape
}

/// Turns the bytes of a terminal into keys (ECMA-48, 5.4; xterm's "PC-Style Function Keys").
///
/// Other bytes and unknown sequences are no key.
package struct KeyReader: Hashable, Sendable {
    /// A control sequence that has begun, without its introducer.
    private var sequence: [UInt8]?
    /// The byte after ESC decides what follows.
    private var hasEscape = false
    /// The next byte ends a sequence that began with ESC O.
    private var isShift = false
    /// A longer sequence is none that a key sends.
    private static let longest = 16

    package init() {}

    /// The keys of bytes that were read together: an ESC at their end is the key.
    package mutating func keys(_ bytes: some Sequence<UInt8>) -> [TerminalKey] {
        var keys: [TerminalKey] = []
        for byte in bytes { if let key = take(byte) { keys.append(key) } }
        if hasEscape { keys.append(.escape) }
        hasEscape = false
        return keys
    }

    private mutating func take(_ byte: UInt8) -> TerminalKey? {
        if let begun = sequence {
            guard (0x20...0x3F).contains(byte), begun.count < Self.longest else {
                sequence = nil
                return Self.key(final: byte, begun)
            }
            sequence = begun + [byte]
            return nil
        }
        if isShift {
            isShift = false
            return Self.key(final: byte, [])
        }
        if hasEscape {
            hasEscape = false
            switch byte {
            case UInt8(ascii: "["): sequence = []
            case UInt8(ascii: "O"): isShift = true
            case 0x1B:
                hasEscape = true
                return .escape
            // The key with Alt.
            case _: break
            }
            return nil
        }
        switch byte {
        case 0x1B: hasEscape = true
        case 0x0A, 0x0D: return .enter
        case 0x20..<0x7F: return .character(Character(UnicodeScalar(byte)))
        case _: break
        }
        return nil
    }

    private static func key(final: UInt8, _ parameters: [UInt8]) -> TerminalKey? {
        switch (final, parameters.first) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "H"), _): .home
        case (UInt8(ascii: "F"), _): .end
        case (UInt8(ascii: "~"), UInt8(ascii: "1")) where parameters.count == 1: .home
        case (UInt8(ascii: "~"), UInt8(ascii: "4")): .end
        case (UInt8(ascii: "~"), UInt8(ascii: "5")): .pageUp
        case (UInt8(ascii: "~"), UInt8(ascii: "6")): .pageDown
        case (_, _): nil
        }
    }
}
