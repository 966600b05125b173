import CSQLite
import PawlBase

/// Registers `holds(text, folded)`: whether the text, as it stands or percent-decoded, contains a needle that is in lower
/// case already, ignoring case.
///
/// SQLite's own LIKE ignores the case of ASCII letters only.
func addTextSearch(to database: OpaquePointer) throws(DatabaseError) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let code = unsafe sqlite3_create_function_v2(
        database, "holds", 2, flags, nil,
        { context, _, arguments in
            guard let text = unsafe arguments?[0], let needle = unsafe arguments?[1] else { return }
            let found = unsafe Folded.holdsDecoded(bytes(of: text), bytes(of: needle))
            unsafe sqlite3_result_int(context, found ? 1 : 0)
        }, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe .last(of: database) }
}

private func bytes(of value: OpaquePointer) -> UnsafeBufferPointer<UInt8> {
    // The text first: reading it may change the number of bytes.
    let start = unsafe sqlite3_value_text(value)
    return unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
}

/// Case-insensitive comparison.
enum Folded {
    /// Whether the text contains the needle as it stands, or with its percent-encoding decoded.
    static func holdsDecoded(_ text: UnsafeBufferPointer<UInt8>, _ needle: UnsafeBufferPointer<UInt8>) -> Bool {
        if unsafe holds(text, needle) { return true }
        guard unsafe text.contains(UInt8(ascii: "%")) else { return false }
        let decoded = unsafe PercentCoding.decoded(text)
        return unsafe decoded.withUnsafeBufferPointer { unsafe holds($0, needle) }
    }

    /// `needle` is in lower case.
    static func holds(_ text: UnsafeBufferPointer<UInt8>, _ needle: UnsafeBufferPointer<UInt8>) -> Bool {
        if unsafe text.allSatisfy({ $0 < 0x80 }) { return unsafe search(text, for: needle) }
        var folded = unsafe String(decoding: text, as: UTF8.self).lowercased()
        return folded.withUTF8 { unsafe search($0, for: needle) }
    }

    static func search(_ text: UnsafeBufferPointer<UInt8>, for needle: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = unsafe needle.first else { return true }
        guard text.count >= needle.count else { return false }
        for start in 0...(text.count - needle.count) where unsafe lower(text[start]) == first {
            var matched = 1
            while matched < needle.count, unsafe lower(text[start + matched]) == needle[matched] { matched += 1 }
            if matched == needle.count { return true }
        }
        return false
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
