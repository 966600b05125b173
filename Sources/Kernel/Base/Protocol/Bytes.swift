// Public so that other modules inline it; no part of the library's interface.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Shared functions of the parsers: they work on bytes, since header fields and addresses are bytes and a
// Swift `Character` would join a CR with its LF.

extension UInt8 {
    @inlinable public static var tab: UInt8 { 0x09 }
    @inlinable public static var lineFeed: UInt8 { 0x0A }
    @inlinable public static var carriageReturn: UInt8 { 0x0D }
    @inlinable public static var space: UInt8 { 0x20 }
    @inlinable public static var quote: UInt8 { 0x22 }
    @inlinable public static var hash: UInt8 { 0x23 }
    @inlinable public static var percent: UInt8 { 0x25 }
    @inlinable public static var asterisk: UInt8 { 0x2A }
    @inlinable public static var apostrophe: UInt8 { 0x27 }
    @inlinable public static var plus: UInt8 { 0x2B }
    @inlinable public static var comma: UInt8 { 0x2C }
    @inlinable public static var dash: UInt8 { 0x2D }
    @inlinable public static var dot: UInt8 { 0x2E }
    @inlinable public static var slash: UInt8 { 0x2F }
    @inlinable public static var colon: UInt8 { 0x3A }
    @inlinable public static var semicolon: UInt8 { 0x3B }
    @inlinable public static var less: UInt8 { 0x3C }
    @inlinable public static var equals: UInt8 { 0x3D }
    @inlinable public static var greater: UInt8 { 0x3E }
    @inlinable public static var questionMark: UInt8 { 0x3F }
    @inlinable public static var at: UInt8 { 0x40 }
    @inlinable public static var leftBracket: UInt8 { 0x5B }
    @inlinable public static var backslash: UInt8 { 0x5C }
    @inlinable public static var rightBracket: UInt8 { 0x5D }
    @inlinable public static var underscore: UInt8 { 0x5F }

    @inlinable public var isDigit: Bool { self &- 0x30 < 10 }
    @inlinable public var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
    var isControl: Bool { self < 0x20 || self == 0x7F }
    @inlinable public var isASCII: Bool { self < 0x80 }
    /// Space or tab: the white space inside a line.
    @inlinable public var isBlank: Bool { self == .space || self == .tab }
    /// Any white space of ASCII, line ends included.
    @inlinable public var isWhiteSpace: Bool { self == .space || self &- 0x09 < 5 }
    /// A character of a token (RFC 9110 §5.6.2).
    @inlinable public var isTokenCharacter: Bool {
        switch Unicode.Scalar(self) {
        case "a"..."z", "A"..."Z", "0"..."9", "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~":
            true
        default: false
        }
    }

    /// The ASCII letter in lower case, every other byte as it is.
    @inlinable public var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    @inlinable public var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The index of the first such byte at `start` or after it; compares eight bytes at a time.
    @inlinable public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones << 7
        var index = start
        while index + 8 <= count {
            let word = unsafe UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let difference = word ^ (ones * UInt64(byte))
            // The lowest bit that is set is the high bit of the first byte without a difference.
            let equal = (difference &- ones) & ~difference & highBits
            if equal != 0 { return index + equal.trailingZeroBitCount / 8 }
            index += 8
        }
        return unsafe self[index...].firstIndex(of: byte)
    }
}

extension [UInt8] {
    /// The index of the first such byte at `start` or after it.
    @inlinable public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        unsafe withUnsafeBytes { unsafe $0.firstIndex(of: byte, from: start) }
    }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection {
    /// The rest after bytes that satisfy `isDropped` are removed from both ends.
    @inlinable public func trimmed(_ isDropped: (UInt8) -> Bool) -> SubSequence {
        var rest = drop(while: isDropped)
        while let last = rest.last, isDropped(last) { rest = rest.dropLast() }
        return rest
    }
}

extension Collection<UInt8> {
    /// Whether these bytes are `lowercase` when the case of ASCII letters does not count.
    @inlinable public func isCaseInsensitively(_ lowercase: StaticString) -> Bool {
        guard count == lowercase.utf8CodeUnitCount else { return false }
        return lowercase.withUTF8Buffer { wanted in
            var index = startIndex
            for offset in wanted.indices {
                guard unsafe self[index].lowercased == wanted[offset] else { return false }
                formIndex(after: &index)
            }
            return true
        }
    }

    /// The pieces between `separator`, empty ones included.
    @inlinable public func pieces(between separator: UInt8) -> [SubSequence] {
        split(separator: separator, omittingEmptySubsequences: false)
    }

    /// The value of these bytes as decimal digits and nothing else; `nil` also when it does not fit.
    @inlinable public var decimalNumber: Int64? {
        guard !isEmpty else { return nil }
        var value: Int64 = 0
        for byte in self {
            guard byte.isDigit else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(byte - 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}

extension String.UTF8View {
    /// Whether one of the bytes satisfies `isWanted`: read in place, which is nearly always possible for
    /// text.
    @inlinable public func has(_ isWanted: (UInt8) -> Bool) -> Bool {
        let found = unsafe withContiguousStorageIfAvailable { unsafe $0.contains(where: isWanted) }
        return found ?? contains(where: isWanted)
    }
}

extension String {
    /// Bytes of a header field as text: UTF-8 when valid, else ISO-8859-1, which every byte sequence is (RFC
    /// 9110 §5.5).
    package init(field bytes: some Collection<UInt8>) {
        // Nearly every field is ASCII; validating takes a thousand instructions for any text.
        if bytes.allSatisfy(\.isASCII) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self = String(validating: bytes, as: UTF8.self) ?? String(latin1: bytes)
        }
    }

    package init(latin1 bytes: some Collection<UInt8>) {
        guard !bytes.allSatisfy(\.isASCII) else {
            self.init(decoding: bytes, as: UTF8.self)
            return
        }
        var scalars = UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        self.init(scalars)
    }
}
