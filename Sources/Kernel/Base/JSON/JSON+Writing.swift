extension JSON {
    /// The shortest text, on one line, as UTF-8.
    package var utf8: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    package var text: String { String(decoding: utf8, as: UTF8.self) }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): JSON.write(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSON.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// In quotes; escapes also characters that JSON allows but that are unsafe in a terminal, a script or
    /// line-based input.
    package static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain(text) { bytes += text.utf8 } else { for scalar in text.unicodeScalars { write(scalar, to: &bytes) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing is escaped: most texts, which are copied whole.
    private static func isPlain(_ text: String) -> Bool {
        let isPlain = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe bytes.allSatisfy {
                $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
                    && $0 != UInt8(ascii: "<")
            }
        }
        return isPlain ?? false
    }

    private static func write(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "\"": bytes += #"\""#.utf8
        case "\\": bytes += #"\\"#.utf8
        case "\n": bytes += #"\n"#.utf8
        case "\r": bytes += #"\r"#.utf8
        case "\t": bytes += #"\t"#.utf8
        // "<" cannot end a script, and U+2028 and U+2029 end a line for JavaScript and line-based
        // parsers.
        case "\u{0}"..<"\u{20}", "<", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            bytes += #"\u"#.utf8
            bytes += String(repeating: "0", count: 4 - digits.count).utf8
            bytes += digits.utf8
        default: bytes += scalar.utf8
        }
    }
}
