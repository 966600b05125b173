/// An address of the Internet Protocol as text.
package enum NumericAddress {
    /// Whether it is four numbers with dots, or an IPv6 address without brackets.
    package static func isOne(_ text: String) -> Bool {
        if text.contains(":") { return IPv6Address(Array(text.utf8)[...]) != nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
                    && part.utf8.count <= 3
            }
    }
}
