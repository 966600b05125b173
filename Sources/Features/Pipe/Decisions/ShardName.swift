import PawlBase
import PawlSystem

/// The names of a shard's two files: the archive and the manifest.
package struct ShardName: Hashable, Sendable {
    /// The name without an extension.
    package let stem: String
    package let ending: String

    package init(_ stem: String, ending: String) {
        self.stem = stem
        self.ending = ending
    }

    package var archive: String { "\(stem).\(ending)" }
    package var manifest: String { "\(stem).jsonl" }

    /// The stem of the shard for samples that failed in the shard of this manifest: `NAME.1`, then `NAME.2`.
    ///
    /// A manifest of another name counts as the first of `name`.
    package static func retrying(manifest path: String, of name: String? = nil) -> String {
        let file = path.pathParts().last.map(String.init) ?? path
        let stem = file.hasSuffix(".jsonl") ? String(file.dropLast(6)) : file
        if let name, stem != name, !stem.hasPrefix(name + ".") { return name + ".1" }
        guard let dot = stem.lastIndex(of: "."), let number = Int(stem[stem.index(after: dot)...]), number > 0,
            number < .max
        else { return stem + ".1" }
        return "\(stem[..<dot]).\(number + 1)"
    }
}

/// Where an archive has its manifest, so that a single file publishes both.
///
/// In tar it is a comment (``TarManifest``), in WARC a record. The manifest file beside the archive is a copy.
package struct ShardTrailer: Hashable, Sendable {
    package static let size = 112
    private static let magic = Array("pawl-shard-1\n".utf8)

    /// The digest of the jobs, in hexadecimal.
    package var input: String
    /// The length of the manifest as it is stored, right before the trailer.
    package var length: Int64

    package init(input: String, length: Int64) {
        self.input = input
        self.length = length
    }

    /// `nil` if the bytes are not a trailer.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else { return nil }
        let fields = bytes.dropFirst(Self.magic.count).split(separator: UInt8(ascii: "\n"))
        guard fields.count == 2, fields[0].count == 64, let length = Int64(String(decoding: fields[1], as: UTF8.self)),
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
