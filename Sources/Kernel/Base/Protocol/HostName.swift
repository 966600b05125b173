/// Parses the host of an address so strictly that no other parser can find another host in it.
///
/// The result is a name of ASCII letters, digits, `-`, `_` and dots, a dotted quad without leading zeros, or
/// a canonical IPv6 literal without its brackets.
enum HostName {
    static func parse(_ text: ArraySlice<UInt8>) throws(AddressFlaw) -> String {
        if text.first == .leftBracket { return try literal(text.dropFirst().dropLast()) }
        if isPlain(text) || isDottedQuad(text) { return String(decoding: text, as: UTF8.self) }
        guard let bytes = PercentCoding.strictlyDecoded(text), let raw = String(validating: bytes, as: UTF8.self) else {
            throw AddressFlaw("address-host-not-text", "its host is not valid UTF-8")
        }
        let host = raw.lowercased()
        guard host.unicodeScalars.allSatisfy(isAllowed) else { throw badCharacter }
        var labels: [ArraySlice<UInt8>] = []
        for label in Array(host.utf8).pieces(between: .dot) { labels.append(try asciiLabel(label)) }
        try check(labels)
        return String(decoding: Array(labels.joined(separator: [.dot])), as: UTF8.self)
    }

    /// The common case in one pass: lower-case letters, digits, dashes and dots, with a letter at the
    /// beginning of the last label, so that no parser takes it for a number.
    static func isPlain(_ text: some RandomAccessCollection<UInt8>) -> Bool {
        guard 1...253 ~= text.count else { return false }
        var length = 0
        var beginsWithLetter = false
        for byte in text {
            if byte == .dot {
                guard 1...63 ~= length else { return false }
                length = 0
            } else {
                guard 0x61...0x7A ~= byte || byte.isDigit || byte == .dash else { return false }
                if length == 0 { beginsWithLetter = byte.isLetter }
                length += 1
            }
        }
        return 1...63 ~= length && beginsWithLetter
    }

    private static func check(_ all: [ArraySlice<UInt8>]) throws(AddressFlaw) {
        // One dot at the end names the root of the DNS.
        let labels = all.count > 1 && all.last?.isEmpty == true ? all.dropLast() : all[...]
        guard labels.allSatisfy({ !$0.isEmpty }) else {
            throw AddressFlaw("address-host-part-empty", "its host name has an empty part")
        }
        guard labels.reduce(labels.count - 1, { $0 + $1.count }) <= 253 else { throw tooLong }
        // Parsers disagree on `127.1`, `0x7f.1` and `010.0.0.1`, so only the form that all read alike is
        // accepted. A name with a label that is no number, or with more labels than the four numbers of an
        // address, is a name to all of them, whatever its last label is: it is not in the DNS, but a proxy
        // that resolves names may know it.
        // So is one with a number that is too great for its place.
        guard labels.count <= 4, labels.allSatisfy(isNumeric), !isOutOfRange(labels) else { return }
        guard labels.count == all.count, isDottedQuad(all.joined(separator: [.dot])) else {
            throw AddressFlaw(
                "address-not-ipv4", "its host is not an IPv4 address", remedy: "write it as four numbers from 0 to 255")
        }
    }

    private static func asciiLabel(_ label: ArraySlice<UInt8>) throws(AddressFlaw) -> ArraySlice<UInt8> {
        if label.allSatisfy(\.isASCII) {
            guard label.count <= 63 else { throw tooLong }
            return label
        }
        let scalars = Array(String(decoding: label, as: UTF8.self).unicodeScalars)
        // A mark has no base character there (RFC 5891 §4.2.3.2).
        guard scalars.first?.properties.canonicalCombiningClass == .notReordered else { throw badCharacter }
        guard let ascii = Punycode.asciiLabel(scalars) else { throw tooLong }
        return ascii[...]
    }

    private static var badCharacter: AddressFlaw {
        AddressFlaw("address-host-character", "its host name contains an invalid character")
    }

    private static var tooLong: AddressFlaw { AddressFlaw("address-host-long", "its host name is too long") }

    private static func literal(_ text: ArraySlice<UInt8>) throws(AddressFlaw) -> String {
        guard !text.contains(.percent) else {
            throw AddressFlaw(
                "address-zone", "IPv6 addresses with a zone are not supported", remedy: "leave out the % and the zone")
        }
        guard let address = IPv6Address(text) else {
            throw AddressFlaw("address-ipv6-malformed", "its IPv6 address is malformed")
        }
        return address.description
    }

    /// Letters, marks, digits and symbols of other scripts are allowed when IDNA's mapping leaves them as
    /// they are: a full-width slash or `℀` would become ASCII punctuation (UTS 46 §4, "host split").
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "0"..."9", "-", ".", "_": return true
        case "ß", "ς": return true  // Valid as they are since IDNA 2008 (RFC 5892 §2.6).
        default: break
        }
        guard !scalar.isASCII, !scalar.properties.changesWhenNFKCCaseFolded else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber,
            .otherSymbol:
            return true
        default: return false
        }
    }

    /// Whether a parser might take the label for a part of an IPv4 address (WHATWG URL, "IPv4 number
    /// parser").
    private static func isNumeric(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy(\.isDigit) { return true }
        return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { $0.hexValue != nil }
    }

    /// Whether no parser takes the decimal numbers for an IPv4 address: all but the last are bytes there, and the last one
    /// has the other bytes (inet_aton(3)).
    ///
    /// Not a single number, which some parsers cut to 32 bits.
    private static func isOutOfRange(_ labels: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        guard labels.count > 1, let last = labels.last,
            labels.allSatisfy({ $0.allSatisfy(\.isDigit) && ($0.count == 1 || $0.first != 0x30) })
        else { return false }
        func exceeds(_ label: ArraySlice<UInt8>, _ bits: Int) -> Bool {
            label.decimalNumber.map { $0 >= 1 << bits } ?? true
        }
        return labels.dropLast().contains { exceeds($0, 8) } || exceeds(last, 8 * (5 - labels.count))
    }

    /// Four numbers from 0 to 255 without leading zeros.
    static func isDottedQuad(_ text: some Sequence<UInt8>) -> Bool {
        var (dots, digits, value) = (0, 0, 0)
        for byte in text {
            if byte == .dot {
                guard digits > 0 else { return false }
                (dots, digits, value) = (dots + 1, 0, 0)
            } else {
                guard byte.isDigit, digits == 0 || value > 0 else { return false }
                (digits, value) = (digits + 1, value * 10 + Int(byte - 0x30))
                guard value <= 255 else { return false }
            }
        }
        return dots == 3 && digits > 0
    }

    /// One part of a dotted quad: 0 to 255 without leading zeros.
    static func quadPart(_ label: ArraySlice<UInt8>) -> UInt8? {
        guard label.count <= 3, label.count == 1 || label.first != 0x30, let number = label.decimalNumber else {
            return nil
        }
        return UInt8(exactly: number)
    }
}

/// A flaw of an address, before it is known whether the user or a server supplied it.
struct AddressFlaw: Error {
    var why: LocalizableMessage
    var remedy: String

    init(_ id: String, _ why: LocalizableMessage.Text, remedy: String = "") {
        self.why = LocalizableMessage(id, why)
        self.remedy = remedy
    }
}
