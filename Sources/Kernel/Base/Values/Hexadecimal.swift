/// Bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String { text(Array(bytes)) }

    // Not generic: that would cost a call through a table for each byte.
    private static func text(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(character(byte >> 4))
            digits.append(character(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The digit of a number below 16.
    static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    /// `nil` unless `text` is an even number of hexadecimal digits.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var first: UInt8?
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            guard let high = first else {
                first = digit
                continue
            }
            bytes.append(high << 4 | digit)
            first = nil
        }
        return first == nil ? bytes : nil
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        case _: nil
        }
    }
}
