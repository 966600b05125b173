import PawlBase
import PawlDisk

/// Reads the files of the second version (BEP 52), each with a tree of digests.
struct TorrentTree {
    private let pieceLength: Int64
    private let layers: Bencode?
    private var files: [Torrent.File] = []
    private var total: Int64 = 0
    private var pieces = 0

    /// The digests of a torrent are at most so many.
    private static let mostPieces = 2 << 20
    private static let deepest = 64

    init(pieceLength: Int64, layers: Bencode?) {
        self.pieceLength = pieceLength
        self.layers = layers
    }

    mutating func files(of info: Bencode) throws(Torrent.Fault) -> [Torrent.File] {
        guard pieceLength >= Int64(HashTree.leaf), pieceLength & (pieceLength - 1) == 0 else {
            throw Torrent.Fault(words: "the length of its pieces is not a power of two from 16 KiB on")
        }
        guard let root = info["file tree"], root.members != nil else {
            throw Torrent.Fault(words: "it has no file tree")
        }
        try visit(root, [])
        guard !files.isEmpty else { throw Torrent.Fault(words: "it lists no file") }
        return files
    }

    private mutating func visit(_ folder: Bencode, _ names: [[UInt8]]) throws(Torrent.Fault) {
        guard names.count <= Self.deepest else { throw Torrent.Fault(words: "its folders are nested too deeply") }
        let members = folder.members ?? [:]
        for name in members.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard let member = members[name], let inner = member.members, !name.isEmpty else {
                throw Torrent.Fault(words: "its file tree has something that is neither file nor folder")
            }
            guard let file = inner[[]] else {
                try visit(member, names + [name])
                continue
            }
            guard inner.count == 1 else { throw Torrent.Fault(words: "its file tree has a file that is a folder too") }
            try add(names + [name], file)
        }
    }

    private mutating func add(_ names: [[UInt8]], _ entry: Bencode) throws(Torrent.Fault) {
        guard files.count < Torrent.mostFiles else {
            throw Torrent.Fault(words: "it lists more than \(Torrent.mostFiles) files")
        }
        let attributes = entry["attr"]?.bytes ?? []
        let isLink = attributes.contains(UInt8(ascii: "l"))
        guard let size = entry["length"]?.integer ?? (isLink ? 0 : nil), (0...ByteRange.longestFile).contains(size)
        else {
            throw Torrent.Fault(words: "a file has no possible length")
        }
        var file = Torrent.File(names: names, size: size, start: total)
        let (sum, isTooLong) = total.addingReportingOverflow(size)
        guard !isTooLong, sum <= ByteRange.longestFile else {
            throw Torrent.Fault(words: "its files are too long together")
        }
        total = sum
        file.isPadding = attributes.contains(UInt8(ascii: "p"))
        if isLink {
            file.flaw = "it is a symbolic link, which is not made"
        } else if size > 0, !file.isPadding {
            file.tree = try tree(of: size, entry)
            if file.tree == nil { file.flaw = "the torrent has no digests of its pieces that belong to its root" }
        }
        files.append(file)
    }

    /// `nil` if what the torrent has are not its digests.
    private mutating func tree(of size: Int64, _ entry: Bencode) throws(Torrent.Fault) -> PieceHashes? {
        guard let root = entry["pieces root"]?.bytes, root.count == HashAlgorithm.sha256Tree.length else {
            throw Torrent.Fault(words: "a file has no root of its digests")
        }
        guard size > pieceLength else { return PieceHashes(.sha256Tree, length: pieceLength, digests: [root]) }
        let count = (size - 1) / pieceLength + 1
        guard let layer = layers?.members?[root]?.bytes, Int64(layer.count) == count * Int64(root.count) else {
            return nil
        }
        pieces += Int(count)
        guard pieces <= Self.mostPieces else { throw Torrent.Fault(words: "it has too many pieces") }
        guard HashTree.root(above: layer, leaves: Int(pieceLength) / HashTree.leaf) == root else { return nil }
        let digests = stride(from: 0, to: layer.count, by: root.count).map { Array(layer[$0..<$0 + root.count]) }
        return PieceHashes(.sha256Tree, length: pieceLength, isPadded: true, digests: digests)
    }
}
