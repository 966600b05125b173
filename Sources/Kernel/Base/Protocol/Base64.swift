/// Base64 of either alphabet (RFC 4648 §4 and §5), padded or not.
package enum Base64 {
    /// `nil` when it is not base64.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        var padding = 0
        var digits = 0
        for byte in text {
            if byte == .equals {
                padding += 1
                continue
            }
            guard padding == 0, let digit = value(of: byte) else { return nil }
            digits += 1
            buffer = buffer << 6 | digit
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        // A single digit is less than a byte.
        guard digits % 4 != 1, padding <= 2 else { return nil }
        return bytes
    }

    /// Only the ordinary alphabet (RFC 4648 §4) with all of its padding; `nil` for anything else.
    package static func decodePadded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = text.prefix { $0 != .equals }
        let padding = text.count - digits.count
        guard text.count.isMultiple(of: 4), padding <= 2, text[digits.endIndex...].allSatisfy({ $0 == .equals }),
            !digits.contains(where: { $0 == .dash || $0 == .underscore })
        else { return nil }
        return decode(digits)
    }

    /// With the ordinary alphabet and its padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let digit = digits[Int(word >> UInt32(18 - 6 * place) & 63)]
                text.append(place <= group.count ? digit : .equals)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
