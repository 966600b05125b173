import PawlBase

/// The entries of an index in JSON, one array of objects, byte by byte.
///
/// nginx: `name`, `type` (`file`, `directory`, `other`), `mtime`, `size`; the text is not UTF-8 where a name is not. Caddy:
/// `name`, `size`, `mod_time`, `is_dir`, `is_symlink`.
struct JSONIndex: Sendable {
    private static let longestEntry = 64 << 10

    private var depth = 0
    private var isString = false
    private var isEscaped = false
    private var entry: [UInt8] = []
    private var isTooLong = false
    private var isOver = false
    /// Whether each entry had a name.
    private(set) var isIndex = true

    mutating func feed(_ byte: UInt8, _ links: inout [ListedLink]) {
        if depth >= 2 || byte == UInt8(ascii: "{") {
            if entry.count < Self.longestEntry { entry.append(byte) } else { isTooLong = true }
        }
        if isString {
            if isEscaped {
                isEscaped = false
            } else if byte == .backslash {
                isEscaped = true
            } else if byte == .quote {
                isString = false
            }
            return
        }
        switch byte {
        case .quote: isString = true
        case .leftBracket, UInt8(ascii: "{"): depth += 1
        case .rightBracket, UInt8(ascii: "}"):
            depth -= 1
            if depth == 1 { endEntry(&links) }
            if depth == 0 { isOver = true }
        case _: break
        }
    }

    func end() throws(IndexFault) {
        guard isOver else { throw IndexFault(why: "its JSON is cut off", isCutOff: true) }
    }

    private mutating func endEntry(_ links: inout [ListedLink]) {
        defer {
            entry.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !isTooLong, let value = try? JSON.parse(PathText.text(entry)), let link = Self.link(value) else {
            isIndex = false
            return
        }
        links.append(link)
    }

    private static func link(_ value: JSON) -> ListedLink? {
        guard let text = value["name"]?.string else { return nil }
        var name = PathText.bytes(text)[...]
        var isFolder = value["is_dir"]?.bool ?? (value["type"]?.string == "directory")
        if name.last == .slash {
            isFolder = true
            name = name.dropLast()
        }
        var link = ListedLink(name: name, isFolder: isFolder)
        if !isFolder {
            link.size = value["size"]?.integer.flatMap { $0 >= 0 ? $0 : nil }
            link.isExact = link.size != nil
        }
        link.modified =
            value["mtime"]?.string.flatMap { UnixTime(httpDate: $0) }
            ?? value["mod_time"]?.string.flatMap { UnixTime(timestamp: $0) }
        link.isLink = value["is_symlink"]?.bool ?? false
        return link
    }
}
