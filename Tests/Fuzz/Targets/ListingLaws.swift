import PawlBase
import PawlCollections

/// Pages of web indexes, listings of file servers, and what becomes of their names.
enum ListingLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        for isMultistatus in [false, true] {
            let whole = links(of: bytes, cutAt: max(1, bytes.count), isMultistatus)
            for size in [1, 7] {
                try hold(
                    links(of: bytes, cutAt: size, isMultistatus) == whole,
                    "the links of a page depend on how it is cut")
            }
            try hold(whole.count <= bytes.count, "more links than bytes")
            try walk(whole, at: "http://host/pub/%41/")
        }
        let folder = entries(of: bytes, cutAt: max(1, bytes.count))
        try hold(entries(of: bytes, cutAt: 1) == folder, "the entries of a folder depend on how its listing is cut")
        try walk(folder, at: "ftp://host/pub/%41/")
        let half = bytes.count / 2
        let path = String(decoding: bytes[half...], as: UTF8.self)
        _ = EntryPattern(String(decoding: bytes[..<half], as: UTF8.self)).matches(path)
        let isAll = EntryPattern("*").matches(path) && EntryPattern("*/*").matches("a/" + path)
        try hold(isAll, "a pattern for all misses one")
    }

    private static func links(of bytes: [UInt8], cutAt size: Int, _ isMultistatus: Bool) -> [ListedLink] {
        var page = IndexPage(isMultistatus: isMultistatus)
        var links: [ListedLink] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            links += page.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return links + ((try? page.end()) ?? [])
    }

    private static func entries(of bytes: [UInt8], cutAt size: Int) -> [ListedLink] {
        var listing = FolderListing(now: UnixTime(seconds: 1_795_953_600))
        var links: [ListedLink] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            links += listing.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return links + listing.end()
    }

    /// Whatever a server says, an entry stays below the folder and on the server.
    private static func walk(_ links: [ListedLink], at url: String) throws(BrokenLaw) {
        guard let root = try? WebAddress.parse(url).address else { throw BrokenLaw(description: "the root is refused") }
        var walk = TreeWalk(root)
        guard var page = walk.next() else { throw BrokenLaw(description: "the root is not read") }
        for link in links {
            let entry: CollectionEntry
            switch walk.take(link, on: &page) {
            case .nothing: continue
            case .refused(let failure):
                let isPrintable = !failure.description.utf8.contains { $0 < 0x20 || $0 == 0x7F }
                try hold(isPrintable, "a control character in a failure")
                continue
            case .file(let found), .folder(let found): entry = found
            }
            for part in entry.path.pathParts(keepsEmpty: true) {
                try hold(FileName.isPossible(String(part)), "no file can have the name \(part)")
            }
            try hold(entry.path.utf8.count <= EntryName.longestPath, "a path that is too long")
            let address = try? WebAddress.parse(entry.address).address
            try hold(address?.origin == root.origin, "an entry on another server: \(entry.address)")
            try hold((entry.size ?? 0) >= 0, "a negative size")
        }
        try? walk.end(page)
        var folders = 0
        while let next = walk.next() {
            folders += 1
            try hold(next.folder.address.path.utf8.last == .slash, "a folder without a slash")
        }
        try hold(folders <= links.count, "more folders than links")
    }
}
