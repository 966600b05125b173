/// Texts in the encodings of Unicode, as programs of Windows write them, in the one that parsers read.
package enum UnicodeText {
    /// The text in UTF-8 without a byte order mark.
    ///
    /// UTF-16 and UTF-32 are known by their marks, UTF-16 also by its first characters if they are of ASCII. What is invalid
    /// becomes U+FFFD; all other bytes stay as they are.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard let (width, isLittle, mark) = encoding(bytes.prefix(4)) else { return bytes }
        if width == 1 { return Array(bytes.dropFirst(mark)) }
        let units = stride(from: mark, to: bytes.count - width + 1, by: width).lazy.map { start in
            (0..<width).reduce(UInt32(0)) { unit, index in
                unit << 8 | UInt32(bytes[start + (isLittle ? width - 1 - index : index)])
            }
        }
        let text =
            width == 2
            ? String(decoding: units.map { UInt16($0) }, as: UTF16.self)
            : String(decoding: units.map { $0 }, as: UTF32.self)
        return Array(text.utf8)
    }

    /// The bytes of a unit, their order, and the length of the mark; `nil` for UTF-8 without one, and for other bytes.
    private static func encoding(_ first: ArraySlice<UInt8>) -> (width: Int, isLittle: Bool, mark: Int)? {
        if first.starts(with: [0xEF, 0xBB, 0xBF]) { return (1, false, 3) }
        if first.elementsEqual([0xFF, 0xFE, 0, 0]) { return (4, true, 4) }
        if first.elementsEqual([0, 0, 0xFE, 0xFF]) { return (4, false, 4) }
        if first.starts(with: [0xFF, 0xFE]) { return (2, true, 2) }
        if first.starts(with: [0xFE, 0xFF]) { return (2, false, 2) }
        guard first.count == 4 else { return nil }
        let isLittle = first[1] == 0 && first[3] == 0 && isText(first[0]) && isText(first[2])
        let isBig = first[0] == 0 && first[2] == 0 && isText(first[1]) && isText(first[3])
        return isLittle || isBig ? (2, isLittle, 0) : nil
    }

    private static func isText(_ byte: UInt8) -> Bool { byte.isASCII && !byte.isControl || byte.isWhiteSpace }
}
