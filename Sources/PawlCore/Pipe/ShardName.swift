/// The names of a shard's two files: the archive, and the results beside it.
package struct ShardName: Hashable, Sendable {
    /// Without an ending.
    package let stem: String
    package let ending: String

    package init(_ stem: String, ending: String) {
        self.stem = stem
        self.ending = ending
    }

    package var archive: String { "\(stem).\(ending)" }
    package var manifest: String { "\(stem).jsonl" }

    /// The stem for the samples that failed in the shard of this manifest: `NAME.1`, after that `NAME.2`.
    ///
    /// A manifest of another name counts as the first of `name`.
    package static func retrying(manifest path: String, of name: String? = nil) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let stem = file.hasSuffix(".jsonl") ? String(file.dropLast(6)) : file
        if let name, stem != name, !stem.hasPrefix(name + ".") { return name + ".1" }
        guard let dot = stem.lastIndex(of: "."), let number = Int(stem[stem.index(after: dot)...]),
            number > 0,
            number < .max
        else { return stem + ".1" }
        return "\(stem[..<dot]).\(number + 1)"
    }
}

/// What follows the end of a published archive: the results, so that one file is all that is published.
///
/// Readers of tar stop before it; of WARC it is a record of its own. The manifest beside the archive is a copy.
package struct ShardTrailer: Hashable, Sendable {
    package static let size = 112
    private static let magic = Array("pawl-shard-1\n".utf8)

    /// The digest of the jobs, in hexadecimal.
    package var input: String
    /// The length of the manifest, which ends where this begins.
    package var length: Int64

    package init(input: String, length: Int64) {
        self.input = input
        self.length = length
    }

    /// `nil` for bytes that are not the end of a shard.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else { return nil }
        let fields = bytes.dropFirst(Self.magic.count).split(separator: UInt8(ascii: "\n"))
        guard fields.count == 2, fields[0].count == 64,
            let length = Int64(String(decoding: fields[1], as: UTF8.self)),
            length >= 0
        else { return nil }
        self.init(input: String(decoding: fields[0], as: UTF8.self), length: length)
    }

    package var bytes: [UInt8] {
        let digits = String(length)
        let zeros = String(repeating: "0", count: Self.size - Self.magic.count - 66 - digits.utf8.count)
        return Self.magic + Array("\(input)\n\(zeros)\(digits)\n".utf8)
    }
}
