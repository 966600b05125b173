extension JSON {
    /// Why a text is not JSON.
    package struct ParsingError: Error, Hashable, Sendable {
        /// In bytes from the start.
        package var offset: Int
        package var why: String
        /// The value with U+FFFD for the halves of surrogate pairs that strings have, if nothing else is wrong.
        package var repaired: JSON?
    }

    /// The maximum nesting of arrays and objects.
    package static let depthLimit = 64

    /// The one value of a text in UTF-8; white space around it is allowed, anything else is an error.
    package static func parse(_ bytes: [UInt8]) throws(ParsingError) -> JSON {
        var parser = Parser(bytes: bytes)
        let value = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.isAtEnd else { throw parser.error("unexpected text after the value") }
        guard var error = parser.halfPair else { return value }
        error.repaired = value
        throw error
    }

    package static func parse(_ text: String) throws(ParsingError) -> JSON { try parse(Array(text.utf8)) }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0
        /// The first half of a surrogate pair: it is no character, and what would stand for it is another text.
        private(set) var halfPair: ParsingError?

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position == bytes.count }
        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        func error(_ why: String) -> ParsingError { ParsingError(offset: position, why: why) }

        mutating func skipBlanks() {
            while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func value(depth: Int) throws(ParsingError) -> JSON {
            guard depth < JSON.depthLimit else { throw error("too many levels") }
            skipBlanks()
            switch next {
            case UInt8(ascii: "{"): return .object(try object(depth: depth))
            case UInt8(ascii: "["): return .array(try array(depth: depth))
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "t"): return try word("true", .bool(true))
            case UInt8(ascii: "f"): return try word("false", .bool(false))
            case UInt8(ascii: "n"): return try word("null", .null)
            case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
            case .none: throw error("unexpected end of the text")
            default: throw error("expected a value")
            }
        }

        private mutating func word(_ word: String, _ value: JSON) throws(ParsingError) -> JSON {
            guard bytes[position...].starts(with: word.utf8) else { throw error("expected a value") }
            position += word.utf8.count
            return value
        }

        private mutating func array(depth: Int) throws(ParsingError) -> [JSON] {
            position += 1
            var values: [JSON] = []
            skipBlanks()
            if take("]") { return values }
            while true {
                values.append(try value(depth: depth + 1))
                skipBlanks()
                if take("]") { return values }
                guard take(",") else { throw error("a comma or ] is missing") }
            }
        }

        private mutating func object(depth: Int) throws(ParsingError) -> [Member] {
            position += 1
            var members: [Member] = []
            skipBlanks()
            if take("}") { return members }
            while true {
                skipBlanks()
                guard next == UInt8(ascii: "\"") else { throw error("a name is missing") }
                let name = try string()
                skipBlanks()
                guard take(":") else { throw error("a colon is missing") }
                members.append(Member(name, try value(depth: depth + 1)))
                skipBlanks()
                if take("}") { return members }
                guard take(",") else { throw error("a comma or } is missing") }
            }
        }

        /// RFC 8259 §6: no leading zero, digits on both sides of the point.
        private mutating func number() throws(ParsingError) -> String {
            let start = position
            _ = take("-")
            if !take("0") { try digits() }
            if take(".") { try digits() }
            if take("e") || take("E") {
                if !take("+") { _ = take("-") }
                try digits()
            }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func digits() throws(ParsingError) {
            let start = position
            while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
            guard position > start else { throw error("a digit is missing") }
        }

        private mutating func string() throws(ParsingError) -> String {
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                switch byte {
                case UInt8(ascii: "\""):
                    position += 1
                    guard let valid = String(validating: text, as: UTF8.self) else { throw error("not UTF-8") }
                    return valid
                case UInt8(ascii: "\\"):
                    position += 1
                    text += try escape().utf8
                case 0..<0x20: throw error("control character in a string")
                default:
                    text.append(byte)
                    position += 1
                }
            }
            throw error("unterminated string")
        }

        private mutating func escape() throws(ParsingError) -> Unicode.Scalar {
            guard let byte = next else { throw error("unterminated string") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return "\""
            case UInt8(ascii: "\\"): return "\\"
            case UInt8(ascii: "/"): return "/"
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{C}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "u"): return try codePoint()
            default: throw error("invalid escape")
            }
        }

        private mutating func codePoint() throws(ParsingError) -> Unicode.Scalar {
            let first = try unit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xDC00, bytes[position...].starts(with: #"\u"#.utf8) else { return half() }
            let start = position
            position += 2
            let second = try unit()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else {
                position = start
                return half()
            }
            return scalar
        }

        private mutating func half() -> Unicode.Scalar {
            halfPair = halfPair ?? error("half of a surrogate pair in a string")
            return "\u{FFFD}"
        }

        private mutating func unit() throws(ParsingError) -> UInt32 {
            let digits = bytes[position...].prefix(4)
            // UInt32 would also accept a sign.
            guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw error("four hexadecimal digits are missing") }
            position += 4
            return value
        }
    }
}
