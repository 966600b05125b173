package import PawlBase

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

/// The file of an object: the parts of its key are folders, under their own names.
package enum ObjectPath {
    /// The path for what follows the prefix in the key of `address`, each part as it is.
    ///
    /// Throws code 28 for keys that no file can have or that would lead elsewhere.
    package static func path(of rest: String, _ address: WebAddress) throws(Failure) -> String {
        let parts = rest.pathParts(keepsEmpty: true).map(String.init)
        if parts.last?.isEmpty == true {
            throw refusal(address, "its key ends with /, so that it names a folder, but it has content")
        }
        if parts.contains(where: { ["", ".", ".."].contains($0) }) {
            throw refusal(address, "its key has an empty part, . or .., which is not a file name")
        }
        guard parts.allSatisfy(FileName.isPossible) else {
            throw refusal(
                address, "a part of its key has more than \(FileName.limit) bytes, which no file name can have")
        }
        return rest
    }

    private static func refusal(_ address: WebAddress, _ why: String) -> Failure {
        Failure(
            .badOption, "cannot store", at: address.redacted, because: why,
            remedy: address.isPrefix ? "copy it to another key" : "download it alone under another name")
    }
}
