import PawlBase

/// The names of samples: of files in a folder, and of entries in an archive.
package enum SampleName {
    private static let longestPart = 200
    private static let longestPath = 1024

    /// The path of a sample's file: `out`, else `id`, else a hash of the URL, in two levels of subfolders.
    package static func path(of job: PipeJob) -> String {
        if let out = job.out { return out }
        let ending = ending(of: job.address.path)
        if let id = job.id {
            let name = safe(id, keepingDots: true)
            return name.hasSuffix(ending) ? name : name + ending
        }
        let hash = hash(of: job.url)
        return "\(hash.prefix(2))/\(hash.dropFirst(2).prefix(2))/\(hash)\(ending)"
    }

    /// The key of a sample in a WebDataset archive, which has neither dots nor slashes.
    package static func key(of job: PipeJob) -> String {
        job.id.map { safe($0, keepingDots: false) } ?? hash(of: job.url)
    }

    /// Why a path from the input cannot be used; `nil` if it can.
    package static func flaw(ofPath path: String) -> String? {
        guard !path.isEmpty, path.utf8.count <= longestPath else {
            return "is empty or longer than \(longestPath) bytes"
        }
        guard !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return "contains a control character" }
        for part in path.pathParts(keepsEmpty: true) {
            guard !part.isEmpty, part != ".", part != ".." else { return "is not a relative path without '.' and '..'" }
            guard part.utf8.count <= 255 else { return "has a part of more than 255 bytes" }
        }
        return nil
    }

    /// The extension of a URL's path, such as `.jpg`; empty without one.
    package static func ending(of path: String) -> String {
        let name = path.utf8.split(separator: .slash, omittingEmptySubsequences: false).last ?? ""[...].utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        let ending = name[name.index(after: dot)...]
        guard (1...5).contains(ending.count), ending.allSatisfy({ $0.isLetter || $0.isDigit }) else { return "" }
        return "." + String(decoding: ending.map(\.lowercased), as: UTF8.self)
    }

    /// The extension of an entry, from the media type, else from the URL; never `json`, which is used for the
    /// job's members.
    package static func ending(type: String?, path: String) -> String {
        let known = type.flatMap { endings[$0] } ?? String(ending(of: path).dropFirst())
        switch known {
        case "": return "bin"
        case "json": return "data.json"
        case _: return known
        }
    }

    private static let endings = [
        "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif", "image/avif": "avif",
        "image/svg+xml": "svg", "image/tiff": "tiff", "image/bmp": "bmp", "text/plain": "txt", "text/html": "html",
        "text/csv": "csv", "application/pdf": "pdf", "application/json": "json", "application/xml": "xml",
        "text/xml": "xml", "application/zip": "zip", "application/gzip": "gz", "audio/mpeg": "mp3", "audio/wav": "wav",
        "audio/x-wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg", "video/mp4": "mp4", "video/webm": "webm",
    ]

    /// A path component.
    ///
    /// If the text had to be changed, a hash of the original is appended to keep names distinct.
    private static func safe(_ text: String, keepingDots: Bool) -> String {
        var name: [UInt8] = []
        for byte in text.utf8 {
            let isKept =
                byte.isLetter || byte.isDigit || byte >= 0x80 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || keepingDots && !name.isEmpty && [0x20, 0x2B, 0x2C, 0x2E, 0x3D, 0x40].contains(byte)
            name.append(isKept ? byte : UInt8(ascii: "_"))
        }
        if name.count <= longestPart, !name.isEmpty, name.elementsEqual(text.utf8) { return text }
        let start = String(decoding: name.prefix(longestPart), as: UTF8.self)
        return "\(start.prefix { $0 != "\u{FFFD}" })-\(FNV.hex(FNV.hash64(text.utf8)))"
    }

    private static func hash(of url: String) -> String { FNV.hex(FNV.hash128(url.utf8)) }
}

/// Makes keys unique within an archive.
package struct UniqueKeys: Hashable, Sendable {
    private var taken: Set<UInt64> = []

    package init() {}

    /// The key, with a suffix `_2`, `_3`… if it is taken.
    package mutating func take(_ key: String) -> String {
        if insert(key) { return key }
        var number = 2
        while !insert("\(key)_\(number)") { number += 1 }
        return "\(key)_\(number)"
    }

    private mutating func insert(_ key: String) -> Bool { taken.insert(FNV.hash64(key.utf8)).inserted }
}
