package import PawlBase

/// A pattern for paths of entries: `*` stands for any characters, `?` for one.
///
/// One without a slash is compared with the last name of the path, any other with all of it.
package struct EntryPattern: Hashable, Sendable {
    private let pattern: [UInt8]
    private let isForName: Bool

    package var text: String { String(decoding: pattern, as: UTF8.self) }

    package init(_ text: String) {
        pattern = Array(text.utf8)
        isForName = !pattern.contains(.slash)
    }

    package func matches(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
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

/// Which entries of a listing are wanted.
package struct EntryFilter: Hashable, Sendable {
    /// One `--include` or `--exclude`.
    package struct Rule: Hashable, Sendable {
        package let isIncluded: Bool
        /// Whether it is for folders: its text ended with a slash.
        let isForFolders: Bool
        let pattern: EntryPattern

        /// With a sign: `+*.iso`, `-sub/`.
        package var text: String { (isIncluded ? "+" : "-") + pattern.text + (isForFolders ? "/" : "") }

        package init(_ text: String, isIncluded: Bool) {
            self.isIncluded = isIncluded
            isForFolders = text.utf8.last == .slash
            pattern = EntryPattern(isForFolders ? String(text.dropLast()) : text)
        }
    }

    /// In their order on the command line: the last one that matches decides.
    package var rules: [Rule] = []
    /// How many folders below the first are visited; `nil` for as many as there are, 0 for none.
    package var maximumDepth: Int?
    /// Files of this time and older are left out.
    package var newerThan: UnixTime?
    /// Larger files are left out.
    package var maximumSize: Int64?

    package init() {}

    /// Whether any entry could be left out: then what is not listed may still exist.
    package var isSelective: Bool { self != EntryFilter() }

    /// Whether a file is wanted, as far as the listing tells; where it does not state a size or time, it is.
    package func takes(_ entry: CollectionEntry) -> Bool {
        if let newerThan, let modified = entry.modified, modified.seconds + entry.timeStep - 1 <= newerThan.seconds {
            return false
        }
        if let maximumSize, let size = entry.size, size > maximumSize { return false }
        return takes(entry.path, among: rules.filter { !$0.isForFolders })
    }

    /// Whether a folder, so many below the first, is visited.
    package func visits(_ path: String, depth: Int) -> Bool {
        depth <= maximumDepth ?? .max && takes(path, among: rules.filter(\.isForFolders))
    }

    /// What no rule matches is wanted, unless the rules begin with what is: `--include '*.iso'` alone means only those.
    private func takes(_ path: String, among rules: [Rule]) -> Bool {
        guard let first = rules.first else { return true }
        return rules.last { $0.pattern.matches(path) }?.isIncluded ?? !first.isIncluded
    }
}
