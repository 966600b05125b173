/// An address of the Internet Protocol as text.
package enum NumericAddress {
    /// Whether it is four numbers with dots, or an IPv6 address without brackets.
    package static func isOne(_ text: String) -> Bool { bytes(of: text) != nil }

    /// The address in network byte order: four bytes, or sixteen; `nil` if the text is not one.
    package static func bytes(of text: String) -> [UInt8]? {
        if text.utf8.contains(.colon) { return IPv6Address(Array(text.utf8)[...])?.bytes }
        var bytes: [UInt8] = []
        var (value, digits) = (0, 0)
        for character in text.utf8 {
            switch character {
            case 0x30...0x39 where digits < 3: (value, digits) = (value * 10 + Int(character) - 0x30, digits + 1)
            case .dot where digits > 0 && value < 256 && bytes.count < 3:
                bytes.append(UInt8(value))
                (value, digits) = (0, 0)
            case _: return nil
            }
        }
        guard digits > 0, value < 256, bytes.count == 3 else { return nil }
        return bytes + [UInt8(value)]
    }
}
