import CPawlSystem

/// The charsets of the C library.
package enum SystemCharsets {
    /// Bytes of a charset as UTF-8; `nil` where the C library does not know it, as without its modules, or where they are not
    /// of it.
    @Sendable package static func utf8(_ bytes: [UInt8], _ charset: String) -> [UInt8]? {
        // No character has more than four bytes, and some charsets have two characters in one byte.
        var result = [UInt8](repeating: 0, count: bytes.count * 8 + 16)
        let length = unsafe bytes.withUnsafeBytes { source in
            unsafe result.withUnsafeMutableBytes { room in
                unsafe pawl_to_utf8(charset, source.baseAddress, source.count, room.baseAddress, room.count)
            }
        }
        return length < 0 ? nil : Array(result.prefix(Int(length)))
    }
}
