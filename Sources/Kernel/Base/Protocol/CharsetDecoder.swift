/// Decodes text of charsets other than UTF-8, in which older servers send names.
///
/// UTF-8, US-ASCII and windows-1252 need no table; the others are those of the C library, given as `convert`.
package struct CharsetDecoder: Sendable {
    /// Converts bytes of a charset, given by a name of iconv's, to UTF-8; `nil` for an unknown one and for bytes that are not
    /// of it.
    private let convert: @Sendable (_ bytes: [UInt8], _ charset: String) -> [UInt8]?

    package init(convert: @escaping @Sendable (_ bytes: [UInt8], _ charset: String) -> [UInt8]?) {
        self.convert = convert
    }

    /// Without the C library's charsets.
    package static let builtIn = CharsetDecoder { _, _ in nil }

    /// The maximum length of text that is converted: many times that of a name.
    private static let longest = 1 << 14

    /// `bytes` of the named charset; `nil` where it is unknown or they are not of it.
    func text(of bytes: [UInt8], charset: some Collection<UInt8>) -> String? {
        utf8(of: bytes, charset: charset).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The same as bytes, which are not checked where the charset is UTF-8.
    func utf8(of bytes: [UInt8], charset: some Collection<UInt8>) -> [UInt8]? {
        guard let name = Self.name(charset) else { return nil }
        switch name {
        case "utf-8", "utf8": return bytes
        case "us-ascii", "ascii": return bytes.allSatisfy(\.isASCII) ? bytes : nil
        // As in browsers: what is labelled so has the quotation marks and the euro sign of windows-1252.
        case "iso-8859-1", "iso8859-1", "latin1", "l1", "windows-1252", "cp1252", "x-cp1252":
            return Array(String(windows1252: bytes).utf8)
        case _:
            guard bytes.count <= Self.longest else { return nil }
            return convert(bytes, Self.supersets[name] ?? name)
        }
    }

    /// In lower case; `nil` for what cannot be a charset's name, or is one that no text on the web has: modules for stateful and
    /// mainframe charsets had defects that a server could use.
    private static func name(_ charset: some Collection<UInt8>) -> String? {
        guard 1...40 ~= charset.count,
            charset.allSatisfy({ $0.isLetter || $0.isDigit || [.dash, .underscore, .dot, .colon].contains($0) })
        else { return nil }
        let name = String(decoding: charset.map(\.lowercased), as: UTF8.self)
        let isStateful = ["iso-2022", "iso2022", "csiso2022", "utf-7", "utf7", "ibm9", "ibm1", "ebcdic"].contains {
            name.hasPrefix($0)
        }
        guard !isStateful || ["iso-2022-jp", "iso-2022-kr"].contains(name) else { return nil }
        return name
    }

    /// What browsers understand by a name (WHATWG Encoding), in iconv's names.
    private static let supersets: [String: String] = [
        "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030", "cp936": "gb18030",
        "big5": "big5-hkscs", "big-5": "big5-hkscs", "x-x-big5": "big5-hkscs", "cp950": "big5-hkscs",
        "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "ms_kanji": "cp932",
        "windows-31j": "cp932", "x-euc-jp": "euc-jp", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949",
        "windows-949": "cp949", "iso-8859-9": "cp1254", "tis-620": "cp874", "x-cp1251": "cp1251",
        "windows-874": "cp874",
    ]

    /// Text without a stated charset: UTF-8 when valid, then `stated`, then a charset of East Asia when the bytes show it
    /// clearly, else windows-1252.
    ///
    /// `stated`: the charset of another field of the same response, which need not be that of a name.
    func text(unlabelled bytes: [UInt8], stated: [UInt8]? = nil) -> String {
        if bytes.allSatisfy(\.isASCII) { return String(decoding: bytes, as: UTF8.self) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        if let stated, let text = text(of: bytes, charset: stated) { return text }
        for charset in EastAsianCharset.likely(bytes) {
            if let text = text(of: bytes, charset: Array(charset.rawValue.utf8)) { return text }
        }
        return String(windows1252: bytes)
    }
}

/// The double-byte charsets that are recognized by their bytes.
enum EastAsianCharset: String, CaseIterable {
    case gb18030
    case big5
    case shiftJIS = "shift_jis"
    case eucJP = "euc-jp"
    case eucKR = "euc-kr"

    /// Those of which the bytes probably are, the best one first; empty where they may be a Western text.
    ///
    /// A charset fits when all bytes are of it, when most characters are common ones, and when two such follow each other: in a
    /// Western text accented characters are between ASCII ones.
    static func likely(_ bytes: [UInt8]) -> [EastAsianCharset] {
        let rated = allCases.compactMap { charset in charset.rating(of: bytes).map { (charset: charset, rating: $0) } }
        // The sort is stable only with the order as a second key.
        return rated.enumerated().sorted { ($1.element.rating, $0.offset) < ($0.element.rating, $1.offset) }.map(
            \.element.charset)
    }

    /// The common characters of a hundred; `nil` where the charset does not fit.
    private func rating(of bytes: [UInt8]) -> Int? {
        var rest = bytes[...]
        var (all, common, row, longestRow) = (0, 0, 0, 0)
        var (katakana, longestKatakana) = (0, 0)
        while let lead = rest.popFirst() {
            if lead.isASCII {
                row = 0
                continue
            }
            all += 1
            if self == .shiftJIS, 0xA1...0xDF ~= lead {
                row = 0
                continue
            }
            guard let trail = rest.popFirst(), isPair(lead, trail) else { return nil }
            let isCommon = isCommon(lead, trail)
            common += isCommon ? 1 : 0
            row = isCommon ? row + 1 : 0
            longestRow = max(longestRow, row)
            katakana = isKatakana(lead, trail) ? katakana + 1 : 0
            longestKatakana = max(longestKatakana, katakana)
        }
        guard longestRow >= 2, common * 3 >= all * 2 else { return nil }
        // Those in a row are a word; as Big5 they would be rarely used ideographs of a few strokes.
        return common * 100 / all + (longestKatakana >= 3 ? 1 : 0)
    }

    private func isPair(_ lead: UInt8, _ trail: UInt8) -> Bool {
        switch self {
        case .gb18030: 0x81...0xFE ~= lead && 0x40...0xFE ~= trail && trail != 0x7F
        case .big5: 0x81...0xFE ~= lead && (0x40...0x7E ~= trail || 0xA1...0xFE ~= trail)
        case .shiftJIS: (0x81...0x9F ~= lead || 0xE0...0xFC ~= lead) && 0x40...0xFC ~= trail && trail != 0x7F
        case .eucJP, .eucKR: 0xA1...0xFE ~= lead && 0xA1...0xFE ~= trail
        }
    }

    /// Of EUC-JP only, since the same bytes are the same characters in GB 18030.
    private func isKatakana(_ lead: UInt8, _ trail: UInt8) -> Bool {
        self == .eucJP && (lead == 0xA5 && 0xA1...0xF6 ~= trail || lead == 0xA1 && trail == 0xBC)
    }

    /// The first level of ideographs, syllables, and punctuation.
    private func isCommon(_ lead: UInt8, _ trail: UInt8) -> Bool {
        switch self {
        case .gb18030: trail >= 0xA1 && (0xB0...0xD7 ~= lead || lead == 0xA1 || lead == 0xA3)
        case .big5: 0xA4...0xC6 ~= lead || lead == 0xA1
        case .shiftJIS:
            0x81...0x83 ~= lead || 0x89...0x97 ~= lead || lead == 0x88 && trail >= 0x9F || lead == 0x98 && trail <= 0x72
        case .eucJP: 0xB0...0xCF ~= lead || lead == 0xA1 || lead == 0xA4 || lead == 0xA5
        case .eucKR: 0xB0...0xC8 ~= lead || lead == 0xA1
        }
    }
}

extension String {
    /// Bytes of windows-1252 (WHATWG Encoding): ISO-8859-1 with characters in place of control characters.
    init(windows1252 bytes: [UInt8]) {
        var scalars = UnicodeScalarView()
        for byte in bytes {
            let index = Int(byte) - 0x80
            let scalar = Self.windows1252.indices ~= index ? Self.windows1252[index] : Unicode.Scalar(byte)
            scalars.append(scalar)
        }
        self.init(scalars)
    }

    private static let windows1252 = Array(
        "\u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}\u{17D}\u{8F}\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}\u{153}\u{9D}\u{17E}\u{178}"
            .unicodeScalars)
}
