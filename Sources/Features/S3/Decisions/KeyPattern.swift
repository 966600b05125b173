import PawlBase

/// A pattern for the keys of a prefix: `*` stands for any characters, `?` for one.
///
/// One without a slash is compared with the last part of the key, any other with all of it behind the prefix.
package struct KeyPattern: Hashable, Sendable {
    private let pattern: [UInt8]
    private let isForName: Bool

    package init(_ text: String) {
        pattern = Array(text.utf8)
        isForName = !pattern.contains(.slash)
    }

    /// `key` is what follows the prefix.
    package func matches(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        let name = isForName ? bytes[(bytes.lastIndex(of: .slash).map { $0 + 1 } ?? 0)...] : bytes[...]
        return Self.matches(name, pattern[...])
    }

    /// In at most as many steps as the product of the lengths: after a mismatch only the last `*` takes one more.
    private static func matches(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var place = text.startIndex
        var next = pattern.startIndex
        var retry: (text: Int, pattern: Int)?
        while place < text.endIndex {
            if next < pattern.endIndex, pattern[next] == .asterisk {
                retry = (place, next + 1)
                next += 1
            } else if next < pattern.endIndex, pattern[next] == .questionMark || pattern[next] == text[place] {
                // One character, which may have several bytes.
                let isAny = pattern[next] == .questionMark
                place += 1
                while isAny, place < text.endIndex, text[place] & 0xC0 == 0x80 { place += 1 }
                next += 1
            } else if let last = retry {
                retry = (last.text + 1, last.pattern)
                (place, next) = (last.text + 1, last.pattern)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == .asterisk }
    }
}
