/// An address of the Internet Protocol as text.
package enum NumericAddress {
    /// Whether it is four numbers with dots, or an IPv6 address without brackets.
    package static func isOne(_ text: String) -> Bool { bytes(of: text) != nil }

    /// The address in network byte order: four bytes, or sixteen; `nil` if the text is not one.
    package static func bytes(of text: String) -> [UInt8]? {
        if text.utf8.contains(.colon) { return IPv6Address(Array(text.utf8)[...])?.bytes }
        var bytes: [UInt8] = []
        for part in text.utf8.split(separator: .dot, maxSplits: 4, omittingEmptySubsequences: false) {
            guard 1...3 ~= part.count, part.allSatisfy({ 0x30...0x39 ~= $0 }),
                let byte = UInt8(Substring(part))
            else { return nil }
            bytes.append(byte)
        }
        return bytes.count == 4 ? bytes : nil
    }
}
