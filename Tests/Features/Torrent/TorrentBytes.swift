import PawlBase
import PawlDisk

@testable import PawlTorrent

extension Bencode {
    /// As programs write it: with sorted keys.
    var written: [UInt8] {
        switch self {
        case .integer(let number): Array("i\(number)e".utf8)
        case .bytes(let bytes): Array("\(bytes.count):".utf8) + bytes
        case .list(let values): Array("l".utf8) + values.flatMap(\.written) + Array("e".utf8)
        case .dictionary(let members):
            Array("d".utf8)
                + members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap {
                    Bencode.bytes($0.key).written + $0.value.written
                } + Array("e".utf8)
        }
    }

    static func text(_ text: String) -> Bencode { .bytes(Array(text.utf8)) }

    static func members(_ members: [String: Bencode]) -> Bencode {
        .dictionary(Dictionary(uniqueKeysWithValues: members.map { (Array($0.key.utf8), $0.value) }))
    }
}

/// A torrent to be made: what its parts are, each of which a test may replace.
struct TorrentBytes {
    var root: [String: Bencode] = ["url-list": .text("http://host/")]
    var info: [String: Bencode] = [:]

    var bytes: [UInt8] { Bencode.members(root.merging(["info": .members(info)]) { $1 }).written }

    static func digests(_ content: [UInt8], by length: Int) -> [UInt8] {
        stride(from: 0, to: content.count, by: length).flatMap { start in
            ContentDigest.digest(.sha1, of: Array(content[start..<min(content.count, start + length)]))
        }
    }

    /// The first version.
    init(_ name: String, _ files: [(path: String, content: [UInt8])], pieces length: Int, padding: Set<Int> = []) {
        let entries = files.enumerated().map { index, file -> Bencode in
            var entry: [String: Bencode] = [
                "length": .integer(Int64(file.content.count)),
                "path": .list(file.path.split(separator: "/").map { .text(String($0)) }),
            ]
            if padding.contains(index) { entry["attr"] = .text("p") }
            return .members(entry)
        }
        info = [
            "name": .text(name), "piece length": .integer(Int64(length)), "files": .list(entries),
            "pieces": .bytes(Self.digests(files.flatMap(\.content), by: length)),
        ]
    }

    /// The second version, with one file.
    init(tree name: String, _ content: [UInt8], pieces length: Int) {
        func leaf(_ members: [String: Bencode]) -> Bencode { .members([name: .members(["": .members(members)])]) }
        let layer = stride(from: 0, to: content.count, by: length).flatMap { start -> [UInt8] in
            let part = Array(content[start..<min(content.count, start + length)])
            let leaves = stride(from: 0, to: part.count, by: 16 << 10).flatMap { start in
                ContentDigest.digest(.sha256, of: Array(part[start..<min(part.count, start + 16 << 10)]))
            }
            let zeros = [UInt8](repeating: 0, count: max(0, length / (16 << 10) * 32 - leaves.count))
            return HashTree.root(above: content.count > length ? leaves + zeros : leaves, leaves: 1)
        }
        let root = HashTree.root(above: layer, leaves: length / (16 << 10))
        info = [
            "name": .text(name), "piece length": .integer(Int64(length)), "meta version": .integer(2),
            "file tree": leaf(["length": .integer(Int64(content.count)), "pieces root": .bytes(root)]),
        ]
        if content.count > length { self.root["piece layers"] = .dictionary([root: .bytes(layer)]) }
    }
}
